"""Peeled loops (`samovar.passes.loops.peel`): the ends of rows, where indices are clamped or wrapped, apart from what is
between them give what rows in one piece give, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

SIZES = (0, 1, 2, 3, 7, 8, 9, 16, 17, 33, 70, 300)
f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
u8_2 = sv.types.NDArray[sv.u8, 2]
Clamped = sv.types.ndarray(dtype=sv.f32, ndim=2, boundary="clamp")


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def clamped(x: f32_2, out: f32_2):
    for i, j in out:
        left, right = max(j - 1, 0), min(j + 1, x.shape[1] - 1)
        out[i, j] = x[max(i - 1, 0), j] + 2.0 * x[i, left] - x[i, right]


@sv.kernel
def clamped_by_type(x: Clamped, out: f32_2):
    for i, j in out:
        out[i, j] = x[i - 1, j] + 2.0 * x[i, j - 3] - x[i + 1, j + 2]


@sv.kernel
def wrapped(x: f32_2, out: f32_2):
    columns = x.shape[1]
    for i, j in out:
        out[i, j] = x[i, (j + 1) % columns] - x[i, (j + columns - 2) % columns] + x[i, (j - 1) % columns]


@sv.kernel
def window(x: f32_2, out: f32_2):
    for i, j in out:
        total = 0.0
        for d in range(-2, 3):
            total += (d + 3) * x[i, min(max(j + d, 0), x.shape[1] - 1)]
        out[i, j] = total


@sv.kernel
def window_backwards(x: f32_2, out: f32_2):
    for i, j in out:
        total = x[i, max(j - 1, 0)]
        for d in range(2, -3, -1):
            total = 0.5 * total + x[i, min(max(j + d, 0), x.shape[1] - 1)]
        out[i, j] = total


@sv.kernel
def window_by_two(x: f32_2, out: f32_2):
    for i, j in out:
        total = x[i, max(j - 1, 0)]
        for d in range(-3, 3, 2):
            total = 0.5 * total + x[i, max(j + d, 0) % x.shape[1]]
        out[i, j] = total


@sv.kernel
def by_row(x: f32_2, out: f32_2):
    for i, j in out:
        out[i, j] = x[i, min(max(j + i - 2, 0), x.shape[1] - 1)]


@sv.kernel
def of_a_constant(x: f32_2, out: f32_2):
    for i, j in out:
        out[i, j] = x[i, (j + 3) % 7] + x[i, min(j, 5)]


@sv.kernel
def one_after_the_other(x: f32_2, out: f32_2):
    for i, j in out:
        out[i, j] = x[i, (j + 3) % x.shape[1] % max(x.shape[1] - 2, 1)]


#: The note of a loop along a row between the ends.
PEELED = "peeled: the iterations between"
KERNELS = (clamped, clamped_by_type, wrapped, window, window_backwards, window_by_two, by_row, one_after_the_other)


def arrays(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(columns).random((rows, columns)).astype(np.float32)
    return x, np.zeros_like(x)


def with_and_without(run: Callable[[], Any], **options: Any) -> tuple[Any, Any]:
    sv.init(**options)
    found = run()
    sv.init(without="vectors", **options)
    return found, run()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_same_bits_as_in_one_piece(kernel: Any) -> None:
    sv.init(fast_math=False)
    assert PEELED in kernel.inspect("loops", *arrays(4, 40))

    def run() -> list[bytes]:
        results = []
        for columns in SIZES:
            x, out = arrays(5, columns)
            kernel(x, out)
            results.append(out.tobytes())
        return results

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


def test_what_is_cut_at_a_constant_is_left_alone() -> None:
    sv.init()
    assert PEELED not in of_a_constant.inspect("loops", *arrays(4, 40))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_number_of_threads_does_not_matter(threads: int) -> None:
    def run() -> bytes:
        x, out = arrays(300, 70)
        wrapped(x, out)
        return out.tobytes()

    found, expected = with_and_without(run, fast_math=False, num_threads=threads)
    assert found == expected


@sv.kernel
def shorter(x: f32_1, out: f32_1, shift: sv.i32, low: sv.i32, high: sv.i32):
    for i in range(out.shape[0]):
        out[i] = x[min(max(i + shift, low), high)]


def test_bounds_that_leave_nothing_between_them_or_are_far_away() -> None:
    def run() -> list[bytes]:
        results = []
        x = np.arange(50, dtype=np.float32)
        for shift, low, high in ((0, 0, 9), (-20, 5, 30), (20, 0, 49), (2**31 - 30, 0, 49), (-(2**31), 0, 49), (0, 30, 20)):
            out = np.zeros(60, np.float32)
            shorter(x, out, shift, low, high)
            results.append(out.tobytes())
        return results

    found, expected = with_and_without(run)
    assert found == expected


@sv.kernel
def from_the_middle(x: f32_1, out: f32_1):
    for i in range(3, out.shape[0] - 2):
        out[i] = x[(i + 5) % x.shape[0]] + x[max(i - 4, 0)]


def test_axes_that_begin_elsewhere_and_arrays_of_other_lengths() -> None:
    def run() -> list[bytes]:
        results = []
        for size in (1, 5, 6, 20, 41):
            for length in (1, 4, 30):
                x, out = np.arange(max(length, size), dtype=np.float32), np.zeros(size, np.float32)
                from_the_middle(x, out)
                results.append(out.tobytes())
        return results

    found, expected = with_and_without(run)
    assert found == expected


@sv.kernel
def in_place(u: f32_2, v: f32_2):
    for i, j in u:
        u[i, j] += 0.5 * v[i, max(j - 1, 0)]


def test_arguments_that_overlap() -> None:
    def run() -> bytes:
        u = arrays(6, 40)[0]
        in_place(u[:3], u[3:])
        rows = np.zeros((4, 40), np.float32)
        in_place(rows, rows)
        return u.tobytes() + rows.tobytes()

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def bright(image: u8_2, out: u8_2):
    for i, j in out:
        most = sv.u8(0)
        for d in range(-1, 2):
            most = max(most, image[i, (j + d) % image.shape[1]])
        out[i, j] = most


def test_bytes() -> None:
    def run() -> bytes:
        image = np.random.default_rng(3).integers(0, 256, (7, 45), dtype=np.uint8)
        out = np.zeros_like(image)
        bright(image, out)
        return out.tobytes()

    found, expected = with_and_without(run)
    assert found == expected


@sv.kernel
def of_a_sum_that_wraps(x: f32_1, out: f32_1, n: sv.i32):
    for j in range(2, out.shape[0]):
        out[j] = x[(j + n) % n]


def test_a_sum_that_wraps_is_none() -> None:
    """j + n is negative in 32 bits, and so the remainder is that of another number."""
    sv.init()
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    of_a_sum_that_wraps(x, out, 2**31 - 1)
    assert out[2:].tolist() == x[:98].tolist()
