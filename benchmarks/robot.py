"""The robot of examples/, stepped by Samovar and by Quadrants: what a launch costs, and what a warm start costs.

    python benchmarks/robot.py [--steps 300] [--starts 7]

Quadrants runs the same text: only the import line is another one. Steps of both are taken by turns, in one process. The
warm start is measured in processes of its own, with a cache that an earlier one has filled: the time from the first launch
to the last of the first step, in which all 40 kernels are loaded.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from threads import THREADS  # isort: skip  (before anything that starts threads)

from rich.console import Console
from rich.table import Table

EXAMPLES = Path(__file__).parent.parent / "examples"
MODULES = ("robot_state", "robot_funcs", "robot_kernels")
COUNT = 16
KERNELS = 40

START = """
import sys, time
sys.path.insert(0, sys.argv[1])
from robot_kernels import Robot
from robot_state import new_state
robot = Robot(new_state(16), 16, dt=0.01)
begin = time.perf_counter()
robot.step()
taken = time.perf_counter() - begin
import samovar
print(taken, samovar.compile_count())
"""


def load(library: str) -> Any:
    """A robot of a library."""
    folder = Path(tempfile.mkdtemp(prefix="robot-"))
    for name in MODULES:
        text = (EXAMPLES / f"{name}.py").read_text().replace("import samovar as sv", f"import {library} as sv")
        (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    try:
        from robot_kernels import Robot
        from robot_state import new_state

        return Robot(new_state(COUNT), COUNT, dt=0.01)
    finally:
        sys.path.remove(str(folder))
        for name in MODULES:
            sys.modules.pop(name, None)


def robots(console: Console) -> dict[str, Any]:
    """The robots of the libraries that are installed, each stepped once."""
    found = {"Samovar": load("samovar")}
    try:
        import quadrants as qd

        qd.init(arch=qd.cpu, offline_cache=False, log_level=qd.ERROR)
        found["Quadrants"] = load("quadrants")
    except ImportError as error:
        console.print(f"[yellow]Quadrants left out: {error}[/]")
    for robot in found.values():
        robot.step()
    return found


def launches(found: dict[str, Any], steps: int) -> dict[str, list[float]]:
    """Seconds per launch of each step."""
    taken: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(steps):
        for name, robot in found.items():
            begin = time.perf_counter()
            robot.step()
            taken[name].append((time.perf_counter() - begin) / KERNELS)
    return taken


def starts(count: int) -> list[float]:
    """Seconds of warm starts."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": folder}
        seconds = []
        for number in range(count + 1):
            done = subprocess.run(
                [sys.executable, "-c", START, str(EXAMPLES)], env=environment, capture_output=True, text=True, check=True
            )
            taken, compiled = done.stdout.split()
            assert int(compiled) == (KERNELS if number == 0 else 0), done.stdout
            if number > 0:
                seconds.append(float(taken))
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--starts", type=int, default=7)
    options = parser.parse_args()
    console = Console(width=120)
    taken = launches(robots(console), options.steps)
    table = Table(title=f"µs per launch, {THREADS} threads, {options.steps} steps")
    for heading in ("library", "median", "least"):
        table.add_column(heading)
    for name, seconds in taken.items():
        table.add_row(name, f"{statistics.median(seconds) * 1e6:.2f}", f"{min(seconds) * 1e6:.2f}")
    console.print(table)
    if "Quadrants" in taken:
        ratio = statistics.median(taken["Quadrants"]) / statistics.median(taken["Samovar"])
        console.print(f"Quadrants takes {ratio:.0f} times as long")
    warm = starts(options.starts)
    console.print(
        f"warm start of {KERNELS} kernels: {statistics.median(warm) * 1e3:.1f} ms (median of {len(warm)}),"
        f" {min(warm) * 1e3:.1f} ms (least)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
