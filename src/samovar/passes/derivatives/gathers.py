"""Gathers: adjoint loops whose iterations add to elements at constant distances become loops over these elements.

The reverse of `y[i] = x[i - 1] + x[i + 1]` adds to two elements in each iteration, and other iterations add to them, too.
Here each element takes what the iterations at `element - distance` add to it, and is written by one iteration alone. What
these iterations compute for it is computed once more for each distance, so that must be less work than atomics are.

Elements that every distance reaches are an inner box, without conditions. Those around it are taken axis by axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from samovar._native import DType, i64, u1
from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Builder,
    Clone,
    Constant,
    Estimator,
    For,
    If,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    Value,
    While,
    constant_integer,
    indices,
    memory,
    regions,
    walk,
)
from samovar.language import integer_range
from samovar.passes.dead_code import sweep

#: What an atomic update of an element costs that the caches have, in nanoseconds.
ATOMIC = 5.0

#: Loops of so many iterations are written out, so that what they reach is at constant distances.
MOST_TRIPS = 8

#: So many pairs of reads and writes are compared.
MOST_PAIRS = 10_000

#: Of an update: for each dimension of the loop, the dimension of the array that it indexes, and the offset of the element.
_Reach = tuple[tuple[int, ...], tuple[int, ...]]
_Range = tuple[Value, Value]


def gather_updates(region: Region) -> None:
    """Turn the contested updates of the tasks of a region into gathers where that is possible and pays, in place."""
    affine = Affine(region, numbered=False)
    result: list[Operation] = []
    for operation in region.operations:
        if isinstance(operation, ParallelFor):
            result += _Task(operation, affine).gathers() or _unrolled_gathers(operation, affine)
        result.append(operation)
    region.operations = result


def _unrolled_gathers(task: ParallelFor, affine: Affine) -> list[Operation]:
    """The gathers of a task whose short loops are written out; it stays what it is if there are none."""
    if not any(isinstance(each, For) for each in walk(task.body)):
        return []
    before, task.body = task.body, Region(_unrolled(task.body, Clone()))
    affine.look_into(Region([task]))
    made = _Task(task, affine).gathers()
    if not made:
        task.body = before
    return made


def _unrolled(region: Region, clone: Clone) -> list[Operation]:
    """A copy of a region in which loops of a few iterations are written out."""
    result: list[Operation] = []
    for operation in region.operations:
        trips = operation.trip_count() if isinstance(operation, For) else None
        if isinstance(operation, For) and trips is not None and trips <= MOST_TRIPS:
            begin, _, step = map(constant_integer, operation.operands)
            assert begin is not None
            assert step is not None
            for number in range(trips):
                clone.values[operation.variable] = Constant(begin + number * step, operation.variable.type or i64)
                result += _unrolled(operation.body, clone)
        else:
            made = clone.operation(operation)
            if isinstance(made, If) and isinstance(operation, If):
                made.then, made.orelse = (Region(_unrolled(each, clone)) for each in (operation.then, operation.orelse))
            result.append(made)
    return result


class _Task:
    """A task of the reverse, what it reads and writes, and in which order."""

    def __init__(self, task: ParallelFor, affine: Affine) -> None:
        self.task = task
        self.affine = affine
        self.order = {operation: number for number, operation in enumerate(walk(task.body))}

    def gathers(self) -> list[Operation]:
        """The tasks that do some of its updates, which are taken out of it. They run before it."""
        if not all(_is_plain(each) for each in self.order):
            return []
        groups: dict[tuple[Array, tuple[int, ...]], dict[Operation, tuple[int, ...]]] = {}
        for update in self.order:
            reach = self._reach(update) if update.code == "atomic" else None
            if reach is not None:
                along, distances = reach
                groups.setdefault((update.payload.target, along), {})[update] = distances
        made: list[Operation] = []
        for (array, along), updates in groups.items():
            others = [each for each in self.order if memory(each) is array and each not in updates]
            is_alone = all(self._are_apart(one, other) for one in updates for other in others)
            if not is_alone or len(set(updates.values())) < 2 or not self._is_settled(updates):
                continue
            gather = _Gather(self.task, array, along, updates)
            if gather.pays():
                made += gather.tasks()
                _remove(self.task.body, set(updates))
        return made

    def _reach(self, update: Operation) -> _Reach | None:
        """Where an update goes, if each of its elements belongs to one iteration."""
        array = update.payload.target
        if not isinstance(array, Array) or array.private or update.payload.operation != "add":
            return None
        along: dict[Value, tuple[int, int]] = {}
        for axis, index in enumerate(indices(update)):
            form = self.affine.form(index)
            if len(form.terms) == 1 and form.indexes(array):
                (symbol, coefficient), = form.terms
                if coefficient == 1 and symbol.identity in self.task.variables and abs(form.constant) < 1 << 16:
                    along.setdefault(symbol.identity, (axis, form.constant))
        if len(along) != len(self.task.variables):
            return None
        found = [along[each] for each in self.task.variables]
        return tuple(axis for axis, _ in found), tuple(distance for _, distance in found)

    def _are_apart(self, one: Operation, other: Operation) -> bool:
        """Are two accesses never to the same element, in whatever iterations? In some axis, both indices are the same in all
        iterations, and a constant apart."""
        for index, opposite in zip(indices(one), indices(other), strict=True):
            first, second = self.affine.form(index), self.affine.form(opposite)
            is_near = first.invariant() and second.invariant() and dict(first.terms) == dict(second.terms)
            if is_near and (first.constant - second.constant) & ((1 << min(first.bits, second.bits)) - 1):
                return True
        return False

    def _is_settled(self, updates: dict[Operation, tuple[int, ...]]) -> bool:
        """Do reads find the same before the task that they find in it? What it writes, it has read before."""
        writes: dict[Array | Local, list[Operation]] = {}
        reads: list[Operation] = []
        for operation in self.order:
            target = memory(operation)
            if operation.code == "load" and not isinstance(target, LocalArray):
                reads.append(operation)
            elif operation.code in ("store", "atomic", "update") and isinstance(target, Array) and operation not in updates:
                writes.setdefault(target, []).append(operation)
        if sum(len(writes.get(each.payload, ())) for each in reads) > MOST_PAIRS:
            return False
        return all(
            (write.code == "store" and self.order[write] > self.order[read]) or self._are_apart(read, write)
            for read in reads
            for write in writes.get(read.payload, ())
        )


def _is_plain(operation: Operation) -> bool:
    """Is it something that can be done again, or belongs to one iteration? Loops are too much work."""
    if isinstance(operation, (For, While)):
        return False
    target = memory(operation)
    if isinstance(operation, If) or target is not None:
        is_shared = isinstance(target, Local) and operation.code in ("atomic", "update")
        return not is_shared and not isinstance(target, LocalArray)
    return OPCODES[operation.code].effect == "pure"


class _Gather:
    """The gather of some updates of an array."""

    def __init__(
        self, task: ParallelFor, array: Array, along: tuple[int, ...], updates: dict[Operation, tuple[int, ...]]
    ) -> None:
        self.task = task
        self.array = array
        self.along = along
        self.updates: dict[tuple[int, ...], list[Operation]] = {}  # by their distance
        for update, distance in updates.items():
            self.updates.setdefault(distance, []).append(update)

    def pays(self) -> bool:
        parts = [self._part(each, self.task.variables, {}, None) for each in self.updates.values()]
        again = sum(Estimator().region(each).nanoseconds for each in parts)
        atomics = ATOMIC * sum(map(len, self.updates.values()))
        return again < atomics + Estimator().region(self.task.body).nanoseconds

    def _part(
        self, updates: list[Operation], element: Sequence[Value], values: dict[Value, Value], locals: list[Local] | None
    ) -> Region:
        """The operations of an iteration for some updates of an element, which no other iteration updates."""
        targets = {local: Local(local.name, local.type, local.line) for local in self.task.locals}
        if locals is not None:
            locals += targets.values()
        clone = Clone(values, dict(targets))
        body = clone.region(self.task.body)
        made: set[Operation] = set()
        for update in updates:
            found = clone.values[update]
            assert isinstance(found, Operation)
            found.code = "update"
            operands = list(found.operands)
            for axis, index in zip(self.along, element, strict=True):
                operands[axis] = index
            found.operands = tuple(operands)
            made.add(found)
        others = [each for each in walk(body) if each not in made and each.code in ("store", "atomic", "update")]
        _remove(body, set(others))
        sweep(body)
        return body

    def tasks(self) -> Iterator[Operation]:
        """The operations that compute bounds, and the tasks: one for the inner box, and one per dimension for the border."""
        build = Builder(self.task.line, self.task.origin)
        whole: list[_Range] = []
        inner: list[_Range] = []
        for axis, (begin, end) in enumerate(self.task.axes()):
            distances = [each[axis] for each in self.updates]
            first = _moved(build, begin, max(distances))
            last = _arithmetic(build, "max", _moved(build, end, min(distances)), first)
            whole.append((_moved(build, begin, min(distances)), _moved(build, end, max(distances))))
            inner.append((first, last))
        tasks = [self._task(build, inner, None, ())]
        for axis in range(len(self.along)):
            (first, last), (begin, end) = whole[axis], inner[axis]
            if len({each[axis] for each in self.updates}) > 1:
                before = _arithmetic(build, "sub", begin, first)
                size = _arithmetic(build, "add", before, _arithmetic(build, "sub", last, end))
                ranges = [*inner[:axis], (Constant(0, i64), size), *whole[axis + 1 :]]
                tasks.append(self._task(build, ranges, axis, (first, before, end)))
        yield from build.operations
        yield from tasks

    def _task(self, outside: Builder, ranges: Sequence[_Range], split: int | None, parts: Sequence[Value]) -> ParallelFor:
        """A task over some elements. Of a `split` axis, its variable counts those before the inner box and those behind: it
        is given where the former begin, how many they are, and where the latter begin. Outside of the inner box, not every
        distance leads to an iteration."""
        bounds: list[Value] = []
        for variable, range in zip(self.task.variables, ranges, strict=True):
            bounds += [_narrowed(outside, each, variable.type) for each in range]
        if split is not None:
            parts = [_narrowed(outside, each, self.task.variables[split].type) for each in parts]
        fresh = [LoopVariable(each.name, each.type or i64) for each in self.task.variables]
        locals: list[Local] = []
        build = Builder(self.task.line, self.task.origin)
        element: list[Value] = list(fresh)
        if split is not None:
            first, before, end = parts
            number, type = fresh[split], fresh[split].type or i64
            behind = build.make("add", type, build.make("sub", type, number, before), end)
            element[split] = build.choose(
                build.compare("lt", number, before), build.make("add", type, number, first), behind
            )
        for distances, updates in self.updates.items():
            values: dict[Value, Value] = {}
            inside: Value | None = None
            for axis, (variable, distance) in enumerate(zip(self.task.variables, distances, strict=True)):
                type = variable.type or i64
                place = element[axis]
                values[variable] = build.make("sub", type, place, Constant(distance, type)) if distance else place
                if split is not None and axis >= split:
                    begin, limit = self.task.axes()[axis]
                    for code, bound in (("ge", begin), ("lt", limit)):
                        holds = build.compare(code, values[variable], bound)
                        inside = holds if inside is None else build.make("and", u1, inside, holds)
            part = self._part(updates, element, values, locals)
            if inside is None:
                build.operations += part.operations
            else:
                build.append(If(inside, part, Region(), self.task.line))
        name = f"{self.task.name}.gather" if split is None else f"{self.task.name}.border"
        return ParallelFor(name, fresh, tuple(bounds), Region(build.operations), locals, None, self.task.line)


def _remove(region: Region, operations: set[Operation]) -> None:
    for operation in region.operations:
        for inner in regions(operation):
            _remove(inner, operations)
    region.operations = [each for each in region.operations if each not in operations]


def _arithmetic(build: Builder, code: str, one: Value, other: Value) -> Value:
    """A sum, difference or maximum in 64 bits."""
    a, b = constant_integer(one), constant_integer(other)
    if a is None or b is None:
        return build.make(code, i64, one, other)
    return Constant({"add": a + b, "sub": a - b, "max": max(a, b)}[code], i64)


def _moved(build: Builder, bound: Value, by: int) -> Value:
    """A bound of a loop moved by a distance, in 64 bits: nothing wraps."""
    known = constant_integer(bound)
    wide = build.cast(bound, i64) if known is None else Constant(known, i64)
    return _arithmetic(build, "add", wide, Constant(by, i64)) if by else wide


def _narrowed(build: Builder, bound: Value, type: DType | None) -> Value:
    """A bound in the type of a variable, or the nearest one: loops that run reach no others."""
    assert type is not None
    least, greatest = integer_range(type)
    known = constant_integer(bound)
    if known is not None:
        return Constant(min(max(known, least), greatest), type)
    if type is i64:
        return bound
    high = build.make("min", i64, bound, Constant(greatest, i64))
    return build.cast(build.make("max", i64, high, Constant(least, i64)), type)
