"""Safepoints: where long-running code polls whether to stop, so that it can be interrupted and other Python threads run.

The operation `poll` subtracts an estimated time from a budget, and calls the runtime when the budget is used up. Loops of
unknown length poll in each iteration. If an iteration is short, that would cost more than the iteration: such a loop is
strip-mined, and polls between strips.

Loops that turn out to be short do not pay for that. In a task, the time of its loops is estimated before it begins, and code
without any `poll` runs if it is short. A loop with others inside polls in each of its own iterations, and those inside do
not, unless a single iteration takes long. Other innermost loops have two versions, strip-mined and whole; after the latter,
`spend` subtracts its time for the next `poll`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from functools import partial

from samovar._native import f64, i64, u1
from samovar.ir import (
    Affine,
    Builder,
    Captured,
    Clone,
    Constant,
    Estimator,
    For,
    Function,
    If,
    Kernel,
    Local,
    Operation,
    Parameter,
    Region,
    Sections,
    Task,
    Value,
    While,
    defined_in,
    inside,
    outlined,
    regions,
    rewrite,
    walk,
)
from samovar.passes.loops.divergence import exits
from samovar.passes.loops.price import LOCAL_BYTES, code_size, local_bytes
from samovar.passes.loops.work import Work, as_integer, has_long, is_long

#: Code that takes at most this long, in nanoseconds, does not poll.
BRIEF = 1_000_000.0
#: The approximate duration of a strip of an innermost loop (nanoseconds), and its minimum number of iterations.
PIECE, LEAST_PIECE = 500_000.0, 16
#: A scalar innermost loop of unknown length with at most so many operations has so many copies of its body.
LITTLE, UNROLLED = 24, 4
#: Code of more operations does not get two versions, for short loops and for long ones.
TWICE = 150
#: Neither do loops inside more loops: the backend moves the choice out of all of them, which copies the nest.
DEEP = 4
#: The cost of an iteration that calls a function with loops, in nanoseconds.
CALL = 100.0


def place_safepoints(kernel: Kernel) -> None:
    """Add safepoints to all loops of a kernel that may run long, in place."""
    looping: set[Function] = set()
    for function in kernel.functions:  # callees first; the time of our own functions is known
        if function.cost is None and has_long(function.body, looping):
            looping.add(function)
    for function in kernel.functions:
        if function in looping:
            _Placing(function.locals, looping).region(function.body, nested=True)
    for task in outlined(kernel):
        if has_long(task.body, looping):
            _Placing(task.locals, looping).task(task)
    _Placing(kernel.locals, looping).region(kernel.body)


def is_scheduled(operation: Operation) -> bool:
    """Whether an operation is a loop over units or dimensions of a task, or around one: the runtime limits its duration."""
    if isinstance(operation, For) and operation.hints.parallel:
        return True
    return any(is_scheduled(each) for region in regions(operation) for each in region.operations)


class _Placing:
    """Places safepoints in one body. `locals` receives the variables that they need."""

    def __init__(self, locals: list[Local], looping: set[Function]) -> None:
        self.locals = locals
        self.looping = looping
        #: The number of enclosing loops that poll in each iteration.
        self.depth = 0

    # --- tasks

    def task(self, task: Task) -> None:
        """Write two bodies, if it is known when the task begins whether its loops are short."""
        build = Builder(task.line)
        work = Work(build, partial(_is_there_at_once, task), self.looping, lambda value: value in task.captures)
        total: Value | None = Constant(0.0, f64)
        for iteration in _iterations(task.body, task, work):
            each = work.region(iteration)
            total = None if total is None or each is None else build.add(total, each)
        if total is None or not _may_stand_twice(task.body):
            self._in_iterations(task.body)
            return
        if isinstance(total, Constant):
            if total.value > BRIEF:
                self._in_iterations(task.body)
            return
        clone = Clone(targets={local: self._another(local) for local in list(task.locals)})
        polling = clone.region(task.body)
        self._in_iterations(polling)
        build.append(If(build.compare("gt", total, Constant(BRIEF, f64)), polling, task.body, task.line, unlikely=True))
        task.body = Region(build.operations)

    def _another(self, local: Local) -> Local:
        made = copy(local)
        self.locals.append(made)
        return made

    def _in_iterations(self, region: Region) -> None:
        for operation in region.operations:
            if is_scheduled(operation):
                for inner in regions(operation):
                    self._in_iterations(inner)
        region.operations = [
            each
            for operation in region.operations
            for each in ([operation] if is_scheduled(operation) else self._operation(operation, nested=True))
        ]

    # --- everything else

    def region(self, region: Region, nested: bool = False) -> None:
        """Place safepoints in a region; `nested`: it is executed repeatedly."""
        result: list[Operation] = []
        for operation in region.operations:
            result += self._operation(operation, nested)
        region.operations = result

    def _operation(self, operation: Operation, nested: bool) -> list[Operation]:
        if isinstance(operation, Task) or operation.__class__ is Operation:
            return [operation]
        if isinstance(operation, Sections):
            for part in operation.parts:
                _Placing(part.locals, self.looping).region(part.body, nested)
            return [operation]
        if isinstance(operation, For) and is_long(operation, self.looping):
            return self._for(operation, nested)
        if isinstance(operation, While):
            return self._while(operation)
        for inner in regions(operation):
            self.region(inner, nested or isinstance(operation, For))
        return [operation]

    def _cost(self, region: Region) -> float:
        calls = any(each.code == "call" and each.payload in self.looping for each in walk(region))
        return Estimator(iterations=1).region(region).nanoseconds + (CALL if calls else 0.0)

    def _for(self, loop: For, nested: bool) -> list[Operation]:
        if any(isinstance(each, (Task, Sections)) for each in walk(loop.body)):
            return self._in_each_iteration(loop)  # the time of a task is unknown here, and it should not be copied
        if not has_long(loop.body, self.looping):
            return self._innermost(loop, nested)
        build, within = Builder(loop.line, loop.origin), defined_in(Region([loop]))
        each = Work(build, lambda value: value not in within, self.looping).iteration(loop)
        if each is None or not _may_stand_twice(loop.body):
            return self._in_each_iteration(loop)
        if isinstance(each, Constant) and each.value <= BRIEF:
            loop.body.operations[:0] = _poll(each.value)
            return [loop]
        spent = as_integer(build, each)
        polling = Clone().for_loop(loop)
        self._in_each_iteration(polling)
        loop.body.operations[:0] = [Operation("poll", None, (spent,))]
        if isinstance(each, Constant):
            return [polling]
        long = build.compare("gt", each, Constant(BRIEF, f64))
        build.append(If(long, Region([polling]), Region([loop]), loop.line, unlikely=True))
        return build.operations

    def _in_each_iteration(self, loop: For) -> list[Operation]:
        self._inside(loop.body)
        loop.body.operations[:0] = _poll(self._cost(loop.body))
        return [loop]

    def _while(self, loop: While) -> list[Operation]:
        """A loop of unknown length polls in each iteration; a short one is unrolled, and polls once in several."""
        plain = not any(each.width or isinstance(each, (For, While)) for each in inside(loop))
        plain = plain and not any(each.code in ("break", "continue", "return") for each in loop.body.operations)
        self._inside(loop.head)
        self._inside(loop.body)
        cost = self._cost(loop.head) + self._cost(loop.body)
        copies = UNROLLED if plain and code_size(loop.head) + code_size(loop.body) <= LITTLE else 1
        rest: list[Operation] = []
        for _ in range(copies - 1):
            clone, build = Clone(), Builder(loop.line, loop.origin)
            build.operations = clone.region(loop.head).operations
            leave = Region([Operation("break", None)])
            build.append(If(build.make("not", u1, clone.value(loop.condition)), leave, Region(), loop.line))
            rest += [*build.operations, *clone.region(loop.body).operations]
        loop.body.operations += rest
        loop.head.operations[:0] = _poll(copies * cost)
        return [loop]

    def _inside(self, region: Region) -> None:
        """Place safepoints in a part of a loop that polls in each iteration."""
        self.depth += 1
        self.region(region, nested=True)
        self.depth -= 1

    def _innermost(self, loop: For, nested: bool) -> list[Operation]:
        begin, end, _ = loop.operands
        cost = self._cost(loop.body)
        length = max(LEAST_PIECE, int(PIECE / max(cost, 0.5)))
        long = not _may_stand_twice(loop.body)
        if not _is_never_far(begin, end) or (long and not loop.stride):
            loop.body.operations[:0] = _poll(cost)
            return [loop]
        build = Builder(loop.line, loop.origin)
        first, last = (build.cast(each, i64) for each in (begin, end))
        polling = Clone().for_loop(loop)
        if not loop.stride:  # the distance of the bounds limits the trip count
            polling.body.operations[:0] = _poll(cost)
            distance = build.max(build.sub(last, first), build.sub(first, last))
            far = build.compare("gt", distance, Constant(length, i64))
            build.append(If(far, Region([polling]), self._unpolled(loop, distance, cost), loop.line, unlikely=True))
            return build.operations
        reach = Constant(length * abs(loop.stride), i64)
        if not nested or long or self.depth > DEEP:
            self._strip_mined(build, loop, first, last, reach, length * cost)
            return build.operations
        distance = build.sub(last, first) if loop.stride > 0 else build.sub(first, last)
        strips = build.region(lambda: self._strip_mined(build, polling, first, last, reach, length * cost))
        brief = self._unpolled(loop, distance, cost / abs(loop.stride))
        build.append(If(build.compare("gt", distance, reach), strips, brief, loop.line, unlikely=True))
        return build.operations

    def _strip_mined(self, build: Builder, loop: For, first: Value, last: Value, reach: Value, spent: float) -> None:
        """A strip-mined loop that polls after each strip. A jump out of the loop leaves all strips."""
        stride, upwards = loop.stride, loop.stride > 0
        at = Local("piece", i64)
        self.locals.append(at)
        build.set(at, first)
        head = Builder(loop.line)
        more = head.compare("lt" if upwards else "gt", head.get(at), last)

        def body() -> None:
            here = build.get(at)
            distance = build.sub(last, here) if upwards else build.sub(here, last)
            size = build.min(distance, reach)
            stop = build.add(here, size) if upwards else build.sub(here, size)
            build.set(at, stop)
            if exits(loop.body):
                _leave_all(loop.body, at, last)
            loop.operands = (here, stop, Constant(stride, i64))
            build.append(loop)
            build.operations += _poll(spent)

        strips = While(Region(head.operations), more, build.region(body), loop.line)
        strips.note = "strip-mined: a safepoint after each strip"
        build.append(strips)

    def _unpolled(self, loop: For, distance: Value, cost: float) -> Region:
        """A loop without polls; its estimated time is subtracted after it. An enclosing loop polls soon."""
        build = Builder(loop.line)
        build.append(loop)
        shift = max(0, int(-math.log2(max(cost, 1e-3))))
        taken = build.make("shift_right", i64, build.max(distance, Constant(0, i64)), Constant(shift, i64))
        spent = build.mul(taken, Constant(max(1, int(cost)), i64))
        build.make("spend" if self.depth else "poll", None, spent)
        return Region(build.operations)


def _may_stand_twice(region: Region) -> bool:
    return code_size(region) <= TWICE and local_bytes(region) <= LOCAL_BYTES // 4


def _is_never_far(begin: Value, end: Value) -> bool:
    """Whether the distance of two bounds fits in a signed 64-bit integer."""
    (low, high), (least, most) = map(Affine().range, (begin, end))
    return max(high, most) - min(low, least) < 1 << 63 or (
        isinstance(begin, Constant) and begin.value >= 0 and end.type is i64
    )


def _poll(nanoseconds: float) -> list[Operation]:
    return [Operation("poll", None, (Constant(max(1, int(nanoseconds)), i64),))]


def _leave_all(region: Region, at: Local, last: Value) -> None:
    """Make jumps out of a loop skip its remaining strips."""

    def expand(operation: Operation) -> list[Operation]:
        return [at.store(last), operation] if operation.code == "break" else [operation]

    rewrite(region, expand, enters=lambda each: isinstance(each, If))


def _is_there_at_once(task: Task, value: Value) -> bool:
    """Whether a value is available when a task begins."""
    if isinstance(value, Operation) and value.code == "shape":
        return value in task.captures or value.payload[0] in task.captures
    return value in task.captures


def _captured(task: Task, value: Value) -> Value:
    """The captured value, in a task, of a value of the surrounding code."""
    if isinstance(value, Constant) or _is_there_at_once(task, value):
        return value
    at_hand = isinstance(value, Parameter) or (isinstance(value, Operation) and value.code == "shape")
    taken = value if at_hand else Captured(value)
    task.captures = (*task.captures, taken)
    return taken


def _iterations(region: Region, task: Task, work: Work) -> Iterator[Region]:
    """The parts of a task whose duration the runtime does not limit: the bodies of its innermost loops over dimensions."""
    if not any(is_scheduled(operation) for operation in region.operations):
        yield region
        return
    for operation in region.operations:
        if isinstance(operation, For) and operation.variable.bounds is not None:
            begin, end = operation.variable.bounds
            operation.variable.bounds = _captured(task, begin), _captured(task, end)
            work.counts(operation.variable, *operation.variable.bounds)
        if is_scheduled(operation):
            for inner in regions(operation):
                yield from _iterations(inner, task, work)
