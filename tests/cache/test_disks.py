"""Full, read-only and missing places; the size of the store; what is left behind."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import time

import pytest
import worlds

import samovar as sv
from samovar.cache.store import KINDS, Store

MANY = "".join(
    f"@sv.kernel\ndef k{number}(n: sv.i32) -> sv.i32:\n    return n * {number} + {number}\n\n" for number in range(20)
)
PROGRAM = MANY + "def main():\n    return [k(3) for k in (" + ", ".join(f"k{number}" for number in range(20)) + ")]\n"
RESULT = [4 * number for number in range(20)]


def said(messages):
    return messages.append


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def leftovers(folder):
    return [path for path in files(folder) if path.name.endswith(".tmp")]


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for a few kernels."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(place)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def run_telling(folder, cache, **arguments):
    """Results, warnings and compiles of a program with its own environment; "-" takes a variable out of it."""
    program = folder / "telling.py"
    program.write_text(
        "import json, warnings\nmessages = []\n"
        "warnings.showwarning = lambda message, *rest: messages.append(str(message))\n"
        "import main\nimport samovar as sv\n"
        "print(json.dumps([main.main(), messages, sv.compile_count()]))\n"
    )
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache), **arguments}
    environment = {name: value for name, value in environment.items() if value != "-"}
    return worlds.json.loads(worlds.run_program(program, environment))


@pytest.fixture
def folder(tmp_path):
    return worlds.write(tmp_path / "program", {"main.py": PROGRAM})


def test_on_a_full_disk_kernels_run_and_it_is_said_once(folder, small_disk):
    result, messages, compiled = run_telling(folder, small_disk)
    assert (result, compiled) == (RESULT, 20)
    assert [message for message in messages if "No space left on device" in message] == messages
    assert len(messages) == 1
    assert leftovers(small_disk) == []
    # What found room is of use.
    result, _, compiled = run_telling(folder, small_disk)
    assert result == RESULT
    assert 0 < compiled < 20
    assert leftovers(small_disk) == []


def test_a_disk_that_has_room_again_is_used_again(small_disk):
    messages = []
    store = Store(str(small_disk), 1 << 30, said(messages))
    assert store.write("code", "a" * 40, ("", os.urandom(1 << 20))) == os.strerror(errno.ENOSPC)
    assert store.write("code", "b" * 40, ("", b"small")) is None
    assert store.read("code", "b" * 40) == ("", b"small")
    assert len(messages) == 1


def test_a_read_only_store_serves_what_it_has(folder, small_disk):
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert run_telling(folder, small_disk) == [RESULT, [], 20]
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = files(small_disk)
    assert run_telling(folder, small_disk) == [RESULT, [], 0]
    worlds.write(folder, {"main.py": PROGRAM.replace("n * 7 ", "n * 8 ")})
    result, messages, compiled = run_telling(folder, small_disk)
    assert (result[7], compiled) == (31, 1)
    assert len(messages) == 1
    assert "Read-only file system" in messages[0]
    assert files(small_disk) == before


def test_a_limit_on_the_size_of_files_is_no_failure(folder, tmp_path):
    limited = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
    )
    worlds.write(folder, {"main.py": limited + PROGRAM})
    result, messages, compiled = run_telling(folder, tmp_path / "cache")
    assert (result, compiled) == (RESULT, 20)
    assert len(messages) == 1
    assert leftovers(tmp_path / "cache") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"SAMOVAR_OFFLINE_CACHE_FILE_PATH": "/proc/nothing"}, "are not cached in /proc/nothing"),
        ({"SAMOVAR_OFFLINE_CACHE_FILE_PATH": "/dev/null/here"}, "Not a directory"),
        ({"SAMOVAR_OFFLINE_CACHE_FILE_PATH": "-", "XDG_CACHE_HOME": "-", "HOME": "/proc"}, "are not cached in /proc/.cache"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_once(folder, arguments, message):
    result, messages, compiled = run_telling(folder, "unused", **arguments)
    assert (result, compiled) == (RESULT, 20)
    assert len(messages) == 1
    assert message in messages[0]


def test_without_a_home_kernels_run_and_it_is_said_once(folder):
    nobody = "import pwd\ndef unknown(uid):\n    raise KeyError(uid)\npwd.getpwuid = unknown\n"
    worlds.write(folder, {"main.py": nobody + PROGRAM})
    result, messages, compiled = run_telling(folder, "-", XDG_CACHE_HOME="-", HOME="-")
    assert (result, compiled) == (RESULT, 20)
    assert messages == [
        "compiled kernels are not cached: there is no home directory\n  help: set a directory with offline_cache_file_path"
    ]


def test_a_directory_that_is_gone_under_a_relative_path_is_no_failure(folder, tmp_path):
    place = str(tmp_path / "gone")
    gone = f"import os\nos.mkdir({place!r})\nos.chdir({place!r})\nos.rmdir({place!r})\n"
    worlds.write(folder, {"main.py": gone + PROGRAM})
    result, messages, compiled = run_telling(folder, "relative")
    assert (result, compiled) == (RESULT, 20)
    assert len(messages) == 1
    assert "there is no working directory" in messages[0]


# --- size


def filled(tmp_path, count, size=10_000, limit=1 << 30):
    store = Store(str(tmp_path / "store"), limit, said([]))
    for number in range(count):
        store.write("code", f"{number:040x}", ("", bytes(size)))
    return store


def age(store, kind, key, seconds):
    then = time.time() - seconds
    os.utime(os.path.join(store.base, kind, key), (then, then))


def test_what_was_not_used_for_longest_goes(tmp_path):
    store = filled(tmp_path, 10)
    for number in range(10):
        age(store, "code", f"{number:040x}", 100_000 - number)
    # The oldest are used again: by a read.
    for number in (0, 1, 2):
        assert store.read("code", f"{number:040x}") is not None
    store.shrink(60_000)
    left = sorted(int(entry.key, 16) for entry in store.entries())
    assert left == [0, 1, 2, 8, 9]


def test_the_limit_holds_while_a_process_writes(tmp_path):
    store = filled(tmp_path, 300, limit=500_000)
    assert sum(entry.size for entry in store.entries()) <= 500_000 * 17 // 16 + 20_000


def test_kernels_that_are_used_outlive_those_that_are_not(tmp_path):
    def make(number):
        @sv.kernel
        def k(n: sv.i32) -> sv.i32:
            return n + number

        return k

    sv.init(offline_cache_file_path=tmp_path)
    used, unused = make(1), [make(number) for number in range(2, 8)]
    for k in (used, *unused):
        k(1)
    store = Store(str(tmp_path), 1 << 30, said([]))
    for entry in store.entries():
        age(store, entry.kind, entry.key, 50_000)
    sv.init(offline_cache_file_path=tmp_path)
    before = sv.compile_count()
    assert used(1) == 2
    assert sv.compile_count() == before
    store.shrink(sum(entry.size for entry in store.entries()) // 2)
    sv.init(offline_cache_file_path=tmp_path)
    assert used(1) == 2
    assert sv.compile_count() == before


def test_leftovers_of_writers_that_died_are_swept(tmp_path):
    store = filled(tmp_path, 1)
    old, new = f"{'a' * 40}.1.abc.tmp", f"{'b' * 40}.2.abc.tmp"
    for folder in (store.base, os.path.join(store.base, "code")):
        for name in (old, new):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(b"half")
        os.utime(os.path.join(folder, old), (0, 0))
    os.utime(os.path.join(store.base, "measured"), (0, 0))
    store = Store(store.directory, store.limit, store._say)
    store.write("code", "c" * 40, ("", b""))  # now and then, a write looks around
    assert [path.name for path in leftovers(tmp_path)] == [new, new]
    assert len(list(store.entries())) == 2


# --- writers that die


def kill_writers(tmp_path, times):
    """Kill a writer again and again at random moments of its writes; what is left is whole, or a leftover."""
    store = Store(str(tmp_path / "store"), 1 << 30, said([]))
    store.write("code", "0" * 40, ("", b""))
    random.seed(times)
    content = "", bytes(range(256)) * 800
    for _ in range(times):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    for number in range(4):
                        store.write("code", f"{number:040x}", content)
            finally:
                os._exit(1)
        time.sleep(random.random() * 0.004)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for number in range(4):
            assert store.read("code", f"{number:040x}") in (content, ("", b""), None)
    for path in leftovers(tmp_path):
        os.utime(path, (0, 0))
    store.sweep()
    assert leftovers(tmp_path) == []
    assert len(list(store.entries())) <= 4
    assert {entry.kind for entry in store.entries()} <= set(KINDS)


def test_a_writer_that_is_killed_leaves_nothing_that_is_believed(tmp_path):
    kill_writers(tmp_path, 60)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_writers_that_are_killed_five_hundred_times(tmp_path):
    kill_writers(tmp_path, 500)


def kill_programs(tmp_path, times):
    """Kill a program that compiles at random moments; the next one runs on what it left."""
    folder, cache = worlds.write(tmp_path / "program", {"main.py": PROGRAM}), tmp_path / "cache"
    random.seed(times)
    for _ in range(times):
        program = folder / "started.py"
        program.write_text("import main\nprint(main.main())\n")
        started = subprocess.Popen(
            [worlds.sys.executable, str(program)],
            env={**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache)},
            stdout=subprocess.DEVNULL,
        )
        time.sleep(0.1 + random.random() * 0.4)
        started.kill()
        started.wait()
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"]["result"] == RESULT
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": RESULT, "kernels": 0, "llvm": 0}


def test_a_program_that_is_killed_leaves_a_cache_that_works(tmp_path):
    kill_programs(tmp_path, 4)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_programs_that_are_killed_a_hundred_times(tmp_path):
    kill_programs(tmp_path, 100)
