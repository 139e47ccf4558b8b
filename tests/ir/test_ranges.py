"""Ranges of integers: the result of an operation on numbers of some ranges lies in the range that is computed for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_arithmetic import evaluate, limits
from samovar._native import DType, i8, i32, u1, u8
from samovar.ir.ranges import FloatRange, integer_range_of
from samovar.ir.values import Array, Operation, Parameter, VectorOperation

BINARY = "add sub mul min max and or xor floordiv mod shl shr".split()
#: What the processor has, with its limits: no division by zero, no shift by all bits.
OF_PROCESSORS = "quotient remainder shift_left shift_right".split()
UNARY = "neg abs popcnt clz ctz ffs".split()


def ranges(type: DType) -> st.SearchStrategy[tuple[int, int]]:
    numbers = st.one_of(st.integers(*limits(type)), st.sampled_from([*limits(type), 0, 1, 7]))
    return st.tuples(numbers, numbers).map(lambda each: (min(each), max(each)))


def spread(low: int, high: int) -> list[int]:
    """Some numbers of a range, the ends and what is around 0 and 1 included."""
    some = {low, high, low + 1, high - 1, (low + high) // 2, -1, 0, 1, *range(low, high, max(1, (high - low) // 9))}
    return [number for number in sorted(some) if low <= number <= high]


def is_defined(code: str, type: DType, operands: tuple[int, int]) -> bool:
    if code in ("quotient", "remainder"):
        return operands[1] != 0 and operands != (limits(type)[0], -1)
    return code not in ("shift_left", "shift_right") or 0 <= operands[1] < type.bits


@pytest.mark.parametrize("type", [i8, u8], ids=str)
@pytest.mark.parametrize("code", [*BINARY, *OF_PROCESSORS])
@given(data=st.data())
def test_the_result_of_two_numbers_is_in_its_range(code: str, type: DType, data: st.DataObject) -> None:
    one, other = data.draw(ranges(type)), data.draw(ranges(type))
    if code in ("shl", "shr", "shift_left", "shift_right") and data.draw(st.booleans()):
        amount = data.draw(st.integers(0, 9))
        other = amount, amount
    operation = Operation(code, type, (Parameter("a", type), Parameter("b", type)))
    low, high = integer_range_of(operation, [one, other])
    for a in spread(*one):
        for b in spread(*other):
            if is_defined(code, type, (a, b)):
                assert low <= evaluate(code, type, (a, b), type) <= high, (a, b)


@pytest.mark.parametrize("type", [i8, u8], ids=str)
@pytest.mark.parametrize("code", UNARY)
@given(data=st.data())
def test_the_result_of_one_number_is_in_its_range(code: str, type: DType, data: st.DataObject) -> None:
    of = data.draw(ranges(type))
    low, high = integer_range_of(Operation(code, type, (Parameter("a", type),)), [of])
    for a in spread(*of):
        assert low <= evaluate(code, type, (a,), type) <= high, a


def range_of(code: str, *operands: tuple[int, int]) -> tuple[int, int]:
    return integer_range_of(Operation(code, i32, tuple(Parameter("a", i32) for _ in operands)), operands)


@pytest.mark.parametrize(
    ("code", "operands", "expected"),
    [
        ("add", ((0, 9), (1, 1)), (1, 10)), ("sub", ((0, 9), (1, 3)), (-3, 8)), ("mul", ((-2, 3), (-5, 7)), (-15, 21)),
        ("abs", ((-5, 3),), (0, 5)), ("abs", ((-5, -3),), (3, 5)), ("neg", ((-5, 3),), (-3, 5)),
        ("floordiv", ((-7, 7), (2, 3)), (-4, 3)), ("quotient", ((-7, 7), (2, 3)), (-3, 3)),
        ("mod", ((-7, 7), (1, 5)), (0, 4)), ("mod", ((0, 3), (1, 5)), (0, 3)), ("remainder", ((-7, 7), (1, 5)), (-4, 4)),
        ("and", ((-9, 9), (0, 7)), (0, 7)), ("or", ((0, 5), (0, 9)), (0, 15)), ("shr", ((-8, 9), (1, 1)), (-4, 4)),
        ("shl", ((-8, 9), (2, 2)), (-32, 36)), ("min", ((0, 9), (3, 20)), (0, 9)), ("max", ((0, 9), (3, 20)), (3, 20)),
        ("popcnt", ((-5, 5),), (0, 32)), ("or", ((5, 5), (9, 9)), (13, 13)), ("xor", ((5, 5), (-1, -1)), (-6, -6)),
        ("mod", ((-7, -5), (8, 8)), (1, 3)), ("remainder", ((9, 9), (4, 4)), (1, 1)), ("mod", ((-1, 0), (4, 4)), (0, 3)),
    ],
)  # fmt: skip
def test_ranges_are_as_narrow_as_the_operands_allow(
    code: str, operands: tuple[tuple[int, int], ...], expected: tuple[int, int]
) -> None:
    assert range_of(code, *operands) == expected


def test_what_may_wrap_may_be_anything() -> None:
    least, greatest = limits(i32)
    assert range_of("add", (0, greatest), (0, 1)) == (least, greatest)
    assert range_of("neg", (least, 0)) == (least, greatest)
    assert range_of("mod", (0, 9), (0, 5)) == (least, greatest)  # by zero


def test_a_choice_is_one_of_both() -> None:
    choice = Operation("select", i32, (Parameter("c", u1), Parameter("a", i32), Parameter("b", i32)))
    assert integer_range_of(choice, [(0, 1), (-3, 2), (5, 9)]) == (-3, 9)


def test_extents_are_not_negative_and_lanes_are_counted() -> None:
    a = Array("a", i32, 2, extents=(None, 7))
    assert integer_range_of(Operation("shape", i32, (), (a, 0)), []) == (0, 2**31 - 1)
    assert integer_range_of(Operation("shape", i32, (), (a, 1)), []) == (7, 7)
    assert integer_range_of(VectorOperation("lane_numbers", i32, width=8), []) == (0, 7)


def test_what_fits_may_have_a_fraction() -> None:
    assert FloatRange(-0.5, 255.5, False).fits(u8)
    assert not FloatRange(-1.0, 255.0, False).fits(u8)
    assert not FloatRange(0.0, 256.0, False).fits(u8)
    assert not FloatRange(0.0, 1.0, True).fits(u8)
