"""What it costs to start: importing the library, and 100 small kernels in a fresh process, without and with a cache.

    python benchmarks/startup.py [--imports 41] [--kernels 100] [--scale 1000,5000] [--quick] [--libraries "Samovar;Numba"]

Import: the time of an interpreter that imports the library minus that of a bare one, in turn; median of the differences.
Kernels: a generated program defines and calls them; the time of the whole process and, within it, from the first import to
the last result. HOME is a new empty directory each time, so no cache on disk can help. Warm: the same program, run again and
again with the cache that its first run has filled; libraries take turns. `--scale` repeats the warm runs of Samovar with
more kernels. Wall time is what counts; processor time (with that of worker processes) tells on a busy machine what an idle
one would need. The figures go to out/startup.json.
"""

import argparse
import contextlib
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import figures
import warm_start
from cold_program import DIALECTS, expected_checksum, program
from rich.console import Console
from rich.table import Table
from warm_start import WarmProgram

IMPORTS = {
    "Samovar": "import samovar",
    "Samovar, precompile": "import samovar",
    "Numba": "import numba",
    "Warp": "import warp; warp.config.quiet = True; warp.init()",
    "Quadrants": "import quadrants; quadrants.init(arch=quadrants.cpu)",
    "Taichi": "import taichi; taichi.init(arch=taichi.cpu)",
}


@dataclass(frozen=True)
class Run:
    """One interpreter from start to end: wall and processor seconds, and what it printed."""

    wall: float
    processor: float
    printed: str


def adopt_orphans() -> None:
    """Make what children have started, and not waited for, children of this process: compile workers outlive the program
    that they work for by a moment."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def processor_seconds() -> float:
    """What all children have used so far; waits until they have ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def interpreter(arguments: list[str], home: str) -> Run:
    """Run an interpreter with these arguments."""
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
    # Bytecode is kept, as it is on any machine where a program starts twice.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    used, begin = processor_seconds(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    taken = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return Run(taken, processor_seconds() - used, done.stdout)


def installed(libraries: list[str], console: Console) -> list[str]:
    """The libraries that can be imported; the others are named and left out. Also compiles their bytecode."""
    present = []
    for library in libraries:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run([sys.executable, "-c", IMPORTS[library]], capture_output=True, text=True, env=environment)
        if done.returncode == 0:
            present.append(library)
        elif library.startswith("Samovar"):
            raise SystemExit(done.stderr)
        else:
            console.print(f"[yellow]{library} left out: {done.stderr.strip().splitlines()[-1]}[/]")
    return present


def import_seconds(library: str, runs: int) -> list[tuple[float, float]]:
    """The differences between importing and not importing, each of two runs in turn: wall, processor."""
    differences = []
    with tempfile.TemporaryDirectory() as home:
        interpreter(["-c", IMPORTS[library]], home)
        for _ in range(runs):
            bare = interpreter(["-c", "pass"], home)
            loaded = interpreter(["-c", IMPORTS[library]], home)
            differences.append((loaded.wall - bare.wall, loaded.processor - bare.processor))
    return differences


def kernel_seconds(library: str, kernels: int, home: str) -> tuple[float, float, float]:
    """A cold process: wall seconds, processor seconds, and the wall seconds it measured itself."""
    path = Path(home) / "program.py"
    path.write_text(program(library, kernels))
    run = interpreter([str(path)], home)
    measured = next(line for line in run.printed.splitlines() if line.startswith("measured")).split()
    checksum, expected = float(measured[2]), expected_checksum(kernels)
    if abs(checksum - expected) > 1e-5 * abs(expected):
        raise SystemExit(f"{library}: the checksum of {kernels} kernels is {checksum}, expected {expected}")
    return run.wall, run.processor, float(measured[1])


def warm_seconds(libraries: list[str], kernels: int, repeats: int) -> dict[str, dict[str, float]]:
    """Warm processes of each library, by turns."""

    with contextlib.ExitStack() as homes:
        programs = [
            WarmProgram(library, kernels, homes.enter_context(tempfile.TemporaryDirectory()), interpreter)
            for library in libraries
        ]
        for each in programs:
            each.once()  # what only the second run writes (bytecode, for one) is there then
        rows: dict[str, list[dict[str, float]]] = {each.library: [] for each in programs}
        for _ in range(repeats):
            for each in programs:
                rows[each.library].append(each.once())
    return {library: warm_start.medians(found) for library, found in rows.items()}


def medians(rows: list[tuple[float, ...]]) -> list[float]:
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imports", type=int, default=41, help="pairs of interpreters of Samovar, a quarter of the others")
    parser.add_argument("--repeats", type=int, default=5, help="cold processes for Samovar; the others get one")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--warm", type=int, default=11, help="warm processes of each library")
    parser.add_argument("--scale", default="", help="also this many kernels warm, Samovar alone: 1000,5000")
    parser.add_argument("--only-warm", action="store_true")
    parser.add_argument("--quick", action="store_true", help="7 imports, 20 kernels: a look, not a result")
    parser.add_argument("--libraries", default=";".join(DIALECTS), help="separated by semicolons")
    options = parser.parse_args()
    imports, kernels = (7, 20) if options.quick else (options.imports, options.kernels)
    console = Console(width=150)
    adopt_orphans()

    table = Table(title=f"Start-up; {kernels} kernels cold")
    for heading in ("library", "import over bare, wall", "processor", "kernels, wall", "processor", "wall within"):
        table.add_column(heading, justify="right")
    results: dict[str, Any] = {}
    libraries = installed([name for name in DIALECTS if name in options.libraries.split(";")], console)
    for library in [] if options.only_warm else libraries:
        own = library.startswith("Samovar")
        loading = import_seconds(library, imports if own else max(3, imports // 4))
        # What was written stays until all is measured: file systems are slow to make files where some were removed lately.
        with contextlib.ExitStack() as homes:
            cold = [
                kernel_seconds(library, kernels, homes.enter_context(tempfile.TemporaryDirectory()))
                for _ in range(options.repeats if own else 1)
            ]
        cells = [f"{seconds * 1e3:.1f} ms" for seconds in medians(loading)]
        table.add_row(library, *cells, *(f"{seconds:.2f} s" for seconds in medians(cold)))
        results[library] = {"import": loading, "cold": cold}
    if not options.only_warm:
        console.print(table)
    warm = {}
    for count in (kernels, *map(int, filter(None, options.scale.split(",")))):
        wanted = [name for name in libraries if name != "Samovar, precompile"] if count == kernels else ["Samovar"]
        warm[count] = warm_seconds(wanted, count, options.warm)
        console.print(warm_start.table_of(warm[count], count))
    figures.write("startup", {"kernels": kernels, "seconds": results, "warm": warm})
    return 0


if __name__ == "__main__":
    sys.exit(main())
