"""Launches from many Python threads, across `fork`, and from inside of what a launch calls."""

import gc
import os
import random
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import samovar as sv

F1 = sv.types.NDArray[sv.f64, 1]
I1 = sv.types.NDArray[sv.i64, 1]


@sv.kernel
def affine(a: F1, b: F1, scale: sv.f64):
    for i in range(a.shape[0]):
        b[i] = a[i] * scale + i


@sv.kernel
def total_of(a: F1) -> sv.f64:
    total: sv.f64 = 0
    for i in range(a.shape[0]):
        total += a[i]
    return total


@sv.kernel
def count_into(bins: I1, n: sv.i32):
    for i in range(n):
        bins[i % 16] += 1


def in_threads(count: int, work) -> None:
    """Run `work(index)` in so many threads at once, and raise what any of them raised."""
    barrier = threading.Barrier(count)

    def run(index: int) -> None:
        barrier.wait()
        work(index)

    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(run, index) for index in range(count)]:
            future.result()


def launch_while_arrays_come_and_go(launches: int) -> None:
    shared = np.arange(3000.0)
    expected_total = total_of(shared)

    def work(index: int) -> None:
        generator = random.Random(index)
        for _ in range(launches):
            n = generator.choice((0, 1, 16, 1000, 3000, 60_000))
            kind = generator.randrange(3)
            a = sv.ndarray(sv.f64, n) if kind == 0 else np.ones(n) if kind == 1 else np.ones(2 * n)[::2]
            b = sv.ndarray(sv.f64, n) if generator.randrange(2) else np.empty(n)
            if kind == 0:
                a.fill(1)
            scale = float(generator.randrange(100))
            affine(a, b, scale)
            result = np.asarray(b)
            assert n == 0 or (result[0] == scale and result[-1] == scale + n - 1)
            assert total_of(shared) == expected_total
            bins = np.zeros(16, np.int64)
            count_into(bins, n)
            assert bins.sum() == n

    in_threads(8, work)


def test_eight_threads_launch_while_arrays_come_and_go():
    launch_while_arrays_come_and_go(60)


@pytest.mark.stress
@pytest.mark.timeout(1800)
def test_eight_threads_launch_ten_thousand_times_without_a_leak():
    launch_while_arrays_come_and_go(50)
    gc.collect()
    before = resident_bytes()
    launch_while_arrays_come_and_go(1250)
    gc.collect()
    assert resident_bytes() - before < 64 << 20


def resident_bytes() -> int:
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_threads_share_one_array_through_atomics():
    bins = np.zeros(16, np.int64)
    in_threads(8, lambda index: [count_into(bins, 20_000 + index) for _ in range(5)])
    assert bins.sum() == sum(5 * (20_000 + index) for index in range(8))


def test_the_first_launch_may_come_from_many_threads_at_once():
    sv.init()  # drops what is compiled
    try:
        results = [0.0] * 8

        def work(index: int) -> None:
            results[index] = total_of(np.arange(1000.0))

        in_threads(8, work)
        assert results == [499_500.0] * 8
    finally:
        sv.reset()


def test_threads_with_different_specializations_do_not_disturb_each_other():
    @sv.kernel
    def double(a: sv.types.ndarray(ndim=1)):
        for i in range(a.shape[0]):
            a[i] += a[i]

    dtypes = (np.int8, np.int32, np.int64, np.float32, np.float64, np.uint16, np.uint64, np.int16)

    def work(index: int) -> None:
        for count in range(40):
            a = np.full(50 + count, 3, dtypes[(index + count) % len(dtypes)])
            double(a)
            assert (a == 6).all()

    in_threads(8, work)


@sv.kernel
def slow(a: F1, rounds: sv.i32):
    for i in range(a.shape[0]):
        x = a[i]
        for _ in range(rounds):
            x = x * 0.999 + 0.001
        a[i] = x


def ticks_during(launch) -> int:
    """How often this thread got to run while another one launched."""
    done = threading.Event()

    def run() -> None:
        launch()
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    ticks = 0
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    return ticks


def test_a_long_launch_lets_other_python_threads_run():
    a = np.zeros(64)
    slow(a, 3_000_000)
    assert ticks_during(lambda: slow(a, 30_000_000)) > 5


