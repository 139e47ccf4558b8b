"""Programs with kernels and the command line, each in a process of its own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import samovar

SOURCES = str(Path(samovar.__file__).parent.parent)

#: Four artifacts of two kernels: `scale` for f32 and for f64, and for another value of a constant.
PROGRAM = """
import sys
import samovar as sv

FACTOR = 3

@sv.kernel
def scale(a: sv.types.NDArray, by: sv.f32):
    for i in a:
        a[i] *= by * FACTOR

@sv.kernel
def two() -> sv.i32:
    return 2

def filled(dtype):
    a = sv.ndarray(dtype, 8)
    a.fill(2)
    return a

single, double = filled(sv.f32), filled(sv.f64)
scale(single, 1.5)
scale(double, 1.5)
FACTOR = 4
scale(double, 1.5)
number = two()
print(sv.compile_count(), single[7], double[7], number)
"""
#: The command line, for which the disk is full where a file gets too large.
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
from samovar.cli import main
raise SystemExit(main())
"""
COLD, WARM = "4 9.0 54.0 2\n", "0 9.0 54.0 2\n"


def environment(directory: Path | str, **variables: str) -> dict[str, str]:
    """The environment of a process that keeps kernels in a directory."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("SAMOVAR_")}
    return {**found, "PYTHONPATH": SOURCES, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory), **variables}


def run_program(path: Path, directory: Path, **variables: str) -> str:
    """What a program prints."""
    command = [sys.executable, str(path)]
    done = subprocess.run(command, env=environment(directory, **variables), capture_output=True, text=True, check=True)
    return done.stdout


def samovar_command(
    *arguments: Any,
    directory: Path,
    variables: dict[str, str] | None = None,
    cwd: Path | None = None,
    largest_file: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """The command line, on a directory that the environment names; in a process that can write files up to a size."""
    program = ["-m", "samovar"] if largest_file is None else ["-c", LIMITED.format(largest_file)]
    return subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        env=environment(directory, **(variables or {})),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def succeeds(*arguments: Any, directory: Path, **options: Any) -> str:
    """What a command prints that must not fail."""
    done = samovar_command(*arguments, directory=directory, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def data(*arguments: Any, directory: Path, code: int = 0) -> Any:
    """What a command prints with `--json`."""
    done = samovar_command(*arguments, "--json", directory=directory)
    assert (done.returncode, done.stderr) == (code, "")
    return json.loads(done.stdout)


def at_a_terminal(*arguments: Any, directory: Path, answer: str = "", columns: int = 200) -> tuple[int, str]:
    """The exit code and all that is shown of a command whose streams are a terminal, where somebody answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "samovar", *map(str, arguments)]
    shown_as = environment(directory, TERM="xterm", COLUMNS=str(columns))
    with subprocess.Popen(command, env=shown_as, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the terminal is gone with the last process that has it
            pass
        os.close(ours)
    return process.returncode, shown.decode()


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def entries(directory: Path, kind: str) -> list[Path]:
    """The files of the entries of a kind."""
    return sorted(directory.glob(f"v*/{kind}/*"))
