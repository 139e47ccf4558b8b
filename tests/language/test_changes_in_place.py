"""Loops that change arrays in place run in vectors, because iterations are told apart, and come out as they would one by
one. Vectors are ours, or those of the backend, which is told that iterations are independent (`_changes_in_place` in
`samovar.passes.outline`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_1, f32_2, f32_3 = (sv.types.NDArray[sv.f32, n] for n in (1, 2, 3))


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def eliminate(a: f32_2, k: sv.i32):
    for i, j in sv.ndrange((k + 1, a.shape[0]), (k + 1, a.shape[1])):
        a[i, j] -= a[i, k] * a[k, j]


@sv.kernel
def shortest(a: f32_2, k: sv.i32):
    for i, j in a:
        if i != k and j != k:
            a[i, j] = min(a[i, j], a[i, k] + a[k, j])


@sv.kernel
def other_rows(a: f32_2, k: sv.i32):
    for h, j in sv.ndrange(a.shape[0] // 2, a.shape[1]):
        a[2 * h + 1, j] = 0.5 * a[2 * h, j] + k


@sv.kernel
def half(a: f32_2, k: sv.i32):
    for i, j in sv.ndrange(a.shape[0], a.shape[1] // 2):
        a[i, j] = a[i, j + a.shape[1] // 2] * 2.0 - a[i, j]


#: What a loop is marked with for the backend.
INDEPENDENT = "(parallel, independent"
KERNELS = (eliminate, shortest, other_rows, half)


def square(size: int) -> np.ndarray:
    a = np.random.default_rng(size).random((size, size)).astype(np.float32)
    if size > 10:
        a[5, 3], a[4, 7], a[3, 9] = math.nan, math.inf, -0.0
    return a


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_same_bits_as_one_by_one(kernel: Any, threads: int) -> None:
    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=False, num_threads=threads, without=without)
        results = []
        for size in (1, 2, 15, 16, 17, 33, 64, 65, 130):
            a = square(size)
            for k in range(min(2, size)):
                kernel(a, k)
            results.append(a)
        return results

    for found, expected in zip(run(""), run("vectors"), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_rows_run_in_vectors(kernel: Any) -> None:
    sv.init()
    loops = kernel.inspect("loops", square(40), 1)
    if kernel is shortest:
        assert "# vectorized" in loops
    else:
        assert INDEPENDENT in loops
        assert "llvm.access.group" in kernel.inspect("llvm", square(40), 1)


def test_elimination_as_a_whole() -> None:
    a = square(9) + 3 * np.eye(9, dtype=np.float32)
    expected = a.astype(np.float64)
    for k in range(9):
        eliminate(a, k)
        expected[k + 1 :, k + 1 :] -= np.outer(expected[k + 1 :, k], expected[k, k + 1 :])
    np.testing.assert_allclose(a, expected, rtol=1e-3)


@sv.kernel
def shifted(a: f32_1, b: f32_1):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i] + b[i]


@sv.kernel
def between(a: f32_2, b: f32_2, k: sv.i32):
    for i, j in sv.ndrange((k + 1, a.shape[0]), (k + 1, a.shape[1])):
        a[i, j] -= b[i, k] * a[k, j]


@pytest.mark.parametrize("size", [1, 16, 40])
def test_arguments_that_share_memory_are_left_to_llvm(size: int) -> None:
    a = square(size)
    assert INDEPENDENT in between.inspect("ir", a, a.copy(), 0)
    assert INDEPENDENT not in between.inspect("ir", a, a, 0)
    expected = a.copy()
    if size > 1:
        expected[1:, 1:] -= np.outer(expected[1:, 0], expected[0, 1:])
    between(a, a, 0)
    np.testing.assert_allclose(a, expected, rtol=1e-4, atol=1e-6)
    line = np.arange(float(size + 3), dtype=np.float32)
    shifted(line[:size], line[:size])
    assert line.tolist() == [3.0 * each for each in range(size)] + [float(size), size + 1.0, size + 2.0]


@sv.kernel
def through_memory_of_its_own(a: f32_2, k: sv.i32):
    for i, j in a:
        v = sv.Vector.zero(sv.f32, 40)
        v[(i + j) % 40] = a[i, j]
        a[i, j] = v[(j + i) % 40] + v[(i + j + 1) % 40] + a[k, k] * 0.0


def test_memory_of_an_iteration_is_not_told_apart() -> None:
    sv.init(without="vectors")
    a = np.random.default_rng(3).random((20, 37)).astype(np.float32)
    before = a.copy()
    assert INDEPENDENT not in through_memory_of_its_own.inspect("ir", a, 0)
    through_memory_of_its_own(a, 0)
    np.testing.assert_allclose(a, before, rtol=1e-6)
    sv.init()
    through_memory_of_its_own(a, 0)
    np.testing.assert_allclose(a, before, rtol=1e-6)
