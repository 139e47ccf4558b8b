"""What compiled code says during a launch: failures, prints, scratch memory, random numbers."""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from image_from_c import image_from_c

from samovar._native import Kernel, Specialization, i64, pool_statistics, seed, set_threads, u64

SPEAKS, UNKNOWN = 1, 2


def quiet():
    pass


def kernel_of(source: str, parameters: str = "", results: int = 0, **options) -> Kernel:
    """A kernel whose parameters are i64 scalars in the first slots, and whose one result, if it has any, follows them."""
    program = [("parameter", i, i) for i in range(len(parameters))]
    program += [("scalar", i, i64, 8 * i, name) for i, name in enumerate(parameters)]
    slots = ("scalar", u64, 8 * len(parameters)) if results else None
    size = 8 * (len(parameters) + results)

    def resolve(kernel, arguments):
        return Specialization(image_from_c(source), program, len(parameters), size, results=slots, **options)

    return Kernel(quiet, tuple(parameters), {}, resolve)


def numbers(values: tuple[bytes, ...]) -> list[int]:
    return [struct.unpack("<q", value)[0] for value in values]


# Unit i of n fails if it is `bad`, and prints if it is not.
SPEAK_OR_FAIL = """
struct frame { void *context; int64_t bad; };
static void work(void *pointer, int64_t begin, int64_t end)
{
    struct frame *frame = pointer;
    for (int64_t i = begin; i < end; i++) {
        uint64_t values[2] = {i, -i};
        if (i == frame->bad) { sv_fail(frame->context, 1, values); return; }
        sv_print(frame->context, 0, values);
    }
}
int32_t samovar_entry(void *context, int64_t *block)
{
    struct frame frame = {context, block[1]};
    return sv_run(context, 0, work, &frame, block[0], 1);
}
"""


class Listener:
    """Collects what a kernel says."""

    def __init__(self) -> None:
        self.records: list[tuple[int, list[int]]] = []
        self.calls = 0

    def speak(self, records) -> None:
        self.calls += 1
        self.records += [(site, numbers(values)) for site, values in records]

    def fail(self, site, values) -> Exception:
        return ArithmeticError(site, numbers(values))

    def kernel(self, cost: float = 1.0) -> Kernel:
        tasks = [("work", cost, SPEAKS)]
        return kernel_of(SPEAK_OR_FAIL, "nb", tasks=tasks, speak=self.speak, fail=self.fail, sites=(2, 1))


def test_prints_arrive_in_order_at_the_end_of_the_launch():
    listener = Listener()
    listener.kernel()(3, -1)
    assert listener.records == [(0, [0, 0]), (0, [1, -1]), (0, [2, -2])]
    assert listener.calls == 1


def test_many_prints_of_one_thread_arrive_in_order_and_in_portions():
    set_threads(1)
    listener = Listener()
    listener.kernel()(20_000, -1)
    set_threads(0)
    assert [values[0] for _, values in listener.records] == list(range(20_000))
    assert listener.calls > 3


def test_prints_of_many_threads_all_arrive():
    set_threads(4)
    listener = Listener()
    listener.kernel(cost=10_000)(20_000, -1)
    set_threads(0)
    assert sorted(values[0] for _, values in listener.records) == list(range(20_000))


def test_a_failure_becomes_the_exception_that_fail_makes():
    with pytest.raises(ArithmeticError) as caught:
        Listener().kernel()(10, 7)
    assert caught.value.args == (1, [7])


def test_prints_before_a_failure_arrive():
    listener = Listener()
    with pytest.raises(ArithmeticError):
        listener.kernel()(10, 2)
    assert [values[0] for _, values in listener.records] == [0, 1]


def test_a_failure_stops_the_other_threads_soon():
    set_threads(4)
    listener = Listener()
    with pytest.raises(ArithmeticError):
        listener.kernel(cost=10_000)(200_000, 5)
    set_threads(0)
    assert len(listener.records) < 199_999


def test_a_kernel_works_after_a_failure():
    listener = Listener()
    kernel = listener.kernel()
    with pytest.raises(ArithmeticError):
        kernel(3, 0)
    kernel(1, -1)
    assert listener.records == [(0, [0, 0])]


@pytest.mark.parametrize("count", [3, 20_000])
def test_an_exception_of_the_print_callback_ends_the_launch(count):
    def speak(records):
        raise OSError("the pipe is broken")

    kernel = kernel_of(SPEAK_OR_FAIL, "nb", tasks=[("work", 1.0, SPEAKS)], speak=speak, fail=None, sites=(2, 1))
    with pytest.raises(OSError, match="the pipe is broken"):
        kernel(count, -1)


def test_a_print_callback_may_launch():
    set_threads(2)
    inner = Listener()

    def speak(records):
        inner.kernel(cost=10_000)(100, -1)

    kernel = kernel_of(SPEAK_OR_FAIL, "nb", tasks=[("work", 10_000.0, SPEAKS)], speak=speak, sites=(2, 1))
    kernel(10_000, -1)
    set_threads(0)
    assert len(inner.records) == 100 * inner.calls > 0


@pytest.mark.parametrize("count", [5, 3_000, 60_000])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_print_callback_runs_on_the_launching_thread(threads, count):
    seen = set()

    class Watching(Listener):
        def speak(self, records):
            seen.add(threading.get_ident())
            super().speak(records)

    set_threads(threads)
    listener = Watching()
    kernel = listener.kernel(cost=10_000)
    for _ in range(3):
        kernel(count, -1)
    set_threads(0)
    assert seen == {threading.get_ident()}
    assert sorted(values[0] for _, values in listener.records) == sorted([*range(count)] * 3)


