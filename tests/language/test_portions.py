"""Portions of a range are whole cache lines. That makes no difference to what comes out, whatever the range is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar._native import pool_statistics, set_ragged_chunks

f32_1 = sv.types.NDArray[sv.f32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]

SIZES = (0, 1, 7, 8, 15, 17, 31, 64, 65, 250, 257, 1000, 5003)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    set_ragged_chunks(False)
    sv.reset()


@sv.kernel
def scaled(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i] + y[i]


@sv.kernel
def swept(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(40):
            value = 0.5 * value + 1.0 / (1.0 + value * value)
        y[i] += value


@sv.kernel
def added(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        y[0] += x[i]


@sv.kernel
def in_place(x: f32_1, y: f32_1):
    for i in range(x.shape[0] // 2):
        x[2 * i] = x[2 * i + 1] - y[i]


KERNELS = (scaled, swept, added, in_place)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_in_portions_of_any_length(kernel: Any, threads: int) -> None:
    def run(ragged: bool) -> list[np.ndarray]:
        set_ragged_chunks(ragged)
        sv.init(fast_math=False, num_threads=threads)
        results = []
        for size in SIZES:
            x = np.random.default_rng(size).random(size).astype(np.float32)
            y = np.random.default_rng(size + 1).random(max(size, 3)).astype(np.float32)
            if size > 20:
                x[5], x[11], y[13] = math.nan, math.inf, -0.0
            for _ in range(3):  # the first launch finds out what an iteration costs
                kernel(x, y)
            results += [x, y]
        return results

    for found, expected in zip(run(False), run(True), strict=True):
        np.testing.assert_array_equal(found, expected)


@sv.kernel
def heavy(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(4000):
            value = 0.5 * value + 1.0 / (1.0 + value * value)
        y[i] = value


@pytest.mark.parametrize("ragged", [False, True])
def test_work_that_is_shared_is_done_once(ragged: bool) -> None:
    set_ragged_chunks(ragged)
    sv.init(num_threads=4)
    x, y = np.random.default_rng(1).random(5003).astype(np.float32), np.zeros(5003, np.float32)
    before = pool_statistics()["shared"]
    heavy(x, y)
    expected = y.copy()
    for _ in range(20):
        y[...] = 0
        heavy(x, y)
        np.testing.assert_array_equal(y, expected)
        if pool_statistics()["shared"] > before:
            return
    pytest.fail("nothing was shared")
