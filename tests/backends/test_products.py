"""Products of several factors, with `fast_math`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine

from samovar._native import f32, f64
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, LoopVariable, Value


def product(count: int, shared: bool = False) -> Kernel:
    """y[i] = x[i] * x[i+1] * … of `count` factors; `shared` stores the product of the first three too."""
    x, y, z = (Array(name, f64, 1, alone=True) for name in "xyz")

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            total: Value = b.load(x, i)
            for k in range(1, count):
                total = b.op("mul", total, b.load(x, b.op("add", i, k)))
                if shared and k == 2:
                    b.store(z, [i], total)
            b.store(y, [i], total)

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
