"""Many processes, threads and forked children on one store; two versions side by side; clearing, and interrupts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
import worlds

import samovar as sv
from samovar.cache.store import Store


def program(count):
    """A program with so many kernels, and its result."""
    kernels = "".join(
        f"@sv.kernel\ndef k{number}(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.i32:\n    for i in a:\n"
        f"        a[i] = n * {number}\n    return n + {number}\n\n"
        for number in range(count)
    )
    calls = ", ".join(f"k{number}(a, 3), a[2]" for number in range(count))
    text = f"{kernels}def main():\n    a = sv.ndarray(sv.f32, 3)\n    return [{calls}]\n"
    return text, [value for number in range(count) for value in (3 + number, 3 * number)]


PROGRAM, RESULT = program(20)
SMALL, SMALL_RESULT = program(5)
STARTED = "import json, main\nimport samovar as sv\nprint(json.dumps([main.main(), sv.compile_count()]))\n"


def leftovers(folder):
    return list(folder.rglob("*.tmp"))


def start(folder, cache, **environment):
    program = folder / "started.py"
    if not program.exists():
        program.write_text(STARTED)
    return subprocess.Popen(
        [sys.executable, str(program)],
        env={**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process, silent=True):
    out, error = process.communicate(timeout=240)
    assert process.returncode == 0, error
    assert error == "" or not silent
    return json.loads(out)


def compile_together(tmp_path, rounds, processes):
    """Processes that start at once on an empty store. Gives the number of compiles in each round."""
    folder = worlds.write(tmp_path / "program", {"main.py": PROGRAM})
    compiled = []
    for number in range(rounds):
        cache = tmp_path / f"cache{number}"
        found = [ended(each) for each in [start(folder, cache) for _ in range(processes)]]
        assert all(result == RESULT for result, _ in found)
        compiled.append(sum(count for _, count in found))
        assert leftovers(cache) == []
        assert ended(start(folder, cache)) == [RESULT, 0]
        assert all(path.stat().st_mode & 0o077 == 0 for path in cache.rglob("*"))
        shutil.rmtree(cache)
    return compiled


def test_processes_that_compile_the_same_kernels_mostly_take_turns(tmp_path):
    for compiled in compile_together(tmp_path, 2, 4):
        assert compiled < 2 * 20


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_eight_processes_compile_the_same_kernels_fifty_times(tmp_path):
    assert sum(compile_together(tmp_path, 50, 8)) < 50 * 2 * 20


def test_two_versions_live_side_by_side(tmp_path):
    folder, cache = worlds.write(tmp_path / "program", {"main.py": SMALL}), tmp_path / "cache"
    for compiled in (5, 0, 0):
        both = [start(folder, cache, SAMOVAR_BUILD_CACHE_VERSION_ID=version) for version in ("one", "two")]
        assert [ended(each) for each in both] == [[SMALL_RESULT, compiled]] * 2


AGAIN = """
import json
import main
import samovar as sv

for _ in range({times}):
    sv.init()
    assert main.main() == {result}
print(json.dumps([main.main(), 0]))
"""


@pytest.mark.parametrize("how", ["clear", "remove"])
def test_a_store_may_be_cleared_while_it_is_used(tmp_path, how):
    folder, cache = worlds.write(tmp_path / "program", {"main.py": SMALL}), tmp_path / "cache"
    (folder / "started.py").write_text(AGAIN.format(times=4, result=SMALL_RESULT))
    running = [start(folder, cache, PYTHONWARNINGS="ignore") for _ in range(2)]
    store = Store(str(cache), 1 << 30, str)
    while any(each.poll() is None for each in running):
        if how == "clear":
            store.clear()
        else:
            shutil.rmtree(cache, ignore_errors=True)
        time.sleep(0.01)
    assert [ended(each)[0] for each in running] == [SMALL_RESULT] * 2
    assert leftovers(cache) == []


# --- one process


def make(number):
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        x = n * 7
        return x + number

    return k


def test_threads_that_want_the_same_kernel_compile_it_once(tmp_path):
    sv.init(offline_cache_file_path=tmp_path)
    before, found = sv.compile_count(), []
    kernel = make(123)
    threads = [threading.Thread(target=lambda: found.append(kernel(1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [130] * 8
    assert sv.compile_count() == before + 1


def test_threads_with_kernels_of_the_same_code_do_not_wait_for_ever(tmp_path):
    sv.init(offline_cache_file_path=tmp_path)
    found = {}
    threads = [
        threading.Thread(target=lambda number=number: found.__setitem__(number, make(number)(1))) for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {number: 7 + number for number in range(12)}
    assert leftovers(tmp_path) == []


def test_a_kernel_may_launch_another_with_the_same_code_while_it_is_compiled(tmp_path):
    """The second one must not wait for the turn that the first one has."""
    from samovar import static

    def nested(inner):
        def value():
            return 0 if inner is None else inner()

        @sv.kernel
        def k() -> sv.i32:
            return static(value()) + 1

        return k

    sv.init(offline_cache_file_path=tmp_path)
    nested(None)()  # the directory is there
    begin = time.monotonic()
    assert nested(nested(nested(None)))() == 3
    assert time.monotonic() - begin < 30


def test_a_child_that_is_forked_while_another_thread_compiles_can_compile(tmp_path):
    sv.init(offline_cache_file_path=tmp_path, log_level="error")
    make(0)(1)
    stop, failures = threading.Event(), []

    def compile_on():
        number = 1000
        while not stop.is_set():
            number += 1
            if make(number)(1) != 7 + number:
                failures.append(number)

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        children = []
        for number in range(8):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                good = make(5000 + number)(1) == 5007 + number and make(0)(1) == 7
                os._exit(0 if good else 1)
            children.append(child)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
    finally:
        stop.set()
        thread.join()
    assert failures == []
    assert leftovers(tmp_path) == []


INTERRUPTED = """
import json
import os
import signal
import threading
import time

import main
import samovar as sv

interrupts = 0
listening = finished = False


def interrupted(number, frame):
    # Only inside of the launches: an interrupt of what surrounds them would end the program.
    global listening
    if listening:
        listening = False
        raise KeyboardInterrupt


def interrupt():
    for number in range({times}):
        time.sleep(0.003 + 0.0021 * number % 0.02)
        if not finished:
            os.kill(os.getpid(), signal.SIGINT)


signal.signal(signal.SIGINT, interrupted)
thread = threading.Thread(target=interrupt)
thread.start()
while not finished:
    try:
        listening = True
        found = main.main()
        listening = False
        finished = True
    except KeyboardInterrupt:
        interrupts += 1
thread.join()
assert interrupts, "nothing was interrupted"
print(json.dumps([found, interrupts]))
"""


def interrupt_compiles(tmp_path, times):
    folder, cache = worlds.write(tmp_path / "program", {"main.py": SMALL}), tmp_path / "cache"
    (folder / "started.py").write_text(INTERRUPTED.format(times=times))
    # Python itself says where an interrupt came at a moment that it had to ignore.
    found, interrupts = ended(start(folder, cache), silent=False)
    assert found == SMALL_RESULT
    assert 0 < interrupts <= times
    assert leftovers(cache) == []
    (folder / "started.py").write_text(STARTED)
    assert ended(start(folder, cache)) == [SMALL_RESULT, 0]


def test_an_interrupt_leaves_a_kernel_and_a_store_that_work(tmp_path):
    interrupt_compiles(tmp_path, 40)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_many_interrupts_leave_kernels_and_a_store_that_work(tmp_path):
    for number in range(20):
        interrupt_compiles(tmp_path / str(number), 200)
