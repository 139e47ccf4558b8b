"""Casts of floats to integers: marked where they need no care, and only there."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_arithmetic import evaluate, rounded
from ir_builder import Builder
from samovar._native import f16, f32, f64, i8, i32, i64, u1, u8, u64
from samovar.ir.affine import Affine
from samovar.ir.ranges import float_range
from samovar.ir.values import Array, Constant, Operation, Parameter, Value
from samovar.passes.saturating_casts import mark_conversions

CODES = "add sub mul min max neg abs floor ceil trunc round select mod sqrt tanh".split()
NUMBERS = st.sampled_from((0.0, -0.0, 1.0, -1.0, 0.5, 255.0, 255.5, -3.75, 1e6, 3e38, math.inf, -math.inf, math.nan))


@st.composite
def expressions(draw: st.DrawFn) -> tuple[Builder, list[Operation]]:
    dtype = draw(st.sampled_from((f16, f32, f64)))
    build = Builder(Parameter("x", dtype), Parameter("n", i8), Parameter("m", i32))
    made: list[Operation] = [build.cast(build["n"], dtype), build.cast(build["m"], dtype)]
    values: list[Value] = [build["x"], *made]
    for _ in range(draw(st.integers(1, 8))):
        code = draw(st.sampled_from(CODES))
        a, b = (draw(st.sampled_from(values)) for _ in range(2))
        if draw(st.booleans()):
            b = Constant(rounded(draw(NUMBERS), dtype), dtype)
        if code == "select":
            condition = build.op("lt", a, b)
            made.append(condition)
            made.append(build.op("select", condition, a, b, type=dtype))
        else:
            unary = code in ("neg", "abs", "floor", "ceil", "trunc", "round", "sqrt", "tanh")
            made.append(build.op(code, a) if unary else build.op(code, a, b))
        values.append(made[-1])
    return build, made


@examples("values")
@given(expressions(), st.floats(), st.integers(-128, 127), st.integers(-(1 << 31), (1 << 31) - 1))
def test_a_float_is_in_the_range_that_its_expression_shows(
    made: tuple[Builder, list[Operation]], x: float, n: int, m: int
) -> None:
    build, operations = made
    affine = Affine(build.body)
    dtype = build["x"].type
    assert dtype is not None
    known: dict[Value, float] = {build["x"]: rounded(x, dtype), build["n"]: n, build["m"]: m}
    for operation in operations:
        operands = [each.value if isinstance(each, Constant) else known[each] for each in operation.operands]
        known[operation] = evaluate(operation.code, operation.type, operands, operation.operands[0].type)
        if operation.type is dtype:
            found, value = float_range(operation, affine.range), known[operation]
            assert found.nan if math.isnan(value) else found.low <= value <= found.high


def marks(*casts: Operation) -> list[object]:
    return [cast.payload for cast in casts]


def test_a_clamped_float_fits() -> None:
    build = Builder(Parameter("x", f32))
    clamped = build.op("min", build.op("max", build["x"], 0.0), 255.0)
    half = build.op("max", build["x"], 0.0)
    casts = build.cast(clamped, u8), build.cast(half, u8), build.cast(clamped, i8), build.cast(clamped, i32)
    for cast in casts:
        build.op("neg", cast)
    mark_conversions(build.kernel())
    assert marks(*casts) == ["fits", None, None, "fits"]


@pytest.mark.parametrize(("factor", "mark"), [(1000.0, "fits"), (1e10, None)])
def test_a_random_number_times_a_constant_fits(factor: float, mark: str | None) -> None:
    build = Builder()
    cast = build.cast(build.op("mul", build.op("uniform", Constant(7, u64), type=f32), factor), i32)
    build.op("neg", cast)
    mark_conversions(build.kernel())
    assert cast.payload == mark


def test_an_index_needs_care_for_nan_alone() -> None:
    build = Builder(Array("a", f32, 1), Array("wide", f32, 1, wide=True), Parameter("x", f32))
    a, x = build["a"], build["x"]
    index, before, neighbor, outside, long = (build.cast(x, i32) for _ in range(5))
    build.load(a, index)
    build.load(a, build.op("sub", before, 1))
    build.load(a, build.op("add", neighbor, 1))
    build.load(build["wide"], outside)
    build.load(a, build.cast(long, i64))
    mark_conversions(build.kernel())
    # What is an index itself, or more than one, is not negative.
    assert marks(index, before, neighbor, outside, long) == ["position", "position", "index", None, None]


def test_an_index_that_is_used_elsewhere_needs_no_more_care_if_the_access_is_certain() -> None:
    build = Builder(Array("a", f32, 1), Array("wide", f32, 1, wide=True), Parameter("x", f32))
    certain, less, perhaps, checked, outside, far = (build.cast(build["x"], i32) for _ in range(6))
    condition = build.op("lt", perhaps, 3)
    build.load(build["a"], build.op("sub", certain, 1))
    build.load(build["a"], build.op("add", less, 1))
    for cast in (certain, less, checked, outside, far):
        build.op("neg", cast)
    build.load(build["wide"], outside)
    build.load(build["a"], build.op("add", far, 1 << 30))
    with build.when(condition):
        build.load(build["a"], perhaps)
    build.load(build["a"], checked)
    mark_conversions(build.kernel())
    assert marks(certain, less, perhaps, checked, outside, far) == ["position", "index", None, None, None, None]


def test_one_use_that_may_be_negative_is_enough() -> None:
    build = Builder(Array("a", f32, 1), Parameter("x", f32), Parameter("inside", u1))
    cast = build.cast(build["x"], i32)
    with build.when(build["inside"]):
        build.load(build["a"], cast)
        build.load(build["a"], build.op("add", build.op("sub", cast, 3), 2))
    both = build.cast(build["x"], i32)
    with build.when(build["inside"]):
        build.load(build["a"], both)
    with build.when(build["inside"]):
        build.load(build["a"], build.op("add", both, 2))
    mark_conversions(build.kernel())
    assert marks(cast, both) == ["position", "index"]


def test_the_switch_keeps_the_care() -> None:
    build = Builder(Array("a", f32, 1), Parameter("x", f32))
    cast, fitting = build.cast(build["x"], i32), build.cast(Constant(3.5, f32), i32)
    build.load(build["a"], cast)
    build.op("neg", fitting)
    mark_conversions(build.kernel(), without="floats")
    assert marks(cast, fitting) == [None, "fits"]


def test_a_constant_that_is_no_number_may_be_one_and_its_sum_too() -> None:
    build = Builder(Parameter("n", i8))
    total = build.op("add", build.cast(build["n"], f64), Constant(math.nan, f64))
    affine = Affine(build.body)
    assert float_range(Constant(math.nan, f64), affine.range).nan
    assert float_range(total, affine.range).nan


def test_what_is_too_large_for_a_type_is_infinite() -> None:
    """100000 has no f16, so an integer of it is the greatest one that there is."""
    build = Builder(Array("a", i32, 1, alone=True), Array("o", i32, 1, alone=True))
    with build.parallel(10) as (i,):
        clamped = build.op("min", build.op("max", build.load(build["a"], i), 0), 100000)
        half = build.cast(clamped, f16)
        marked = [build.cast(each, i32) for each in (half, build.op("add", half, half), build.cast(half, f32))]
        for each in marked:
            build.store(build["o"], [i], each)
    mark_conversions(build.kernel())
    assert [each.payload for each in marked] == [None] * 3