def test_a_long_launch_after_quick_ones_lets_other_python_threads_run():
    a = np.zeros(64)
    for _ in range(20):
        slow(a, 10)
    assert ticks_during(lambda: slow(a, 30_000_000)) > 5


# --- memory that is used by a launch


def test_arrays_are_let_go_after_the_launch():
    a = np.ones(100)
    reference = weakref.ref(a)
    assert total_of(a) == 100
    del a
    gc.collect()
    assert reference() is None


class Owner:
    """Says when its array is read."""

    def __init__(self) -> None:
        self.held = np.zeros(64)
        self.read = threading.Event()

    @property
    def array(self) -> np.ndarray:
        self.read.set()
        return self.held


@sv.kernel
def slow_member(owner: sv.Template, n: sv.i64):
    for i in range(64):
        x = owner.array[i]
        for _ in range(n):
            x = x * 0.999 + 0.001
        owner.array[i] = x


def test_an_array_that_its_owner_drops_during_a_launch_stays_alive():
    owner = Owner()
    slow_member(owner, 1)
    reference = weakref.ref(owner.held)
    owner.read.clear()
    thread = threading.Thread(target=slow_member, args=(owner, 2_000_000_000))
    thread.start()
    assert owner.read.wait(60)
    owner.held = np.ones(64)
    gc.collect()
    is_held = reference() is not None
    is_running = thread.is_alive()
    thread.join()
    assert (is_held, is_running) == (True, True)
    gc.collect()
    assert reference() is None
    assert owner.held.tolist() == [1.0] * 64


# --- fork


def in_child(work) -> None:
    """Run in a forked child, and fail if the child did not come to its end in time."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


def large_sum() -> None:
    a = np.ones(3_000_000)
    assert total_of(a) == len(a)
    affine(a, a, 2.0)
    assert a[-1] == 2.0 + len(a) - 1


# A fork of a process with threads is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def test_a_child_makes_its_own_threads():
    large_sum()
    in_child(large_sum)
    large_sum()


def test_a_child_compiles():
    def work() -> None:
        @sv.kernel
        def fresh(a: F1):
            for i in range(a.shape[0]):
                a[i] = 5

        a = np.zeros(10)
        fresh(a)
        assert (a == 5).all()

    in_child(work)


def test_fork_while_other_threads_launch():
    stop = threading.Event()
    failures = []

    def launch() -> None:
        a = np.ones(100_000)
        while not stop.is_set():
            if total_of(a) != len(a):
                failures.append("wrong sum")

    threads = [threading.Thread(target=launch) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            in_child(large_sum)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


# --- launches inside of launches


class Launching:
    """An object that launches a kernel whenever one of its members is read."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def factor(self) -> float:
        self.reads += 1
        assert total_of(np.ones(100)) == 100
        return 3.0


LAUNCHING = Launching()


@sv.kernel
def captures(a: F1):
    for i in range(a.shape[0]):
        a[i] = LAUNCHING.factor


def test_a_launch_while_another_reads_what_it_captures():
    a = np.zeros(10)
    for _ in range(3):
        captures(a)
    assert a.tolist() == [3.0] * 10
    assert LAUNCHING.reads >= 3


@sv.kernel
def printing(n: sv.i32):
    for i in range(n):
        print("said", i)


def test_a_launch_from_inside_of_a_print(monkeypatch):
    """`print` is Python's: what stands in for the output may launch again."""
    import sys

    said = []

    class Output:
        def write(self, text: str) -> None:
            said.append(text)
            assert total_of(np.ones(200_000)) == 200_000

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stdout", Output())
    printing(50)
    monkeypatch.undo()
    lines = "".join(said).splitlines()
    assert sorted(lines) == sorted(f"said {i}" for i in range(50))


def test_a_finalizer_that_launches():
    sums = []

    class Dying:
        def __del__(self) -> None:
            sums.append(total_of(np.ones(1000)))

    for _ in range(10):
        cycle = [Dying()]
        cycle.append(cycle)
        del cycle
        affine(np.ones(5000), np.zeros(5000), 1.0)
        gc.collect()
    assert sums == [1000.0] * 10
