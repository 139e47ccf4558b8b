"""Contested minima and maxima: iterations that share an element become ones of which a single one stores.

    for i in x: atomic_max(m[k[i]], x[i])

has the derivatives of

    for i in x: if i is the last iteration whose x[i] is the maximum: m[k[i]] = x[i]

Which iteration that is, two loops before it find out: one computes the extreme, one the last iteration that reaches it. So
ties go where they go in a sequential loop. A variable of the kernel is set after the loop, to the sum of what all iterations
store, which is zero for all but one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from samovar._native import DType, i64
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
    retarget,
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
            after: list[Operation] = []
            for target in _contested(operation, kernel):
                if isinstance(target, Local):
                    winners: _Winners = _VariableWinners(operation, target, kernel)
                else:
                    winners = _Winners(operation, target)
                result += winners.rewritten(uses)
                after += winners.after
            result += [operation, *after]
        else:
            result.append(operation)
    kernel.body.operations = result


def _contested(task: ParallelFor, kernel: Kernel) -> list[Array | Local]:
    """The arrays, and variables of the kernel, of which a task updates minima or maxima."""
    found = dict.fromkeys(each.payload.target for each in walk(task.body) if _is_extreme(each))
    own = set(kernel.locals)
    return [each for each in found if (each in own if isinstance(each, Local) else not isinstance(each, LocalArray))]


def _is_extreme(operation: Operation) -> bool:
    return operation.code == "atomic" and operation.payload.operation in ("min", "max") and is_real(operation.type)


class _Winners:
    """The updates of an array in a task."""

    def __init__(self, task: ParallelFor, target: Array | Local) -> None:
        self.task = task
        self.target = target
        self.updates = [each for each in walk(task.body) if memory(each) is target]
        self.after: list[Operation] = []

    def rewritten(self, uses: Mapping[Value, int]) -> list[Operation]:
        """The operations before the task; none if it stays."""
        codes = {each.payload.operation for each in self.updates if _is_extreme(each)}
        is_simple = len(codes) == 1 and all(_is_extreme(each) and not uses[each] for each in self.updates)
        if not is_simple or self.task.stepping is not None:
            return []
        first, second = self._copy(), self._copy()
        if not self._is_settled(first):
            return []
        build = Builder(self.updates[0].line, self.updates[0].origin)
        self._begin(build)
        build.make("stop_gradient", None, payload=self.extreme)
        self._redirect(first)
        build.append(first)
        self._settle(build)
        self._replace(second, lambda inner, update: self._note(second, inner, update))
        build.append(second)
        self._finish(build)
        self._replace(self.task, self._choose)
        return build.operations

    def _copy(self) -> ParallelFor:
        """The task with these updates only."""
        task = self.task
        values: dict[Value, Value] = {
            each: LoopVariable(each.name, each.type, each.limits, each.bounds) for each in task.variables
        }
        locals = {local: Local(local.name, local.type, local.line) for local in task.locals}
        body = Clone(values, dict(locals.items())).region(task.body)
        _keep(body, _needed(body, self.target))
        fresh: list[LoopVariable] = [values[each] for each in task.variables]  # type: ignore[misc]
        return ParallelFor(f"{task.name}.extreme", fresh, task.operands, body, list(locals.values()), task.block, task.line)

    def _is_settled(self, copy: ParallelFor) -> bool:
        """Whether the copy computes before the task what the task computes: it reads nothing that the task writes."""
        written = {memory(each) for each in walk(self.task.body) if each.code in ("store", "atomic", "update")}
        for each in walk(copy.body):
            target = memory(each)
            if each.code == "load" and target in written and not isinstance(target, LocalArray):
                return False
            if isinstance(target, Local) and target.shared and target is not self.target:
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

    # --- what differs between arrays and variables

    extreme: Array | Local
    last: Array | Local

    def _begin(self, build: Builder) -> None:
        """Copy what is updated, and set the numbers of the last iterations to 0."""
        assert isinstance(self.target, Array)
        self.extreme = copied_array(build, self.target)
        self.last = filled_array(build, "last", i64, self.target, lambda place: Constant(0, i64))

    def _redirect(self, task: ParallelFor) -> None:
        """Have a copy of the task update the copy."""
        assert isinstance(self.target, Array)
        assert isinstance(self.extreme, ScratchArray)
        redirect(task.body, {self.target: self.extreme})

    def _settle(self, build: Builder) -> None:
        """After the first loop: the extreme is known."""

    def _finish(self, build: Builder) -> None:
        """After the second loop: the last iteration is known."""

    def _place(self, build: Builder, update: Operation) -> tuple[Value, ...]:
        """The place of an update in the copies."""
        assert isinstance(self.target, Array)
        return (position(build, self.target, indices(update)),)

    def _known(self, build: Builder, which: Array | Local, place: tuple[Value, ...]) -> Value:
        return build.read(which, place)

    def _store(self, build: Builder, update: Operation) -> None:
        build.make("store", None, *update.operands, payload=self.target)

    # --- the loops

    def _reaches(self, build: Builder, update: Operation, place: tuple[Value, ...]) -> Value:
        """Whether the value of an update is the extreme."""
        return build.compare("eq", update.operands[-1], self._known(build, self.extreme, place))

    def _note(self, task: ParallelFor, build: Builder, update: Operation) -> None:
        place = self._place(build, update)
        reaches = self._reaches(build, update, place)
        number = self._number(build, task)
        then = Operation("atomic", i64, (*place, number), Atomic("max", self.last), update.line)
        build.append(If(reaches, Region([then]), Region(), update.line))

    def _choose(self, build: Builder, update: Operation) -> None:
        place = self._place(build, update)
        reaches = self._reaches(build, update, place)
        chosen = build.compare("eq", self._known(build, self.last, place), self._number(build, self.task))
        wins = build.make("and", reaches.type, reaches, chosen)
        build.append(If(wins, build.region(lambda: self._store(build, update)), Region(), update.line))

    def _replace(self, task: ParallelFor, write: Callable[[Builder, Operation], None]) -> None:
        """Replace the updates of a task by what `write` writes."""

        def visit(region: Region) -> None:
            result: list[Operation] = []
            for operation in region.operations:
                for inner in regions(operation):
                    visit(inner)
                if memory(operation) is self.target and operation.code == "atomic":
                    build = Builder(operation.line, operation.origin)
                    write(build, operation)
                    result += build.operations
                else:
                    result.append(operation)
            region.operations = result

        visit(task.body)


class _VariableWinners(_Winners):
    """The updates of a variable of the kernel in a task. Iterations cannot store to it: each has a variable of its own."""

    def __init__(self, task: ParallelFor, target: Local, kernel: Kernel) -> None:
        super().__init__(task, target)
        self.kernel = kernel
        self.known: dict[Array | Local, Value] = {}
        self.own = Local(f"{target.name}.own", target.type)
        task.locals.append(self.own)

    def _shared(self, name: str, type: DType) -> Local:
        made = Local(f"{self.target.name}.{name}", type)
        made.shared = True
        self.kernel.locals.append(made)
        return made

    def _begin(self, build: Builder) -> None:
        assert isinstance(self.target, Local)
        self.extreme = build.set(self._shared("extreme", self.target.type), build.get(self.target)).payload
        self.last = build.set(self._shared("last", i64), Constant(0, i64)).payload

    def _redirect(self, task: ParallelFor) -> None:
        for each in walk(task.body):
            retarget(each, {self.target: self.extreme})

    def _settle(self, build: Builder) -> None:
        self.known[self.extreme] = build.read(self.extreme)

    def _finish(self, build: Builder) -> None:
        assert isinstance(self.target, Local)
        zero = self.target.zero()
        self.known[self.last] = last = build.read(self.last)
        sum = self._shared("sum", self.target.type)
        build.set(sum, zero)
        inner = Builder(build.line, build.origin)
        inner.set(self.own, zero)
        self.task.body.operations[:0] = inner.operations
        inner = Builder(build.line, build.origin)
        inner.make("atomic", sum.type, inner.get(self.own), payload=Atomic("add", sum))
        self.task.body.operations += inner.operations
        outer = Builder(build.line, build.origin)
        stored = outer.region(lambda: outer.write(self.target, (), outer.get(sum)))
        outer.append(If(outer.compare("ne", last, Constant(0, i64)), stored, Region(), build.line))
        self.after = outer.operations

    def _place(self, build: Builder, update: Operation) -> tuple[Value, ...]:
        return ()

    def _known(self, build: Builder, which: Array | Local, place: tuple[Value, ...]) -> Value:
        return self.known[which]

    def _store(self, build: Builder, update: Operation) -> None:
        build.set(self.own, update.operands[-1])


def _needed(body: Region, array: Array | Local) -> set[Operation]:
    """The operations that the updates of an array or a variable depend on, and these."""
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
