"""Where no compile worker can be started, kernels are compiled in the process, which says so once; the code is the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import samovar

#: Two kernels; `prevent` is what keeps workers from starting. Prints the warnings, the results and whether LLVM is here.
PROGRAM = """
import os, sys, warnings
import samovar as sv

{prevent}

@sv.kernel
def double(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] *= 2

@sv.kernel
def greatest(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    most = a[0]
    for i in range(a.shape[0]):
        sv.atomic_max(most, a[i])
    return most

a = sv.ndarray(sv.f32, 9)
a[4] = 3
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    {launch}
for each in said:
    print("warning", *str(each.message).splitlines(), each.filename, sep="|")
print(a[4], greatest(a), "llvmlite" in sys.modules)
"""
ONE_AFTER_THE_OTHER = "double(a); greatest(a)"
AT_ONCE = "sv.precompile([(double, a), (greatest, a)]); double(a)"


def run(prevent: str, launch: str = ONE_AFTER_THE_OTHER, **settings: object) -> list[str]:
    program = PROGRAM.format(prevent=prevent, launch=launch)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE": "0"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, **settings)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def script(path: Path, text: str) -> str:
    """A program that is called python and is none."""
    program = path / "python3"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o700)
    return f"sys.executable = {str(program)!r}"


FORBIDDEN = """
def hook(event, arguments):
    if event == "os.posix_spawn":
        raise PermissionError("not here")
sys.addaudithook(hook)
"""


@pytest.mark.parametrize("launch", [ONE_AFTER_THE_OTHER, AT_ONCE])
@pytest.mark.parametrize(
    ("prevent", "reason"),
    [
        ("sys.executable = ''", "sys.executable is '', which is not a Python interpreter"),
        ("sys.executable = None", "sys.executable is None, which is not a Python interpreter"),
        ("sys.executable = '/bin/cat'", "sys.executable is '/bin/cat', which is not a Python interpreter"),
        ("sys.executable = '/nowhere/python3'", "/nowhere/python3: No such file or directory"),
        ("sys.frozen = True", "which is not a Python interpreter"),
        (FORBIDDEN, "not here"),
    ],
)
def test_it_is_said_once_and_the_kernels_run(prevent: str, reason: str, launch: str) -> None:
    warning, results = run(prevent, launch)
    assert "|kernels are compiled in this process, because no compile worker can be started: " in f"|{warning[8:]}"
    assert reason in warning
    assert warning.endswith("|<string>")
    assert results == "6.0 6.0 True"


@pytest.mark.parametrize("launch", [ONE_AFTER_THE_OTHER, AT_ONCE])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exit 1", "it ended at once"),
        ("echo it cannot be >&2; exit 1", "it cannot be"),
        ("head -c 200 /dev/zero >&0; sleep 1", "is not a Python interpreter"),
    ],
)
def test_a_program_that_is_no_interpreter_is_found_out(tmp_path: Path, text: str, reason: str, launch: str) -> None:
    warning, results = run(script(tmp_path, text), launch)
    assert reason in warning
    assert results == "6.0 6.0 True"


def test_a_program_that_never_gets_ready_is_given_up(tmp_path: Path) -> None:
    prevent = script(tmp_path, "sleep 100") + "\nimport samovar.compiler.process as process\nprocess.START_SECONDS = 0.5"
    warning, results = run(prevent)
    assert "it was not ready after 0 seconds" in warning
    assert results == "6.0 6.0 True"


def test_no_more_processes_are_allowed() -> None:
    prevent = """
import resource
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
"""
    if os.geteuid() == 0 and not _is_readable_to_all():
        pytest.skip("nobody else can read the package")
    warning, results = run(prevent)
    assert "Resource temporarily unavailable" in warning
    assert results == "6.0 6.0 True"


def _is_readable_to_all() -> bool:
    places = [Path(name).resolve() for name in (sys.executable, samovar.__file__, sys.prefix, os.__file__)]
    return all(part.stat().st_mode & 0o005 == 0o005 for place in places for part in place.parents)


def test_log_level_error_leaves_it_unsaid() -> None:
    assert run("sys.executable = ''\nsv.init(log_level='error')") == ["6.0 6.0 True"]


def test_the_code_is_that_of_a_worker(tmp_path: Path) -> None:
    program = """
import sys
import samovar as sv
{prevent}

@sv.kernel
def sums(a: sv.types.NDArray[sv.f32, 2], out: sv.types.NDArray[sv.f32, 1]):
    for i in out:
        most = a[i, 0]
        for j in range(a.shape[1]):
            most = max(most, a[i, j] * 2)
            out[i] += sv.sin(a[i, j])
        out[i] += most

print(sums.inspect("asm", sv.ndarray(sv.f32, (3, 4)), sv.ndarray(sv.f32, 3)))
"""
    path = tmp_path / "program.py"
    printed = []
    for prevent in ("", "sys.executable = ''"):
        path.write_text(program.format(prevent=prevent))
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=True)
        printed.append(done.stdout)
    assert "samovar_entry:" in printed[0]
    assert printed[0] == printed[1]


def test_a_worker_of_another_installation_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "samovar"
    shutil.copytree(Path(samovar.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = """
import os, sys
sys.path.insert(0, sys.argv[1])
import samovar as sv

@sv.kernel
def one() -> sv.i32:
    return 1

@sv.kernel
def two() -> sv.i32:
    return 2

print(one())
from samovar.compiler import workers
workers.stop()
with open(sys.argv[2], "a") as file:
    file.write("# another one\\n")
try:
    two()
except sv.SamovarCompilationError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "copy"), str(copy / "backends" / "llvm" / "generate.py")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "SAMOVAR_OFFLINE_CACHE": "0"},
    )
    first, error, advice = done.stdout.splitlines()
    assert first == "1"
    assert error.startswith("Samovar or llvmlite was replaced while this process was running")
    assert "start the process again" in advice