FORKING = """
import sys, warnings
sys.path.insert(0, {here!r})
warnings.simplefilter("ignore")  # of forking a process with threads
import os
from test_context import *

THREADS, COUNT = {threads}, {count}


class Forking(Listener):
    child = None

    def speak(self, records):
        super().speak(records)
        if self.child is None:
            self.child = os.fork()


def check(condition, what):
    if not condition:
        print("parent" if listener.child else "child", what, flush=True)
        os._exit(1)


set_threads(THREADS)
listener = Forking()
kernel = listener.kernel(cost=10_000)
kernel(COUNT, -1)
check(listener.child is not None, "has not forked")
check(sorted(values[0] for _, values in listener.records) == list(range(COUNT)), "has lost prints")
# Both go on: they launch, share work, and fork again.
for _ in range(3):
    listener.records.clear()
    kernel(COUNT, -1)
    check(sorted(values[0] for _, values in listener.records) == list(range(COUNT)), "has lost later prints")
if listener.child == 0:
    grandchild = os.fork()
    if grandchild == 0:
        listener.records.clear()
        kernel(COUNT, -1)
        os._exit(len(listener.records) != COUNT)
    check(os.waitpid(grandchild, 0)[1] == 0, "has a child that fails")
    os._exit(0)
check(os.waitpid(listener.child, 0)[1] == 0, "has a child that fails")
print("both went on")
"""


@pytest.mark.parametrize("count", [5, 20_000, 100_000])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_print_callback_that_forks(threads, count):
    text = FORKING.format(here=str(Path(__file__).parent), threads=threads, count=count)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "both went on\n"), done.stderr


def test_fail_must_return_an_exception():
    kernel = kernel_of(SPEAK_OR_FAIL, "nb", tasks=[("w", 1.0, SPEAKS)], speak=print, fail=lambda *_: "no", sites=(2, 1))
    with pytest.raises(TypeError, match=r"fail\(\) must return an exception, not str"):
        kernel(1, 0)


def test_too_many_values_at_a_site_are_refused():
    with pytest.raises(ValueError, match="at most 4096 values, not 4097"):
        kernel_of(SPEAK_OR_FAIL, "nb", sites=(4097,))(1, 1)


# Takes `count` pieces of `bytes`, checks that they are apart, and returns the sum of the pieces' misalignments.
SCRATCH = """
int32_t samovar_entry(void *context, int64_t *block)
{
    int64_t count = block[0], bytes = block[1];
    int64_t *pieces[100];
    for (int64_t i = 0; i < count; i++) {
        pieces[i] = sv_scratch(context, bytes);
        if (!pieces[i]) return 1;
        block[2] += (uintptr_t)pieces[i] % 64;
        for (int64_t k = 0; k < bytes / 8; k++) pieces[i][k] = i;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < bytes / 8; k++) block[2] += pieces[i][k] != i;
    return 0;
}
"""


def test_scratch_memory_is_aligned_and_apart():
    kernel = kernel_of(SCRATCH, "nb", results=1)
    for size in (0, 8, 24, 1000, 100_000, 64, 1 << 20):
        for count in (1, 3, 100):
            if size * count <= 1 << 24:
                assert kernel(count, size) == 0


@pytest.mark.parametrize("size", [1 << 62, -1, (1 << 63) - 1])
def test_too_much_scratch_memory_is_a_memory_error(size):
    with pytest.raises(MemoryError, match="temporary arrays"):
        kernel_of(SCRATCH, "nb", results=1)(1, size)


def test_scratch_memory_of_several_threads_is_apart():
    kernel = kernel_of(SCRATCH, "nb", results=1, slow_serial=True)
    wrong: list[int] = []

    def launch():
        wrong.append(sum(kernel(10, 4000 + 8 * i) for i in range(100)))

    launchers = [threading.Thread(target=launch) for _ in range(4)]
    for launcher in launchers:
        launcher.start()
    for launcher in launchers:
        launcher.join()
    assert wrong == [0, 0, 0, 0]


RANDOM = """
int32_t samovar_entry(void *context, int64_t *block)
{
    for (int64_t i = 0; i < block[1]; i++) ((uint64_t *)block[0])[i] = sv_random(context);
    return 0;
}
"""


def random_numbers(count: int) -> np.ndarray:
    values = np.zeros(count, np.uint64)
    program = [("parameter", 0, 0), ("tensor", 0, u64, 1, True, *[False] * 8, True), ("array", 0, 0, False)]
    specialization = Specialization(image_from_c(RANDOM), program, 1, 16)
    Kernel(quiet, ("values",), {}, lambda kernel, arguments: specialization)(values)
    return values


def test_a_seed_repeats_the_random_numbers():
    seed(7)
    first = random_numbers(100)
    assert (random_numbers(100) != first).all()
    seed(7)
    assert (random_numbers(100) == first).all()
    seed(8)
    assert (random_numbers(100) != first).all()


def test_random_numbers_are_spread():
    seed(0)
    values = random_numbers(100_000)
    assert len(np.unique(values)) == 100_000
    uniform = values / 2.0**64
    assert abs(uniform.mean() - 0.5) < 0.01
    bits = (values[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.02


def test_threads_have_streams_of_their_own():
    seed(0)
    rows: list[np.ndarray] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: rows.append(random_numbers(50)))
        thread.start()
        thread.join()
    assert len(np.unique(np.concatenate(rows))) == 150


THREADS = "int32_t samovar_entry(void *context, int64_t *block) { block[0] = sv_threads(context); return 0; }"


def test_code_knows_how_many_threads_it_may_use():
    set_threads(3)
    assert kernel_of(THREADS, results=1)() == 3
    set_threads(0)
    assert kernel_of(THREADS, results=1)() == pool_statistics()["threads"]
