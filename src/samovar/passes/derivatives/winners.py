"""Contested minima and maxima: iterations that share an element become ones of which a single one stores.

    for i in x: atomic_max(m[k[i]], x[i])

has the derivatives of

    for i in x: if i is the last iteration whose x[i] is the maximum: m[k[i]] = x[i]

Which iteration that is, two loops before it find out: one computes the extreme, one the last iteration that reaches it. So
ties go where they go in a sequential loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from samovar._native import i64
from samovar.ir import (
    OPCODES,
    Array,
    Atomic,
    Builder,
    Clone,
    Constant,
    If,
    Kernel,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    ScratchArray,
    Value,
    indices,
    memory,
    regions,
    use_counts,
    used,
    walk,
)
from samovar.passes.derivatives.activity import is_real
from samovar.passes.derivatives.snapshots import copied_array, filled_array, position, redirect


def choose_winners(kernel: Kernel) -> None:
    """Rewrite the contested minima and maxima of tasks where that is possible, in place."""
    uses = use_counts([kernel.body])
    result: list[Operation] = []
    for operation in kernel.body.operations:
        if isinstance(operation, ParallelFor):
            for array in _contested(operation):
                result += _Winners(operation, array).rewritten(uses)
        result.append(operation)
    kernel.body.operations = result


def _contested(task: ParallelFor) -> list[Array]:
    found = [each.payload.target for each in walk(task.body) if _is_extreme(each)]
    return list(dict.fromkeys(each for each in found if not isinstance(each, LocalArray) and isinstance(each, Array)))


def _is_extreme(operation: Operation) -> bool:
    return operation.code == "atomic" and operation.payload.operation in ("min", "max") and is_real(operation.type)


class _Winners:
    """The updates of an array in a task."""

    def __init__(self, task: ParallelFor, array: Array) -> None:
        self.task = task
        self.array = array
        self.updates = [each for each in walk(task.body) if memory(each) is array]

    def rewritten(self, uses: Mapping[Value, int]) -> list[Operation]:
        """The operations before the task; none if it stays."""
        codes = {each.payload.operation for each in self.updates if _is_extreme(each)}
        is_simple = len(codes) == 1 and all(_is_extreme(each) and not uses[each] for each in self.updates)
        if not is_simple or self.task.stepping is not None:
            return []
        build = Builder(self.updates[0].line, self.updates[0].origin)
        extreme = copied_array(build, self.array)
        last = filled_array(build, "last", i64, self.array, lambda place: Constant(0, i64))
        build.make("stop_gradient", None, payload=extreme)
        first, second = self._copy(), self._copy()
        if not self._is_settled(first):
            return []
        redirect(first.body, {self.array: extreme})
        build.append(first)
        self._replace(second, lambda inner, update: self._note(second, inner, update, extreme, last))
        build.append(second)
        self._replace(self.task, lambda inner, update: self._store(inner, update, extreme, last))
        return build.operations

    def _copy(self) -> ParallelFor:
        """The task with these updates only."""
        task = self.task
        values: dict[Value, Value] = {
            each: LoopVariable(each.name, each.type, each.limits, each.bounds) for each in task.variables
        }
        locals = {local: Local(local.name, local.type, local.line) for local in task.locals}
        body = Clone(values, dict(locals.items())).region(task.body)
        _keep(body, _needed(body, self.array))
        fresh: list[LoopVariable] = [values[each] for each in task.variables]  # type: ignore[misc]
        return ParallelFor(f"{task.name}.extreme", fresh, task.operands, body, list(locals.values()), task.block, task.line)

    def _is_settled(self, copy: ParallelFor) -> bool:
        """Whether the copy computes before the task what the task computes: it reads nothing that the task writes."""
        written = {memory(each) for each in walk(self.task.body) if each.code in ("store", "atomic", "update")}
        for each in walk(copy.body):
            target = memory(each)
            if each.code == "load" and target in written and not isinstance(target, LocalArray):
                return False
            if isinstance(target, Local) and target.shared:
                return False
            if target is None and not regions(each) and each.code != "reserve" and OPCODES[each.code].effect != "pure":
                return False
        return True

    def _number(self, build: Builder, task: ParallelFor) -> Value:
        """The number of an iteration, counting from 1."""
        number: Value = Constant(0, i64)
        for variable, (begin, end) in zip(task.variables, task.axes(), strict=True):
            low, high = build.cast(begin, i64), build.cast(end, i64)
            number = build.add(build.mul(number, build.sub(high, low)), build.sub(build.cast(variable, i64), low))
        return build.add(number, Constant(1, i64))

    def _reaches(self, build: Builder, update: Operation, extreme: ScratchArray) -> tuple[Value, Value]:
        """The place of an update in the copies, and whether its value is the extreme."""
        place = position(build, self.array, indices(update))
        found = build.make("load", extreme.dtype, place, payload=extreme)
        return place, build.compare("eq", update.operands[-1], found)

    def _note(self, task: ParallelFor, build: Builder, update: Operation, extreme: ScratchArray, last: ScratchArray) -> None:
        place, reaches = self._reaches(build, update, extreme)
        number = self._number(build, task)
        then = Operation("atomic", i64, (place, number), Atomic("max", last), update.line)
        build.append(If(reaches, Region([then]), Region(), update.line))

    def _store(self, build: Builder, update: Operation, extreme: ScratchArray, last: ScratchArray) -> None:
        place, reaches = self._reaches(build, update, extreme)
        chosen = build.make("load", i64, place, payload=last)
        wins = build.make("and", reaches.type, reaches, build.compare("eq", chosen, self._number(build, self.task)))
        store = Operation("store", None, update.operands, self.array, update.line)
        store.origin = update.origin
        build.append(If(wins, Region([store]), Region(), update.line))

    def _replace(self, task: ParallelFor, write: Callable[[Builder, Operation], None]) -> None:
        """Replace the updates of a task by what `write` writes."""

        def visit(region: Region) -> None:
            result: list[Operation] = []
            for operation in region.operations:
                for inner in regions(operation):
                    visit(inner)
                if memory(operation) is self.array and operation.code == "atomic":
                    build = Builder(operation.line, operation.origin)
                    write(build, operation)
                    result += build.operations
                else:
                    result.append(operation)
            region.operations = result

        visit(task.body)


def _needed(body: Region, array: Array) -> set[Operation]:
    """The operations that the updates of an array depend on, and these."""
    owners: dict[Operation, Operation] = {}
    writes: dict[Array | Local, list[Operation]] = {}
    pending: list[Operation] = []
    for operation in walk(body):
        owners |= {each: operation for inner in regions(operation) for each in inner.operations}
        target = operation.payload if operation.code == "reserve" else memory(operation)
        if target is array:
            pending.append(operation)
        elif isinstance(target, (Local, LocalArray)) and operation.code not in ("load", "load_local"):
            writes.setdefault(target, []).append(operation)
    found: set[Operation] = set()
    while pending:
        operation = pending.pop()
        if operation not in found:
            found.add(operation)
            pending += [each for each in used(operation) if isinstance(each, Operation)]
            pending += [owners[operation]] if operation in owners else []
            target = memory(operation)
            pending += writes.get(target, ()) if target is not None else ()
    return found


def _keep(region: Region, operations: set[Operation]) -> None:
    """Remove all other operations."""
    region.operations = [each for each in region.operations if each in operations]
    for operation in region.operations:
        for inner in regions(operation):
            _keep(inner, operations)
