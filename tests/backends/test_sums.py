"""Sums of products in `while` loops: fused and reordered with `fast_math`, as written without it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from hypothesis import given
from hypothesis import strategies as st
from machine import Machine, Options

from hypothesis_profiles import examples
from samovar._native import DType, f32, f64, i32
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Local, Parameter, Value

#: Names of values, and (operation, left, right).
Expression = str | tuple[str, "Expression", "Expression"]

STEPS = 3
EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "y", "c", "d"]),
    lambda inner: st.tuples(st.sampled_from(["add", "sub", "mul"]), inner, inner),
    max_leaves=8,
)


def iterating(expression: Expression, dtype: DType) -> Kernel:
    """STEPS times x, y = expression, x, in a `while` loop; x and y are the first two elements of the array."""
    out, c, d = Array("out", dtype, 1, alone=True), Parameter("c", dtype), Parameter("d", dtype)
    x, y, count = Local("x", dtype), Local("y", dtype), Local("count", i32)

    def build(b: Builder) -> None:
        def value(part: Expression) -> Value:
            if isinstance(part, tuple):
                return b.op(part[0], value(part[1]), value(part[2]))
            return {"c": c, "d": d}.get(part) or b.get(x if part == "x" else y)

        def body() -> None:
            following = value(expression)
            b.set(y, b.get(x))
            b.set(x, following)
            b.set(count, b.op("add", b.get(count), 1))

        b.set(x, b.load(out, 0))
        b.set(y, b.load(out, 1))
        b.set(count, 0)
        b.during(lambda: b.op("lt", b.get(count), STEPS), body)
        b.store(out, [0], b.get(x))

    return kernel([out, c, d], build, locals=[x, y, count])


def reference(expression: Expression, values: dict[str, Any]) -> Any:
    """The same, step by step, in the precision of the values."""

    def value(part: Expression) -> Any:
        if not isinstance(part, tuple):
            return values[part]
        left, right = value(part[1]), value(part[2])
        return {"add": left + right, "sub": left - right, "mul": left * right}[part[0]]

    for _ in range(STEPS):
        values["x"], values["y"] = value(expression), values["x"]
    return values["x"]


def magnitude(expression: Expression, values: dict[str, Any]) -> Any:
    """A bound of everything met on the way: all terms positive, all signs plus."""
    positive = {name: abs(value) for name, value in values.items()}

    def added(part: Expression) -> Expression:
        return ("add" if part[0] == "sub" else part[0], added(part[1]), added(part[2])) if isinstance(part, tuple) else part

    return reference(added(expression), positive)


def result(expression: Expression, dtype: DType, kind: Any, values: tuple[float, ...], fast_math: bool) -> float:
    out = np.array(values[:2], kind)
    Machine(iterating(expression, dtype), Options(fast_math=fast_math))(out, *values[2:])
    return float(out[0])


@examples("compiled")
@given(EXPRESSIONS, st.tuples(*[st.integers(-8, 8)] * 4))
def test_sums_are_right_in_any_order(expression: Expression, numbers: tuple[int, ...]) -> None:
    values = tuple(number / 8 for number in numbers)
    named = dict(zip("xycd", map(np.float64, values), strict=True))
    tolerance = 1e-12 * float(magnitude(expression, named))
    found, wanted = result(expression, f64, np.float64, values, True), reference(expression, dict(named))
    assert found == pytest.approx(wanted, abs=tolerance, rel=0)


MANDELBROT: Expression = ("add", ("sub", ("mul", "x", "x"), ("mul", "y", "y")), "c")
SEVERAL: Expression = ("sub", ("add", ("mul", "x", "c"), "d"), ("sub", ("mul", "y", "y"), ("mul", "x", "y")))


@pytest.mark.parametrize("expression", [MANDELBROT, SEVERAL])
@pytest.mark.parametrize(
    "values",
    [
        (math.inf, 1.0, 0.5, 0.25),
        (1.0, math.inf, 0.5, 0.25),
        (0.5, 0.25, math.nan, 1.0),
        (0.5, 0.25, -math.inf, 1.0),
        (3e38, 1.0, 0.5, 0.25),
    ],
)
def test_infinity_and_nan_keep_their_meaning(expression: Expression, values: tuple[float, ...]) -> None:
    with np.errstate(all="ignore"):
        wanted = float(reference(expression, dict(zip("xycd", map(np.float32, values), strict=True))))
    found = result(expression, f32, np.float32, values, True)
    assert math.isfinite(found) == math.isfinite(wanted)


@pytest.mark.parametrize("expression", [MANDELBROT, SEVERAL])
def test_without_fast_math_a_sum_is_rounded_as_written(expression: Expression) -> None:
    values = (0.1, 0.7, 1 / 3, 1e-3)
    wanted = reference(expression, dict(zip("xycd", map(np.float32, values), strict=True)))
    assert result(expression, f32, np.float32, values, False) == float(wanted)
