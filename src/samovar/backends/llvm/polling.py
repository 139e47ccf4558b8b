"""Where long code looks whether it is to stop: in loops whose length nobody knows.

A function with such loops has a budget, which its loops use up; when nothing is left, it asks the runtime, which knows by
then how long that took and gives a new one. Loops that are vectorised, the innermost `for` loops, are left alone: what they
have done is taken off the budget when they are done. Where it costs nothing to speak of, they are cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterable

from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.writer import Writer
from samovar.ir import OPCODES, Captured, Constant, For, Function, Operation, Parameter, Region, Value, While, walk

#: Constant loops up to this many iterations are short.
SHORT = 4096
#: The first budget, in iterations: a function that is done with less never asks.
FIRST_BUDGET = 256
#: What an iteration that calls a function with loops counts.
CALL_WEIGHT = 64
#: A piece of a loop takes about this long (nanoseconds), and has at least so many iterations.
PIECE, LEAST_PIECE = 500_000.0, 1024


def is_long(operation: Operation, looping: Iterable[Function] = ()) -> bool:
    """Whether an operation may run long: a loop whose length is not known, or a call of a function with one."""
    if isinstance(operation, While):
        return True
    if isinstance(operation, For):
        begin, end, step = operation.operands
        if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
            return True
        return bool(step.value) and len(range(int(begin.value), int(end.value), int(step.value))) > SHORT
    return operation.code == "call" and operation.payload in looping


def has_long(body: Region, looping: Iterable[Function]) -> bool:
    """Whether something in a region may run long."""
    return any(is_long(operation, looping) for operation in walk(body))


def is_polled(operation: Operation, looping: Iterable[Function], runs_once: bool = False) -> bool:
    """Whether a loop asks in each iteration: `while`, a `for` that may be left, and one that is not innermost if it is as
    long in each iteration of a task. What is computed for each is short in most, and would notice."""
    if isinstance(operation, While):
        return True
    if not isinstance(operation, For) or not is_long(operation):
        return False
    if any(inner.code == "break" for inner in walk(operation.body)):
        return True
    return (runs_once or is_steady(operation)) and has_long(operation.body, looping)


def is_steady(loop: For) -> bool:
    """Whether the bounds of a loop are there before any code runs."""
    return all(isinstance(each, (Constant, Parameter, Captured)) or _is_extent(each) for each in loop.operands[:2])


def _is_extent(value: Value) -> bool:
    return isinstance(value, Operation) and value.code == "shape"


def polls(body: Region, looping: Iterable[Function]) -> bool:
    """Whether the code of a function asks the runtime somewhere."""
    return any(is_polled(operation, looping) for operation in walk(body))


def open_budget(writer: Writer) -> str:
    """Give a function a budget, in front of the first loop that may use it up."""
    if writer.budget is None:
        writer.budget = writer.define_early("alloca i64", "budget")
        writer.polled = writer.define_early("alloca [2 x i64]", "polled")
        writer.prologue += [
            f"  store i64 {FIRST_BUDGET}, ptr {writer.budget}",
            f"  store [2 x i64] zeroinitializer, ptr {writer.polled}",
        ]
    return writer.budget


def use_up(writer: Writer, weight: str) -> str:
    """Take something off the budget; gives what is left."""
    budget = open_budget(writer)
    left = writer.define(f"sub i64 {writer.define(f'load i64, ptr {budget}')}, {weight}")
    writer.emit(f"store i64 {left}, ptr {budget}")
    return left


def poll(writer: Writer, weight: int) -> None:
    """Take an iteration off the budget, and ask the runtime when nothing is left of it; leave the function if it says so."""
    left = use_up(writer, str(weight))
    ask, more, stop, on = (writer.label(name) for name in ("ask", "more", "stop", "on"))
    writer.branch(writer.define(f"icmp slt i64 {left}, 0"), ask, on, UNLIKELY)
    writer.module.runtime("sv_poll")
    given, stops = writer.name("given"), writer.name("stops")
    writer.cold += [
        f"{ask}:",
        f"  {given} = call i64 @sv_poll(ptr {writer.context()}, ptr {writer.polled})",
        f"  {stops} = icmp slt i64 {given}, 0",
        f"  br i1 {stops}, label %{stop}, label %{more}{UNLIKELY}",
        f"{more}:",
        f"  store i64 {given}, ptr {writer.budget}",
        f"  br label %{on}",
        f"{stop}:",
        "  " + writer.leave(),
    ]
    writer.start(on)


def weight_of(body: Region, looping: Iterable[Function]) -> int:
    """What an iteration counts."""
    calls = any(operation.code == "call" and operation.payload in looping for operation in walk(body))
    return CALL_WEIGHT if calls else 1


def piece_of(loop: For) -> int:
    """How many iterations a piece of a loop has."""
    cost = sum(OPCODES[operation.code].cost for operation in walk(loop.body))
    return max(LEAST_PIECE, int(PIECE / max(cost, 0.5)))
