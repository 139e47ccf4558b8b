"""Estimates of running times of loops, before they run: in nanoseconds, as floats that code computes.

Bounds computed from available values, and from variables of enclosing loops, give the maximum trip count of a loop; with the
cost of an iteration that is an estimate.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import f64, i64
from samovar.ir import OPCODES, Builder, Constant, For, Function, Operation, Region, Value, While, regions, walk

#: The minimum and maximum of a value, as floats.
Limits = tuple[Value, Value]
#: Loops with at most this many iterations, including nested ones, are short.
SHORT = 4096
_NOTHING = Constant(0.0, f64)


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
    """Estimates of loops at a point where some values are known: `available` says which. `build` receives the code that
    computes them, in which extents that are not `captured` are queried again."""

    def __init__(
        self,
        build: Builder,
        available: Callable[[Value], bool],
        looping: set[Function],
        captured: Callable[[Value], bool] = lambda value: False,
    ) -> None:
        self.build = build
        self.available = available
        self.looping = looping
        self.captured = captured
        self.variables: dict[Value, Limits] = {}

    def loop(self, loop: For) -> Value | None:
        """The maximum time of a loop; None if unknown."""
        build, each, length = self.build, self.iteration(loop), loop.trip_count()
        if each is None or loop.hints.short:
            return each
        if length is not None:
            return build.mul(Constant(float(length), f64), each)
        if loop.variable not in self.variables:
            return None
        least, most = self.variables[loop.variable]
        distance = build.max(build.sub(most, least), _NOTHING)
        return build.mul(build.mul(distance, Constant(1 / abs(loop.stride), f64)), each)

    def iteration(self, loop: For) -> Value | None:
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

    def region(self, region: Region) -> Value | None:
        """The maximum time of a region."""
        constant = 0.0
        total: Value = _NOTHING
        for operation in region.operations:
            if isinstance(operation, For):
                parts = [self.loop(operation)]
            elif is_long(operation, self.looping) or isinstance(operation, While):
                return None
            else:
                constant += OPCODES[operation.code].cost
                parts = [self.region(each) for each in regions(operation)]
            for part in parts:
                if part is None:
                    return None
                if isinstance(part, Constant):
                    constant += part.value
                else:
                    total = self.build.add(total, part)
        return self.build.add(total, Constant(constant, f64))

    def limits(self, value: Value) -> Limits | None:
        """The range of a bound."""
        build = self.build
        if isinstance(value, Constant):
            known = Constant(float(value.value), f64)
            return known, known
        if value in self.variables:
            return self.variables[value]
        if self.available(value):
            if isinstance(value, Operation) and value.code == "shape" and not self.captured(value):
                value = build.make("shape", value.type, payload=value.payload)
            here = build.cast(value, f64)
            return here, here
        if not isinstance(value, Operation) or value.type is None or value.type.kind not in ("int", "uint"):
            return None
        if value.code == "mod" and isinstance(value.operands[1], Constant) and value.operands[1].value > 0:
            return _NOTHING, Constant(float(value.operands[1].value - 1), f64)
        parts = [self.limits(each) for each in value.operands]
        if value.code == "cast" and value.operands[0].type is not None and value.operands[0].type.kind in ("int", "uint"):
            return parts[0]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            return None
        (low, high), (least, most) = parts[0], parts[1]
        if value.code in ("add", "min", "max", "mul"):
            # Lengths and indices are hardly ever negative: a wrong guess about a product only delays an interrupt.
            combined = getattr(build, value.code)
            return combined(low, least), combined(high, most)
        if value.code == "sub":
            return build.sub(low, most), build.sub(high, least)
        number = least.value if isinstance(least, Constant) else -1.0
        if value.code == "and" and isinstance(least, Constant) and number < 0:  # the largest multiple below
            return _NOTHING, high
        if value.code in ("shr", "shift_right") and 0 <= number < 64:
            number = 2.0**number
        elif value.code != "floordiv" or number <= 0:
            return None
        factor = Constant(1 / number, f64)
        return build.mul(low, factor), build.mul(high, factor)


def as_integer(build: Builder, known: Value) -> Value:
    """The estimate in integer nanoseconds."""
    return Constant(max(1, int(known.value)), i64) if isinstance(known, Constant) else build.make("cast", i64, known)
