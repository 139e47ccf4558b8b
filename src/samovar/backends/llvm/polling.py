"""Safepoints: the operations `poll` and `spend` (see `samovar.passes.loops.safepoints`).

A function has a budget, which its loops use up. When it is exhausted, the code polls the runtime, which knows how long that
took and gives a new budget, or ends the launch.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar.backends.llvm.indices import widened
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.writer import Writer
from samovar.ir import Operation

#: The first budget of a function, in estimated nanoseconds: a shorter function never polls.
FIRST_BUDGET = 100_000
#: Python code may run during a poll: signal handlers, other threads. Code that runs once reloads what it wrote.
BARRIER = '  call void asm sideeffect "", "~{memory}"()'


def _spend(writer: Writer, operation: Operation) -> str:
    """Subtract from the budget; return what is left."""
    if writer.budget is None:
        # The rest of the budget; the time of the last poll, and the budget that it gave.
        budget, state = writer.define_early("alloca i64", "budget"), writer.define_early("alloca [2 x i64]", "polled")
        writer.prologue += [f"  store i64 {FIRST_BUDGET}, ptr {budget}", f"  store [2 x i64] zeroinitializer, ptr {state}"]
        writer.budget = budget, state
    budget, _ = writer.budget
    left = writer.define(f"sub i64 {writer.define(f'load i64, ptr {budget}')}, {widened(writer, operation.operands[0])}")
    writer.emit(f"store i64 {left}, ptr {budget}")
    return left


def _poll(writer: Writer, operation: Operation) -> None:
    """Subtract from the budget, and poll the runtime when it is exhausted."""
    left = _spend(writer, operation)
    assert writer.budget is not None
    budget, state = writer.budget
    asks, more, stop, on = (writer.label(name) for name in ("ask", "more", "stop", "on"))
    writer.branch(writer.define(f"icmp slt i64 {left}, 0"), asks, on, UNLIKELY)
    writer.module.runtime("sv_poll")
    given, stops = writer.name("given"), writer.name("stops")
    writer.cold += [
        f"{asks}:",
        f"  {given} = call i64 @sv_poll(ptr {writer.context()}, ptr {state})",
        f"  {stops} = icmp slt i64 {given}, 0",
        f"  br i1 {stops}, label %{stop}, label %{more}{UNLIKELY}",
        f"{more}:",
        *([BARRIER] if writer.runs_once else []),
        f"  store i64 {given}, ptr {budget}",
        f"  br label %{on}",
        f"{stop}:",
        "  " + writer.leave(),
    ]
    writer.start(on)


def _only_spend(writer: Writer, operation: Operation) -> None:
    _spend(writer, operation)


POLLING: dict[str, Callable[[Writer, Operation], None]] = {"poll": _poll, "spend": _only_spend}
