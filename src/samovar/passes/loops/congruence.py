"""Strided loops: a loop that only acts in every second, or fourth, iteration gets that step.

`for j in range(n): if (i + j) % 2 == 0: …` becomes `for j in range(i % 2, n, 2): …`, so that all lanes of a vector are
active.
"""

from __future__ import annotations

from samovar._native import i64
from samovar.ir import (
    OPCODES,
    Affine,
    Builder,
    Clone,
    Constant,
    For,
    If,
    LoopVariable,
    Operation,
    Region,
    Value,
    constant_integer,
    defined_in,
    in_first_iteration,
)

#: Worthwhile steps. Powers of two: a number that wraps keeps its remainder.
_STEPS = (2, 4, 8)


def strided(loop: For, affine: Affine) -> list[Operation] | None:
    """The replacement of a loop; None if it acts in every iteration."""
    if loop.stride != 1 or not loop.body.operations:
        return None
    *before, last = loop.body.operations
    if not isinstance(last, If) or last.orelse.operations:
        return None
    if any(OPCODES[each.code].effect not in ("pure", "read") for each in before):
        return None
    found = _congruence(last.operands[0])
    if found is None:
        return None
    variable, (value, step, remainder) = loop.variable, found
    within = defined_in(loop.body)
    factors = [factor for symbol, factor in affine.form(value).terms if symbol.identity is variable]
    if factors not in ([1], [-1]) or any(symbol.identity in within for symbol, _ in affine.form(value).terms):
        return None
    build = Builder(loop.line, loop.origin)
    begin, end = (build.cast(operand, i64) for operand in loop.operands[:2])
    first = in_first_iteration(loop, (value,), within, build)
    if first is None:
        return None
    # The remainder increases by one in each iteration, or decreases.
    missing: Value = build.cast(first.value(value), i64)
    missing = build.sub(*((Constant(remainder, i64), missing) if factors == [1] else (missing, Constant(remainder, i64))))
    begin = build.add(begin, build.make("and", i64, missing, Constant(step - 1, i64)))
    fresh = LoopVariable(variable.name, variable.type, variable.limits, variable.bounds)
    body = Clone({variable: fresh}).region(Region([*before, *last.then.operations]))
    build.append(For(fresh, begin, end, Constant(step, i64), body, loop.line, loop.hints))
    return build.operations


def _congruence(condition: Value) -> tuple[Value, int, int] | None:
    """The value, divisor and remainder of a condition `value % divisor == remainder`."""
    if not isinstance(condition, Operation) or condition.code not in ("eq", "ne"):
        return None
    for left, right in (condition.operands, condition.operands[::-1]):
        wanted = constant_integer(right)
        if wanted is None or not isinstance(left, Operation) or left.code not in ("mod", "and"):
            continue
        value, other = left.operands
        number = constant_integer(other)
        step = None if number is None else number + (left.code == "and")
        if step not in _STEPS or not 0 <= wanted < step or value.type is None or value.type.kind not in ("int", "uint"):
            continue
        if condition.code == "eq":
            return value, step, wanted
        return (value, 2, 1 - wanted) if step == 2 else None
    return None
