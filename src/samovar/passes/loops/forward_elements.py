"""Store-to-load forwarding: a load of an element that was loaded or stored before, and not written since, reuses the value.
An element that both sides of an `if` load, or one of them and the code after it, is loaded before it. A store is dropped if
another one overwrites it at once.

Backends do so too, where they can. Here it is known which arrays do not alias, and that indices that differ by a constant
are different elements; and a load that is no longer conditional needs no mask in vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterator
from dataclasses import replace
from math import gcd
from typing import NamedTuple

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
    Value,
    fix_conditions,
    indices,
    inside,
    is_own,
    memory,
    regions,
    scopes,
    substitute,
    walk,
)
from samovar.passes.loops.dependence import CHANGES, are_distinct

#: The maximum number of remembered elements per array, so that time stays linear.
MOST_KNOWN = 64
#: An element: the value numbers of its indices.
Place = tuple[Hashable, ...]
#: The known elements of each array, with the operation that accessed them, and their values.
Known = dict[Array, dict[Place, tuple[Operation, Value]]]

_JUMPS = ("break", "continue", "return")
#: Operations that a load can be moved across, besides pure ones and writes of other elements.
_HARMLESS = frozenset(("load", "load_local", "store_local", "reserve", "break", "continue"))


def forward_elements(kernel: Kernel) -> None:
    """Load each element of an array once, as long as it does not change, in place."""
    for body, _ in list(scopes(kernel)):
        _Forwarding(body)


class _Element(NamedTuple):
    """An element whose last index is a constant."""

    array: Array
    place: Place


class _Forwarding:
    """A single walk over a body in program order that knows the values of some elements of each array."""

    def __init__(self, body: Region) -> None:
        self.affine = Affine(body)
        self.replacements: dict[Value, Value] = {}
        self.updates: dict[Operation, Operation] = {}  # by the load that an update was expanded to
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
                array, place = self.affine.element(operation)
                found = known.get(array, {}).get(place)
                if found is not None and found[1].type is operation.type:
                    self.replacements[operation] = found[1]
                    if operation in self.updates:
                        self.replacements[self.updates[operation]] = found[1]
                    continue
                self._note(operation, operation, known)
            elif operation.__class__ is not Operation:
                self._control(operation, known)
            elif operation.code in CHANGES:
                self._forget(operation, known)
                if operation.code == "store":
                    self._note(operation, operation.operands[-1], known)
            kept.append(operation)
        region.operations = self._without_overwritten(kept)

    def _without_overwritten(self, operations: list[Operation]) -> list[Operation]:
        """The operations without stores of elements that a later one overwrites before anything may read them."""
        coming: Known = {}
        result: list[Operation] = []
        for operation in reversed(operations):
            if operation.code == "store" and operation.__class__ is Operation:
                array, place = self.affine.element(operation)
                if place in coming.get(array, {}):
                    continue
                self._note(operation, operation, coming)
            elif operation.code in ("load", "update"):
                self._forget(operation, coming)
            elif not _is_harmless(operation) or operation.code in _JUMPS:
                coming.clear()
            result.append(operation)
        return result[::-1]

    def _plain(self, region: Region) -> Iterator[Operation]:
        """The operations of a region. An update in a row that is also loaded or stored, or of an element that is updated
        again, is written as a load and a store; adjacent elements updated in turn are not combined if the next iteration may
        overlap half of them."""
        updates = [each for each in region.operations if each.code == "update" and isinstance(memory(each), Array)]
        beside = {self._row(each) for each in region.operations if each.code in ("load", "store")} if updates else set()
        again = Counter(map(self._row, updates))
        beside.update(row for row, count in again.items() if count > 1 and isinstance(row, _Element))
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
                self.updates[old] = operation
                yield from build.operations
            else:
                if len(blocks[self._row(operation)]) > 1:
                    operation.payload = replace(operation.payload, singly=True)
                yield operation

    def _row(self, operation: Operation) -> Hashable:
        """The key of accesses to one row, with an index that moves along it, or of those to an element with a known one."""
        row, last = self.affine.row(operation) if indices(operation) else (operation, None)
        if last is None or last.terms:
            return operation if last is None else row
        return _Element(*self.affine.element(operation))

    def _block(self, update: Operation, own: Container[object]) -> int:
        """The block of its row that an element is in: an index that moves with the `own` values of the region by several
        elements at a time reaches whole blocks of that size (`force[3 * j]` to `force[3 * j + 2]`)."""
        form = self.affine.form(indices(update)[-1]) if indices(update) else None
        if form is None or not form.terms:
            return 0
        moving = [factor for symbol, factor in form.terms if symbol.identity in own]
        return form.constant // gcd(*(moving or (factor for _, factor in form.terms)))

    def _load_before_conditions(self, region: Region) -> None:
        """Hoist loads that are needed on every path above the `if` before them."""
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
        """The loads of a side of an `if` before its first write."""
        found: dict[tuple[Array, Place], Operation] = {}
        for operation in side.operations:
            if _is_load(operation):
                found.setdefault(self.affine.element(operation), operation)
            elif not _is_harmless(operation):
                break
        return found

    def _control(self, operation: Operation, known: Known) -> None:
        """Elements known before an operation and not changed by code in between are known inside; those learned inside are
        not known after it."""
        if not is_own(operation):
            known.clear()
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
        array, place = self.affine.element(operation)
        places = known.setdefault(array, {})
        if len(places) < MOST_KNOWN:
            places[place] = operation, value

    def _forget(self, change: Operation, known: Known) -> None:
        """Drop the elements that an operation may change."""
        target = memory(change)
        if not isinstance(target, Array):
            if target is None:
                known.clear()
            return
        for array, places in known.items():
            if array is target or not (array.alone or target.alone):
                left = {place: each for place, each in places.items() if are_distinct(each[0], change, self.affine)}
                known[array] = left

    def _pass(self, operation: Operation, coming: Known) -> None:
        """Drop the elements that cannot be loaded before an operation."""
        if operation.code in CHANGES:
            self._forget(operation, coming)
        elif not _is_harmless(operation) and not regions(operation):
            coming.clear()


def _is_load(operation: Operation) -> bool:
    """Whether an operation is a plain load of an element."""
    return operation.code == "load" and operation.__class__ is Operation


def _is_harmless(operation: Operation) -> bool:
    return operation.code in _HARMLESS or OPCODES[operation.code].effect == "pure"


def _is_simple(update: Atomic) -> bool:
    """Whether an update is a single operation."""
    return update.step is None and not update.singly and update.operation not in ("cas", "exchange")
