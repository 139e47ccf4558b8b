"""Interval arithmetic: the range of a result from the ranges of the operands.

One table for all analyses. `integer_range_of` is for integers, whose operations wrap: a result that may wrap has the full
range. `float_range` follows float expressions for any order of evaluation and any precision of functions: results of
arithmetic are widened slightly. Both know operations before and after `samovar.passes.legalize`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from samovar._native import DType
from samovar.ir.values import Array, Constant, Operation, Value
from samovar.language import integer_range

#: The smallest and the largest integer.
Range = tuple[int, int]


def signed(number: int, bits: int) -> int:
    """A number modulo 2^bits, as a signed integer."""
    residue = number & ((1 << bits) - 1)
    return residue - (1 << bits) if residue >> (bits - 1) else residue


def integer_range_of(operation: Operation, operands: Sequence[Range]) -> Range:
    """The range of an integer operation, from the ranges of its operands."""
    assert operation.type is not None
    least, greatest = integer_range(operation.type)
    found = _exact_range(operation, operands)
    if found is None or found[0] < least or found[1] > greatest:
        return least, greatest
    return found


def _exact_range(operation: Operation, operands: Sequence[Range]) -> Range | None:
    """The range without wrapping; None if nothing is known."""
    code = operation.code
    if code == "shape":
        array, axis = operation.payload
        assert isinstance(array, Array)
        known = array.extents[axis]
        assert operation.type is not None
        return (0, integer_range(operation.type)[1]) if known is None else (known, known)
    if code == "lane_numbers":
        return 0, operation.width - 1
    if code in _OF_TWO and len(operands) == 2:
        return _OF_TWO[code](*operands)
    if code == "reduce":
        return operands[0] if operation.payload in ("min", "max") else None
    if code in _OF_ONE:
        return _OF_ONE[code](*operands[0])
    if code == "select":
        _, (low, high), (other_low, other_high) = operands
        return min(low, other_low), max(high, other_high)
    if code in ("popcnt", "clz", "ctz", "ffs"):
        assert operation.type is not None
        return 0, operation.type.bits
    return None


def _product(one: Range, other: Range) -> Range:
    ends = [a * b for a in one for b in other]
    return min(ends), max(ends)


def _common_bits(one: Range, other: Range) -> Range | None:
    """The range of a bitwise and: it has no bit that a nonnegative operand does not have."""
    if _is_point(one) and _is_point(other):
        return one[0] & other[0], one[0] & other[0]
    unsigned = [high for low, high in (one, other) if low >= 0]
    return (0, min(unsigned)) if unsigned else None


def _any_bits(one: Range, other: Range, exact: Callable[[int, int], int]) -> Range | None:
    if _is_point(one) and _is_point(other):
        return exact(one[0], other[0]), exact(one[0], other[0])
    if one[0] < 0 or other[0] < 0:
        return None
    return 0, (1 << max(one[1], other[1]).bit_length()) - 1


def _is_point(of: Range) -> bool:
    return of[0] == of[1]


def _less(one: Range, other: Range, equal: bool) -> Range:
    """The range of `<`, or of `<=` if `equal`: within 0 and 1."""
    certain = one[1] <= other[0] if equal else one[1] < other[0]
    possible = one[0] <= other[1] if equal else one[0] < other[1]
    return int(certain), int(possible)


def _equal(one: Range, other: Range) -> Range:
    return int(_is_point(one) and one == other), int(one[0] <= other[1] and other[0] <= one[1])


def _not_equal(one: Range, other: Range) -> Range:
    low, high = _equal(one, other)
    return 1 - high, 1 - low


def _quotient(one: Range, other: Range) -> Range | None:
    """The quotient rounded down, by a positive number."""
    (low, high), (least, greatest) = one, other
    if least <= 0:
        return None
    return low // (least if low < 0 else greatest), high // (greatest if high < 0 else least)


def _truncated_quotient(one: Range, other: Range) -> Range | None:
    (low, high), (least, greatest) = one, other
    if least <= 0:
        return None
    low = -(-low // least) if low < 0 else low // greatest
    return low, -(-high // greatest) if high < 0 else high // least


def _modulus(one: Range, other: Range) -> Range | None:
    """The modulus with the sign of the second operand, which is positive."""
    if other[0] <= 0:
        return None
    if _is_point(other) and one[0] // other[0] == one[1] // other[0]:
        return one[0] % other[0], one[1] % other[0]
    return 0, min(one[1], other[1] - 1) if one[0] >= 0 else other[1] - 1


def _remainder(one: Range, other: Range) -> Range | None:
    """The remainder with the sign of the first operand."""
    if other[0] <= 0 or one[0] >= 0:
        return _modulus(one, other)
    return max(one[0], 1 - other[1]), min(max(one[1], 0), other[1] - 1)


def _shifted_left(one: Range, other: Range) -> Range | None:
    low, high = other
    if low < 0 or high >= 64:
        return None
    return min(one[0] << low, one[0] << high), max(one[1] << low, one[1] << high)


def _shifted_right(one: Range, other: Range) -> Range | None:
    """A shift by the width or more leaves the sign."""
    low, high = min(other[0], 64), min(other[1], 64)
    if low < 0:
        return None
    return min(one[0] >> low, one[0] >> high), max(one[1] >> low, one[1] >> high)


_OF_ONE: dict[str, Callable[[int, int], Range]] = {
    "neg": lambda low, high: (-high, -low),
    "abs": lambda low, high: (max(0, low, -high), max(-low, high)),
    "cast": lambda low, high: (low, high),
}
_OF_TWO: dict[str, Callable[[Range, Range], Range | None]] = {
    "add": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "sub": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "mul": _product,
    "min": lambda one, other: (min(one[0], other[0]), min(one[1], other[1])),
    "max": lambda one, other: (max(one[0], other[0]), max(one[1], other[1])),
    "lt": lambda one, other: _less(one, other, False),
    "le": lambda one, other: _less(one, other, True),
    "gt": lambda one, other: _less(other, one, False),
    "ge": lambda one, other: _less(other, one, True),
    "eq": _equal,
    "ne": _not_equal,
    "and": _common_bits,
    "or": partial(_any_bits, exact=operator.or_),
    "xor": partial(_any_bits, exact=operator.xor),
    "floordiv": _quotient,
    "quotient": _truncated_quotient,
    "mod": _modulus,
    "remainder": _remainder,
    "shl": _shifted_left,
    "shift_left": _shifted_left,
    "shr": _shifted_right,
    "shift_right": _shifted_right,
}


# --- floats


#: The maximum depth of expressions that are followed.
_DEPTH = 12
#: An upper bound of the relative error of f32 arithmetic in any order.
_SLACK = 1e-3
#: Numbers that a type can represent for certain, by its bits.
_GREATEST = {16: 65000.0, 32: 3e38, 64: 3e38}

_MONOTONE: dict[str, Callable[[float], float]] = {
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round
}  # fmt: skip


@dataclass(frozen=True)
class FloatRange:
    """low ≤ value ≤ high, or the value is NaN if it may be."""

    low: float
    high: float
    nan: bool

    def finite(self) -> bool:
        return -math.inf < self.low and self.high < math.inf and not self.nan

    def fits(self, type: DType) -> bool:
        """Whether all values in the range, truncated, fit an integer type."""
        least, greatest = integer_range(type)
        return not self.nan and least - 1 < self.low and self.high < greatest + 1


ANYTHING = FloatRange(-math.inf, math.inf, True)
_UNIT = FloatRange(-1 - _SLACK, 1 + _SLACK, False)


def float_range(value: Value, integer: Callable[[Value], Range], depth: int = _DEPTH) -> FloatRange:
    """The range of a float; `integer` gives the ranges of the integers it is computed from."""
    found = _range(value, integer, depth)
    # Values too large for a type become infinite.
    greatest = _GREATEST[value.type.bits] if value.type is not None else 0.0
    low, high = (-math.inf if found.low < -greatest else found.low), (math.inf if found.high > greatest else found.high)
    return FloatRange(low, high, found.nan)


def _range(value: Value, integer: Callable[[Value], Range], depth: int) -> FloatRange:
    if isinstance(value, Constant):
        number = float(value.value)
        return ANYTHING if math.isnan(number) else FloatRange(number, number, False)
    if not isinstance(value, Operation) or not depth:
        return ANYTHING
    code = value.code
    if code == "cast":
        source = value.operands[0]
        return _widened(
            float_range(source, integer, depth - 1) if _is_float(source) else FloatRange(*integer(source), False)
        )
    if code == "uniform":
        return FloatRange(0, 1, False)
    operands = [float_range(operand, integer, depth - 1) for operand in value.operands if _is_float(operand)]
    if code in ("sin", "cos"):
        return _UNIT if operands[0].finite() else FloatRange(_UNIT.low, _UNIT.high, True)
    if code in ("tanh", "erf"):
        return FloatRange(_UNIT.low, _UNIT.high, operands[0].nan)
    if code == "select":
        first, second = operands
        return FloatRange(min(first.low, second.low), max(first.high, second.high), first.nan or second.nan)
    if code in ("min", "max"):
        return _extremum(code, *operands)
    if code in _MONOTONE and operands[0].finite():
        rounded = _MONOTONE[code]
        return FloatRange(rounded(operands[0].low), rounded(operands[0].high), False)
    return _arithmetic(value, operands) if all(map(FloatRange.finite, operands)) else ANYTHING


def _is_float(value: Value) -> bool:
    return value.type is not None and value.type.kind == "float"


def _widened(found: FloatRange) -> FloatRange:
    return FloatRange(found.low - abs(found.low) * _SLACK, found.high + abs(found.high) * _SLACK, found.nan)


def _extremum(code: str, first: FloatRange, second: FloatRange) -> FloatRange:
    """Min/max of a NaN and a number is the number: an operand that cannot be NaN bounds the result."""
    choose = min if code == "min" else max
    low, high = choose(first.low, second.low), choose(first.high, second.high)
    for one, other in ((first, second), (second, first)):
        if one.nan:
            low, high = min(low, other.low), max(high, other.high)
    return FloatRange(low, high, first.nan and second.nan)


def _arithmetic(value: Operation, operands: list[FloatRange]) -> FloatRange:
    """The range of arithmetic on finite operands; a result that may overflow can be anything."""
    code = value.code
    if code == "neg":
        return FloatRange(-operands[0].high, -operands[0].low, False)
    if code == "abs":
        low, high = sorted((abs(operands[0].low), abs(operands[0].high)))
        return FloatRange(0.0 if operands[0].low < 0 < operands[0].high else low, high, False)
    if code in ("add", "sub", "mul"):
        first, second = operands
        if code == "mul":
            ends = [a * b for a in (first.low, first.high) for b in (second.low, second.high)]
        elif code == "add":
            ends = [first.low + second.low, first.high + second.high]
        else:
            ends = [first.low - second.high, first.high - second.low]
        # Cancellation leaves an error of the size of the operands.
        error = _SLACK * max(abs(end) for each in operands for end in (each.low, each.high)) if code != "mul" else 0.0
        return _widened(FloatRange(min(ends) - error, max(ends) + error, False))
    if code == "mod" and operands[1].low > 0:
        return FloatRange(0.0, operands[1].high, False)
    if code == "sqrt" and operands[0].low >= 0:
        return _widened(FloatRange(0.0, math.sqrt(operands[0].high), False))
    return ANYTHING
