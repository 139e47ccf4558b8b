"""Ranges of floats, as far as the expression that gives them shows: enough to see that a conversion to an integer fits.

A range holds whatever the order of evaluation and the precision of functions: results of arithmetic are widened a little.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from samovar.ir import Constant, Operation, Value
from samovar.passes.affine import Affine

#: Expressions are followed so far.
_DEPTH = 12
#: More than arithmetic in f32, in any order, is wrong by.
_SLACK = 1e-3
#: Numbers that types have for certain, by their bits.
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


ANYTHING = FloatRange(-math.inf, math.inf, True)
_UNIT = FloatRange(-1 - _SLACK, 1 + _SLACK, False)


def float_range(value: Value, affine: Affine, depth: int = _DEPTH) -> FloatRange:
    """The range of a float; integers that it is made from are looked up in `affine`."""
    found = _range(value, affine, depth)
    # What is too large for a type is infinite.
    greatest = _GREATEST[value.type.bits] if value.type is not None else 0.0
    low, high = (-math.inf if found.low < -greatest else found.low), (math.inf if found.high > greatest else found.high)
    return FloatRange(low, high, found.nan)


def _range(value: Value, affine: Affine, depth: int) -> FloatRange:
    if isinstance(value, Constant):
        number = float(value.value)
        return ANYTHING if math.isnan(number) else FloatRange(number, number, False)
    if not isinstance(value, Operation) or not depth:
        return ANYTHING
    code = value.code
    if code == "cast":
        return _converted(value, affine, depth)
    if code == "random":
        return FloatRange(0, 1, False)
    operands = [float_range(operand, affine, depth - 1) for operand in value.operands if _is_float(operand)]
    if code in ("sin", "cos"):
        return _UNIT if operands[0].finite() else FloatRange(_UNIT.low, _UNIT.high, True)
    if code in ("tanh", "erf"):
        return FloatRange(_UNIT.low, _UNIT.high, operands[0].nan)
    if code == "select":
        return _either(*operands)
    if code in ("min", "max"):
        return _extremum(code, *operands)
    if code in _MONOTONE and operands[0].finite():
        rounded = _MONOTONE[code]
        return FloatRange(rounded(operands[0].low), rounded(operands[0].high), False)
    return _arithmetic(value, operands) if all(map(FloatRange.finite, operands)) else ANYTHING


def _is_float(value: Value) -> bool:
    return value.type is not None and value.type.kind == "float"


def _converted(value: Operation, affine: Affine, depth: int) -> FloatRange:
    source = value.operands[0]
    if _is_float(source):
        return _widened(float_range(source, affine, depth - 1))
    form = affine.form(source)
    return _widened(FloatRange(form.low, form.high, False))


def _widened(found: FloatRange) -> FloatRange:
    return FloatRange(found.low - abs(found.low) * _SLACK, found.high + abs(found.high) * _SLACK, found.nan)


def _either(first: FloatRange, second: FloatRange) -> FloatRange:
    return FloatRange(min(first.low, second.low), max(first.high, second.high), first.nan or second.nan)


def _extremum(code: str, first: FloatRange, second: FloatRange) -> FloatRange:
    """Of a NaN and a number, the number: one that cannot be NaN bounds the result."""
    choose = min if code == "min" else max
    low, high = choose(first.low, second.low), choose(first.high, second.high)
    for one, other in ((first, second), (second, first)):
        if one.nan:
            low, high = min(low, other.low), max(high, other.high)
    return FloatRange(low, high, first.nan and second.nan)


def _arithmetic(value: Operation, operands: list[FloatRange]) -> FloatRange:
    """Of finite operands; the result is finite too, or anything."""
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
        # What cancels leaves an error of the size of the operands.
        error = _SLACK * max(abs(end) for each in operands for end in (each.low, each.high)) if code != "mul" else 0.0
        return _widened(FloatRange(min(ends) - error, max(ends) + error, False))
    if code == "mod" and operands[1].low > 0:
        return FloatRange(0.0, operands[1].high, False)
    if code == "sqrt" and operands[0].low >= 0:
        return _widened(FloatRange(0.0, math.sqrt(operands[0].high), False))
    return ANYTHING
