"""Expanding checkpoints to branches: a launch that resumes at one skips the code before it, but computes all values it
needs.

A variable says whether code is live: from the beginning, or since the checkpoint where the launch resumes. Tasks, writes
to arrays, prints, checks and returns before a checkpoint test it. Everything else always runs: computing a number has no
effect. A loop over a flag continues while it is live: a skipped one is left after one iteration, and one that contains the
checkpoint is live by then.

The array writes of a `while` in serial code decide how long it runs, so one that writes is skipped as a whole. So is the
call of a function that writes; its result is then 0.

This is the first pass. After it there is no `Checkpoint` in the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from samovar._native import i32, u1
from samovar.ir import (
    OPCODES,
    Array,
    Checkpoint,
    Constant,
    DoWhile,
    For,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Sections,
    Value,
    While,
    dtype_of,
    functions_touch,
    memory,
    substitute,
    walk,
)


def expand_checkpoints(kernel: Kernel) -> None:
    """Expand the checkpoints of a kernel to branches."""
    if kernel.resume is None:
        return
    last = max((each.number for each in walk(kernel.body) if isinstance(each, Checkpoint)), default=0)
    _Expansion(kernel, last).run()


class _Expansion:
    """A single walk in program order; after the last checkpoint, everything is live."""

    def __init__(self, kernel: Kernel, last: int) -> None:
        self._kernel = kernel
        self._last = last
        self._passed = 0
        self._live = Local("live", u1)
        self._replaced: dict[Value, Value] = {}
        self._parts: dict[Value, list[Operation]] = {}  # the results of a call with several
        self._writing = {function for function, touched in functions_touch(kernel).items() if touched.written}

    def run(self) -> None:
        kernel = self._kernel
        assert kernel.resume is not None
        kernel.locals.append(self._live)
        body = self._region(kernel.body)
        from_start = Operation("eq", u1, (kernel.resume, Constant(0, i32)))
        body.operations[:0] = [from_start, self._live.store(from_start)]
        kernel.body = body

    def _region(self, region: Region) -> Region:
        return Region([step for operation in region.operations for step in self._steps(operation)])

    def _steps(self, operation: Operation) -> Sequence[Operation]:
        substitute(operation, self._replaced)
        if operation.code == "extract" and operation.operands[0] in self._parts:
            self._replaced[operation] = self._parts[operation.operands[0]][operation.payload]
            return []
        if isinstance(operation, Checkpoint):
            return self._checkpoint(operation)
        if self._passed == self._last:
            for inner in walk(Region([operation])):
                substitute(inner, self._replaced)
            return [operation]
        if isinstance(operation, DoWhile):
            return self._loop(operation)
        if isinstance(operation, (ParallelFor, Sections)) or (isinstance(operation, While) and self._has_effect(operation)):
            return self._gated([operation])
        if isinstance(operation, (If, For)):
            for name in ("then", "orelse") if isinstance(operation, If) else ("body",):
                setattr(operation, name, self._region(getattr(operation, name)))
            return [operation]
        if self._is_effect(operation):
            return self._call(operation)
        return [operation]

    def _checkpoint(self, operation: Checkpoint) -> list[Operation]:
        assert self._kernel.resume is not None
        begins = Operation("eq", u1, (self._kernel.resume, Constant(operation.number, i32)), None, operation.line)
        wakes = If(begins, Region([self._live.store(Constant(True, u1))]), Region(), operation.line)
        # Its body comes before the next checkpoint.
        body = self._region(operation.body)
        self._passed = operation.number
        return [begins, wakes, *body.operations]

    def _loop(self, loop: DoWhile) -> list[Operation]:
        loop.head = self._region(loop.head)
        live = self._live.load()
        goes_on = Operation("and", u1, (live, self._replaced.get(loop.condition, loop.condition)), None, loop.line)
        loop.head.operations += [live, goes_on]
        loop.condition = goes_on
        return [loop]

    def _gated(self, steps: list[Operation]) -> list[Operation]:
        for inner in walk(Region(steps)):
            substitute(inner, self._replaced)
        live = self._live.load()
        return [live, If(live, Region(steps), Region(), steps[0].line)]

    def _call(self, operation: Operation) -> list[Operation]:
        """An effect that may have a result: stored in a variable, which is 0 if the effect is skipped."""
        several = operation.code == "call" and len(operation.payload.returns) > 1
        results = _extracts(operation) if several else [operation] if operation.type is not None else []
        before: list[Operation] = []
        inside: list[Operation] = [operation, *(results if several else ())]
        after: list[Operation] = []
        for result in results:
            kept = Local("skipped", dtype_of(result), operation.line)
            self._kernel.locals.append(kept)
            before.append(kept.store(kept.zero()))
            inside.append(kept.store(result))
            after.append(kept.load())
        if several:
            self._parts[operation] = after
        elif after:
            self._replaced[operation] = after[0]
        live = self._live.load()
        return [*before, live, If(live, Region(inside), Region(), operation.line), *after]

    def _has_effect(self, operation: Operation) -> bool:
        return any(self._is_effect(inner) for inner in walk(Region([operation])))

    def _is_effect(self, operation: Operation) -> bool:
        """Whether an operation changes more than variables of the kernel."""
        if operation.code == "call":
            return operation.payload in self._writing
        if operation.code in ("return", "print", "check"):
            return True
        return OPCODES[operation.code].effect == "write" and isinstance(memory(operation), Array)


def _extracts(call: Operation) -> list[Operation]:
    """The results of a call with several, one by one."""
    types = call.payload.returns
    return [Operation("extract", dtype, (call,), place, call.line) for place, dtype in enumerate(types)]
