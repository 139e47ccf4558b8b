"""The builder of passes: widths follow operands, integers are folded as they wrap, and regions nest."""

from __future__ import annotations

import pytest

from ir_arithmetic import evaluate
from samovar._native import DType, f32, f64, i8, i32, i64, u8
from samovar.ir.builder import Builder
from samovar.ir.values import Constant, Local, Operation, Parameter, VectorLocal, VectorOperation


@pytest.mark.parametrize("dtype", [i8, u8, i64], ids=str)
@pytest.mark.parametrize("code", ["add", "sub", "mul", "min", "max"])
def test_known_numbers_are_folded_as_they_wrap(code: str, dtype: DType) -> None:
    build = Builder()
    least, greatest = (0, 255) if dtype is u8 else (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1)
    for a in (0, 1, 7, least, greatest):
        for b in (0, 1, 2, least, greatest):
            found = getattr(build, code)(Constant(a, dtype), Constant(b, dtype))
            assert isinstance(found, Constant)
            assert found.value == evaluate(code, dtype, (a, b))
            assert found.type is dtype
    assert build.operations == []


def test_known_floats_are_folded() -> None:
    build, half, three = Builder(), Constant(0.5, f64), Constant(3.0, f64)
    found = [getattr(build, code)(half, three) for code in ("add", "sub", "mul", "min", "max")]
    assert [each.value for each in found] == [3.5, -2.5, 1.5, 0.5, 3.0]
    assert build.operations == []


def test_what_changes_nothing_is_left_out() -> None:
    build, x = Builder(), Parameter("x", i64)
    zero, one = Constant(0, i64), Constant(1, i64)
    assert build.add(x, zero) is build.add(zero, x) is build.sub(x, zero) is build.mul(x, one) is build.mul(one, x) is x
    assert build.operations == []
    for made in (build.sub(zero, x), build.mul(x, zero), build.min(x, zero), build.max(zero, x), build.add(x, one)):
        assert isinstance(made, Operation)
    assert [each.code for each in build.operations] == ["sub", "mul", "min", "max", "add"]


def test_casts_of_known_integers_wrap_and_of_other_types_are_written() -> None:
    build, x = Builder(), Parameter("x", i32)
    assert build.cast(x, i32) is x
    narrow = build.cast(Constant(300, i32), u8)
    assert isinstance(narrow, Constant)
    assert narrow.value == 44
    assert isinstance(build.cast(Constant(1.5, f32), i32), Operation)
    assert isinstance(build.cast(Constant(1, i32), f32), Operation)
    assert isinstance(build.cast(x, i64), Operation)


def test_an_operation_is_as_wide_as_its_widest_operand_unless_it_is_told() -> None:
    build = Builder()
    lanes = build.make("lane_numbers", i32, width=8)
    total = build.make("add", i32, Constant(1, i32), lanes)
    assert isinstance(total, VectorOperation)
    assert total.width == 8
    assert build.make("reduce", i32, total, payload="add", width=0).width == 0
    assert build.get(VectorLocal("v", i32, 4)).width == 4
    assert build.set(VectorLocal("v", i32, 4), Constant(0, i32)).width == 4
    assert type(build.get(Local("x", i32))) is Operation
    guarded = build.make("load", i32, width=0, mask=total)
    assert isinstance(guarded, VectorOperation)
    assert (guarded.width, guarded.mask, guarded.step) == (0, total, 1)


def test_a_region_takes_what_is_written_in_it_and_nothing_else() -> None:
    build = Builder(7, "origin")
    before = build.make("threads", i64)
    region = build.region(lambda: build.make("threads", i64))
    after = build.make("threads", i64)
    assert build.operations == [before, after]
    (inner,) = region.operations
    assert (inner.line, inner.origin) == (7, "origin")

    def fails() -> None:
        build.make("threads", i64)
        raise KeyError

    with pytest.raises(KeyError):
        build.region(fails)
    assert build.operations == [before, after]
