"""Primal values in a reverse, and the forward part that computes them.

The backward part requests values (`Primal.primal`) while it is written. Those of the outermost region are available;
arithmetic in branches and loops is recomputed from its leaves; the forward part saves leaves in a local, in a local array,
or on the stack of the thread. Only what was requested remains of the forward part (`closure`, `kept`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from samovar._native import DType
from samovar.ir import (
    OPCODES,
    Array,
    Builder,
    Clone,
    Constant,
    For,
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
    While,
    memory,
    regions,
    used,
    variables,
    walk,
)
from samovar.passes.derivatives.activity import NotDifferentiable, is_real
from samovar.passes.derivatives.levels import Level, iteration_number, loops_around
from samovar.passes.derivatives.snapshots import copied_array, redirect
from samovar.passes.derivatives.surrogates import surrogates

#: Leaves in loops of constant length are saved in a local array of up to so many bytes; more goes to the stack.
LARGEST_LOCAL = 4096


class Primal:
    """The primal code of a kernel that is being reversed; `replays` is that of `reverse`."""

    def __init__(self, kernel: Kernel, replays: bool) -> None:
        self.kernel = kernel
        self.replays = replays
        self.home: dict[Value, Level] = {}
        self.levels: dict[Region, Level] = {}
        self.top = self._enter(kernel.body, None, None)
        self.demanded: dict[Level, dict[Operation, None]] = {}
        self.slots: dict[Operation, Local] = {}
        self.zeroed: dict[Level, list[Local]] = {}
        self.reads: list[Operation] = []
        self.stores: dict[Operation, LocalArray] = {}
        #: For each operation, the position of the kernel's own operation that contains it.
        self.segment: dict[Operation, int] = {}
        self.surrogates, self.formulas = surrogates(kernel.body)
        self.writes: dict[Array, list[Operation]] = {}
        for number, outer in enumerate(kernel.body.operations):
            for operation in walk(Region([outer])):
                self.segment[operation] = number
                target = memory(operation)
                if isinstance(target, Array) and not isinstance(target, LocalArray) and operation.code != "load":
                    self.writes.setdefault(target, []).append(operation)
        #: The tasks of the reverse: the original task, and what remains of it.
        self.joints: list[tuple[ParallelFor, ParallelFor]] = []

    def _enter(self, region: Region, parent: Level | None, owner: Operation | None) -> Level:
        level = self.levels[region] = Level(region, parent, owner)
        if owner is not None:
            self.home.update(dict.fromkeys(variables(owner), level))
        for operation in region.operations:
            self.home[operation] = level
            for inner in regions(operation):
                self._enter(inner, level, operation)
        return level

    def zeros(self, root: Level) -> list[Operation]:
        build = Builder()
        for local in self.zeroed.get(root, ()):
            build.set(local, Constant(0.0 if is_real(local.type) else local.type(0), local.type))
        return build.operations

    def locals_of(self, root: Level) -> list[Local]:
        return root.owner.locals if isinstance(root.owner, ParallelFor) else self.kernel.locals

    def new_local(self, name: str, type: DType, root: Level) -> Local:
        local = Local(name, type)
        self.locals_of(root).append(local)
        self.zeroed.setdefault(root, []).append(local)
        return local

    def primal(self, value: Value) -> Value:
        """A value of the forward part, for the backward part. Second derivatives go through what it was detached from."""
        while isinstance(value, Operation) and value.code == "detach":
            value = self.surrogates.get(value.operands[0], value.operands[0])
        if not isinstance(value, (Operation, LoopVariable)):
            return value
        _require_repeatable(value)
        level = self.home[value]
        if level.is_root and value not in self.formulas:
            if isinstance(value, Operation):
                self.demanded.setdefault(level, {})[value] = None
            return value
        known = level.values.get(value)
        if known is None:
            assert isinstance(value, Operation)
            known = level.values[value] = self._again(value, level) if self._is_there(value) else self._saved(value, level)
        return known

    def _is_there(self, operation: Operation) -> bool:
        """Whether it can be recomputed. Arithmetic can, and so can loads of arrays that do not change in the reverse."""
        if operation.code == "load":
            if isinstance(operation.payload, LocalArray):
                return False
            root = self.home[operation].root()
            writes = self.writes.get(operation.payload, ()) if self.replays else ()
            return not any(root is self.top or self.home[each].root() is root for each in writes)
        return OPCODES[operation.code].effect == "pure"

    def _again(self, operation: Operation, level: Level) -> Operation:
        operands = [self.primal(each) for each in operation.operands]
        build = level.build
        build.line, build.origin = operation.line, operation.origin
        made = build.make(operation.code, operation.type, *operands, payload=operation.payload)
        build.line, build.origin = 0, None
        if operation.code == "load":
            self.reads.append(operation)
            self.demanded.setdefault(self.top, {}).update(dict.fromkeys(self._before(operation)))
        return made

    def _is_repeated(self, load: Operation) -> bool:
        """Whether the reverse repeats the writes to what is loaded. Memory of the launch is gone after it."""
        return self.replays or isinstance(load.payload, ScratchArray)

    def _before(self, load: Operation) -> list[Operation]:
        """The writes in earlier parts of the kernel that must be repeated so that a load finds the same value."""
        writes = self.writes.get(load.payload, ()) if self._is_repeated(load) else ()
        return [each for each in writes if self.segment[each] < self.segment[load]]

    def _saved(self, operation: Operation, level: Level) -> Operation:
        """A leaf that the forward part saves."""
        assert operation.type is not None
        root, loop = level.root(), level.loop()
        self.demanded.setdefault(root, {})[operation] = None
        if loop is not level:
            self.slots[operation] = self.new_local("saved", operation.type, root)
        if loop is None:
            return level.build.get(self.slots[operation])
        found = Operation("pop", operation.type)
        loop.records.append((operation, found))
        return found

    def restored(self, level: Level) -> list[Operation]:
        """Restore the records of an iteration of the forward part, last first."""
        shape = self._constant_trips(level)
        if shape is None:
            return [found for _, found in reversed(level.records)]
        build = Builder()
        loops = loops_around(level)
        numbers = [iteration_number(build, each, self.levels[each.body].values[each.variable]) for each in loops]
        for operation, found in level.records:
            assert operation.type is not None
            store = LocalArray("saved", operation.type, shape, private=True)
            self.stores[operation] = store
            found.code, found.payload, found.operands = "load", store, tuple(numbers)
            build.append(found)
        return build.operations

    def closure(self, seeds: Iterable[Operation], root: Level) -> set[Operation]:
        """The operations of a root that some of them depend on. Dependences outside a task are requested from the kernel."""
        body = list(walk(root.region))
        inside = set(body)
        writes: dict[Array | Local, list[Operation]] = {}
        reserves: dict[Array, Operation] = {}
        for operation in body:
            target = memory(operation)
            if target is not None and operation.code not in ("load", "load_local"):
                writes.setdefault(target, []).append(operation)
            elif operation.code == "reserve":
                reserves[operation.payload] = operation
            elif operation.code == "scratch":
                reserves[operation.payload[0]] = operation
        live: set[Operation] = set()
        pending = list(seeds)
        while pending:
            operation = pending.pop()
            if operation in live:
                continue
            if operation not in inside:
                self.demanded.setdefault(self.top, {})[operation] = None
                continue
            live.add(operation)
            for each in used(operation):
                _require_repeatable(each)
                if isinstance(each, Operation):
                    pending.append(each)
            owner = self.home[operation].owner
            if owner is not None and owner in inside:
                pending.append(owner)
            target = memory(operation)
            if operation.code in ("load", "load_local") and isinstance(target, (Local, LocalArray)):
                found = writes.get(target)
                if found is None and root is not self.top:
                    found = [each for each in walk(self.top.region) if memory(each) is target and each.code != "load"]
                pending += found or ()
            if target in reserves:
                pending.append(reserves[target])
            if operation.code == "random":
                raise NotDifferentiable(
                    operation, "the gradient needs this random number, and only a tape can draw it again",
                    "record the launch with `sv.ad.Tape`, or fill an array with random numbers and load them",
                )
            if operation.code == "load" and not isinstance(target, LocalArray) and self._is_repeated(operation):
                pending += self._before(operation)
                pending += [each for each in writes.get(operation.payload, ()) if self._is_of(each, operation)]
        for operation in body:  # in program order, which the set does not keep
            if operation in live and operation.code == "load" and not isinstance(operation.payload, LocalArray):
                self.reads.append(operation)
        return live

    def _is_of(self, write: Operation, load: Operation) -> bool:
        """Whether they are in one part of the kernel."""
        return self.segment[write] == self.segment[load]

    def kept(
        self,
        level: Level,
        live: set[Operation],
        saves: bool = True,
        before: Mapping[Operation, list[Operation]] | None = None,
    ) -> list[Operation]:
        """The live operations of a region, with the code that saves leaves, and the code `before` some of them."""
        build = Builder()
        for operation in level.region.operations:
            build.operations += (before or {}).get(operation, ())
            if operation not in live:
                continue
            build.append(self._rebuilt(operation, live, saves))
            if saves and operation in self.slots:
                build.set(self.slots[operation], operation)
        if saves and level.records:
            self._record(level, build)
        if saves and level.is_root:
            reserved = [self.stores[each] for each in self.stores if self.home[each].root() is level]
            build.operations[:0] = [Operation("reserve", None, (), store) for store in reserved]
        return build.operations

    def _record(self, level: Level, build: Builder) -> None:
        """Save the leaves of an iteration at its end."""
        numbers: list[Value] | None = None
        for operation, _ in level.records:
            value: Value = operation if self.home[operation] is level else build.get(self.slots[operation])
            store = self.stores.get(operation)
            if store is None:
                build.make("push", None, value)
                continue
            if numbers is None:
                numbers = [iteration_number(build, each, each.variable) for each in loops_around(level)]
            build.make("store", None, *numbers, value, payload=store)

    def snapshots(self, live: set[Operation]) -> dict[Operation, list[Operation]]:
        """Copies of arrays for tasks whose reverse runs after later tasks have written to them. `live` is what runs before.
        Return the code that makes the copies, by the task that it precedes."""
        made: dict[Operation, list[Operation]] = {}
        for position, (task, joint) in enumerate(self.joints):  # the last one first
            here = self.segment[task]
            later = [other for _, other in self.joints[:position]]
            written_later = {memory(each) for other in later for each in walk(other.body) if _stores(each)}
            copies: dict[Array, ScratchArray] = {}
            build = Builder()
            for array in dict.fromkeys(memory(each) for each in walk(joint.body) if each.code == "load"):
                writes = self.writes.get(array, ()) if isinstance(array, Array) else ()
                again = any(each in live and self.segment[each] >= here for each in writes)
                if isinstance(array, Array) and (again or (writes and array in written_later)):
                    copies[array] = copied_array(build, array)
            if copies:
                joint.body = Clone().region(joint.body)  # the task itself may run before
                redirect(joint.body, copies)
                made[task] = build.operations
        return made

    def _rebuilt(self, operation: Operation, live: set[Operation], saves: bool) -> Operation:
        """An operation with only its live contents."""
        if operation.__class__ is Operation:
            return operation
        inner = [Region(self.kept(self.levels[each], live, saves)) for each in regions(operation)]
        made: Operation
        if isinstance(operation, If):
            made = If(operation.operands[0], inner[0], inner[1], operation.line, operation.unlikely)
        elif isinstance(operation, For):
            begin, end, step = operation.operands
            made = For(operation.variable, begin, end, step, inner[0], operation.line, operation.hints)
        elif isinstance(operation, While):
            made = While(inner[0], operation.condition, inner[1], operation.line)
        else:
            assert isinstance(operation, ParallelFor)
            made = self._copied(operation, Region(self.kept(self.levels[operation.body], live, False)))
        made.origin = operation.origin
        return made

    def _copied(self, task: ParallelFor, body: Region) -> ParallelFor:
        """A copy of a task that runs before its reverse, with its own variables."""
        values: dict[Value, Value] = {}
        for variable in task.variables:
            assert variable.type is not None
            values[variable] = LoopVariable(variable.name, variable.type, variable.limits, variable.bounds)
        locals = {local: Local(local.name, local.type, local.line) for local in task.locals}
        copy = Clone(values, dict(locals.items())).region(body)
        fresh: list[LoopVariable] = [values[each] for each in task.variables]  # type: ignore[misc]
        made = ParallelFor(task.name, fresh, task.operands, copy, list(locals.values()), task.block, task.line)
        made.stepping = task.stepping
        return made

    def _constant_trips(self, level: Level) -> tuple[int, ...] | None:
        """The trip counts of the loops around a level, its own last, if a local array can hold what they save."""
        trips: list[int] = []
        inner: Level | None = level
        while inner is not None and not inner.is_root:
            if inner.is_loop:
                count = inner.owner.trip_count() if isinstance(inner.owner, For) else None
                if count is None:
                    return None
                trips.insert(0, count)
            inner = inner.parent
        return tuple(trips) if trips and prod(trips) * 8 <= LARGEST_LOCAL else None


def _require_repeatable(value: Value) -> None:
    """Check that a value is not what an update finds. Those of an iteration's own elements are loads and stores by now."""
    if isinstance(value, Operation) and value.code in ("atomic", "update", "list_append"):
        what = "position" if value.code == "list_append" else "old value"
        raise NotDifferentiable(
            value,
            f"the gradient needs the {what} that this update returns, which depends on the order of iterations",
            "run the loop in order, `sv.loop_config(serialize=True)` before it, or compute positions in a loop of their own",
        )


def _stores(operation: Operation) -> bool:
    return operation.code in ("store", "atomic", "update")
