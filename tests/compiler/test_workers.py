"""Compile workers: right objects, in order, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from samovar.backends.llvm.optimise import optimise
from samovar.backends.llvm.target import host_target
from samovar.compiler import workers

TARGET = host_target()


def text(number: int) -> str:
    return f"define i32 @samovar_entry(ptr %context, ptr %block) {{\n  ret i32 {number}\n}}\n"


@pytest.fixture(autouse=True)
def _fresh_pool() -> Iterator[None]:
    yield
    workers.stop()


def test_many_texts_come_back_in_order() -> None:
    texts = [text(number) for number in range(40)]
    assert workers.optimise_all(texts, TARGET) == [optimise(each, TARGET) for each in texts]


def test_one_text_is_compiled_here() -> None:
    assert workers.optimise(text(3), TARGET) == optimise(text(3), TARGET)
    assert workers._state.pool is None


def test_a_worker_makes_the_same_object() -> None:
    assert workers.pool().submit(text(5), TARGET).result(60) == optimise(text(5), TARGET)


def test_threads_compile_at_the_same_time() -> None:
    results: dict[int, bytes] = {}

    def compile(number: int) -> None:
        results[number] = workers.optimise(text(number), TARGET)

    threads = [threading.Thread(target=compile, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: optimise(text(number), TARGET) for number in range(12)}


def test_a_text_that_llvm_refuses_is_an_error_and_the_worker_lives_on() -> None:
    pool = workers.pool()
    with pytest.raises(workers.CompileFailed, match="parsing error"):
        pool.submit("define nonsense", TARGET).result(60)
    assert pool.submit(text(1), TARGET).result(60)
    assert len(pool.workers) == 1
    with pytest.raises(workers.CompileFailed, match="parsing error"):
        workers.optimise("define nonsense", TARGET)
    with pytest.raises(workers.CompileFailed, match="parsing error"):
        workers.optimise_all([text(1), "define nonsense"], TARGET)


def test_a_dead_worker_is_replaced_and_its_job_done_again() -> None:
    pool = workers.pool()
    pool.submit(text(1), TARGET).result(60)
    first = pool.workers[0].process.pid
    os.kill(first, signal.SIGKILL)
    pool.workers[0].process.wait()
    assert pool.submit(text(2), TARGET).result(60) == optimise(text(2), TARGET)
    assert pool.workers[0].process.pid != first


def test_a_worker_ignores_an_interrupt_from_the_keyboard() -> None:
    pool = workers.pool()
    pool.submit(text(1), TARGET).result(60)
    os.kill(pool.workers[0].process.pid, signal.SIGINT)
    assert pool.submit(text(2), TARGET).result(60)


def test_stopping_ends_the_processes() -> None:
    pool = workers.pool()
    pool.submit(text(1), TARGET).result(60)
    process = pool.workers[0].process
    workers.stop()
    assert process.returncode == 0
    with pytest.raises(workers.CompileFailed, match="stopped"):
        pool.submit(text(1), TARGET)


PARENT = """
import os, sys
from samovar.backends.llvm.target import host_target
from samovar.compiler import workers

pool = workers.pool()
pool.submit(sys.argv[1], host_target()).result()
print(pool.workers[0].process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kill", [True, False])
def test_workers_end_with_their_parent(kill: bool) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, text(1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    worker = int(parent.stdout.readline())
    if kill:
        parent.kill()
    parent.stdin.close()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and alive(worker):
        time.sleep(0.02)
    assert not alive(worker)


def alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from samovar.backends.llvm.target import host_target
from samovar.compiler import workers

expected = workers.pool().submit(sys.argv[1], host_target()).result()
child = os.fork()
if child == 0:
    os._exit(0 if workers.pool().submit(sys.argv[1], host_target()).result() == expected else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert workers.pool().submit(sys.argv[1], host_target()).result() == expected
sys.exit(status)
"""


FORK_WHILE_COMPILING = """
import os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from samovar.backends.llvm.target import host_target
from samovar.compiler import workers

stopped = threading.Event()

def compile():
    while not stopped.is_set():
        workers.optimise(sys.argv[1], host_target())

threads = [threading.Thread(target=compile) for _ in range(2)]
for thread in threads:
    thread.start()
failed = 0
for _ in range(10):
    child = os.fork()
    if child == 0:
        workers.optimise(sys.argv[1], host_target())
        os._exit(0)
    failed |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
stopped.set()
for thread in threads:
    thread.join()
sys.exit(failed)
"""


def test_a_child_forked_in_the_middle_of_a_compile_can_compile() -> None:
    subprocess.run([sys.executable, "-c", FORK_WHILE_COMPILING, text(1)], check=True, timeout=120)


def test_a_forked_child_has_workers_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORK, text(1)], check=True, timeout=120)
