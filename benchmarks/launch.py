"""What one launch of a 16-element kernel costs: Samovar, Numba's serial `njit`, Warp, Quadrants and Taichi in one run.

    python benchmarks/launch.py [--rounds 25] [--quick] [--libraries "Numba;Warp"] [--compound] [--views]

Every call is checked, then timed in interleaved rounds; arrays exist beforehand, the statement is the call alone. The
last column is Samovar's time over Numba's on the same NumPy arrays, round by round, with a 95 % bootstrap interval;
at most 1.00 is the aim. The figures go to out/launch.json.

`--compound` times arrays in a dataclass and in a `data_oriented` object instead, and compares with Quadrants: how many
times as long it takes; at least 25 with 100 arrays is the aim. Those figures go to out/launch_compound.json.

A second table has a row for each way to give a view of an array, and how many times as long as the array itself it takes; at
most 1.2 for a view is the aim. `--views` shows this table alone. Its figures go to out/launch_views.json.
"""

import argparse
import statistics
import sys
import timeit
from collections.abc import Callable
from typing import Any

from threads import THREADS  # isort: skip  (before anything that starts threads)

import figures
import launch_compound
import numpy as np
from launch_calls import LIBRARIES, ONE_ARRAY, POSITIONAL, VIEWS, WITH_VIEWS, Cases, Statement
from pairs import Timed, interleave, ratio
from rich.console import Console
from rich.table import Table

SIZE = 16
ARRAYS = 10
SAMPLE_SECONDS = 0.004
AIM = ("Samovar, NumPy arrays", "Numba")


def load(makers: dict[str, Callable[[list[np.ndarray]], Cases]], names: list[str], console: Console) -> dict[str, Cases]:
    """The cases of the libraries that are installed; the others are named and left out."""
    loaded = {}
    for name in (name for name in makers if name in names):
        arrays = [np.full(SIZE, 1.0 if k == 0 else 0.0, dtype=np.float32) for k in range(ARRAYS)]
        arrays[1][...] = 1.0
        try:
            loaded[name] = makers[name](arrays)
        except ImportError as error:
            if name.startswith("Samovar"):
                raise
            console.print(f"[yellow]{name} left out: {error}[/]")
    return loaded


def contents(array: Any) -> np.ndarray:
    """A copy of what is in an array of any of the libraries."""
    for reader in ("to_numpy", "numpy"):
        if hasattr(array, reader):
            return np.array(getattr(array, reader)())
    return np.array(array)


def timed(name: str, case: str, statement: Statement) -> Timed:
    """The statement as a timer, after it was seen to add one to each element."""
    timer = timeit.Timer(statement.code, globals=statement.names)
    target = statement.names["a"]
    before = contents(target)
    timer.timeit(1)
    after = contents(target)
    if not np.array_equal(after, before + 1):
        raise SystemExit(f"{name}, {case}: {before} became {after}, which is not one more")
    return timer.timeit


def compound(console: Console, names: list[str], rounds: int) -> int:
    """The table of compound arguments."""
    loaded = {}
    for name in (name for name in launch_compound.LIBRARIES if name in names):
        try:
            loaded[name] = launch_compound.LIBRARIES[name]()
        except ImportError as error:
            if name.startswith("Samovar"):
                raise
            console.print(f"[yellow]{name} left out: {error}[/]")
    own, peer = "Samovar, own arrays", "Quadrants"
    table = Table(title=f"µs per launch, {SIZE} elements, compound arguments, median of {rounds} rounds")
    for heading in ("call", *loaded, f"{peer} / {own}"):
        table.add_column(heading)
    results = {}
    for case in launch_compound.ORDER:
        ready = {name: timed(name, case, cases[case]) for name, cases in loaded.items() if case in cases}
        seconds = interleave(ready, rounds, pause_seconds=0.0, sample_seconds=SAMPLE_SECONDS)
        cells = [f"{statistics.median(seconds[name]) * 1e6:.3f}" if name in seconds else "–" for name in loaded]
        both = own in seconds and peer in seconds
        table.add_row(case, *cells, str(ratio(seconds[peer], seconds[own])) if both else "–")
        results[case] = seconds
    console.print(table)
    figures.write("launch_compound", {"threads": THREADS, "rounds": rounds, "seconds": results})
    return 0


def views(console: Console, names: list[str], rounds: int) -> None:
    """The table of views: each library beside itself with an array."""
    table = Table(title=f"µs per launch, {SIZE} elements, views, median of {rounds} rounds; in brackets: times an array")
    loaded = load(WITH_VIEWS, names, console)
    for heading in ("call", *loaded):
        table.add_column(heading)
    results = {}
    for name, cases in loaded.items():
        ready = {case: timed(name, case, statement) for case, statement in cases.items()}
        results[name] = interleave(ready, rounds, pause_seconds=0.0, sample_seconds=SAMPLE_SECONDS)
    for case in VIEWS:
        cells = []
        for seconds in results.values():
            times = ratio(seconds[case], seconds[ONE_ARRAY]) if case in seconds else None
            cells.append("–" if times is None else f"{statistics.median(seconds[case]) * 1e6:.3f} ({times})")
        table.add_row(case, *cells)
    console.print(table)
    figures.write("launch_views", {"threads": THREADS, "rounds": rounds, "seconds": results})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--quick", action="store_true", help="7 rounds: a look, not a result")
    parser.add_argument("--libraries", default=";".join(LIBRARIES), help="libraries, separated by semicolons")
    parser.add_argument("--compound", action="store_true", help="dataclasses and data_oriented objects")
    parser.add_argument("--views", action="store_true", help="views of arrays alone")
    options = parser.parse_args()
    console = Console(width=150)
    rounds = 7 if options.quick else options.rounds
    if options.compound:
        return compound(console, options.libraries.split(";"), rounds)
    if options.views:
        views(console, options.libraries.split(";"), rounds)
        return 0
    loaded = load(LIBRARIES, options.libraries.split(";"), console)

    table = Table(title=f"µs per launch, {SIZE} elements, median of {rounds} rounds")
    for heading in ("call", *loaded, "Samovar / Numba"):
        table.add_column(heading)
    results = {}
    for case in POSITIONAL:
        ready = {name: timed(name, case, cases[case]) for name, cases in loaded.items() if case in cases}
        seconds = interleave(ready, rounds, pause_seconds=0.0, sample_seconds=SAMPLE_SECONDS)
        cells = [f"{statistics.median(seconds[name]) * 1e6:.3f}" if name in seconds else "–" for name in loaded]
        both = all(name in seconds for name in AIM)
        table.add_row(case, *cells, str(ratio(seconds[AIM[0]], seconds[AIM[1]])) if both else "–")
        results[case] = seconds
    console.print(table)
    figures.write("launch", {"threads": THREADS, "rounds": rounds, "seconds": results})
    views(console, options.libraries.split(";"), rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
