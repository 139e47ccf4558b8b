"""Indices that are data: from floats, of neighboring rows, of neighbors that are added to. With and without vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_1 = sv.types.NDArray[sv.f32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]
f32_3 = sv.types.NDArray[sv.f32, 3]
i32_1 = sv.types.NDArray[sv.i32, 1]

SIZES = (0, 1, 2, 15, 16, 17, 33, 64, 65, 200)
ROWS, COLUMNS = 9, 11


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def interpolated(grid: f32_2, x: f32_1, y: f32_1, out: f32_1):
    for k in range(x.shape[0]):
        i, j = sv.i32(x[k]), sv.i32(y[k])
        s, t = x[k] - i, y[k] - j
        low = (1.0 - t) * grid[i, j] + t * grid[i, j + 1]
        high = (1.0 - t) * grid[i + 1, j] + t * grid[i + 1, j + 1]
        out[k] = (1.0 - s) * low + s * high


@sv.kernel
def above(grid: f32_2, x: f32_1, y: f32_1, out: f32_1):
    for k in range(x.shape[0]):
        i, j = sv.i32(x[k]) - 1, sv.i32(y[k])
        out[k] = grid[i + 1, j] + 2.0 * grid[i + 2, j + 1] - x[k]


@sv.kernel
def nearest(grid: f32_2, x: f32_1, y: f32_1, out: f32_1):
    for k in range(x.shape[0]):
        out[k] = grid[sv.i32(x[k]), sv.i32(y[k])] * 2.0


READERS = (interpolated, above, nearest)


def places(count: int, extent: int, seed: int) -> np.ndarray:
    x = (np.random.default_rng(seed).random(count) * (extent - 1.001)).astype(np.float32)
    if count > 10:
        x[3], x[5], x[7] = math.nan, -0.0, -0.75
    return x


@pytest.mark.parametrize("kernel", READERS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("switch", ["floats", "vectors"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_elements_at_places_have_the_same_bits(kernel: Any, switch: str, threads: int) -> None:
    grid = np.random.default_rng(1).random((ROWS, COLUMNS)).astype(np.float32)
    grid[4, 4], grid[2, 3] = math.nan, math.inf

    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=False, num_threads=threads, without=without)
        results = []
        for size in SIZES:
            out = np.zeros(size, np.float32)
            kernel(grid, places(size, ROWS, size), places(size, COLUMNS, size + 1), out)
            results.append(out)
        return results

    for found, expected in zip(run(""), run(switch), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_number_means_the_first_element_and_what_is_above_minus_one_too() -> None:
    grid = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    x = np.array([math.nan, -0.99, 0.0, 2.99, 1.0] * 20, np.float32)
    out = np.zeros_like(x)
    nearest(grid, x, np.zeros_like(x), out)
    np.testing.assert_array_equal(out, 2 * grid[[0, 0, 0, 2, 1] * 20, 0])


@sv.kernel
def next_one(a: f32_1, x: f32_1, out: f32_1):
    for k in range(x.shape[0]):
        out[k] = a[sv.i32(x[k]) + 2]


def test_a_place_before_an_index_may_be_negative() -> None:
    a = np.arange(8, dtype=np.float32)
    x = np.array([-2.0, -1.5, -1.0, 0.0, 5.9, math.nan] * 20, np.float32)
    out = np.zeros_like(x)
    next_one(a, x, out)
    np.testing.assert_array_equal(out, a[[0, 1, 1, 2, 7, 2] * 20])


@sv.kernel
def around(a: f32_3, at: i32_1, out: f32_1):
    for k in range(at.shape[0]):
        i = at[k]
        out[k] = a[i + 1, i - 1, i] - a[i - 1, i + 1, i + 1] + a[i, i + 1, 0] * a[i - 1, k % 2, i]


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("kind", ["plain", "transposed"])
def test_rows_further_on_are_the_rows_that_they_are(threads: int, kind: str) -> None:
    a = np.random.default_rng(3).random((7, 8, 9)).astype(np.float32)
    a = a if kind == "plain" else a.transpose(1, 0, 2)
    for size in SIZES:
        at = np.random.default_rng(size).integers(1, 5, size).astype(np.int32)
        k = np.arange(size) % 2
        expected = a[at + 1, at - 1, at] - a[at - 1, at + 1, at + 1] + a[at, at + 1, 0] * a[at - 1, k, at]
        for without in ("", "vectors"):
            sv.init(fast_math=False, num_threads=threads, without=without)
            out = np.zeros(size, np.float32)
            around(a, at, out)
            np.testing.assert_array_equal(out, expected)


@sv.kernel
def deposit(x: f32_1, mass: f32_1, grid: f32_1):
    for k in range(x.shape[0]):
        i = sv.i32(x[k])
        t = x[k] - i
        grid[i] += (1.0 - t) * mass[k]
        grid[i + 1] += t * mass[k]


@sv.kernel
def counts(x: f32_1, mass: f32_1, grid: sv.types.NDArray[sv.i64, 1]):
    for k in range(x.shape[0]):
        i = sv.i32(x[k])
        grid[i] += 1
        grid[i + 1] += i


@sv.kernel
def entries(x: f32_1, mass: f32_1, grid: f32_2):
    for k in range(x.shape[0]):
        i = sv.i32(x[k])
        grid[i, 0] += mass[k]
        grid[i, 1] += 2.0 * mass[k]


TARGETS = {deposit: (np.float32, 40), counts: (np.int64, 40), entries: (np.float32, (40, 2))}


@pytest.mark.parametrize("kernel", TARGETS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_additions_to_neighbors_have_the_same_bits(kernel: Any, threads: int) -> None:
    dtype, shape = TARGETS[kernel]

    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=False, num_threads=threads, without=without)
        results = []
        for size in (*SIZES, 3000):
            grid = np.zeros(shape, dtype)
            mass = np.random.default_rng(size).random(size).astype(np.float32)
            if size > 100:
                mass[50] = math.inf
            kernel(places(size, 40, size), mass, grid)
            results.append(grid)
        return results

    for found, expected in zip(run(""), run("vectors"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_switches() -> None:
    arguments = (np.zeros((9, 9), np.float32), *(np.zeros(50, np.float32) for _ in range(3)))
    scattered = (np.zeros(50, np.float32), np.zeros(50, np.float32), np.zeros(9, np.float32))

    def text(kernel: Any, without: str, *given: np.ndarray) -> str:
        sv.init(without=without)
        return kernel.inspect("llvm", *given)

    assert "fcmp ogt" in text(nearest, "", *arguments)
    assert "fcmp ult" in text(nearest, "floats", *arguments) or "fcmp olt" in text(nearest, "floats", *arguments)
    assert "fcmp olt" not in text(nearest, "", *arguments)
    assert "unordered" not in text(entries, "", *scattered[:2], np.zeros((9, 2), np.float32))
