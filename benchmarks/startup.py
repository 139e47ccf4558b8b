"""What it costs to start: importing the library, and 100 small kernels in a fresh process without any cache.

    python benchmarks/startup.py [--imports 41] [--kernels 100] [--quick] [--libraries "Samovar;Numba"]

Import: the wall time of an interpreter that imports the library minus that of a bare one, run in turn; median of the
differences. Kernels: a generated program defines and calls them; wall time of the whole process and, within it, from
the first import to the last result. HOME is a new empty directory each time, so no cache on disk can help.
The figures go to out/startup.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cold_program import DIALECTS, expected_checksum, program
from rich.console import Console
from rich.table import Table

OUTPUT = Path(__file__).parent.parent / "out" / "startup.json"
IMPORTS = {
    "Samovar": "import samovar",
    "Samovar, precompile": "import samovar",
    "Numba": "import numba",
    "Warp": "import warp; warp.config.quiet = True; warp.init()",
    "Quadrants": "import quadrants; quadrants.init(arch=quadrants.cpu)",
    "Taichi": "import taichi; taichi.init(arch=taichi.cpu)",
}


def wall(arguments: list[str], home: str) -> tuple[float, str]:
    """Wall seconds of an interpreter with these arguments, and what it printed."""
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    taken = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return taken, done.stdout


def installed(libraries: list[str], console: Console) -> list[str]:
    """The libraries that can be imported; a peer that cannot is named and left out. Also compiles their bytecode."""
    present = []
    for library in libraries:
        done = subprocess.run([sys.executable, "-c", IMPORTS[library]], capture_output=True, text=True)
        if done.returncode == 0:
            present.append(library)
        elif library.startswith("Samovar"):
            raise SystemExit(done.stderr)
        else:
            console.print(f"[yellow]{library} left out: {done.stderr.strip().splitlines()[-1]}[/]")
    return present


def import_seconds(library: str, runs: int) -> list[float]:
    """The differences between importing and not importing, each of two runs in turn."""
    differences = []
    with tempfile.TemporaryDirectory() as home:
        wall(["-c", IMPORTS[library]], home)
        for _ in range(runs):
            bare, _ = wall(["-c", "pass"], home)
            loaded, _ = wall(["-c", IMPORTS[library]], home)
            differences.append(loaded - bare)
    return differences


def kernel_seconds(library: str, kernels: int) -> tuple[float, float]:
    """Wall seconds of a cold process and the seconds it measured itself."""
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "program.py"
        path.write_text(program(library, kernels))
        taken, printed = wall([str(path)], home)
    measured = next(line for line in printed.splitlines() if line.startswith("measured")).split()
    checksum, expected = float(measured[2]), expected_checksum(kernels)
    if abs(checksum - expected) > 1e-5 * abs(expected):
        raise SystemExit(f"{library}: the checksum of {kernels} kernels is {checksum}, expected {expected}")
    return taken, float(measured[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imports", type=int, default=41, help="pairs of interpreters of Samovar, a quarter of peers")
    parser.add_argument("--repeats", type=int, default=5, help="cold processes for Samovar; peers get one")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="7 imports, 20 kernels: a look, not a result")
    parser.add_argument("--libraries", default=";".join(DIALECTS), help="separated by semicolons")
    options = parser.parse_args()
    imports, kernels = (7, 20) if options.quick else (options.imports, options.kernels)
    console = Console(width=150)

    table = Table(title=f"Start-up; {kernels} kernels cold")
    for heading in ("library", "import over bare interpreter", "kernels, whole process", "kernels, in process"):
        table.add_column(heading, justify="right")
    results = {}
    for library in installed([name for name in DIALECTS if name in options.libraries.split(";")], console):
        own = library.startswith("Samovar")
        loading = import_seconds(library, imports if own else max(3, imports // 4))
        cold = [kernel_seconds(library, kernels) for _ in range(options.repeats if own else 1)]
        whole, inside = (statistics.median(column) for column in zip(*cold, strict=True))
        table.add_row(library, f"{statistics.median(loading) * 1e3:.1f} ms", f"{whole:.2f} s", f"{inside:.2f} s")
        results[library] = {"import": loading, "cold": cold}
    console.print(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps({"kernels": kernels, "seconds": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
