"""The pool as kernels see it: which threads run a task, and what the process notices of it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from image_from_c import image_from_c
from stress_launches import stress

from samovar._native import (
    Kernel,
    Specialization,
    i64,
    pool_statistics,
    set_threads,
    threads,
)

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src" / "samovar" / "_native"

# Every element counts how often it was visited; `weight` steps of a chain are the work of one.
COUNT = """
struct frame { int64_t *x; int64_t weight; };
static void work(void *pointer, int64_t begin, int64_t end)
{
    struct frame *frame = pointer;
    for (int64_t i = begin; i < end; i++) {
        uint64_t chain = i;
        for (int64_t k = 0; k < frame->weight; k++) chain = chain * 6364136223846793005u + 1442695040888963407u;
        frame->x[i] += chain == 42 ? 2 : 1;
    }
}
int32_t samovar_entry(void *context, int64_t *block)
{
    struct frame frame = {(int64_t *)block[0], block[2]};
    return sv_run(context, 0, work, &frame, block[1], 1);
}
"""


def count(x, weight):
    pass


def count_kernel(cost: float = 100.0, flags: int = 0) -> Kernel:
    program = [
        ("parameter", 0, 0),
        ("tensor", 0, i64, 1, True, *[False] * 8, True),
        ("parameter", 1, 1),
        ("array", 0, 0, False),
        ("scalar", 1, i64, 16, "weight"),
    ]

    def resolve(kernel, arguments):
        return Specialization(image_from_c(COUNT), program, 2, 24, tasks=[("work", cost, flags)])

    return Kernel(count, ("x", "weight"), {}, resolve)


@pytest.fixture(params=[1, 2, 3, 8])
def some_threads(request):
    set_threads(request.param)
    yield request.param
    set_threads(0)


def becomes_shared(launch: Callable[[], object]) -> bool:
    """Whether a launch is shared, at some time: on a busy machine the runtime may hold back for a while."""
    set_threads(2)
    for _ in range(100):
        before = pool_statistics()["shared"]
        launch()
        if pool_statistics()["shared"] > before:
            break
        time.sleep(0.05)
    else:
        return False
    set_threads(0)
    return True


def run_script(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with the kernel above at hand."""
    preamble = f"import sys; sys.path.insert(0, {str(HERE)!r})\nfrom test_threads import *\n"
    return subprocess.run(
        [sys.executable, "-c", preamble + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 1000, 100_003])
def test_every_unit_runs_once(some_threads, size):
    x, kernel = np.zeros(size, np.int64), count_kernel()
    for _ in range(3):
        kernel(x, 10)
    assert (x == 3).all()


def test_large_work_is_shared_and_small_work_is_not():
    kernel = count_kernel(cost=10.0)
    small, large = np.zeros(16, np.int64), np.zeros(200_000, np.int64)
    set_threads(2)
    before = pool_statistics()["shared"]
    for _ in range(20):
        kernel(small, 1)
    assert pool_statistics()["shared"] == before
    assert becomes_shared(lambda: kernel(large, 50))
    assert pool_statistics()["workers"] >= 1


@pytest.mark.parametrize("guess", [0.0, 1e9])
def test_a_wrong_guess_of_the_cost_is_corrected(guess):
    kernel = count_kernel(cost=guess)
    x = np.zeros(1000, np.int64)
    for _ in range(40):
        kernel(x, 100)
    [(name, cost, runs)] = kernel.specializations[0].tasks
    assert name == "work"
    assert runs == 40
    assert 1 < cost < 1e6


@pytest.mark.parametrize("flags", [0, 2])
def test_the_first_run_is_shared_whatever_the_guess_was(flags):
    assert becomes_shared(lambda: count_kernel(cost=0.0, flags=flags)(np.zeros(64, np.int64), 100_000))


def test_a_task_of_unknown_cost_is_shared_when_it_turns_out_to_be_long():
    kernel, x = count_kernel(cost=1.0, flags=2), np.zeros(64, np.int64)

    def short_then_long():
        for _ in range(10):
            kernel(x, 1)
        kernel(x, 100_000)

    assert becomes_shared(short_then_long)
    assert len(set(x)) == 1


