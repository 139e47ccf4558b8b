"""Elements: a load of an element that was loaded or stored before, and that nobody has written since, takes the value from
there. One that both sides of an `if` load, or one of them and what follows, is loaded before it.

Backends do so as well, where they can see it. Here it is seen what arrays do not share memory, and that indices that differ
by a constant are different elements; and a load that is gone under a condition is one that vectors need no mask for.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from dataclasses import replace
from math import gcd

from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Atomic,
    Builder,
    If,
    Kernel,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    indices,
    memory,
    regions,
    scopes,
    substitute,
    walk,
)
from samovar.passes.locals import fix_conditions
from samovar.passes.loops.dependence import CHANGES, are_apart
from samovar.passes.loops.divergence import inside

#: So many elements of an array are remembered: time stays linear.
MOST_KNOWN = 64
#: An element: the numbers of its indices.
Place = tuple[Hashable, ...]
#: The elements of each array that are known, with who touched them, and their values.
Known = dict[Array, dict[Place, tuple[Operation, Value]]]

_JUMPS = ("break", "continue", "return")
#: What a load can be moved across, beside what only computes, and what changes other elements.
_HARMLESS = frozenset(("load", "load_local", "store_local", "reserve", "break", "continue"))


def forward_elements(kernel: Kernel) -> None:
    """Have each element of an array loaded once, as long as it stays the same, in place."""
    for body, _ in list(scopes(kernel)):
        _Forwarding(body)


class _Forwarding:
    """One walk over a body, in the order of the text, that knows the value of some elements of each array."""

    def __init__(self, body: Region) -> None:
        self.affine = Affine(body)
        self.replacements: dict[Value, Value] = {}
        self._region(body, {})
        fix_conditions(body, self.replacements)

    def _region(self, region: Region, known: Known) -> None:
        region.operations = list(self._plain(region))
        if any(isinstance(each, If) for each in region.operations):
            self._load_before_conditions(region)
        kept: list[Operation] = []
        for operation in region.operations:
            substitute(operation, self.replacements)
            if _is_load(operation):
                found = known.get(operation.payload, {}).get(self._place(operation))
                if found is not None and found[1].type is operation.type:
                    self.replacements[operation] = found[1]
                    continue
                self._note(operation, operation, known)
            elif operation.__class__ is not Operation:
                self._control(operation, known)
            elif operation.code in CHANGES:
                self._forget(operation, known)
                if operation.code == "store":
                    self._note(operation, operation.operands[-1], known)
            kept.append(operation)
        region.operations = kept

    def _plain(self, region: Region) -> Iterator[Operation]:
        """The operations of a region. An update of a row that is loaded or stored beside it is written as a load and a
        store; neighbours that are updated in turn are not joined if the next iteration may overlap them by half."""
        updates = [each for each in region.operations if each.code == "update" and isinstance(memory(each), Array)]
        beside = {self._row(each) for each in region.operations if each.code in ("load", "store")} if updates else set()
        own = set(region.operations) if updates else set()
        blocks: dict[Hashable, set[int]] = {}
        for each in updates:
            blocks.setdefault(self._row(each), set()).add(self._block(each, own))
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
                if len(blocks[self._row(operation)]) > 1:
                    operation.payload = replace(operation.payload, singly=True)
                yield operation

    def _row(self, operation: Operation) -> Hashable:
        """What accesses to elements of one row have in common, which moves along it."""
        *others, last = map(self.affine.form, indices(operation)) if indices(operation) else [None]
        bases = [(each.base(), each.constant) for each in others if each is not None]
        return (memory(operation), *bases, last.base() if last is not None and last.terms else operation)

    def _block(self, update: Operation, own: Container[object]) -> int:
        """In which block of its row an element is: an index that moves with what is in the region itself, its `own`, by some
        elements at a time comes upon whole blocks of so many (`force[3 * j]` to `force[3 * j + 2]`)."""
        form = self.affine.form(indices(update)[-1]) if indices(update) else None
        if form is None or not form.terms:
            return 0
        moving = [factor for symbol, factor in form.terms if symbol.identity in own]
        return form.constant // gcd(*(moving or (factor for _, factor in form.terms)))

    def _load_before_conditions(self, region: Region) -> None:
        """Load what is needed on every way before the `if` in front of it."""
        here = set(walk(region))
        coming: Known = {}
        result: list[Operation] = []
        for operation in reversed(region.operations):
            result.append(operation)
            if _is_load(operation):
                self._note(operation, operation, coming)
                continue
            within = [operation, *inside(operation)]
            for each in within:
                self._pass(each, coming)
            if isinstance(operation, If):
                if any(each.code in _JUMPS for each in within):
                    coming.clear()
                sides = [self._loaded_first(side) for side in regions(operation)]
                for element, load in {**sides[0], **sides[1]}.items():
                    array, place = element
                    is_needed = place in coming.get(array, {}) or all(element in side for side in sides)
                    if is_needed and here.isdisjoint(load.operands):
                        early = Operation("load", load.type, load.operands, load.payload, load.line)
                        early.origin = load.origin
                        self._note(early, early, coming)
                        result.append(early)
        region.operations = result[::-1]

    def _loaded_first(self, side: Region) -> dict[tuple[Array, Place], Operation]:
        """What a side of an `if` loads before it writes anything."""
        found: dict[tuple[Array, Place], Operation] = {}
        for operation in side.operations:
            if _is_load(operation):
                found.setdefault((operation.payload, self._place(operation)), operation)
            elif not _is_harmless(operation):
                break
        return found

    def _place(self, operation: Operation) -> Place:
        return tuple([self.affine.number(index) for index in indices(operation)])

    def _control(self, operation: Operation, known: Known) -> None:
        """What is known inside is what was known before and is not changed by what may run in between; what is learned
        there is not known after it."""
        if isinstance(operation, (Task, Sections)):
            known.clear()
            for region in regions(operation) if isinstance(operation, Sections) else ():
                self._region(region, {})
            return
        before = {array: dict(places) for array, places in known.items()}
        for each in inside(operation):
            if each.code in CHANGES:
                self._forget(each, known)
        if not isinstance(operation, If):
            before = known
        for region in regions(operation):
            self._region(region, {array: dict(places) for array, places in before.items()})

    def _note(self, operation: Operation, value: Value, known: Known) -> None:
        array = memory(operation)
        assert isinstance(array, Array)
        places = known.setdefault(array, {})
        if len(places) < MOST_KNOWN:
            places[self._place(operation)] = operation, value

    def _forget(self, change: Operation, known: Known) -> None:
        """Drop what an operation may change."""
        target = memory(change)
        if not isinstance(target, Array):
            if target is None:
                known.clear()
            return
        for array, places in known.items():
            if array is target or not (array.alone or target.alone):
                left = {place: each for place, each in places.items() if are_apart(each[0], change, self.affine)}
                known[array] = left

    def _pass(self, operation: Operation, coming: Known) -> None:
        """Drop what cannot be loaded before an operation."""
        if operation.code in CHANGES:
            self._forget(operation, coming)
        elif not _is_harmless(operation) and not regions(operation):
            coming.clear()


def _is_load(operation: Operation) -> bool:
    """Whether an operation is a load of an element, and nothing else."""
    return operation.code == "load" and operation.__class__ is Operation


def _is_harmless(operation: Operation) -> bool:
    return operation.code in _HARMLESS or OPCODES[operation.code].effect == "pure"


def _is_simple(update: Atomic) -> bool:
    """Whether an update is one operation."""
    return update.step is None and not update.singly and update.operation not in ("cas", "exchange")
