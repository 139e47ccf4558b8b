"""Where long code looks whether it is to stop: in loops whose length nobody knows.

A `while` loop has a budget of iterations, which it uses up; when nothing is left, it asks the runtime, which knows by then
how long that took and gives a new one. A `for` loop is run in pieces, and asks between two of them: an iteration costs what
it did. The innermost ones, whose cost is known, have pieces of a fixed length; others as many iterations as the runtime
gives. Short loops in the iterations of a task are not made to pay for that: what is known to be short before the task begins
does not ask at all (see `samovar.backends.llvm.foresight`), and other innermost loops are there twice, in pieces and whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.writer import Writer
from samovar.ir import OPCODES, Constant, For, Function, Operation, Region, While, regions, walk

#: Loops that are known to have no more iterations than this, those inside of them counted, are short.
SHORT = 4096
#: The first budget of a `while` loop, in iterations: a function that is done with less never asks.
FIRST_BUDGET = 256
#: The first piece of a loop with others inside, in iterations: each may take as long as a piece of an innermost one.
FIRST_PIECE = 8
#: What an iteration that calls a function with loops counts.
CALL_WEIGHT = 64
#: A piece of an innermost loop takes about this long (nanoseconds), and has at least so many iterations.
PIECE, LEAST_PIECE = 500_000.0, 16
#: Code of more operations does not stand twice, once for short loops and once for long ones.
TWICE = 100
#: Python code runs while somebody asks: handlers of signals, other threads. Code that runs once reads anew what it wrote.
BARRIER = '  call void asm sideeffect "", "~{memory}"()'


def is_long(operation: Operation, looping: Iterable[Function] = ()) -> bool:
    """Whether an operation may run long: a loop whose length is not known, or a call of a function with one."""
    if isinstance(operation, (For, While)):
        return _iterations(operation) > SHORT
    return operation.code == "call" and operation.payload in looping


def has_long(body: Region, looping: Iterable[Function]) -> bool:
    """Whether something in a region may run long."""
    for operation in walk(body):
        # Nearly all of them are neither.
        if (operation.code == "call" or operation.__class__ is not Operation) and is_long(operation, looping):
            return True
    return False


def has_loops(body: Region) -> bool:
    """Whether a region has loops that ask."""
    return has_long(body, ())


def constant_length(loop: For) -> int | None:
    """How many iterations a loop has, if that is written in the code."""
    begin, end, step = loop.operands
    if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
        return None
    return len(range(int(begin.value), int(end.value), int(step.value))) if step.value else 0


def _iterations(loop: Operation) -> float:
    """The iterations of a loop and of those inside."""
    length = constant_length(loop) if isinstance(loop, For) else None
    if length is None:
        return float("inf")
    return length * max(1.0, sum(map(_iterations, _loops(loop))))


def _loops(operation: Operation) -> Iterable[Operation]:
    """The outermost loops inside of an operation."""
    for body in regions(operation):
        for each in body.operations:
            if isinstance(each, (For, While)):
                yield each
            else:
                yield from _loops(each)


def is_cut(writer: Writer, loop: For) -> bool:
    """Whether a loop is run in pieces."""
    if not writer.polls or loop in writer.brief:
        return False
    length = constant_length(loop)
    if length is not None and length <= FIRST_PIECE:
        return False
    return is_long(loop) or has_long(loop.body, writer.module.looping)


def stands_twice(body: Region) -> bool:
    """Whether code is short enough to stand twice."""
    return sum(1 for _ in walk(body)) <= TWICE


def open_state(writer: Writer, first: int) -> tuple[str, str]:
    """Memory for one who asks: how many iterations it may do, and when it asked last and what it was given."""
    budget, state = writer.define_early("alloca i64", "budget"), writer.define_early("alloca [2 x i64]", "polled")
    writer.prologue += [f"  store i64 {first}, ptr {budget}", f"  store [2 x i64] zeroinitializer, ptr {state}"]
    return budget, state


def open_budget(writer: Writer) -> tuple[str, str]:
    """Give a function a budget, in front of the first loop that may use it up."""
    if writer.budget is None:
        writer.budget = open_state(writer, FIRST_BUDGET)
    return writer.budget


def poll(writer: Writer, weight: int) -> None:
    """Take an iteration off the budget, and ask the runtime when nothing is left of it."""
    budget, _ = memory = open_budget(writer)
    left = writer.define(f"sub i64 {writer.define(f'load i64, ptr {budget}')}, {weight}")
    writer.emit(f"store i64 {left}, ptr {budget}")
    on = writer.label("on")
    ask(writer, writer.define(f"icmp slt i64 {left}, 0"), memory, on, on)
    writer.start(on)


def ask(writer: Writer, condition: str, memory: tuple[str, str], otherwise: str, again: str) -> str:
    """Where a condition holds, ask the runtime for another budget, and go to `again` or leave the function as it says.

    Gives the label from which it goes to `again`.
    """
    asks, more, stop = (writer.label(name) for name in ("ask", "more", "stop"))
    writer.branch(condition, asks, otherwise, UNLIKELY)
    writer.module.runtime("sv_poll")
    given, stops = writer.name("given"), writer.name("stops")
    budget, state = memory
    writer.cold += [
        f"{asks}:",
        f"  {given} = call i64 @sv_poll(ptr {writer.context()}, ptr {state})",
        f"  {stops} = icmp slt i64 {given}, 0",
        f"  br i1 {stops}, label %{stop}, label %{more}{UNLIKELY}",
        f"{more}:",
        *([BARRIER] if writer.runs_once else []),
        f"  store i64 {given}, ptr {budget}",
        f"  br label %{again}",
        f"{stop}:",
        "  " + writer.leave(),
    ]
    return more


def weight_of(body: Region, looping: Iterable[Function]) -> int:
    """What an iteration counts."""
    calls = any(operation.code == "call" and operation.payload in looping for operation in walk(body))
    return CALL_WEIGHT if calls else 1


def piece_of(loop: For, looping: Iterable[Function]) -> int | None:
    """How many iterations a piece of a loop has; None if the runtime says so, because nobody knows what one takes."""
    if has_long(loop.body, looping):
        return None
    return max(LEAST_PIECE, int(PIECE / max(cost_of(loop.body), 0.5)))


def cost_of(body: Region) -> float:
    """A rough cost of what a region does once, in nanoseconds; loops of unknown length count as one iteration."""
    return sum(map(_cost, body.operations))


def _cost(operation: Operation) -> float:
    length = constant_length(operation) if isinstance(operation, For) else None
    inside = sum(map(cost_of, regions(operation)))
    return OPCODES[operation.code].cost + inside * (1 if length is None else length)
