"""Estimates of running times of loops, before they run: in nanoseconds, as an expression.

Bounds computed from available values, and from variables of enclosing loops, give the maximum trip count of a loop; with the
cost of an iteration that is an estimate.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TypeAlias

from samovar._native import f64, i64
from samovar.ir import OPCODES, Builder, Constant, For, Function, Operation, Region, Value, While, regions, walk

Known: TypeAlias = "Expression | Value | float"
#: The minimum and maximum of a value.
Limits = tuple[Known, Known]
#: Loops with at most this many iterations, including nested ones, are short.
SHORT = 4096


@dataclass(frozen=True)
class Expression:
    """A float computed from two others."""

    code: str
    operands: tuple[Known, Known]


def is_long(operation: Operation, looping: set[Function]) -> bool:
    """Whether an operation may run long: a loop of unknown length, or a call of a function with one."""
    if isinstance(operation, For) and operation.hints.short and not has_long(operation.body, looping):
        return False
    if isinstance(operation, (For, While)):
        return _iterations(Region([operation])) > SHORT
    return operation.code == "call" and operation.payload in looping


def has_long(region: Region, looping: set[Function]) -> bool:
    """Whether an operation in a region may run long."""
    for operation in walk(region):
        # Nearly all operations are neither.
        if (operation.code == "call" or operation.__class__ is not Operation) and is_long(operation, looping):
            return True
    return False


def _iterations(region: Region) -> float:
    """The number of iterations of the loops in a region, nested ones multiplied."""
    total = 0.0
    for operation in region.operations:
        inner = 0.0
        for each in regions(operation):
            inner += _iterations(each)
        if isinstance(operation, (For, While)):
            length = operation.trip_count() if isinstance(operation, For) else None
            inner = float("inf") if length is None else length * max(1.0, inner)
        total += inner
    return total


class Work:
    """Estimates of loops at a point where some values are known: `available` says which."""

    def __init__(self, available: Callable[[Value], bool], looping: set[Function]) -> None:
        self.available = available
        self.looping = looping
        self.variables: dict[Value, Limits] = {}

    def loop(self, loop: For) -> Known | None:
        """The maximum time of a loop; None if unknown."""
        each, length = self.iteration(loop), loop.trip_count()
        if each is None or loop.hints.short:
            return each
        if length is not None:
            return combined("mul", float(length), each)
        if loop.variable not in self.variables:
            return None
        least, most = self.variables[loop.variable]
        distance = combined("max", combined("sub", most, least), 0.0)
        return combined("mul", combined("div", distance, float(abs(loop.stride))), each)

    def iteration(self, loop: For) -> Known | None:
        """The maximum time of one iteration of a loop."""
        begin, end, _ = loop.operands
        if loop.stride:
            self.counts(loop.variable, *((begin, end) if loop.stride > 0 else (end, begin)))
        return self.region(loop.body)

    def counts(self, variable: Value, low: Value, high: Value) -> None:
        """Record the range of a variable, as far as it is known."""
        least, most = self.limits(low), self.limits(high)
        if least is not None and most is not None:
            self.variables[variable] = least[0], most[1]

    def region(self, region: Region) -> Known | None:
        """The maximum time of a region."""
        constant = 0.0
        total: Known = 0.0
        for operation in region.operations:
            if isinstance(operation, For):
                parts = [self.loop(operation)]
            elif is_long(operation, self.looping) or isinstance(operation, While):
                return None
            else:
                parts = [OPCODES[operation.code].cost, *map(self.region, regions(operation))]
            for part in parts:
                if part is None:
                    return None
                if isinstance(part, float):
                    constant += part
                else:
                    total = combined("add", total, part)
        return combined("add", total, constant)

    def limits(self, value: Value) -> Limits | None:
        """The range of a bound."""
        if isinstance(value, Constant):
            return float(value.value), float(value.value)
        if value in self.variables:
            return self.variables[value]
        if self.available(value):
            return value, value
        if not isinstance(value, Operation) or value.type is None or value.type.kind not in ("int", "uint"):
            return None
        if value.code == "mod" and isinstance(value.operands[1], Constant) and value.operands[1].value > 0:
            return 0.0, float(value.operands[1].value - 1)
        parts = [self.limits(each) for each in value.operands]
        if value.code == "cast" and value.operands[0].type is not None and value.operands[0].type.kind in ("int", "uint"):
            return parts[0]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            return None
        (low, high), (least, most) = parts[0], parts[1]
        if value.code in ("add", "min", "max"):
            return combined(value.code, low, least), combined(value.code, high, most)
        if value.code == "sub":
            return combined("sub", low, most), combined("sub", high, least)
        if value.code == "mul":
            # Lengths and indices are hardly ever negative: a wrong guess only delays an interrupt.
            return combined("mul", low, least), combined("mul", high, most)
        if value.code == "and" and isinstance(least, float) and least < 0:  # the largest multiple below
            return 0.0, high
        if value.code in ("shr", "shift_right") and isinstance(least, float) and 0 <= least < 64:
            return combined("div", low, 2.0**least), combined("div", high, 2.0**least)
        if value.code == "floordiv" and isinstance(least, float) and least > 0:
            return combined("div", low, least), combined("div", high, least)
        return None


_FOLDED: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "min": min,
    "max": max,
}


def combined(code: str, left: Known, right: Known) -> Known:
    """Combine two estimates by an operation."""
    if isinstance(left, float) and isinstance(right, float):
        return _FOLDED[code](left, right)
    if left == 0.0 and code == "add":
        return right
    if right == 0.0 and code in ("add", "sub"):
        return left
    return Expression(code, (left, right))


def written(build: Builder, known: Known, captures: Container[object] = ()) -> Value:
    """An estimate as a value. Extents that are not captured are queried again."""
    if isinstance(known, float):
        return Constant(known, f64)
    if isinstance(known, Expression):
        left, right = (written(build, each, captures) for each in known.operands)
        return build.make(known.code, f64, left, right)
    if isinstance(known, Operation) and known.code == "shape" and known not in captures:
        known = build.make("shape", known.type, payload=known.payload)
    return build.cast(known, f64)


def as_integer(build: Builder, known: Known) -> Value:
    """The estimate in integer nanoseconds."""
    if isinstance(known, float):
        return Constant(max(1, int(known)), i64)
    return build.make("cast", i64, written(build, known))
