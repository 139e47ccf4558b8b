"""Updates of one element in an iteration become one: reverses add to an element once for each of its reads.

Sums go to a variable, which is added to the element at the end of the iteration, unless something else in the iteration may
read or write this element. One of the updates is unconditional, so the element exists.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar.ir import (
    Affine,
    Array,
    Atomic,
    Builder,
    Constant,
    For,
    Local,
    LocalArray,
    Operation,
    ParallelFor,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    use_counts,
    variables,
    walk,
)


def merge_updates(region: Region) -> None:
    """Merge the updates in the tasks of a region, in place."""
    for operation in region.operations:
        if isinstance(operation, ParallelFor):
            _Merging(operation).run()


def _certain(region: Region) -> Iterator[Operation]:
    """The operations of an iteration that certainly run."""
    for operation in region.operations:
        yield operation
        if isinstance(operation, For) and operation.trip_count():
            yield from _certain(operation.body)


class _Merging:
    def __init__(self, task: ParallelFor) -> None:
        self._task = task
        self._affine = Affine(Region([task]))
        self._uses = use_counts([task.body])
        loops = [each for each in walk(task.body) if isinstance(each, (For, While))]
        #: What may differ between two accesses of an iteration.
        self._moving: set[Value] = {
            value for loop in loops for value in (*variables(loop), *(each for part in regions(loop) for each in walk(part)))
        }

        #: The accesses of arrays that are more than sums.
        self._others: dict[object, list[Operation]] = {}
        for operation in walk(task.body):
            if isinstance(memory(operation), Array) and not self._adds(operation):
                self._others.setdefault(memory(operation), []).append(operation)

    def run(self) -> None:
        once, certain = set(self._task.body.operations), set(_certain(self._task.body))
        groups: dict[object, list[Operation]] = {}
        for operation in walk(self._task.body):
            if self._is_sum(operation):
                groups.setdefault(self._affine.element(operation), []).append(operation)
        merged: dict[Operation, Local] = {}
        last: list[tuple[Operation, Local]] = []
        for updates in groups.values():
            first = next((each for each in updates if each in certain), None)
            repeats = len(updates) > 1 or first not in once
            if first is not None and repeats and self._is_alone(updates):
                total = Local("sum", first.payload.target.dtype)
                self._task.locals.append(total)
                merged |= dict.fromkeys(updates, total)
                last.append((first, total))
        if not merged:
            return
        self._replace(self._task.body, merged)
        begin, end = Builder(), Builder()
        for update, total in last:
            begin.set(total, Constant(0.0, total.type))
            end.line, end.origin = update.line, update.origin
            end.make(update.code, total.type, *indices(update), end.get(total), payload=Atomic("add", update.payload.target))
        self._task.body.operations = [*begin.operations, *self._task.body.operations, *end.operations]

    def _adds(self, operation: Operation) -> bool:
        """Whether it only adds to an element, at whatever index: sums may change their order."""
        if operation.code not in ("atomic", "update") or operation.payload.operation != "add" or self._uses[operation]:
            return False
        target = operation.payload.target
        return isinstance(target, Array) and not isinstance(target, LocalArray) and target.dtype.kind == "float"

    def _is_sum(self, operation: Operation) -> bool:
        """Whether it adds to one element in the whole iteration."""
        return self._adds(operation) and not any(self._moves(each) for each in indices(operation))

    def _moves(self, index: Value) -> bool:
        return index in self._moving or any(each.identity in self._moving for each, _ in self._affine.form(index).terms)

    def _is_alone(self, updates: list[Operation]) -> bool:
        """Whether nothing but sums accesses the element."""
        return all(
            any(self._differ(*pair) for pair in zip(indices(updates[0]), indices(other), strict=True))
            for other in self._others.get(memory(updates[0]), ())
        )

    def _differ(self, one: Value, other: Value) -> bool:
        """Whether two indices are different in every iteration."""
        first, second = self._affine.form(one), self._affine.form(other)
        if dict(first.terms) != dict(second.terms) or self._moves(one) or self._moves(other):
            return False
        return bool((first.constant - second.constant) & ((1 << min(first.bits, second.bits)) - 1))

    def _replace(self, region: Region, merged: dict[Operation, Local]) -> None:
        build = Builder()
        for operation in region.operations:
            for inner in regions(operation):
                self._replace(inner, merged)
            total = merged.get(operation)
            if total is None:
                build.append(operation)
            else:
                build.set(total, build.make("add", total.type, build.get(total), operation.operands[-1]))
        region.operations = build.operations