def test_many_python_threads_launch_at_once(some_threads):
    kernel = count_kernel()
    arrays = [np.zeros(5000, np.int64) for _ in range(8)]

    def launch(x):
        for _ in range(50):
            kernel(x, 30)

    workers = [threading.Thread(target=launch, args=(x,)) for x in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((x == 50).all() for x in arrays)


def test_launches_from_many_threads_while_arrays_come_and_go():
    set_threads(4)
    assert stress(2000) == []
    set_threads(0)


def test_other_python_threads_run_during_a_long_launch():
    kernel, x = count_kernel(), np.zeros(64, np.int64)
    kernel(x, 1)
    ticks: list[float] = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    for _ in range(6):  # the first may still be believed to be short
        begin = time.perf_counter()
        kernel(x, 2_000_000)
        end = time.perf_counter()
    done.set()
    ticker.join()
    assert any(begin < at < end for at in ticks)


def test_the_default_is_the_affinity_mask():
    result = run_script("""
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(threads())
    """)
    assert result.stdout == "1\n", result.stderr


@pytest.mark.parametrize("number", [-1, 1000])
def test_a_senseless_number_of_threads_is_refused(number):
    with pytest.raises(ValueError, match="between 1 and 256, or 0"):
        set_threads(number)
    assert threads() == pool_statistics()["threads"]


def test_workers_block_all_signals_but_those_of_their_own_faults():
    result = run_script("""
        set_threads(3)
        count_kernel()(np.zeros(100_000, np.int64), 20)
        masks = []
        while len(masks) < 2:  # a new thread names itself when it first runs
            statuses = [(task / "status").read_text() for task in Path("/proc/self/task").iterdir()]
            lines = [dict(line.split(":", 1) for line in status.splitlines()) for status in statuses]
            masks = [int(line["SigBlk"], 16) for line in lines if line["Name"].strip().startswith("samovar-")]
        import signal
        faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
        open = sum(1 << (number - 1) for number in faults)
        blocked = sum(1 << (number - 1) for number in range(1, 32) if number not in {9, 19, *faults})
        print(len(masks), all(mask & (blocked | open) == blocked for mask in masks))
    """)
    assert result.stdout == "2 True\n", result.stderr


def test_a_fault_on_a_worker_is_reported():
    """By whoever handles the signal: here it is Python's faulthandler."""
    for _ in range(20):
        result = run_script("""
            import ctypes, faulthandler, mmap
            faulthandler.enable()
            set_threads(2)
            kernel, memory = count_kernel(), mmap.mmap(-1, 8 << 16)
            x = np.frombuffer(memory, np.int64)
            while pool_statistics()["shared"] < 3:
                kernel(x, 200)
            # A page where a worker begins; its own thread begins at the other end.
            ctypes.CDLL(None).mprotect(ctypes.c_void_p(x.ctypes.data + (4 << 16)), ctypes.c_size_t(4096), 0)
            kernel(x, 200)
        """)
        assert result.returncode != 0
        assert "Fatal Python error: Segmentation fault" in result.stderr
        if "Current thread" not in result.stderr:  # it was none of Python's threads
            break
    else:
        pytest.fail("no worker came to the page")


def test_work_is_done_when_no_thread_can_be_started():
    result = run_script("""
        import resource
        set_threads(4)
        kernel, x = count_kernel(), np.zeros(100_000, np.int64)
        kernel(x[:16], 20)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (4 << 20),) * 2)  # no room for a stack
        kernel(x[16:], 20)
        print((x == 1).all(), pool_statistics()["workers"], pool_statistics()["refused"] > 0)
    """)
    assert result.stdout == "True 0 True\n", result.stderr


def test_a_forked_child_has_its_own_pool():
    result = run_script("""
        import warnings
        warnings.simplefilter("ignore")
        set_threads(2)
        kernel, x = count_kernel(), np.zeros(100_000, np.int64)
        kernel(x, 20)
        child = os.fork()
        if child == 0:
            assert pool_statistics()["workers"] == 0
            assert becomes_shared(lambda: kernel(x, 20))
            assert len(set(x)) == 1
            assert pool_statistics()["workers"] == 1
            os._exit(0)
        kernel(x, 20)
        assert (x == 2).all()
        print(os.waitpid(child, 0)[1])
    """)
    assert result.stdout == "0\n", result.stderr


def test_fork_works_while_others_launch():
    result = run_script("""
        import warnings
        warnings.simplefilter("ignore")
        set_threads(2)
        kernel, stop = count_kernel(), threading.Event()
        kernel(np.zeros(20_000, np.int64), 20)
        def launch():
            x = np.zeros(20_000, np.int64)
            while not stop.is_set():
                kernel(x, 20)
        others = [threading.Thread(target=launch) for _ in range(2)]
        for other in others:
            other.start()
        statuses = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                x = np.zeros(20_000, np.int64)
                kernel(x, 20)
                os._exit(int(not (x == 1).all()))
            statuses.append(os.waitpid(child, 0)[1])
        stop.set()
        for other in others:
            other.join()
        print(statuses)
    """)
    assert result.stdout == f"{[0] * 10}\n", result.stderr


def test_the_process_ends_with_workers_asleep_or_in_the_middle_of_a_launch():
    result = run_script("""
        set_threads(4)
        kernel, x = count_kernel(), np.zeros(100_000, np.int64)
        kernel(x, 20)
        def launch():
            while True:
                kernel(x, 1000)
        threading.Thread(target=launch, daemon=True).start()
        time.sleep(0.1)
    """)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def test_an_exit_callback_may_still_launch():
    result = run_script("""
        import atexit
        set_threads(4)
        kernel, x = count_kernel(), np.zeros(100_000, np.int64)
        atexit.register(lambda: (kernel(x, 20), print((x == 2).all())))
        kernel(x, 20)
    """)
    assert result.stdout == "True\n", result.stderr


def test_an_interrupt_arrives_after_the_launch():
    result = run_script("""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
        set_threads(2)
        kernel, x = count_kernel(), np.zeros(64, np.int64)
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                kernel(x, 100_000)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert result.stdout == "interrupted\n", result.stderr


def test_the_pool_alone(tmp_path):
    binary = tmp_path / "pool_stress"
    names = ("pool.c", "processors.c", "saved_values.c")
    sources = [*(NATIVE / "threads" / name for name in names), HERE / "c" / "pool_stress.c"]
    subprocess.run(["gcc", "-std=c11", "-O1", f"-I{NATIVE}", *sources, "-pthread", "-lm", "-o", binary], check=True)
    subprocess.run([binary, "100"], check=True, capture_output=True, timeout=60)


def test_when_work_is_not_shared(tmp_path):
    """With a clock of its own: waits after a worker was woken are excused, those on a busy machine are not."""
    binary = tmp_path / "back_off"
    source = HERE / "c" / "back_off.c"
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", f"-I{NATIVE}", source, "-o", binary], check=True)
    done = subprocess.run([binary], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_steps_of_one_thread_grow_again_after_preemptions(tmp_path):
    binary = tmp_path / "steps"
    source = HERE / "c" / "steps.c"
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", f"-I{NATIVE}", source, "-o", binary], check=True)
    done = subprocess.run([binary], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
