"""Code without jumps, for differentiation. Calls are inlined, `break` and `continue` become flags, and a loop that ends by a
condition tests it inside, so that its iterations can be counted.

Code after a branch that jumps moves into the other branch, as with returns (see `samovar.passes.inline`); if both may
continue, a flag says whether the iteration does.
"""

from __future__ import annotations

from samovar._native import i64, u1
from samovar.ir import (
    Builder,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Value,
    While,
    regions,
    scopes,
    substitute,
    walk,
)
from samovar.passes.dead_code import eliminate_dead_code
from samovar.passes.derivatives.returns import return_at_end
from samovar.passes.inline import replace_calls
from samovar.passes.locals import demote_atomics, forward
from samovar.passes.recognize_updates import recognize_updates

_JUMPS = ("break", "continue")


def straighten(kernel: Kernel) -> None:
    """Remove calls and jumps from a kernel, in place; then turn locals into values where possible."""
    functions = set(kernel.functions)
    for body, locals in list(scopes(kernel)):  # callees first
        replace_calls(body, locals, functions)
    kernel.functions = []
    return_at_end(kernel)
    recognize_updates(kernel)
    demote_atomics(kernel)
    _Jumps(kernel.locals).region(kernel.body, None)
    for task in [each for each in kernel.body.operations if isinstance(each, ParallelFor)]:
        _Jumps(task.locals).loop_body(task.body)
    forward(kernel)
    eliminate_dead_code(kernel)


def counted(region: Region, locals: list[Local]) -> dict[While, Operation]:
    """Make each `while` in a region count its iterations. Return the value of each count after its loop."""
    counts: dict[While, Operation] = {}
    for operation in list(region.operations):
        if isinstance(operation, ParallelFor):
            counts |= counted(operation.body, operation.locals)
            continue
        for inner in regions(operation):
            counts |= counted(inner, locals)
        if isinstance(operation, While):
            count = Local("iterations", i64)
            locals.append(count)
            build = Builder()
            build.set(count, Constant(0, i64))
            before, build.operations = build.operations, []
            build.set(count, build.make("add", i64, build.get(count), Constant(1, i64)))
            operation.body.operations += build.operations
            build.operations = []
            counts[operation] = build.get(count)
            place = region.operations.index(operation)
            region.operations[place : place + 1] = [*before, operation, counts[operation]]
    return counts


class _Jumps:
    """Removes the jumps of a body with some locals."""

    def __init__(self, locals: list[Local]) -> None:
        self._locals = locals

    def _flag(self, name: str) -> Local:
        flag = Local(name, u1)
        self._locals.append(flag)
        return flag

    def region(self, region: Region, flags: _Flags | None) -> None:
        """Rewrite a region; `flags` are those of the enclosing loop."""
        operations = region.operations
        result: list[Operation] = []
        region.operations = result
        for position, operation in enumerate(operations):
            if operation.code in _JUMPS:
                assert flags is not None
                result += flags.jump(operation)
                return
            if isinstance(operation, ParallelFor) or not regions(operation):
                result.append(operation)
                continue
            if not isinstance(operation, If):
                result += self._loop(operation)
                continue
            result.append(operation)
            jumps = [_jumps(operation.then), _jumps(operation.orelse)]
            rest = operations[position + 1 :]
            if rest and any(jumps) and _always_jumps(operation.then):
                operation.orelse.operations, rest = [*operation.orelse.operations, *rest], []
            elif rest and any(jumps) and _always_jumps(operation.orelse):
                operation.then.operations, rest = [*operation.then.operations, *rest], []
            elif not any(jumps):
                self.region(operation.then, flags)
                self.region(operation.orelse, flags)
                continue
            self.region(operation.then, flags)
            self.region(operation.orelse, flags)
            if rest:
                assert flags is not None
                runs = Operation("load_local", u1, (), flags.runs())
                remaining = Region(rest)
                result += [runs, If(runs, remaining, Region())]
                self.region(remaining, flags)
            return

    def loop_body(self, body: Region) -> _Flags:
        """Rewrite the body of a loop. Return the flags that it uses."""
        flags = _Flags(self)
        self.region(body, flags)
        if flags.running is not None:
            body.operations.insert(0, _set(flags.running, True))
        return flags

    def _loop(self, loop: Operation) -> list[Operation]:
        """A loop without jumps."""
        if isinstance(loop, For):
            if not _jumps(loop.body, "break"):
                self.loop_body(loop.body)
                return [loop]
            return self._while(*self._steps(loop), loop.line)
        if isinstance(loop, While):
            return self._while([], loop.head, loop.condition, loop.body, loop.line)
        for inner in regions(loop):
            self.region(inner, None)
        return [loop]

    def _steps(self, loop: For) -> tuple[list[Operation], Region, Value, Region]:
        """A counting loop as one that ends by a condition: the code before it, its head and condition, and its body."""
        counter = Local(loop.variable.name, i64)
        self._locals.append(counter)
        build = Builder()
        begin, end, step = (build.cast(each, i64) for each in loop.operands)
        build.set(counter, begin)
        before, build.operations = build.operations, []
        here = build.get(counter)
        up = build.make("and", u1, build.compare("gt", step, Constant(0, i64)), build.compare("lt", here, end))
        down = build.make("and", u1, build.compare("lt", step, Constant(0, i64)), build.compare("gt", here, end))
        condition = build.make("or", u1, up, down)
        head, build.operations = build.operations, []
        assert loop.variable.type is not None
        variable = build.cast(here, loop.variable.type)
        build.set(counter, build.make("add", i64, here, step))
        for each in walk(loop.body):
            substitute(each, {loop.variable: variable})
        return before, Region(head), condition, Region([*build.operations, *loop.body.operations])

    def _while(
        self, before: list[Operation], head: Region, condition: Value, body: Region, line: int
    ) -> list[Operation]:
        """`while condition: body` as `going = True; while going: if condition: body else: going = False`."""
        going = self._flag("going")
        flags = _Flags(self, going)
        self.region(head, None)
        self.region(body, flags)
        if flags.running is not None:
            body.operations.insert(0, _set(flags.running, True))
        inner = Region([*head.operations, If(condition, body, Region([_set(going, False)]), line)])
        asked = Operation("load_local", u1, (), going)
        return [*before, _set(going, True), While(Region([asked]), asked, inner, line)]


class _Flags:
    """The flags that jumps in one loop set: `running` is False after a jump, `going` after a `break`."""

    def __init__(self, owner: _Jumps, going: Local | None = None) -> None:
        self._owner = owner
        self.running: Local | None = None
        self.going = going

    def runs(self) -> Local:
        if self.running is None:
            self.running = self._owner._flag("running")
        return self.running

    def jump(self, operation: Operation) -> list[Operation]:
        stores = [_set(self.runs(), False)]
        if operation.code == "break":
            assert self.going is not None
            stores.append(_set(self.going, False))
        return stores


def _set(local: Local, value: bool) -> Operation:
    return Operation("store_local", None, (Constant(value, u1),), local)


def _jumps(region: Region, *codes: str) -> bool:
    """Whether a region jumps out of the enclosing loop."""
    for operation in region.operations:
        if operation.code in (codes or _JUMPS):
            return True
        if isinstance(operation, If) and (_jumps(operation.then, *codes) or _jumps(operation.orelse, *codes)):
            return True
    return False


def _always_jumps(region: Region) -> bool:
    last = region.operations[-1] if region.operations else None
    if isinstance(last, If):
        return _always_jumps(last.then) and _always_jumps(last.orelse)
    return last is not None and last.code in _JUMPS
