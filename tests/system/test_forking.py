"""Children that are forked while another thread imports something, and launches in the hooks of a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPORTS = """
import os, signal, sys, threading
import samovar

sys.begun = threading.Event()

def load():
    import slowly_made
    return slowly_made.value

thread = threading.Thread(target=load)
thread.start()
sys.begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(load())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
print(load())
"""


def output_of(program: str, *arguments: str, path: Path) -> str:
    """What a program prints in a process of its own, whose cache is its own too; it must not complain."""
    file = path / "program.py"
    file.write_text(program)
    settings = {**os.environ, "PYTHONPATH": str(path), "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(path / "cache")}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=settings, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_child_begins_an_import_anew(tmp_path: Path) -> None:
    (tmp_path / "slowly_made.py").write_text("import sys, time\nsys.begun.set()\ntime.sleep(1)\nvalue = 3\n")
    assert output_of(IMPORTS, path=tmp_path) == "3\n3\n"


LAUNCHES = """
import importlib.machinery, os, signal, sys, threading, time
import samovar as sv

@sv.kernel
def increment(a: sv.types.ndarray()):
    for i in a:
        a[i] += 1.0

a = sv.ndarray(sv.f64, 4)
_, module, moment = sys.argv
if moment == "never":
    increment(sv.ndarray(sv.f32, 4))
    increment(a)
    sys.exit()
entered = threading.Event()

class Slow(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        if moment == "loading":
            entered.set()
            time.sleep(0.5)
        return super().get_code(name)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != module:
            return None
        if moment == "finding" and not entered.is_set():
            entered.set()
            time.sleep(0.5)
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        found.loader = Slow(name, found.origin)
        return found

sys.meta_path.insert(0, Finder())
thread = threading.Thread(target=increment, args=(a,))
thread.start()
assert entered.wait(20), "a launch from the cache does not import this module"
child = os.fork()
if child == 0:
    signal.alarm(60)
    increment(a)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
"""


@pytest.mark.parametrize("moment", ["finding", "loading"])
def test_a_child_launches_though_another_thread_imports_what_a_first_launch_needs(moment: str, tmp_path: Path) -> None:
    output_of(LAUNCHES, "", "never", path=tmp_path)
    assert output_of(LAUNCHES, "samovar.lens.asking", moment, path=tmp_path) == "0\n"


HOOKS = """
import os, signal, sys

def launch(name):
    print(name, made(name), flush=True)

for moment in ("before", "after_in_parent", "after_in_child"):
    os.register_at_fork(**{moment: lambda moment=moment: launch("first " + moment)})

import samovar as sv
if "without workers" in sys.argv:
    sys.executable = ""

def made(name):
    number = len(name)
    @sv.kernel
    def kernel() -> sv.i32:
        return number
    return kernel()

for moment in ("before", "after_in_parent", "after_in_child"):
    os.register_at_fork(**{moment: lambda moment=moment: launch("last " + moment)})
signal.alarm(60)
child = os.fork()
if child == 0:
    signal.alarm(60)
    launch("child")
    os._exit(0)
os.waitpid(child, 0)
launch("parent")
"""
MOMENTS = ["last before", "first before", "first after_in_child", "last after_in_child", "child"]


def test_hooks_of_a_fork_may_compile_and_launch(tmp_path: Path) -> None:
    lines = output_of(HOOKS, path=tmp_path).splitlines()
    assert [line for line in lines if "parent" not in line] == [f"{name} {len(name)}" for name in MOMENTS]
    assert [line for line in lines if "parent" in line] == [
        "first after_in_parent 21",
        "last after_in_parent 20",
        "parent 6",
    ]


def test_so_may_they_where_no_compile_worker_can_be_started(tmp_path: Path) -> None:
    file = HOOKS.replace(
        "import samovar as sv\n", "import warnings\nwarnings.simplefilter('ignore')\nimport samovar as sv\n"
    )
    lines = output_of(file, "without workers", path=tmp_path).splitlines()
    assert len(lines) == 8
