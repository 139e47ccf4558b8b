"""Products of several factors: by pairs with `fast_math`, as written without it."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine, Options

from samovar._native import f32, f64
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Constant, LoopVariable, Value


def product(count: int, times: float | None = None, shared: bool = False) -> Kernel:
    """y[i] = x[i] * x[i+1] * … of `count` factors, and a constant; `shared` stores the product of the first three too."""
    x, y, z = (Array(name, f64, 1, alone=True) for name in "xyz")

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            total: Value = b.load(x, i)
            for k in range(1, count):
                total = b.op("mul", total, b.load(x, b.op("add", i, k)))
                if shared and k == 2:
                    b.store(z, [i], total)
            b.store(y, [i], total if times is None else b.op("mul", total, Constant(times, f64)))

        b.parallel((0, b.shape(y)), body=body)

    return kernel([x, y, z], build)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("count", range(1, 13))
def test_products_are_right(count: int, shared: bool) -> None:
    x = np.linspace(0.5, 1.5, 50)
    y, z = np.zeros(30), np.zeros(30)
    Machine(product(count, shared=shared))(x, y, z)
    np.testing.assert_allclose(y, [math.prod(x[i : i + count]) for i in range(30)], rtol=1e-14)
    if shared and count > 2:
        np.testing.assert_allclose(z, [math.prod(x[i : i + 3]) for i in range(30)], rtol=1e-14)


def paired(kernel: Kernel, options: Options | None = None) -> int:
    """How many multiplications keep their order."""
    return len(re.findall("fmul nsz arcp contract afn", Machine(kernel, options).rendered.text))


def test_four_factors_are_two_pairs() -> None:
    assert paired(product(3)) == 0
    assert paired(product(4)) == 3


def test_a_product_that_is_needed_anyway_is_not_computed_again() -> None:
    assert paired(product(4, shared=True)) == 0


def test_constants_are_left_to_llvm() -> None:
    assert paired(product(3, times=2.0)) == 0


def test_without_fast_math_a_product_is_rounded_as_written() -> None:
    assert paired(product(8), Options(fast_math=False)) == 0


def test_infinity_and_nan_keep_their_meaning() -> None:
    x, y = Array("x", f32, 1, alone=True), Array("y", f32, 1, alone=True)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            a = b.load(x, i)
            b.store(y, [i], b.op("mul", b.op("mul", b.op("mul", a, a), a), a))

        b.parallel((0, b.shape(x)), body=body)

    values = np.array([0.0, math.inf, -math.inf, math.nan, 1e30, 2.0], np.float32)
    out = np.zeros_like(values)
    Machine(kernel([x, y], build))(values, out)
    np.testing.assert_array_equal(out, np.array([0, math.inf, math.inf, math.nan, math.inf, 16], np.float32))
