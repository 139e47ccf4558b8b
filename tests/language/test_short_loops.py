"""Indices with what short loops add to them: the same elements, whether the loops are unrolled or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_2 = sv.types.NDArray[sv.f32, 2]
f32_3 = sv.types.NDArray[sv.f32, 3]

SIZES = (0, 1, 4, 5, 8, 15, 16, 17, 33, 64, 65)
BLOCK = 4


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def transposed(a: f32_2, b: f32_2):
    for p, q in sv.ndrange(a.shape[0] // BLOCK, a.shape[1] // BLOCK):
        for i in range(BLOCK):
            for j in range(BLOCK):
                b[p * BLOCK + i, q * BLOCK + j] = a[q * BLOCK + j, p * BLOCK + i]


@sv.kernel
def around(a: f32_2, b: f32_2):
    for i, j in sv.ndrange((2, a.shape[0] - 2), (2, a.shape[1] - 2)):
        total = 0.0
        for di in range(-2, 3):
            for dj in range(-2, 3):
                total += a[i + di, j - 2 * (dj // 2)] * (dj + 3)
        b[i, j] = total


@sv.kernel
def by_turns(a: f32_2, b: f32_2):
    for i in range(1, a.shape[0] - 1):
        first = 1 + (i + b.shape[0]) % 2
        for k in range((a.shape[1] - 1 - first + 1) // 2):
            j = first + 2 * k
            a[i, j] += 0.25 * (b[i - 1, j] + b[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@sv.kernel
def far(a: f32_2, b: f32_2):
    # The sums on the way wrap, the indices do not.
    big = 2_000_000_000
    for i in range(a.shape[0] // BLOCK):
        for j in range(BLOCK):
            for k in range(BLOCK):
                b[i * BLOCK + big + j - big, k] = a[(i + big) + (j + big) - big - big, k] + i


KERNELS = (transposed, around, by_turns, far)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits(kernel: Any, threads: int) -> None:
    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=False, num_threads=threads, without=without)
        results = []
        for size in SIZES:
            if kernel is far and size < BLOCK:
                continue
            a, b = (np.random.default_rng(seed).random((size, size)).astype(np.float32) for seed in (size, size + 1))
            if size > 10:
                a[3, 4], a[7, 7], b[5, 5] = math.nan, math.inf, -0.0
            kernel(a, b)
            results += [a, b]
        return results

    for found, expected in zip(run(""), run("unrolling"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_numpy_has() -> None:
    a = np.random.default_rng(1).random((64, 64)).astype(np.float32)
    b = np.zeros_like(a)
    transposed(a, b)
    np.testing.assert_array_equal(b, a.T)
    far(a, b)
    rows = np.arange(64)
    shift = (rows // BLOCK).astype(np.float32)[:, None]
    np.testing.assert_array_equal(b[:, :BLOCK], a[rows // BLOCK + rows % BLOCK, :BLOCK] + shift)


@sv.kernel
def cube(a: f32_3, b: f32_3):
    for m in range(a.shape[0]):
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    b[m, i + 3 * (m % 2), j + k] += a[m, k, 2 * j + i]


@pytest.mark.parametrize("kind", ["plain", "transposed"])
def test_three_axes(kind: str) -> None:
    a = np.random.default_rng(2).integers(0, 9, (7, 6, 7)).astype(np.float32)
    a = a if kind == "plain" else a.transpose(1, 0, 2)
    found = []
    for without in ("", "unrolling"):
        sv.init(without=without)
        b = np.zeros((a.shape[0], 6, 6), np.float32)
        cube(a, b)
        found.append(b)
    expected = np.zeros_like(b)
    for m in range(a.shape[0]):
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    expected[m, i + 3 * (m % 2), j + k] += a[m, k, 2 * j + i]
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], expected)
