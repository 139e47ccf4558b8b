"""The simulations of examples/ on Samovar, Quadrants and Taichi: frames per second, in one run.

    python benchmarks/examples.py [--only sph,smoke] [--contenders Quadrants] [--rounds 11] [--quick] [--clock cpu]

All frameworks run the same text. Only the import lines differ, and they bring in the functions of each framework under
Samovar's names (benchmarks/contenders/spellings.py). First each framework draws its picture after a few frames, and the
pictures are compared; a framework with a different picture is left out. Then, in each round, all run the next few frames, in
shuffled order, and ratios are taken within the round. The figures go to out/examples.json.
"""

import argparse
import importlib
import json
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

from threads import THREADS  # isort: skip  (before anything that starts threads)

import numpy as np
from contenders.spellings import with_names
from pairs import PAUSE_SECONDS, ratio
from rich.console import Console
from rich.table import Table

EXAMPLES = Path(__file__).parent.parent / "examples"
OUTPUT = Path(__file__).parent.parent / "out" / "examples.json"
SIMULATIONS = ("smoke", "life", "nbody", "sph", "poisson", "mpm88", "cloth", "path_tracer", "lattice_boltzmann", "ropes")
SHARED = ("png", "pictures")
PEERS = ("Quadrants", "Taichi")

CHECKED_FRAMES = 4
SQUARE = 16  # pictures are compared by means of squares, so that random paths do not count
SAMPLE_SECONDS = 0.04  # of Samovar in a round
LONGEST_SECONDS = 1.0  # of anybody in a round
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def prepared(name: str) -> ModuleType:
    """A library, ready to run, under Samovar's names."""
    library = importlib.import_module(name.lower())
    if name == "Samovar":
        return library
    library.init(arch=library.cpu, cpu_max_num_threads=THREADS, fast_math=True, offline_cache=False, log_level=library.ERROR)
    return with_names(library)


ALIAS = "library_of_the_example"


def exchanged(text: str) -> str:
    """The text with another library: its import lines, and without what is there for type checkers, which they reject."""
    text = text.replace("import samovar as sv", f"import {ALIAS} as sv").replace("from samovar.math", f"from {ALIAS}.math")
    text = text.replace("from __future__ import annotations\n", "")
    text = re.sub(r"^if TYPE_CHECKING:\n((?:    (?:from|import) .*\n)+)", lambda found: dedent(found[1]), text, flags=re.M)
    of_func = re.compile(r": [^,)\n]+(?=[,)])| -> .*(?=:$)")
    text = re.sub(r"^@sv\.func\ndef .*:$", lambda found: of_func.sub("", found[0]), text, flags=re.M)
    return re.sub(r"^def .*:$", lambda line: re.sub(r": Any(?=[,)])| -> (?:Any|None)(?=:)", "", line[0]), text, flags=re.M)


def load(example: str, library: ModuleType) -> ModuleType:
    """An example on a library."""
    folder = Path(tempfile.mkdtemp(prefix="example-"))
    for name in (*SHARED, example):
        (folder / f"{name}.py").write_text(exchanged((EXAMPLES / f"{name}.py").read_text()))
    sys.modules.update({ALIAS: library, f"{ALIAS}.math": library.math})
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(example)
    finally:
        sys.path.remove(str(folder))
        for name in (*SHARED, example, ALIAS, f"{ALIAS}.math"):
            sys.modules.pop(name, None)


def picture(module: ModuleType) -> tuple[np.ndarray, float]:
    """What an example draws after a few frames, coarsely; and the seconds until then, most of which compile."""
    drawn: list[np.ndarray] = []
    module.pictures.save = lambda light, name: drawn.append(light.to_numpy())
    takes_steps = module.main.__code__.co_argcount > 0
    begin = time.perf_counter()
    module.main(CHECKED_FRAMES) if takes_steps else module.main()
    taken = time.perf_counter() - begin
    (light,) = drawn
    height, width = (extent // SQUARE * SQUARE for extent in light.shape[:2])
    squares = light[:height, :width].reshape(height // SQUARE, SQUARE, width // SQUARE, SQUARE, 3)
    return np.minimum(squares, 1.0).mean(axis=(1, 3)), taken


def race(simulations: dict[str, Iterator[Any]], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Seconds per frame of each in each round: the same frames for all of them."""

    def timed(frames: Iterator[Any], count: int) -> float:
        begin = clock()
        for _ in range(count):
            next(frames)
        return (clock() - begin) / count

    first = {name: (timed(frames, 1), timed(frames, 2))[1] for name, frames in simulations.items()}
    count = max(1, min(int(SAMPLE_SECONDS / first["Samovar"]), int(LONGEST_SECONDS / max(first.values()))))
    taken: dict[str, list[float]] = {name: [] for name in simulations}
    order, shuffle = list(simulations), random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            time.sleep(PAUSE_SECONDS)
            taken[name].append(timed(simulations[name], count))
    return taken


def compare(
    example: str, libraries: dict[str, ModuleType], rounds: int, clock: Callable[[], float], console: Console
) -> dict[str, Any]:
    """Seconds until the first picture and per frame, for each framework that draws the right one."""
    modules = {name: load(example, library) for name, library in libraries.items()}
    simulations, starts, expected = {}, {}, None
    for name, module in modules.items():
        try:
            found, starts[name] = picture(module)
        except Exception as error:
            if name == "Samovar":
                raise
            reason = str(error).strip().splitlines() or [type(error).__name__]
            console.print(f"[yellow]{example}: {name} does not run it: {reason[-1]}[/]")
            continue
        expected = found if expected is None else expected
        if np.abs(found - expected).mean() > 0.01:
            console.print(f"[yellow]{example}: {name} draws another picture ({np.abs(found - expected).mean():.3f} off)[/]")
            continue
        simulations[name] = module.frames()
    seconds = race(simulations, rounds, clock)
    return {"starts": starts, "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SIMULATIONS))
    parser.add_argument("--contenders", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    options = parser.parse_args()
    rounds, clock = 3 if options.quick else options.rounds, CLOCKS[options.clock]
    console = Console(width=120)
    libraries = {"Samovar": prepared("Samovar")}
    for name in filter(None, options.contenders.split(",")):
        try:
            libraries[name] = prepared(name)
        except ImportError as error:
            console.print(f"[yellow]{name} left out: {error}[/]")
    table = Table(title=f"frames per second ({options.clock} time, threads: {THREADS}); in brackets, Samovar's over it")
    for heading in ("example", *libraries):
        table.add_column(heading, justify="left" if heading == "example" else "right")
    results = {}
    for example in options.only.split(","):
        results[example] = found = compare(example, libraries, rounds, clock, console)
        seconds = found["seconds"]
        row = [example]
        for name in libraries:
            if name not in seconds:
                row.append("–")
                continue
            rate = f"{1 / statistics.median(seconds[name]):,.1f}"
            row.append(rate if name == "Samovar" else f"{rate} ({ratio(seconds[name], seconds['Samovar'])})")
        table.add_row(*row)
        console.print("  ".join(row))
    console.print(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps({"threads": THREADS, "examples": results}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
