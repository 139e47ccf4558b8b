"""Elements: a load of an element that was loaded or stored shortly before takes the value from there.

Backends do so as well, where they can see it. Here it is seen what arrays do not share memory, and that indices that differ
by a constant are different elements; and a load that is gone under a condition is one that vectors need no mask for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace

from samovar.ir import (
    Affine,
    Array,
    Atomic,
    Builder,
    Kernel,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    While,
    indices,
    memory,
    outlined,
    regions,
    substitute,
    walk,
)

#: So many elements of an array are remembered.
MOST_KNOWN = 64
#: An element: the numbers of its indices.
Place = tuple[object, ...]
#: The elements of each array that are known, with who touched them, and their values.
Known = dict[Array, dict[Place, tuple[Operation, Value]]]

#: What changes memory, or may. A local array that is reserved is another one than before.
CHANGES = frozenset(("store", "update", "atomic", "accumulate", "scatter", "scratch", "call"))


def forward_elements(kernel: Kernel) -> None:
    """Replace loads of elements whose values are known, in place."""
    for task in outlined(kernel):
        _Forwarding(task.body)
    for function in kernel.functions:
        _Forwarding(function.body)
    _Forwarding(kernel.body)


class _Forwarding:
    """One walk over a body, in the order of the text, that knows the value of some elements of each array."""

    def __init__(self, body: Region) -> None:
        self.affine = Affine(body)
        self.replacements: dict[Value, Value] = {}
        self._region(body, {})
        for operation in walk(body):
            # The condition of a loop is in its head, which comes after it.
            if isinstance(operation, While):
                substitute(operation, self.replacements)

    def _region(self, region: Region, known: Known) -> None:
        kept: list[Operation] = []
        for operation in self._plain(region):
            substitute(operation, self.replacements)
            if operation.code == "load" and operation.__class__ is Operation:
                array = operation.payload
                place = self._place(operation)
                found = known.get(array, {}).get(place)
                if found is not None and found[1].type is operation.type:
                    self.replacements[operation] = found[1]
                    continue
                _note(known, operation, place, operation)
            elif operation.__class__ is not Operation:
                self._control(operation, known)
            elif operation.code in CHANGES:
                self._forget(operation, known)
                if operation.code == "store":
                    _note(known, operation, self._place(operation), operation.operands[-1])
            kept.append(operation)
        region.operations = kept

    def _plain(self, region: Region) -> Iterator[Operation]:
        """The operations of a region. An update of a row that is loaded or stored beside it is written as a load and a
        store; neighbours that are updated in turn are not joined, since the next iteration overlaps them by half."""
        updates = [each for each in region.operations if each.code == "update" and isinstance(memory(each), Array)]
        beside = {self._row(each) for each in region.operations if each.code in ("load", "store")} if updates else set()
        rows = Counter(map(self._row, updates))
        for operation in region.operations:
            if operation not in updates or not _is_simple(operation.payload):
                yield operation
            elif self._row(operation) in beside:
                array, at = operation.payload.target, indices(operation)
                build = Builder(operation.line, operation.origin)
                old = build.make("load", array.dtype, *at, payload=array)
                new = build.make(operation.payload.operation, array.dtype, old, operation.operands[-1])
                build.make("store", None, *at, new, payload=array)
                self.replacements[operation] = old
                yield from build.operations
            else:
                if rows[self._row(operation)] > 1:
                    operation.payload = replace(operation.payload, singly=True)
                yield operation

    def _row(self, operation: Operation) -> Hashable:
        """What accesses to elements of one row have in common, which moves along it."""
        *others, last = map(self.affine.form, indices(operation)) if indices(operation) else [None]
        bases = [(each.base(), each.constant) for each in others if each is not None]
        return (memory(operation), *bases, last.base() if last is not None and last.terms else operation)

    def _place(self, operation: Operation) -> Place:
        return tuple([self.affine.number(index) for index in indices(operation)])

    def _control(self, operation: Operation, known: Known) -> None:
        """What is known inside is what was known before and is not changed by what may run in between; what is learned
        there is not known after it."""
        inside = regions(operation)
        changes = [each for region in inside for each in walk(region) if each.code in CHANGES]
        if isinstance(operation, (Task, Sections)):
            known.clear()
            if isinstance(operation, Sections):
                for region in inside:
                    self._region(region, {})
            return
        if operation.code != "if":
            for change in changes:
                self._forget(change, known)
        for region in inside:
            self._region(region, {array: dict(places) for array, places in known.items()})
        if operation.code == "if":
            for change in changes:
                self._forget(change, known)

    def _forget(self, change: Operation, known: Known) -> None:
        """Drop what an operation may change."""
        target = memory(change)
        if not isinstance(target, Array):
            if target is None:
                known.clear()
            return
        for array in list(known):
            if array is target:
                left = {place: each for place, each in known[array].items() if self._differs(change, each[0])}
                known[array] = left
            elif not (array.alone or target.alone):
                del known[array]

    def _differs(self, one: Operation, other: Operation) -> bool:
        """Whether two accesses of an array touch different elements, whatever the iteration."""
        array = memory(one)
        assert isinstance(array, Array)
        for left, right in zip(indices(one), indices(other), strict=True):
            first, second = self.affine.form(left), self.affine.form(right)
            if first.base() == second.base() and first.constant != second.constant and first.indexes(array):
                return True
        return False


def _note(known: Known, operation: Operation, place: Place, value: Value) -> None:
    array = memory(operation)
    assert isinstance(array, Array)
    places = known.setdefault(array, {})
    if len(places) < MOST_KNOWN:
        places[place] = operation, value


def _is_simple(update: Atomic) -> bool:
    """Whether an update is one operation."""
    return update.step is None and not update.singly and update.operation not in ("cas", "exchange")
