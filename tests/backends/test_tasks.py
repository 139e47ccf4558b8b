"""Tasks: ranges, nests, what they capture."""

from __future__ import annotations

import numpy as np
import pytest
from build import Builder, kernel
from machine import run

from samovar._native import f32, i32
from samovar.ir.values import Array, LoopVariable, Parameter


def axpy() -> object:
    x, y, a = Array("x", f32, 1, alone=True), Array("y", f32, 1, alone=True), Parameter("a", f32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(y, [i], b.op("add", b.op("mul", a, b.load(x, i)), b.load(y, i)))

        b.parallel((0, b.shape(x)), body=body)

    return kernel([x, y, a], build, name="axpy")


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_one_axis(size: int) -> None:
    x, y = np.arange(size, dtype=np.float32), np.ones(size, np.float32)
    run(axpy(), x, y, 2.0)
    np.testing.assert_array_equal(y, 2 * np.arange(size) + 1)


@pytest.mark.parametrize("bounds", [(0, 5), (3, 9), (-4, 4), (5, 5), (7, 2)])
def test_bounds_of_an_axis_may_be_anything(bounds: tuple[int, int]) -> None:
    y, begin, end = Array("y", i32, 1), Parameter("begin", i32), Parameter("end", i32)

    def build(b: Builder) -> None:
        b.parallel((begin, end), body=lambda i: b.store(y, [b.op("add", i, 10)], i))

    y_values = np.full(20, -1, np.int32)
    run(kernel([y, begin, end], build), y_values, *bounds)
    expected = np.full(20, -1, np.int32)
    for i in range(*bounds):
        expected[i + 10] = i
    np.testing.assert_array_equal(y_values, expected)


@pytest.mark.parametrize("shape", [(3, 4), (0, 5), (5, 0), (1, 1000), (70, 3), (2, 129), (100, 100)])
@pytest.mark.parametrize("pieces", [1, 4])
def test_two_axes(shape: tuple[int, int], pieces: int) -> None:
    y = Array("y", i32, 2)

    def build(b: Builder) -> None:
        def body(i: LoopVariable, j: LoopVariable) -> None:
            b.store(y, [i, j], b.op("add", b.op("mul", i, 10000), j))

        b.parallel((0, b.shape(y, 0)), (0, b.shape(y, 1)), body=body)

    values = np.full(shape, -1, np.int32)
    run(kernel([y], build), values, pieces=pieces)
    np.testing.assert_array_equal(values, np.add.outer(np.arange(shape[0]) * 10000, np.arange(shape[1])))
