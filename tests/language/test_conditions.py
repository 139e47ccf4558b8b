"""Conditions of several parts, `and` and `or`, with elements at constant places: as masks of vectors, and as branches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

from .loop_text import loop_of_vectors

f32_1 = sv.types.NDArray[sv.f32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]
u8_1 = sv.types.NDArray[sv.u8, 1]

SIZES = (0, 1, 2, 15, 16, 17, 33, 64, 65, 200)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def in_a_box(p: f32_2, lo: f32_1, hi: f32_1, o: u8_1):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        o[i] = sv.u8(1) if lo[0] <= x <= hi[0] and lo[1] <= y <= hi[1] and lo[2] <= z <= hi[2] else sv.u8(0)


@sv.kernel
def outside(p: f32_2, lo: f32_1, hi: f32_1, o: u8_1):
    for i in range(p.shape[0]):
        far = p[i, 0] < lo[0] or p[i, 0] > hi[0] or (p[i, 1] > hi[1] and not p[i, 2] < lo[2])
        near = not far and (p[i, 1] < 0.0 or p[i, 2] > hi[2] * 2.0)
        o[i] = sv.u8(far) + sv.u8(2) * sv.u8(near)


@sv.kernel
def by_cases(p: f32_2, lo: f32_1, hi: f32_1, o: u8_1):
    for i in range(p.shape[0]):
        flag = False
        if p[i, 0] > lo[0]:
            flag = p[i, 1] > lo[1]
            if flag:
                flag = p[i, 2] > lo[2]
        else:
            flag = p[i, 0] < hi[0] - 0.5
        o[i] = sv.u8(flag)


@sv.kernel
def decided_before(p: f32_2, lo: f32_1, hi: f32_1, o: u8_1):
    for i in range(p.shape[0]):
        if p[i, 0] > lo[0]:
            other = p[i, 1] > lo[1]
        else:
            other = p[i, 1] < hi[1]
        o[i] = sv.u8(other)


KERNELS = (in_a_box, outside, by_cases, decided_before)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_masks_decide_as_branches_do(kernel: Any, threads: int) -> None:
    lo, hi = np.array([-0.5, -0.25, -0.75], np.float32), np.array([0.5, math.inf, 0.25], np.float32)

    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=False, num_threads=threads, without=without)
        results = []
        for size in SIZES:
            p = (np.random.default_rng(size).random((size, 3)) * 2 - 1).astype(np.float32)
            if size > 10:
                p[3, 0], p[4, 1], p[5, 2], p[6] = math.nan, math.nan, math.inf, lo
            o = np.zeros(size, np.uint8)
            kernel(p, lo, hi, o)
            results.append(o)
        return results

    for found, expected in zip(run(""), run("vectors"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_numpy_finds() -> None:
    p = (np.random.default_rng(1).random((500, 3)) * 2 - 1).astype(np.float32)
    lo, hi = np.array([-0.5, -0.25, -0.75], np.float32), np.array([0.5, 0.75, 0.25], np.float32)
    o = np.zeros(500, np.uint8)
    in_a_box(p, lo, hi, o)
    np.testing.assert_array_equal(o, ((p >= lo) & (p <= hi)).all(1))


@pytest.mark.parametrize("length", [0, 1, 2])
def test_elements_that_nobody_asks_for_need_not_be_there(length: int) -> None:
    p = np.ones((100, 3), np.float32)
    o = np.ones(100, np.uint8)
    in_a_box(p, np.full(max(length, 1), 2.0, np.float32), np.empty(length, np.float32), o)
    assert not o.any()


def test_arrays_of_several_axes_and_arrays_that_are_written() -> None:
    @sv.kernel
    def limited(x: f32_1, limits: f32_2, o: f32_1):
        for i in range(x.shape[0]):
            if x[i] > limits[0, 1] and x[i] < limits[1, 0] and not (x[i] == limits[1, 2] or o[i] == o[0]):
                o[i] = x[i]

    x = np.linspace(0, 1, 50, dtype=np.float32)
    limits = np.array([[9, 0.25, 9], [0.75, 9, 0.5]], np.float32)
    o = np.full(50, 5, np.float32)
    o[0] = 6
    limited(x, limits, o)
    inside = (x > 0.25) & (x < 0.75) & (x != 0.5)
    np.testing.assert_array_equal(o[1:], np.where(inside, x, 5)[1:].astype(np.float32))


def test_conditions_are_masks() -> None:
    arguments = np.zeros((9, 3), np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32), np.zeros(9, np.uint8)

    for kernel in KERNELS:
        loop = loop_of_vectors(kernel.inspect("loops", *arguments))
        assert loop
        assert not [line for line in loop if line.startswith("if ")]
