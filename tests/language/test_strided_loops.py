"""Loops with a step, and elements some places apart, in vectors and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv

Rows = sv.types.NDArray[sv.f32, 2]
Floats = sv.types.NDArray[sv.f32, 1]
SIZES = (1, 2, 3, 5, 8, 16, 17, 31, 33, 34, 63, 70, 131)


@sv.kernel
def every_second(u: Rows, v: Rows):
    for i in range(1, u.shape[0] - 1):
        for j in range(1 + i % 2, u.shape[1] - 1, 2):
            u[i, j] += 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - v[i, j])


@sv.kernel
def every_third(u: Rows, v: Rows):
    for i in range(u.shape[0]):
        for j in range(2, u.shape[1] - 2, 3):
            if v[i, j] > 0.5:
                u[i, j] = u[i, j - 2] - u[i, j - 1] + u[i, j + 1]


@sv.kernel
def one_apart(u: Rows, v: Rows):
    for _ in range(1):
        for i in range(u.shape[0]):
            for j in range(2, u.shape[1], 2):
                u[i, j] = u[i, j - 2] * 0.5 + v[i, j]  # what the iteration before has stored


@sv.kernel
def summed(u: Rows, v: Rows):
    for i in range(u.shape[0]):
        total = 0.0
        for j in range(1, u.shape[1], 4):
            total += v[i, j]
        u[i, 0] = total


@sv.kernel
def by_color(u: Rows, v: Rows):
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        if (i + j) % 2 == 1:
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - v[i, j])


@sv.kernel
def guarded_last(u: Rows, v: Rows):
    # The last element of a row is looked at only where there is one.
    for i in range(u.shape[0]):
        for j in range((u.shape[1] + 2) // 3):
            x = v[i, 3 * j]
            if 3 * j + 2 < u.shape[1] and v[i, 3 * j + 1] > 0.5:
                x += v[i, 3 * j + 2]
            u[i, j] = x


@pytest.mark.parametrize("kernel", [every_second, every_third, one_apart, summed, by_color, guarded_last])
def test_the_same_with_and_without_vectors(kernel: Any) -> None:
    def run(without: str) -> list[np.ndarray]:
        sv.init(num_threads=1, fast_math=False, without=without)
        results = []
        for size in SIZES:
            u, v = (np.random.default_rng(seed).random((7, size)).astype(np.float32) for seed in (size, size + 1))
            kernel(u, v)
            results.append(u)
        return results

    for found, wanted in zip(run(""), run("vectors unrolling elements"), strict=True):
        np.testing.assert_array_equal(found, wanted)


@sv.kernel
def in_boxes(p: Rows, low: Floats, high: Floats, out: Floats):
    for i in range(out.shape[0]):
        inside = 1.0
        for c in range(3):
            if p[i, c] < low[c] or p[i, c] > high[c]:
                inside = 0.0
        out[i] = inside


@pytest.mark.parametrize("size", SIZES)
def test_points_in_boxes(size: int) -> None:
    random = np.random.default_rng(size)
    p, out = random.random((size, 3)).astype(np.float32), np.zeros(size, np.float32)
    low, high = np.float32([0.1, 0.2, 0.1]), np.float32([0.9, 0.8, 0.9])
    in_boxes(p, low, high, out)
    np.testing.assert_array_equal(out, ((p >= low) & (p <= high)).all(axis=1))


def test_elements_that_are_not_there_are_not_loaded() -> None:
    # No point gets as far as the missing bound.
    p, out = np.zeros((40, 3), np.float32), np.zeros(40, np.float32)
    in_boxes(p, np.float32([1, 1, 1]), np.zeros(0, np.float32), out)
    assert not out.any()
