"""How long the loops in an iteration of a task will take, where that can be told before the task begins.

Bounds that are made of what is known by then, and of variables of loops around, give the most iterations that a loop can
have; with the cost of an iteration that is an estimate. A task whose estimate is small runs code that never asks whether it
is to stop (see `samovar.backends.llvm.polling`): registers and instructions that asking takes are those of long loops only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from samovar.backends.llvm.polling import constant_length, cost_of, has_long, is_long
from samovar.ir import Axis, Captured, Constant, For, Function, Operation, Parameter, Region, Value, While, regions

#: Loops of one iteration that take no longer than this, in nanoseconds, do not ask.
BRIEF = 1_000_000.0


Known: TypeAlias = "Expression | Value | float"


@dataclass(frozen=True)
class Expression:
    """A number that is computed before a task begins, from two others: doubles, and an operation as LLVM calls it."""

    code: str
    operands: tuple[Known, Known]


#: The least and the greatest value that something can have.
Limits = tuple[Known, Known]


def foreseen(body: Region, axes: Iterable[Axis], looping: Iterable[Function]) -> dict[For, Known]:
    """The outermost loops in an iteration of a task that may be long and of which that can be told: what each takes."""
    variables: dict[Value, Limits] = {}
    for variable, begin, end in axes:
        least, most = _limits(begin, variables), _limits(end, variables)
        if least is not None and most is not None:
            variables[variable] = least[0], most[1]
    found: dict[For, Known] = {}
    for loop in _outermost(body):
        if is_long(loop) or has_long(loop.body, looping):
            work = _work(loop, variables, looping)
            if work is not None:
                found[loop] = work
    return found


def _outermost(body: Region) -> Iterable[For]:
    for operation in body.operations:
        if isinstance(operation, For):
            yield operation
        elif not isinstance(operation, While):
            for inside in regions(operation):
                yield from _outermost(inside)


def _work(loop: For, variables: dict[Value, Limits], looping: Iterable[Function]) -> Known | None:
    """Nanoseconds that a loop takes at most; None if nobody knows."""
    begin, end, step = loop.operands
    if not isinstance(step, Constant) or not step.value:
        return None
    low, high = (begin, end) if step.value > 0 else (end, begin)
    least, most = _limits(low, variables), _limits(high, variables)
    if least is None or most is None:
        return None
    variables[loop.variable] = least[0], most[1]
    each = _inside(loop.body, variables, looping)
    if each is None:
        return None
    length = constant_length(loop)
    if length is not None:
        return _apply("fmul", float(length), each)
    distance = _apply("max", _apply("fsub", most[1], least[0]), 0.0)
    return _apply("fmul", _apply("fdiv", distance, float(abs(step.value))), each)


def _inside(body: Region, variables: dict[Value, Limits], looping: Iterable[Function]) -> Known | None:
    total: Known = 0.0
    for operation in body.operations:
        part: Known | None
        if isinstance(operation, While) or (is_long(operation, looping) and not isinstance(operation, For)):
            return None
        if isinstance(operation, For):
            part = _work(operation, variables, looping)
        elif nested := regions(operation):
            part = 0.0
            for each in nested:
                more = _inside(each, variables, looping)
                part = None if more is None or part is None else _apply("fadd", part, more)
        else:
            part = cost_of(Region([operation]))
        if part is None:
            return None
        total = _apply("fadd", total, part)
    return total


def _limits(value: Value, variables: dict[Value, Limits]) -> Limits | None:
    """Between what a bound is."""
    if isinstance(value, Constant):
        return float(value.value), float(value.value)
    if value in variables:
        return variables[value]
    if isinstance(value, (Parameter, Captured)) or (isinstance(value, Operation) and value.code == "shape"):
        return value, value
    if not isinstance(value, Operation) or value.type is None or value.type.kind not in ("int", "uint"):
        return None
    parts = [_limits(each, variables) for each in value.operands]
    if value.code == "cast" and value.operands[0].type is not None and value.operands[0].type.kind in ("int", "uint"):
        return parts[0]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    (low, high), (least, most) = parts[0], parts[1]
    if value.code == "add":
        return _apply("fadd", low, least), _apply("fadd", high, most)
    if value.code == "sub":
        return _apply("fsub", low, most), _apply("fsub", high, least)
    if value.code in ("min", "max"):
        return _apply(value.code, low, least), _apply(value.code, high, most)
    if value.code == "mul":
        # Of lengths and indices, which are hardly ever negative: a wrong guess makes a launch slower to stop, no more.
        return _apply("fmul", low, least), _apply("fmul", high, most)
    if value.code == "shift_right" and isinstance(least, float) and 0 <= least < 64:
        return _apply("fdiv", low, 2.0**least), _apply("fdiv", high, 2.0**least)
    return None


_FOLDED: dict[str, Callable[[float, float], float]] = {
    "fadd": operator.add,
    "fsub": operator.sub,
    "fmul": operator.mul,
    "fdiv": operator.truediv,
    "min": min,
    "max": max,
}


def _apply(code: str, left: Known, right: Known) -> Known:
    if isinstance(left, float) and isinstance(right, float):
        return _FOLDED[code](left, right)
    return Expression(code, (left, right))
