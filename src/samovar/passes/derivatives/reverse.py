"""Reverse mode: turn a kernel into one that maps the adjoints of what it writes to the adjoints of what it reads.

Each iteration of a parallel loop computes forward what its backward part needs, then walks its statements backward. The
backward part is written first, and requests what it needs (`samovar.passes.derivatives.primal`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from samovar._native import i64
from samovar.ir import (
    Array,
    Atomic,
    Builder,
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
    indices,
    memory,
    regions,
    use_counts,
    walk,
)
from samovar.passes.derivatives.activity import Activity, NotDifferentiable, is_real
from samovar.passes.derivatives.boxes import Box, boxes
from samovar.passes.derivatives.carried import refuse_carried
from samovar.passes.derivatives.gathers import gather_updates
from samovar.passes.derivatives.levels import Level, backward_range, fill_zeros
from samovar.passes.derivatives.merged_updates import merge_updates
from samovar.passes.derivatives.overwrites import overwritten
from samovar.passes.derivatives.preparing import prepare
from samovar.passes.derivatives.primal import Primal
from samovar.passes.derivatives.rules import RULES, Chain
from samovar.passes.derivatives.structured import counted
from samovar.passes.derivatives.unchosen import chosen_from, defined, may_be_undefined


@dataclass(frozen=True)
class Reversed:
    """The result of reversing a kernel. `reads` are the boxes of primal arrays that the reverse reads, `writes` those that
    the kernel writes, each with a line; `loaded` are all arrays that it reads. `overwritten` are loads whose element may be
    written afterward, each with such a write. `lost` are arrays without a gradient that values with derivatives are written
    to; `read` and `written` are all float arrays without one, with a line each. `returned` is the operation that returns a
    value with derivatives. `cells` are sparse fields whose active cells the reverse depends on, with a line each."""

    reads: tuple[tuple[Array, Box, int], ...]
    writes: tuple[tuple[Array, Box, int], ...]
    overwritten: tuple[tuple[Operation, Operation], ...]
    loaded: tuple[Array, ...]
    adjoints: Mapping[Array, Array]
    lost: Mapping[Array, int]
    read: Mapping[Array, int]
    written: Mapping[Array, int]
    returned: Operation | None
    cells: Mapping[Array, int]


def reverse(
    kernel: Kernel, adjoints: Mapping[Array, Array], replays: bool = False, redraws: bool = False, without: str = ""
) -> Reversed:
    """Turn a kernel into its reverse, in place. `adjoints` are the gradients of the arrays that have one.

    The reverse runs on arrays as the launch has left them. One that `replays` runs on arrays as the launch has found them,
    and repeats the writes that it needs; `overwritten` does not concern it. One that `redraws` is launched with the key of
    the launch, and draws its random numbers. Rewrites for speed are left out that `without` names.
    """
    prepare(kernel, redraws, without)
    refuse_carried(kernel, adjoints)
    made = _Reverse(kernel, adjoints, replays).run()
    if "atomics" not in without.split():
        gather_updates(kernel.body)
        merge_updates(kernel.body)
    return made


class _Reverse(Primal):
    def __init__(self, kernel: Kernel, adjoints: Mapping[Array, Array], replays: bool) -> None:
        self.adjoints = dict(adjoints)
        self.active = Activity(kernel, set(adjoints))
        self.chosen = chosen_from(kernel)
        self.returned = self.active.returned(kernel)
        kernel.body.operations = [each for each in kernel.body.operations if each.code != "return"]
        kernel.returns, kernel.result_shape = (), None
        self.uses = use_counts([kernel.body])
        self.counts = counted(kernel.body, kernel.locals)
        super().__init__(kernel, replays)
        self.level = self.top
        self.value_sums: dict[Value, Local] = {}
        self.local_sums: dict[Local, Local] = {}
        self.skipped: set[Operation] = set()

    def run(self) -> Reversed:
        passive = {code: self._passive(code) for code in ("load", "store")}
        self._backward(self.top)
        live = self.closure(self.demanded.get(self.top, {}), self.top)
        region = self.top.region
        reads = tuple(each for each in dict.fromkeys(self.reads) if not isinstance(each.payload, ScratchArray))
        again = {each for _, joint in self.joints for each in walk(joint.body)} | live
        writes = [each for array, writes in self.writes.items() if array.source for each in writes]
        made = Reversed(
            # Repeated writes must not be visible afterward: the old contents are needed too.
            tuple(boxes(region, [*reads, *(each for each in writes if each in again)])),
            tuple(boxes(region, writes)),
            () if self.replays else tuple(overwritten(region, reads, self.home)),
            tuple(dict.fromkeys(each.payload for each in walk(region) if each.code == "load" and each.payload.source)),
            self.adjoints,
            {array: int(each.line) for array, each in self.active.lost.items()},
            passive["load"],
            passive["store"],
            self.returned,
            {},
        )
        before = self.snapshots(live) if self.replays else {}
        forward = self.kept(self.top, live, before=before)
        self.kernel.body = Region([*self.zeros(self.top), *forward, *self.top.build.operations])
        self.kernel.parameters += [each for each in self.adjoints.values() if each not in self.kernel.parameters]
        return replace(made, cells=_asked_cells(self.kernel.body))

    def _passive(self, code: str) -> dict[Array, int]:
        """The float arrays without a gradient that are read, or written, each with a line."""
        found: dict[Array, int] = {}
        for operation in walk(self.top.region):
            array = memory(operation)
            if not isinstance(array, Array) or isinstance(array, (LocalArray, ScratchArray)) or array in self.adjoints:
                continue
            if is_real(array.dtype) and (operation.code == "load") == (code == "load"):
                found.setdefault(array, int(operation.line))
        return found

    def add(self, value: Value, adjoint: Value) -> None:
        """Add to the adjoint of a value."""
        if value not in self.active:
            return
        level = self.home[value]
        build = self.level.build
        assert value.type is not None
        if level is self.level:
            before = level.sums.get(value)
            level.sums[value] = adjoint if before is None else build.make("add", value.type, before, adjoint)
            return
        root = level.root()
        total = self.value_sums.get(value)
        if total is None:
            total = self.value_sums[value] = self.new_local("adjoint", value.type, root)
        if root is self.level.root():
            build.set(total, build.make("add", value.type, build.get(total), adjoint))
        else:
            total.shared = True
            build.make("atomic", value.type, adjoint, payload=Atomic("add", total))

    def take(self, value: Operation) -> Value | None:
        """The adjoint of a value at its definition: all its uses have added to it. None for zero."""
        level = self.level
        found = level.sums.pop(value, None)
        total = self.value_sums.get(value)
        if total is None:
            return found
        assert value.type is not None
        rest: Value = level.build.get(total)
        if level.loop() is not None:
            level.build.set(total, Constant(0.0, value.type))
        return rest if found is None else level.build.make("add", value.type, found, rest)

    def sum_of(self, local: Local) -> Local:
        """The local that holds the adjoint of a local."""
        found = self.local_sums.get(local)
        if found is None:
            root = self.level.root()
            if local not in self.locals_of(root):
                root = self.top
            found = self.local_sums[local] = self.new_local(f"{local.name}.grad", local.type, root)
        return found

    def adjoint_of(self, array: Array) -> Array | None:
        """The array that holds the adjoints of an array."""
        found = self.adjoints.get(array)
        if found is None and isinstance(array, LocalArray) and array in self.active:
            found = self.adjoints[array] = LocalArray(f"{array.name}.grad", array.dtype, array.shape, private=array.private)
        return found

    def _backward(self, level: Level) -> None:
        outer, self.level = self.level, level
        for operation in reversed(level.region.operations):
            self._reverse(operation)
        self._begin_arrays(level)
        self.level = outer

    def _begin_arrays(self, level: Level) -> None:
        """Initialize the adjoints of the arrays that a region reserves to zero."""
        build = Builder()
        for operation in level.region.operations:
            array = operation.payload
            adjoint = self.adjoints.pop(array, None) if operation.code == "reserve" else None
            if isinstance(adjoint, LocalArray):
                build.make("reserve", None, payload=adjoint)
                fill_zeros(build, adjoint)
        level.build.operations[:0] = build.operations

    def _reverse(self, operation: Operation) -> None:
        if operation in self.skipped:
            return
        if isinstance(operation, If):
            self._branch(operation)
        elif isinstance(operation, For):
            self._loop(operation)
        elif isinstance(operation, While):
            self._while(operation)
        elif isinstance(operation, ParallelFor):
            self._task(operation)
        elif operation.code == "load_local":
            self._load_local(operation)
        elif operation.code == "store_local":
            self._store_local(operation)
        elif operation.code == "load":
            self._load(operation)
        elif operation.code == "store":
            self._store(operation)
        elif operation.code in ("atomic", "update"):
            self._update(operation)
        elif operation in self.active:
            self._compute(operation)

    def _compute(self, operation: Operation) -> None:
        adjoint = self.take(operation)
        if adjoint is None:
            return
        rule = RULES.get(operation.code)
        if rule is None:
            message = f"no derivative is known for `{operation.code}`"
            raise NotDifferentiable(operation, message, "use functions that have one")
        assert operation.type is not None
        source = operation.operands[0].type or operation.type
        chain = Chain(
            lambda: self.level.build,
            operation.type,
            source,
            lambda place: self.primal(operation.operands[place]),
            lambda: self.primal(operation),
        )
        guarded = may_be_undefined(operation, self.chosen)
        for operand, pull in zip(operation.operands, rule, strict=True):
            if pull is not None and operand in self.active:
                product = pull(chain, adjoint)
                self.add(operand, defined(self.level.build, adjoint, product) if guarded else product)

    def _load_local(self, operation: Operation) -> None:
        adjoint = self.take(operation) if operation in self.active else None
        if adjoint is None:
            return
        total, build = self.sum_of(operation.payload), self.level.build
        build.set(total, build.make("add", total.type, build.get(total), adjoint))

    def _store_local(self, operation: Operation) -> None:
        local = operation.payload
        if local not in self.active:
            return
        build, total = self.level.build, self.sum_of(local)
        update = self._accumulation(operation)
        if update is not None:
            value, is_negative = update
            if value in self.active:
                adjoint: Value = build.get(total)
                self.add(value, build.make("neg", total.type, adjoint) if is_negative else adjoint)
            return
        self.add(operation.operands[0], build.get(total))
        build.set(total, Constant(0.0, total.type))

    def _accumulation(self, store: Operation) -> tuple[Value, bool] | None:
        """The value that a store adds to its local, and whether it is subtracted; None if it is not a sum."""
        sum, region = store.operands[0], self.level.region
        if not isinstance(sum, Operation) or sum.code not in ("add", "sub") or self.uses[sum] != 1:
            return None
        left, right = sum.operands
        pairs = ((left, right), (right, left)) if sum.code == "add" else ((left, right),)
        for old, value in pairs:
            if (
                isinstance(old, Operation)
                and old.code == "load_local"
                and old.payload is store.payload
                and self.uses[old] == 1
                and self.home[old] is self.level
                and self.home[sum] is self.level
            ):
                between = region.operations[region.operations.index(old) + 1 : region.operations.index(store)]
                if not any(memory(each) is store.payload for each in walk(Region(between))):
                    self.skipped |= {old, sum}
                    return value, sum.code == "sub"
        return None

    def _place(self, operation: Operation) -> list[Value]:
        return [self.primal(index) for index in indices(operation)]

    def _load(self, operation: Operation) -> None:
        adjoint = self.take(operation) if operation in self.active else None
        target = self.adjoint_of(operation.payload)
        if adjoint is None or target is None:
            return
        self._add_to_element(target, self._place(operation), adjoint, operation)

    def _add_to_element(self, target: Array, place: list[Value], adjoint: Value, origin: Operation) -> None:
        build = self.level.build
        build.line, build.origin = origin.line, origin.origin
        code = "update" if target.private else "atomic"
        build.make(code, target.dtype, *place, adjoint, payload=Atomic("add", target))
        build.line, build.origin = 0, None

    def _element(self, target: Array, place: list[Value], origin: Operation) -> Value:
        build = self.level.build
        build.line, build.origin = origin.line, origin.origin
        found = build.make("load", target.dtype, *place, payload=target)
        build.line, build.origin = 0, None
        return found

    def _store(self, operation: Operation) -> None:
        target = self.adjoint_of(operation.payload)
        if target is None:
            return
        place, value = self._place(operation), operation.operands[-1]
        if value in self.active:
            self.add(value, self._element(target, place, operation))
        build = self.level.build
        build.line, build.origin = operation.line, operation.origin
        build.make("store", None, *place, Constant(0.0, target.dtype), payload=target)
        build.line, build.origin = 0, None

    def _update(self, operation: Operation) -> None:
        payload: Atomic = operation.payload
        target, value = payload.target, operation.operands[-1]
        if target not in self.active:
            return
        if payload.operation not in ("add", "sub"):
            raise NotDifferentiable(
                operation,
                f"iterations share what `{payload.operation}` updates here, so its derivative depends on their order",
                "update a separate element in each iteration, or use a sum, or an extreme of what the loop does not write",
            )
        if self.uses[operation]:
            raise NotDifferentiable(
                operation, "the old value of this update is used, and depends on the order of iterations",
                "read the element before, or after, the loop",
            )
        if value not in self.active:
            return
        if isinstance(target, Local):
            # The adjoint does not change in the task: it is loaded before.
            adjoint: Value = self.top.build.get(self.sum_of(target))
        else:
            array = self.adjoint_of(target)
            assert array is not None
            adjoint = self._element(array, self._place(operation), operation)
        assert value.type is not None
        self.add(value, self.level.build.make("neg", value.type, adjoint) if payload.operation == "sub" else adjoint)

    def _branch(self, operation: If) -> None:
        then, orelse = self.levels[operation.then], self.levels[operation.orelse]
        self._backward(then)
        self._backward(orelse)
        if then.build.operations or orelse.build.operations:
            condition = self.primal(operation.operands[0])
            made = If(condition, Region(then.build.operations), Region(orelse.build.operations), operation.line)
            self.level.build.append(made)

    def _loop(self, operation: For) -> None:
        level = self.levels[operation.body]
        variable = operation.variable
        assert variable.type is not None
        again = LoopVariable(variable.name, variable.type, variable.limits, variable.bounds)
        level.values[variable] = again
        self._backward(level)
        if not level.build.operations:
            return
        build = self.level.build
        bounds = [self.primal(each) for each in operation.operands]
        if self._pops(operation) or not self._is_unordered(operation):
            bounds = backward_range(build, *bounds)
        body = Region([*self.restored(level), *level.build.operations])
        build.append(For(again, bounds[0], bounds[1], bounds[2], body, operation.line))

    def _while(self, operation: While) -> None:
        level = self.levels[operation.body]
        self._backward(level)
        if not level.build.operations:
            return
        build = self.level.build
        count = self.primal(self.counts[operation])
        body = Region([*self.restored(level), *level.build.operations])
        number = [Constant(each, i64) for each in (0, 1)]
        build.append(For(LoopVariable("iteration", i64), number[0], count, number[1], body, operation.line))

    def _pops(self, loop: For) -> bool:
        """Whether the backward loop takes records off the stack, in it or in loops within: the last one first."""
        levels = [self.levels[loop.body], *(self.levels[inner] for each in walk(loop.body) for inner in regions(each))]
        return any(each.records and self._constant_trips(each) is None for each in levels)

    def _is_unordered(self, loop: For) -> bool:
        """Whether the iterations of the backward loop may run in any order: they may if they only add."""
        added: set[object] = set()
        read: set[object] = set()
        for operation in walk(loop.body):
            target = memory(operation)
            if target is None or target not in self.active or operation in self.skipped:
                continue
            is_sum = operation.code == "store_local" and operation.operands[0] in self.skipped
            if operation.code in ("load", "load_local"):
                read.add(target)
            elif is_sum or operation.code in ("atomic", "update"):
                added.add(target)
            else:
                return False
        return read.isdisjoint(added)

    def _task(self, task: ParallelFor) -> None:
        level = self.levels[task.body]
        self._backward(level)
        if not level.build.operations:
            return
        bounds = tuple(self.primal(each) for each in task.operands)
        live = self.closure(self.demanded.get(level, {}), level)
        body = Region([*self.zeros(level), *self.kept(level, live), *level.build.operations])
        made = ParallelFor(f"{task.name}.grad", task.variables, bounds, body, task.locals, task.block, task.line)
        made.stepping = task.stepping
        self.top.build.append(made)
        self.joints.append((task, made))


def _asked_cells(body: Region) -> dict[Array, int]:
    """The sparse fields, or masks, that a region asks for active cells or lengths of lists, each with a line."""
    found: dict[Array, int] = {}
    for operation in walk(body):
        if operation.code in ("list_cells", "cell_active", "list_length"):
            found.setdefault(operation.payload, 0)
        # The list for a loop over active cells has no line of its own: it is before the loop.
        found.update((array, int(operation.line)) for array, line in found.items() if line == 0)
    return found
