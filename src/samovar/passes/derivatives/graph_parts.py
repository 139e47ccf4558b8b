"""Parts of graphs, for tapes: what is between loops over flags and checkpoints is launched part by part.

A part is an ordinary kernel. Numbers that it takes from others are computed again, so these depend on nothing that a launch
changes. Sections are parts in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from samovar.ir import (
    OPCODES,
    Array,
    Checkpoint,
    DoWhile,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    ReadFlag,
    Region,
    Sections,
    Value,
    dtype_of,
    memory,
    regions,
    used,
    walk,
    walk_kernel,
)
from samovar.passes.derivatives.activity import NotDifferentiable


@dataclass(frozen=True)
class Loop:
    """A loop over a flag, with what it repeats, and how often at most."""

    flag: Array
    limit: int | None
    steps: tuple[Step, ...]
    line: int


@dataclass(frozen=True)
class Stop:
    """A checkpoint, with what it contains. The launch stops at its end if the flag is set."""

    number: int
    flag: Array
    steps: tuple[Step, ...]


#: The number of a part, a loop, or a checkpoint.
Step = int | Loop | Stop


def graph_steps(kernel: Kernel) -> tuple[Step, ...]:
    """The structure of a graph that no pass has processed."""
    for operation in walk_kernel(kernel):
        if operation.code == "random":
            raise NotDifferentiable(
                operation, "a graph that draws random numbers cannot be differentiated",
                "launch its loops as separate kernels, or fill an array with random numbers before it",
            )
    return _Parts(kernel).steps


def select_part(kernel: Kernel, number: int) -> None:
    """Leave one part of a graph in a kernel."""
    parts = _Parts(kernel)
    part = parts.found[number]
    body = _Slice(kernel, part).operations()
    kernel.body = Region(body)
    kernel.locals = [*kernel.locals, *(each for each in part.locals if each not in kernel.locals)]
    kernel.parameters = [each for each in kernel.parameters if not isinstance(each, Array) or each in _arrays(kernel)]
    kernel.parameters = [each for each in kernel.parameters if each is not kernel.resume]
    kernel.returns, kernel.result_shape, kernel.resume = (), None, None


def _arrays(kernel: Kernel) -> set[object]:
    """The arrays that the code of a kernel names."""
    found: set[object] = set()
    for operation in walk_kernel(kernel):
        found |= {memory(operation), *operation.operands}
        found.update(operation.payload if isinstance(operation.payload, tuple) else ())
    return found


@dataclass
class _Part:
    operations: list[Operation]
    #: Those of the section.
    locals: list[Local]
    is_repeated: bool


class _Parts:
    """The parts of a graph, in order."""

    def __init__(self, kernel: Kernel) -> None:
        self.found: list[_Part] = []
        self._control: set[Value] = set()
        for operation in walk(kernel.body):
            if isinstance(operation, ReadFlag) or not self._control.isdisjoint(used(operation)):
                self._control.add(operation)
        self.steps = self._steps(kernel.body, [], False)

    def _steps(self, region: Region, locals: list[Local], is_repeated: bool) -> tuple[Step, ...]:
        steps: list[Step] = []
        run: list[Operation] = []

        def finish() -> None:
            if any(map(_is_effect, run)):
                steps.append(len(self.found))
                self.found.append(_Part(list(run), locals, is_repeated))
                run.clear()

        for operation in region.operations:
            if isinstance(operation, DoWhile):
                finish()
                inner = self._steps(operation.head, locals, True)
                steps.append(Loop(operation.flag, operation.limit, inner, int(operation.line)))
            elif isinstance(operation, Checkpoint):
                finish()
                steps.append(Stop(operation.number, operation.flag, self._steps(operation.body, locals, is_repeated)))
            elif isinstance(operation, Sections):
                finish()
                for part in operation.parts:
                    steps += self._steps(part.body, part.locals, is_repeated)
            elif operation not in self._control and operation.code != "return":
                for each in walk(Region([operation])):
                    if each.code == "return":
                        message = "a graph that returns early cannot be differentiated"
                        raise NotDifferentiable(each, message, "use a flag, or a condition in its loops")
                run.append(operation)
        finish()
        return tuple(steps)


def _is_effect(operation: Operation) -> bool:
    """Whether an operation does more than compute numbers and set variables."""
    return any(
        isinstance(each, ParallelFor) or each.code in ("print", "check", "call", "stop_gradient")
        or (OPCODES[each.code].effect == "write" and isinstance(memory(each), Array))
        for each in walk(Region([operation]))
    )  # fmt: skip


class _Slice:
    """The operations of a part, and those of others that it needs."""

    def __init__(self, kernel: Kernel, part: _Part) -> None:
        self._part = part
        self._own = set(walk(Region(part.operations)))
        self._before: dict[Operation, None] = {}
        self._stores: dict[Local, list[Operation]] = {}
        self._inside: set[Operation] = set()
        for operation in walk(kernel.body):
            target = memory(operation)
            if isinstance(target, Local) and operation.code != "load_local":
                self._stores.setdefault(target, []).append(operation)
            if regions(operation) and not isinstance(operation, (DoWhile, Checkpoint, Sections)):
                self._inside.update(walk(Region([operation])))

    def operations(self) -> list[Operation]:
        """All of them, in order."""
        live: set[Operation] = set()
        pending = [each for each in self._part.operations if _is_effect(each)]
        while pending:
            operation = pending.pop()
            if operation in live:
                continue
            live.add(operation)
            for each in walk(Region([operation])):
                pending += self._needed(each)
        return [*self._before, *(each for each in self._part.operations if each in live)]

    def _needed(self, operation: Operation) -> Iterable[Operation]:
        """The operations of the part that an operation needs itself. What others compute is added before."""
        for value in used(operation):
            if isinstance(value, Operation):
                if value not in self._own:
                    self._take(value)
                else:
                    yield value
        local = memory(operation)
        if operation.code == "load_local" and isinstance(local, Local):
            stores = self._stores.get(local, [])
            if not self._own.isdisjoint(stores) or not stores:
                self._require_own(local, operation)
                yield from (each for each in self._part.operations if not set(walk(Region([each]))).isdisjoint(stores))
            else:
                self._take_local(operation, stores)

    def _require_own(self, local: Local, load: Operation) -> None:
        """Check that no other part, nor the iteration before, sets a variable of the part."""
        stores = self._stores.get(local, [])
        if not self._own.issuperset(stores):
            self._refuse(load, local.name)
        if not self._part.is_repeated or any(local in each.locals for each in self._own if isinstance(each, ParallelFor)):
            return
        first = next(each for each in walk(Region(self._part.operations)) if memory(each) is local)
        if first.code != "store_local" or first not in self._part.operations:
            self._refuse(load, local.name)

    def _take_local(self, load: Operation, stores: list[Operation]) -> None:
        if len(stores) != 1 or stores[0].code != "store_local" or stores[0] in self._inside:
            self._refuse(load, str(getattr(load.payload, "name", "")))
        (store,) = stores
        for value in store.operands:
            if isinstance(value, Operation):
                self._take(value)
        self._before.setdefault(store)

    def _take(self, operation: Operation) -> None:
        """Compute a number of another part again."""
        if operation in self._before:
            return
        effect = OPCODES[operation.code].effect
        if operation in self._inside or (effect != "pure" and operation.code not in ("load_local", "reserve")):
            self._refuse(operation, str(dtype_of(operation).name))
        for each in self._needed(operation):
            self._take(each)
        self._before.setdefault(operation)

    def _refuse(self, operation: Operation, name: str) -> None:
        raise NotDifferentiable(
            operation,
            f"`{name}` goes from one part of a graph to another, or from one iteration to the next, and a gradient takes"
            " these one by one",
            "keep it in an array, such as one of shape ()",
        )
