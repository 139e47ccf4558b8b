"""Outlining: parallel loops become tasks, with explicit scheduling and combination.

Before a task, code computes the number of units (`samovar.passes.schedule`); its body has the loops that a thread runs
(`samovar.passes.nest`); after it, partial results and private copies are combined. The task is then self-contained: a
backend renders the body as a function of the captures, independent of the kernel. A value computed by serial code is an
opaque number in the body, so a task can be compiled without the kernel around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial as partial_of
from functools import reduce

from samovar._native import f32, i64, u1, u64
from samovar.ir import (
    COST_UNKNOWN,
    PLAIN_LOOP,
    SERIAL,
    SPEAKS,
    Affine,
    Array,
    Atomic,
    Axis,
    Builder,
    Captured,
    Clone,
    Constant,
    Estimator,
    For,
    Hints,
    If,
    Kernel,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Parameter,
    ReadFlag,
    Reduction,
    Region,
    Scatter,
    ScratchArray,
    Task,
    Value,
    bytes_per_iteration,
    dtype_of,
    identity,
    indices,
    is_own,
    memory,
    outlined,
    rewrite,
    scopes,
    sections,
    substitute,
    taken_by,
    tasks,
    variables,
    walk,
)
from samovar.language import integer_range
from samovar.passes.nest import Nest, Partial, PrivateCopy
from samovar.passes.ownership import owned_arrays
from samovar.passes.schedule import (
    GROUPS_LOG2,
    Units,
    blocks,
    copy_stride,
    groups,
    groups_for_copies,
    length,
    number,
    rows,
    steps,
    worth_copies,
)

#: Trailing dimensions with constant bounds and at most this many iterations become loops inside a unit.
INNER_ITERATIONS = 256
#: The target duration of a group in nanoseconds; it has 2^4 to 2^14 iterations.
GROUP_TIME = 2000.0
LEAST_GRAIN_LOG2, MOST_GRAIN_LOG2 = 4, 14
#: Serial code that takes longer (nanoseconds) is slow.
SLOW = 50_000.0


def outline(kernel: Kernel, fast_math: bool = False, studied: bool = True) -> None:
    """Turn all parallel loops into tasks, in place; if `studied`, with facts about their accesses that only affect speed."""
    estimator = Estimator()
    for function in kernel.functions:
        estimator.function(function)
    before = estimator.region(kernel.body, skip_tasks=True)
    kernel.slow_serial = before.unknown or before.nanoseconds > SLOW
    if any(True for _ in tasks(kernel)):
        affine = Affine(kernel.body)
        for body, locals in list(scopes(kernel)):

            def outlining(operation: Operation, locals: list[Local] = locals) -> Sequence[Operation]:
                if not isinstance(operation, ParallelFor):
                    return [operation]
                return _Outlining(operation, locals, estimator, affine, fast_math, studied).write()

            rewrite(body, outlining, enters=is_own)
    for count, task in enumerate(outlined(kernel)):
        task.number = count
    # Sections are numbered after the tasks.
    for count, each in enumerate(sections(kernel), sum(1 for _ in outlined(kernel))):
        parts = [estimator.region(part.body).nanoseconds for part in each.parts]
        each.number, each.cost = count, max(parts, default=0.0)


class _Outlining:
    """Outlines one parallel loop."""

    def __init__(
        self, loop: ParallelFor, around: list[Local], estimator: Estimator, affine: Affine, fast_math: bool, studied: bool
    ) -> None:
        self.loop = loop
        self.around = around
        self.build = Builder(loop.line, loop.origin)
        self.fast_math = fast_math
        self.axes: list[Axis] = [(variable, *bounds) for variable, bounds in zip(loop.variables, loop.axes(), strict=True)]
        for variable, begin, end in self.axes:
            least, greatest = integer_range(variable.type)
            low, high = max(least, affine.range(begin)[0]), min(greatest, affine.range(end)[1] - 1)
            variable.limits, variable.bounds = (low, max(low, high)), (begin, end)
        self.dealt, self.inner_iterations = _split(self.axes)
        cost = estimator.region(loop.body)
        self.cost = cost.nanoseconds
        speaks = estimator.prints(loop.body)
        self.flags = (SPEAKS if speaks else 0) | (COST_UNKNOWN if cost.unknown else 0) | (SERIAL if loop.race_checked else 0)
        wanted = math.ceil(math.log2(GROUP_TIME / max(cost.nanoseconds, 0.1)))
        self.grain_log2 = min(MOST_GRAIN_LOG2, max(LEAST_GRAIN_LOG2, wanted))
        moved = bytes_per_iteration(loop, affine) if studied else None
        self.traffic = -1 if moved is None else moved
        self.owned: frozenset[Array] = owned_arrays(loop, affine) if studied else frozenset()
        self.hints = Hints(independent=studied and _changes_in_place(loop))
        #: How many elements each iteration scatters to, not counting branches.
        self.visits = max(1, sum(each.code == "scatter" for each in loop.body.operations))

    def write(self) -> list[Operation]:
        """The replacement of the loop."""
        work = self._units()
        build, scatters = self.build, self.loop.scatters
        if not scatters or not all(scatter.array.contiguous for scatter in scatters):
            self._plain(work)
            return build.operations
        counts = [self._elements(scatter.array) for scatter in scatters]
        total = reduce(build.add, counts)
        worth = worth_copies(build, work, total, self.visits)
        # A single thread needs neither atomics nor copies: its updates go to the array itself, as to a private copy.
        alone = build.compare("eq", build.make("threads", i64), number(1))
        private = build.region(lambda: self._private(work, counts, total, worth))
        shared = build.region(lambda: self._plain(work))
        build.append(If(build.make("or", u1, worth, alone), private, shared, self.loop.line))
        return build.operations

    def _units(self) -> Units:
        lengths = [length(self.build, begin, end) for _, begin, end in self.axes[: self.dealt]]
        if self.dealt == 1:
            return steps(self.build, lengths[0], self.inner_iterations)
        return rows(self.build, lengths, self.inner_iterations, self.around)

    def _elements(self, array: Array) -> Value:
        """The number of elements of an array."""
        count: Value = number(1)
        for axis in range(array.ndim):
            count = self.build.mul(count, _extent(self.build, array, axis))
        return count

    # --- the task

    def _plain(self, work: Units) -> None:
        """The task without private copies."""
        block = self.loop.block if self.dealt == 1 and not self.loop.reductions else None
        if self.loop.reductions:
            work = groups(self.build, work, number(self.grain_log2))
        elif block is not None:
            work = blocks(self.build, work, block)
        partials = self._partials()
        self._rewrite(self.loop.body, partials, {})
        hints = PLAIN_LOOP if self.loop.scatters else self.hints
        task, sums = self._task(work, self.loop.locals, partials), [*partials.values()]
        self._append(Nest(task, *self._dealt(self.axes), self.loop.body, work, sums, block=block, hints=hints))
        self._combine(partials, work.count)

    def _private(self, work: Units, counts: Sequence[Value], total: Value, worth: Value) -> None:
        """A copy of the task in which each group has a private copy of each array that it scatters into."""
        build = self.build
        variables = [LoopVariable(each.name, each.type, each.limits, each.bounds) for each in self.loop.variables]
        locals = [Local(local.name, local.type) for local in self.loop.locals]
        renamed: dict[Value, Value] = dict(zip(self.loop.variables, variables, strict=True))
        body = Clone(renamed, dict(zip(self.loop.locals, locals, strict=True))).region(self.loop.body)
        work = groups_for_copies(build, work, total, self.visits, self.grain_log2)
        partials = self._partials()
        group = LoopVariable("group", i64)
        copies: dict[Scatter, PrivateCopy] = {}
        for scatter, count in zip(self.loop.scatters, counts, strict=True):
            dtype = scatter.array.dtype
            distance = build.choose(worth, copy_stride(build, count), number(0))
            memory = ScratchArray(f"{scatter.array.name}.copies", dtype)
            build.make("scratch", None, build.mul(work.count, distance), worth, payload=(memory, scatter.array))
            copies[scatter] = PrivateCopy(
                memory, distance, build.choose(worth, count, number(0)), identity(scatter.operation, dtype)
            )
        self._rewrite(body, partials, copies, group)
        axes: list[Axis] = [(variable, *axis[1:]) for variable, axis in zip(variables, self.axes, strict=True)]
        task, sums = self._task(work, locals, partials), [*partials.values()]
        self._append(Nest(task, *self._dealt(axes), body, work, sums, [*copies.values()], group=group))
        self._combine(partials, work.count)
        for scatter, copy in copies.items():
            self._merge(scatter, copy, work.count)

    def _task(self, work: Units, locals: Sequence[Local], partials: dict[Reduction, Partial]) -> Task:
        """A task without a body."""
        loop = self.loop
        own = [*locals, *(partial.local for partial in partials.values())]
        task = Task(loop.name, work.count, work.items, Region(), own, (), loop.line)
        task.origin, task.cost, task.flags, task.traffic = loop.origin, self.cost, self.flags, self.traffic
        task.owned = self.owned
        return task

    def _dealt(self, axes: Sequence[Axis]) -> tuple[Sequence[Axis], Sequence[Axis]]:
        return axes[: self.dealt], axes[self.dealt :]

    def _append(self, nest: Nest) -> None:
        nest.write()
        _capture(nest.task)
        self.build.append(nest.task)

    # --- reductions and scatters

    def _partials(self) -> dict[Reduction, Partial]:
        found: dict[Reduction, Partial] = {}
        for reduction in self.loop.reductions:
            # Partial sums of f16 and bf16 are kept in f32.
            dtype = f32 if reduction.type.name in ("f16", "bf16") else reduction.type
            array = LocalArray("partials", dtype, (1 << GROUPS_LOG2,), private=False)
            self.build.make("reserve", None, payload=array)
            found[reduction] = Partial(Local(reduction.target.name, dtype), identity(reduction.operation, dtype), array)
        return found

    def _rewrite(
        self,
        body: Region,
        partials: dict[Reduction, Partial],
        copies: dict[Scatter, PrivateCopy],
        group: Value | None = None,
    ) -> None:
        """Expand `accumulate` and `scatter`."""

        def written(operation: Operation) -> Sequence[Operation]:
            build, payload = Builder(operation.line, operation.origin), operation.payload
            if operation.code == "accumulate":
                local = partials[payload].local
                value = build.cast(operation.operands[-1], local.type)
                build.set(local, self._combined(build, payload.operation, build.get(local), value))
                return build.operations
            if operation.code != "scatter":
                return [operation]
            *at, value = operation.operands
            copy = copies.get(payload)
            if copy is None:
                build.make("atomic", payload.array.dtype, *at, value, payload=Atomic(payload.operation, payload.array))
            else:
                assert group is not None
                place = build.add(build.mul(group, copy.stride), _flat(build, payload.array, at))
                build.make("update", copy.copies.dtype, place, value, payload=Atomic(payload.operation, copy.copies))
            return build.operations

        if partials or self.loop.scatters:
            rewrite(body, written)

    def _combined(self, build: Builder, operation: str, left: Value, right: Value) -> Operation:
        """Combine two values. The order of a parallel sum is unspecified, regardless of fast_math."""
        floating = left.type is not None and left.type.kind == "float" and operation in ("add", "mul")
        return build.make(operation, left.type, left, right, payload="reorder" if floating and not self.fast_math else None)

    def _combine(self, partials: dict[Reduction, Partial], count: Value) -> None:
        """Combine the partial results in the order of the groups, and apply each total to its target, unless there are no
        groups or the target does not exist."""
        if not partials:
            return
        build, group = self.build, LoopVariable("partial", i64)
        totals = [(reduction, each, Local("total", each.local.type)) for reduction, each in partials.items()]
        for _, partial, total in totals:
            self.around.append(total)
            build.set(total, partial.identity)

        def each() -> None:
            for reduction, partial, total in totals:
                found = build.read(partial.array, [group])
                build.set(total, build.make(reduction.operation, total.type, build.get(total), found))

        # One loop for all: their latencies overlap, and many loops take long to compile.
        combining = For(group, number(0), count, number(1), build.region(each), self.loop.line, PLAIN_LOOP)
        combining.note = "scalar: partial results are combined in order"
        build.append(combining)
        for reduction, _, total in totals:
            exists: Value = build.compare("ne", count, number(0))
            target = reduction.target
            if isinstance(target, Array):
                for axis, index in enumerate(reduction.indices):
                    wide, extent = (build.cast(each, u64) for each in (index, _extent(build, target, axis)))
                    exists = build.make("and", u1, exists, build.compare("lt", wide, extent))
            build.append(If(exists, build.region(partial_of(self._apply, reduction, total)), Region(), self.loop.line))

    def _apply(self, reduction: Reduction, total: Local) -> None:
        """Apply the total to its target."""
        build = self.build
        old = build.read(reduction.target, reduction.indices)
        result = build.make(reduction.operation, total.type, build.cast(old, total.type), build.get(total))
        build.write(reduction.target, reduction.indices, build.cast(result, dtype_of(old)))

    def _merge(self, scatter: Scatter, copy: PrivateCopy, count: Value) -> None:
        """Add the private copies to the array, group by group."""
        build, array = self.build, scatter.array
        group = LoopVariable("merged", i64)
        groups = build.choose(build.compare("eq", copy.elements, number(0)), number(0), count)
        extents = [_extent(build, array, axis) for axis in range(array.ndim)]

        def loop(variable: LoopVariable, end: Value, write: Callable[[], None]) -> None:
            build.append(
                For(variable, number(0), end, number(1), build.region(write), self.loop.line, Hints(unroll=1))
            )

        def nested(at: tuple[LoopVariable, ...]) -> None:
            if len(at) < array.ndim:
                variable = LoopVariable("element", i64)
                loop(variable, extents[len(at)], lambda: nested((*at, variable)))
                return
            place = build.add(build.mul(group, copy.stride), _flat(build, array, at, extents))
            value = build.read(copy.copies, [place])
            build.make("update", array.dtype, *at, value, payload=Atomic(scatter.operation, array))

        loop(group, groups, lambda: nested(()))


def _extent(build: Builder, array: Array, axis: int) -> Value:
    known = array.extents[axis]
    if known is not None:
        return number(known)
    return build.cast(build.extent(array, axis), i64)


def _flat(build: Builder, array: Array, at: Sequence[Value], extents: Sequence[Value] = ()) -> Value:
    """The index of an element in C order."""
    total: Value = number(0)
    for axis, index in enumerate(at):
        if axis:
            total = build.mul(total, extents[axis] if extents else _extent(build, array, axis))
        total = build.add(total, build.cast(index, i64))
    return total


def _split(axes: Sequence[Axis]) -> tuple[int, int]:
    """The number of distributed dimensions, and the number of iterations of those after them."""
    dealt, iterations = len(axes), 1
    while dealt > 1:
        _, begin, end = axes[dealt - 1]
        if not (isinstance(begin, Constant) and isinstance(end, Constant)):
            break
        length = max(0, int(end.value) - int(begin.value))
        if iterations * length > INNER_ITERATIONS:
            break
        iterations *= length
        dealt -= 1
    return dealt, iterations


def _changes_in_place(loop: ParallelFor) -> bool:
    """Whether an array that a task writes is also read at other indices (`a[i, j] -= a[i, k] * a[k, j]`).

    Reading elements that other iterations write is undefined, so it may be assumed not to happen; LLVM could only compare
    addresses of all rows before the loop, and would find an overlap. LLVM handles arguments that may alias: the kernel
    does not show whether they do.
    """
    if loop.race_checked or loop.scatters:
        return False
    places: dict[Array, set[tuple[object, ...]]] = {}
    written: set[Array] = set()
    for operation in walk(loop.body):
        if operation.code in ("call", "atomic", "for", "while") or isinstance(operation, ReadFlag):
            return False
        array = memory(operation)
        if isinstance(array, Array) and operation.code != "accumulate":
            if isinstance(array, LocalArray) or not array.alone:
                return False
            places.setdefault(array, set()).add(tuple(map(_place, indices(operation))))
            if operation.code != "load":
                written.add(array)
    return any(len(places[array]) > 1 for array in written)


def _place(index: Value) -> object:
    return index.value if isinstance(index, Constant) else index


# --- captures


def _capture(task: Task) -> None:
    """List the values that the body of a task uses but does not define, in the order of first use."""
    own = {task.first, task.last, *task.locals}
    taken = [each for each in taken_by(task.body) if each not in own]
    computed: dict[Value, Value] = {
        each: Captured(each) for each in taken if isinstance(each, Value) and not _is_at_hand(each)
    }
    if computed:
        for operation in walk(task.body):
            substitute(operation, computed)
            for variable in variables(operation):
                if variable.bounds is not None:
                    begin, end = variable.bounds
                    variable.bounds = computed.get(begin, begin), computed.get(end, end)
    task.captures = tuple(computed.get(each, each) if isinstance(each, Value) else each for each in taken)


def _is_at_hand(value: Value) -> bool:
    """Whether a value is available before any code runs: a parameter, an array, or an extent of one."""
    return isinstance(value, (Parameter, Array)) or (isinstance(value, Operation) and value.code == "shape")
