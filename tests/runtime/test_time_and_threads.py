"""What kernels ask the runtime: the time, and which thread they are on."""

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def options():
    yield
    sv.reset()


@sv.kernel
def timed(out: sv.types.NDArray[sv.f64, 1]) -> sv.i64:
    before = sv.clock_counter()
    for _ in range(1):
        for i in range(out.shape[0]):
            out[i] += sv.sin(out[i])
    return sv.clock_counter() - before


def test_the_clock_goes_on_while_a_kernel_runs():
    assert 0 < timed(np.zeros(100_000)) < 60e9


@sv.kernel
def numbered(seen: sv.types.NDArray[sv.i32, 1], work: sv.i32):
    for i in range(seen.shape[0]):
        x = 0.5
        for _ in range(work):
            x = sv.sin(x)
        seen[i] = sv.global_thread_idx() + sv.cast(x * 0, sv.i32)


def test_threads_have_numbers_below_their_count():
    for threads in (8, 3, 1):  # workers of the first runs are still there in the later ones
        sv.init(num_threads=threads)
        seen = np.full(2000, -1, np.int32)
        numbered(seen, 1000)
        assert seen.min() >= 0
        assert seen.max() < threads


def test_they_work_in_plain_python():
    sv.init(arch=sv.python)
    seen = np.full(2, -1, np.int32)
    numbered(seen, 1)
    assert seen.tolist() == [0, 0]
    assert timed(np.zeros(2)) > 0
