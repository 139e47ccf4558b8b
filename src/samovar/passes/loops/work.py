"""How long loops take, as far as that can be told before they run: an estimate in nanoseconds, as an expression.

Bounds that are made of what is known at some place, and of variables of loops around, give the most iterations that a loop
can have; with the cost of an iteration that is an estimate.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TypeAlias

from samovar._native import f64, i64
from samovar.ir import OPCODES, Builder, Constant, For, Function, Operation, Region, Value, While, regions, walk

Known: TypeAlias = "Expression | Value | float"
#: The least and the greatest value that something can have.
Limits = tuple[Known, Known]
#: Loops that are known to have no more iterations than this, those inside of them counted, are short.
SHORT = 4096


@dataclass(frozen=True)
class Expression:
    """A number that is computed from two others, in floats."""

    code: str
    operands: tuple[Known, Known]


def is_long(operation: Operation, looping: set[Function]) -> bool:
    """Whether an operation may run long: a loop whose length is not known, or a call of a function with one."""
    if isinstance(operation, For) and operation.hints.short and not has_long(operation.body, looping):
        return False
    if isinstance(operation, (For, While)):
        return _iterations(operation) > SHORT
    return operation.code == "call" and operation.payload in looping


def has_long(region: Region, looping: set[Function]) -> bool:
    """Whether something in a region may run long."""
    for operation in walk(region):
        # Nearly all of them are neither.
        if (operation.code == "call" or operation.__class__ is not Operation) and is_long(operation, looping):
            return True
    return False


def _iterations(loop: Operation) -> float:
    """The iterations of a loop and of those inside."""
    length = loop.trip_count() if isinstance(loop, For) else None
    if length is None:
        return float("inf")
    inner = 0.0
    for each in _inner_loops(loop):
        inner += _iterations(each)
    return length * max(1.0, inner)


def _inner_loops(operation: Operation) -> list[Operation]:
    found: list[Operation] = []
    for region in regions(operation):
        for each in region.operations:
            found += [each] if isinstance(each, (For, While)) else _inner_loops(each)
    return found


def cost_of(region: Region) -> float:
    """A rough cost of what a region does once, in nanoseconds; loops of unknown length count as one iteration."""
    total = 0.0
    for operation in region.operations:
        length = operation.trip_count() if isinstance(operation, For) else None
        inside = 0.0
        for each in regions(operation):
            inside += cost_of(each)
        total += OPCODES[operation.code].cost + inside * (1 if length is None else length)
    return total


class Work:
    """Estimates of loops at a place where some values are there: `available` says which."""

    def __init__(self, available: Callable[[Value], bool], looping: set[Function]) -> None:
        self.available = available
        self.looping = looping
        self.variables: dict[Value, Limits] = {}

    def loop(self, loop: For) -> Known | None:
        """What a loop takes at most; None if nobody knows."""
        each = self.iteration(loop)
        if loop.hints.short:
            return each
        begin, end, step = loop.operands
        if each is None or not isinstance(step, Constant) or not step.value:
            return None
        length = loop.trip_count()
        if length is not None:
            return combined("mul", float(length), each)
        low, high = (begin, end) if step.value > 0 else (end, begin)
        least, most = self.limits(low), self.limits(high)
        if least is None or most is None:
            return None
        distance = combined("max", combined("sub", most[1], least[0]), 0.0)
        return combined("mul", combined("div", distance, float(abs(step.value))), each)

    def iteration(self, loop: For) -> Known | None:
        """What one iteration of a loop takes at most."""
        begin, end, step = loop.operands
        if isinstance(step, Constant) and step.value:
            low, high = (begin, end) if step.value > 0 else (end, begin)
            least, most = self.limits(low), self.limits(high)
            if least is not None and most is not None:
                self.variables[loop.variable] = least[0], most[1]
        return self.region(loop.body)

    def region(self, region: Region) -> Known | None:
        total: Known = 0.0
        for operation in region.operations:
            part: Known | None
            if isinstance(operation, While) or (is_long(operation, self.looping) and not isinstance(operation, For)):
                return None
            if isinstance(operation, For):
                part = self.loop(operation)
            elif inside := regions(operation):
                part = 0.0
                for each in inside:
                    more = self.region(each)
                    part = None if more is None or part is None else combined("add", part, more)
            else:
                part = OPCODES[operation.code].cost
            if part is None:
                return None
            total = combined("add", total, part)
        return total

    def limits(self, value: Value) -> Limits | None:
        """Between what a bound is."""
        if isinstance(value, Constant):
            return float(value.value), float(value.value)
        if value in self.variables:
            return self.variables[value]
        if self.available(value):
            return value, value
        if not isinstance(value, Operation) or value.type is None or value.type.kind not in ("int", "uint"):
            return None
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
            # Of lengths and indices, which are hardly ever negative: a wrong guess makes a launch slower to stop, no more.
            return combined("mul", low, least), combined("mul", high, most)
        if value.code == "and" and isinstance(least, float) and least < 0:  # the largest multiple below
            return 0.0, high
        if value.code in ("shr", "shift_right") and isinstance(least, float) and 0 <= least < 64:
            return combined("div", low, 2.0**least), combined("div", high, 2.0**least)
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
    """Two estimates by an operation."""
    if isinstance(left, float) and isinstance(right, float):
        return _FOLDED[code](left, right)
    if left == 0.0 and code in ("add", "max"):
        return right if code == "add" else Expression(code, (left, right))
    return Expression(code, (left, right))


def written(build: Builder, known: Known, captures: Container[object] = ()) -> Value:
    """An estimate as a value. Extents that are not among some captures are asked for again."""
    if isinstance(known, float):
        return Constant(known, f64)
    if isinstance(known, Expression):
        left, right = (written(build, each, captures) for each in known.operands)
        return build.make(known.code, f64, left, right)
    if isinstance(known, Operation) and known.code == "shape" and known not in captures:
        known = build.make("shape", known.type, payload=known.payload)
    return build.cast(known, f64)


def as_integer(build: Builder, known: Known) -> Value:
    """The same as whole nanoseconds."""
    if isinstance(known, float):
        return Constant(max(1, int(known)), i64)
    return build.make("cast", i64, written(build, known))
