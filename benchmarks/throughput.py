"""Throughput of Samovar, C with OpenMP, Numba, Quadrants, Warp and Taichi in one run, on the same buffers.

    python benchmarks/throughput.py [--only axpy,dot] [--contenders Numba,Warp] [--rounds 25] [--quick] [--clock cpu]

Every result is compared with NumPy's before anything is timed. A ratio is C's time over the contender's, taken within
each round: 1.00 is as fast as C, above is faster. The bracket is the 95 % bootstrap interval of the median; `shortest` is
the ratio of the shortest runs of C and Samovar, which says more on a machine that others use.
The figures go to out/throughput.json.
"""

import argparse
import importlib
import json
import platform
import statistics
import sys
import time
from pathlib import Path

from threads import THREADS  # isort: skip  (before anything that starts threads)

from pairs import Ratio, interleave, loop, ratio
from problems import PROBLEMS, Problem
from rich.console import Console
from rich.table import Table
from throughput_kernels import ENTRIES

OUTPUT = Path(__file__).parent.parent / "out" / "throughput.json"
CONTENDERS = ("C", "Samovar", "Numba", "Quadrants", "Warp", "Taichi")
REQUIRED = ("C", "Samovar")
TARGET = 0.95
#: The first eleven have a text for every contender, the others for C, Samovar and Numba.
ALL = {**PROBLEMS, **{name: entry.problem for name, entry in ENTRIES.items()}}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def load(names: list[str], console: Console) -> dict[str, dict]:
    """The kernel tables of the contenders that are installed; a peer that is not is named and left out."""
    tables = {}
    for name in names:
        try:
            tables[name] = importlib.import_module(f"contenders.with_{name.lower()}").KERNELS
        except ImportError as error:
            if name in REQUIRED:
                raise
            console.print(f"[yellow]{name} left out: {error}[/]")
    return tables


def prepare(problem: Problem, kernel: str, tables: dict[str, dict], clock: str, console: Console) -> dict:
    """Runs of the contenders whose result is right. A wrong result of C or Samovar stops the benchmark."""
    expected = problem.reference()
    runs = {}
    for name, table in tables.items():
        if kernel not in table:
            continue
        problem.reset()
        run = table[kernel](problem)
        run()
        wrong = problem.difference(expected)
        if wrong is None:
            runs[name] = loop(run, CLOCKS[clock])
        elif name in REQUIRED:
            raise SystemExit(f"{name}, {problem.name}: {wrong}")
        else:
            console.print(f"[yellow]{name} left out of {problem.name}: {wrong}[/]")
    return runs


def rate(problem: Problem, seconds: float) -> str:
    if problem.gigabytes:
        return f"{problem.gigabytes / seconds:.1f} GB/s"
    if problem.gigaflops:
        return f"{problem.gigaflops / seconds:.1f} Gop/s"
    return f"{seconds * 1e3:.1f} ms"


def verdict(seconds: dict[str, list[float]]) -> str:
    """Whether Samovar reaches C and leads the peers, each as far as the intervals can tell."""
    mine = seconds["Samovar"]
    behind = []
    for name, taken in seconds.items():
        if name == "Samovar":
            continue
        against: Ratio = ratio(taken, mine)
        if against.high < (TARGET if name == "C" else 1.0):
            behind.append(f"{name} {against}")
    return "behind " + ", ".join(behind) if behind else "ok"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(ALL), help="problems, comma-separated")
    parser.add_argument("--contenders", default=",".join(CONTENDERS), help="libraries, comma-separated")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: for a busy machine, with BENCH_THREADS=1")
    parser.add_argument("--quick", action="store_true", help="an eighth of the size and 7 rounds: a look, not a result")
    options = parser.parse_args()
    chosen = options.only.split(",")
    unknown = [name for name in chosen if name not in ALL]
    if unknown:
        parser.error(f"unknown problem {unknown[0]}; there are {', '.join(ALL)}")
    console = Console(width=150)
    wanted = [name for name in CONTENDERS if name in options.contenders.split(",") or name == "C"]
    tables = load(wanted, console)
    rounds, scale = (7, 0.125) if options.quick else (options.rounds, 1.0)

    table = Table(title=f"C time / contender's time, {THREADS} threads, {rounds} rounds, {options.clock} time")
    for heading in ("problem", "C", *[name for name in tables if name != "C"], "shortest", "verdict"):
        table.add_column(heading)
    results = {}
    for kernel in chosen:
        problem = ALL[kernel](scale)
        console.print(f"{problem.name} …")
        seconds = interleave(prepare(problem, kernel, tables, options.clock, console), rounds)
        cells = [str(ratio(seconds["C"], seconds[name])) if name in seconds else "–" for name in tables if name != "C"]
        outcome = verdict(seconds) if "Samovar" in seconds else "–"
        best = f"{min(seconds['C']) / min(seconds['Samovar']):.2f}" if "Samovar" in seconds else "–"
        table.add_row(problem.name, rate(problem, statistics.median(seconds["C"])), *cells, best, outcome)
        results[kernel] = seconds
    console.print(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(
        json.dumps(
            {
                "threads": THREADS,
                "rounds": rounds,
                "quick": options.quick,
                "clock": options.clock,
                "python": platform.python_version(),
                "machine": platform.processor() or platform.machine(),
                "seconds": results,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
