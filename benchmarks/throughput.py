"""Throughput of Samovar, C with OpenMP, Numba, Quadrants, Warp and Taichi in one run, on the same buffers.

    python benchmarks/throughput.py [--only axpy,dot] [--family sweeps,triangular] [--contenders Numba,Warp]
                                    [--rounds 25] [--quick] [--clock cpu]

The family `basic` has eleven loops for every contender (`problems.py`). All other families are for C, Samovar and Numba, one
`.py` and one `.c` file each in `throughput_kernels`; `--list` prints the names of their loops:

    linear_algebra, images, stencils, particles, reductions, elements, integers, structures
    triangular           factorizations, substitution, symmetric products, Gram-Schmidt
    small_systems        6×6 Cholesky and LDLᵀ, 4×4 inverse, 3×3 eigenvalues, tridiagonal systems, one per iteration
    sweeps               red-black, SOR, Gauss-Seidel, alternating directions, fast sweeping, in place
    dynamic_programming  longest common subsequence, time warping, alignment, folding, knapsack, shortest paths
    serial_nests         loops in order: time steps over grids, conjugate gradient, Fourier transform, sieve
    sums_into_arrays     `c[i, j] += …` in the innermost loop; rows and tables that all iterations add to
    pairs                sums over pairs i < j, forces on both partners, histogram of distances
    cells                neighbor lists, cell lists, deposits, interpolation under a condition
    sparse_rows          CSR, CSC, ELL and COO products, sparse triangular solves, sums over graphs
    filters              convolution of any size, bilateral, median, running mean, pooling, recursive filters
    conditions           borders, limits and sides by `if`, points in a box and in a polygon, error diffusion
    searches             binary search, bisection, Newton until small, nearest, argmax, sort, pattern
    time_steps           exp, log, sin and pow inside escape-time and time-step loops
    statistics           layer norm, batch norm, gates, cross entropy, histogram with weights, prefix sums, ranks
    textbook             subset sum, coins, smoothing, transforms, tables, divisors, automata, bands, elimination
    choices              extremes by if, a sorting network, the cheapest split, mismatches up to a limit

Every result is compared with NumPy's before anything is timed. A ratio is C's time over the contender's, taken within
each round: 1.00 is as fast as C, above is faster. The bracket is the 95 % bootstrap interval of the median; `shortest` is
the ratio of the shortest runs of C and Samovar, which says more on a machine that others use.
The figures go to out/throughput.json.
"""

import argparse
import importlib
import statistics
import sys
import time

from threads import THREADS  # isort: skip  (before anything that starts threads)

import figures
from pairs import Ratio, interleave, loop, ratio
from problems import PROBLEMS, Problem
from rich.console import Console
from rich.table import Table
from throughput_kernels import FAMILIES

CONTENDERS = ("C", "Samovar", "Numba", "Quadrants", "Warp", "Taichi")
REQUIRED = ("C", "Samovar")
TARGET = 0.95
#: The problems by family. The basic ones have a text for every contender, the others for C, Samovar and Numba.
BY_FAMILY = {
    "basic": PROBLEMS,
    **{family: {name: entry.problem for name, entry in entries.items()} for family, entries in FAMILIES.items()},
}
ALL = {name: problem for problems in BY_FAMILY.values() for name, problem in problems.items()}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def load(names: list[str], console: Console) -> dict[str, dict]:
    """The kernel tables of the contenders that are installed; the others are named and left out."""
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
    return f"{seconds * 1e3:.3g} ms"


def verdict(seconds: dict[str, list[float]]) -> str:
    """Whether Samovar reaches C and is ahead of the other libraries, as far as the intervals can tell."""
    mine = seconds["Samovar"]
    behind = []
    for name, taken in seconds.items():
        if name == "Samovar":
            continue
        against: Ratio = ratio(taken, mine)
        if against.high < (TARGET if name == "C" else 1.0):
            behind.append(f"{name} {against}")
    return "behind " + ", ".join(behind) if behind else "ok"


def choose(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """The problems that the command line names, one by one or by family; all of them if it names none."""
    families = options.family.split(",") if options.family else []
    names = options.only.split(",") if options.only else []
    for kind, wanted, known in (("family", families, BY_FAMILY), ("problem", names, ALL)):
        unknown = [name for name in wanted if name not in known]
        if unknown:
            parser.error(f"unknown {kind} {unknown[0]}; there are {', '.join(known)}")
    chosen = [name for family in families for name in BY_FAMILY[family]] + names
    return list(dict.fromkeys(chosen)) or list(ALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="problems, comma-separated")
    parser.add_argument("--family", default="", help="families of problems, comma-separated")
    parser.add_argument("--list", action="store_true", help="print the problems of each family, and run nothing")
    parser.add_argument("--contenders", default=",".join(CONTENDERS), help="libraries, comma-separated")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: for a busy machine, with BENCH_THREADS=1")
    parser.add_argument("--quick", action="store_true", help="an eighth of the size and 7 rounds: a look, not a result")
    options = parser.parse_args()
    if options.list:
        for family, problems in BY_FAMILY.items():
            print(f"{family}: {', '.join(problems)}")
        return 0
    chosen = choose(parser, options)
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
    about = {"threads": THREADS, "rounds": rounds, "quick": options.quick, "clock": options.clock}
    figures.write("throughput", {**about, "seconds": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
