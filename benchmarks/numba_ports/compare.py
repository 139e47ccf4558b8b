"""All programs under Numba and under Samovar: what had to change, whether results are equal, times of both.

    python benchmarks/numba_ports/compare.py [--only kmeans,queens] [--scale 1] [--rounds 5] [--write]

Each program runs in a new process per compiler, with empty caches and one thread; what is serial stays serial. Times are
processor time: the first call compiles, the second one is the fastest of the later calls. `--write` puts the table into
docs/moving/from-numba.md.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from porting import EDITS, names, original, ported

PAGE = Path(__file__).parents[2] / "docs" / "moving" / "from-numba.md"
BEGIN, END = "<!-- numba_ports: begin -->", "<!-- numba_ports: end -->"


def run_here(arm: str, name: str, scale: int, rounds: int) -> tuple[list[Any], list[float]]:
    """Run a program in this process, from the current folder; returns the results of the first call and all times."""
    if arm == "samovar":
        import samovar as sv

        is_fast = "fastmath=True" in original(name)
        cache = str(Path.cwd() / "cache")
        sv.init(num_threads=1, default_fp=sv.f64, default_ip=sv.i64, fast_math=is_fast, offline_cache_file_path=cache)
    module = importlib.import_module(f"{name}_{arm}")
    given = module.arguments(scale)
    results: list[Any] = []
    times = []
    for call in range(rounds + 1):
        arguments = copy.deepcopy(given)
        begin = time.process_time()
        returned = module.main(*arguments)
        times.append(time.process_time() - begin)
        if call == 0:
            results = [returned, *(each for each in arguments if isinstance(each, np.ndarray))]
    return results, times


def run(arm: str, name: str, scale: int, rounds: int) -> tuple[list[Any], list[float]] | str:
    """Run a program in a process of its own; returns the last line of the message if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{name}_{arm}.py").write_text(original(name) if arm == "numba" else ported(name))
        answer = Path(folder, "answer")
        command = [sys.executable, __file__, "--run", arm, name, str(answer), "--scale", str(scale), "--rounds", str(rounds)]
        places = os.pathsep.join([folder, str(Path(__file__).parent)])
        environment = os.environ | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": places}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        found: tuple[list[Any], list[float]] = pickle.loads(answer.read_bytes())
        return found


def equality(name: str, ours: list[Any], theirs: list[Any]) -> str:
    """How close the results are: "yes", or what differs."""
    sys.path.insert(0, str(Path(__file__).parent / "programs"))
    agree = getattr(importlib.import_module(name), "agree", None)
    if agree is not None:
        return "own random numbers, same statistics" if agree(ours, theirs) else "**no**"
    differing = total = 0
    for one, two in zip(ours, theirs, strict=True):
        if one is None and two is None:
            continue
        same = np.isclose(np.asarray(one), np.asarray(two), rtol=1e-9, atol=1e-12, equal_nan=True)
        total += same.size
        differing += same.size - int(same.sum())
    return "yes" if not differing else f"all but {differing} of {total:,} values"


def changes(name: str) -> str:
    lines = len(EDITS.get(name, ()))
    return f"and {lines} line{'s' * (lines != 1)}" if lines else "imports, decorators"


def row(name: str, scale: int, rounds: int) -> str:
    outcomes = {arm: run(arm, name, scale, rounds) for arm in ("numba", "samovar")}
    for arm, outcome in outcomes.items():
        if isinstance(outcome, str):
            print(f"{name} under {arm}:\n{outcome}", file=sys.stderr)
    numba, samovar = outcomes["numba"], outcomes["samovar"]
    if isinstance(numba, str) or isinstance(samovar, str):
        return f"| {name.replace('_', ' ')} | {changes(name)} | **fails** | | | | |"
    first = [1e3 * each[1][0] for each in (numba, samovar)]
    later = [1e3 * min(each[1][1:]) for each in (numba, samovar)]
    times = f"{first[0]:.0f} | {first[1]:.0f} | {later[0]:.3f} | {later[1]:.3f}"
    return f"| {name.replace('_', ' ')} | {changes(name)} | {equality(name, samovar[0], numba[0])} | {times} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        arm, name, answer = options.run
        Path(answer).write_bytes(pickle.dumps(run_here(arm, name, options.scale, options.rounds)))
        return
    lines = [
        "| program | what had to change | equal | Numba, first call | Samovar, first call | Numba, later | Samovar, later |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    print("\n".join(lines))
    for name in options.only.split(",") if options.only else names():
        lines.append(row(name, options.scale, options.rounds))
        print(lines[-1], flush=True)
    if options.write:
        text = PAGE.read_text()
        before, rest = text.split(BEGIN)
        table = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
