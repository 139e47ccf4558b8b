"""Imports that are killed, and imports at the same time."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command_line import data, environment, run_program, succeeds

MANY = """
import samovar as sv

@sv.kernel
def add(number: sv.Template) -> sv.i32:
    return number + 1

@sv.kernel
def subtract(number: sv.Template) -> sv.i32:
    return number - 1

assert all((add(n), subtract(n)) == (n + 1, n - 1) for n in range(25))
print(sv.compile_count())
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A program with fifty artifacts, and a bundle of them."""
    directory = tmp_path_factory.mktemp("many")
    program, bundle = directory / "many.py", directory / "many.samovar"
    program.write_text(MANY)
    # The warning about so many specializations is meant for people.
    assert run_program(program, directory / "store", SAMOVAR_LOG_LEVEL="error") == "50\n"
    succeeds("cache", "export", bundle, directory=directory / "store")
    return program, bundle


def begin_import(bundle, directory):
    command = [sys.executable, "-m", "samovar", "cache", "import", str(bundle), "--yes"]
    return subprocess.Popen(command, env=environment(directory), stdout=subprocess.DEVNULL)


def files(directory):
    return sum(len(names) for _, _, names in os.walk(directory))


@pytest.mark.parametrize("enough", [1, 20, 55, 80, 100])
def test_an_import_that_is_killed_leaves_a_store_that_works(many, tmp_path, enough):
    program, bundle = many
    fresh = tmp_path / "fresh"
    with begin_import(bundle, fresh) as process:
        end = time.monotonic() + 60
        while files(fresh) < enough and process.poll() is None and time.monotonic() < end:
            pass
        process.send_signal(signal.SIGKILL)
    found = data("cache", "verify", directory=fresh)
    assert (found["damaged"], found["findings"]) == (0, [])
    imported = data("cache", "import", bundle, "--yes", directory=fresh)
    assert imported["new"] + imported["known"] == 50
    assert run_program(program, fresh) == "0\n"


def test_several_processes_may_import_at_once(many, tmp_path):
    program, bundle = many
    fresh = tmp_path / "fresh"
    processes = [begin_import(bundle, fresh) for _ in range(4)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 4
    assert data("cache", "verify", directory=fresh)["findings"] == []
    assert run_program(program, fresh) == "0\n"
