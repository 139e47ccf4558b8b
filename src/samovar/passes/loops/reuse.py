"""Reuse: an element that was loaded or stored before, and that nobody has written since, is not loaded again. One that both
sides of an `if` load, or one of them and what follows, is loaded before it.

Backends find that too, in scalar code. Here it matters for what is loaded under a condition: in lanes it would be a load
with a mask, though all lanes have the element.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    For,
    If,
    Operation,
    ReadFlag,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    substitute,
    walk,
)
from samovar.passes.locals import fix_conditions
from samovar.passes.loops.divergence import inside

#: So many elements are remembered at once: time stays linear.
MOST = 64
_JUMPS = ("break", "continue", "return")
#: What writes no memory, beside what only computes.
_HARMLESS = frozenset(("load", "load_local", "store_local", "reserve", "break", "continue", "poll"))

#: An element: its array, and the numbers of its indices.
_Element = tuple[Array, tuple[Hashable, ...]]
_Known = dict[_Element, Value]


def reuse_loads(body: Region, affine: Affine) -> None:
    """Have each element of an array loaded once, as long as it stays the same."""
    reuse = _Reuse(affine)
    reuse.region(body, {})
    fix_conditions(body, reuse.replacements)


class _Reuse:
    """One walk over a body, in the order of the text. Loops begin without what they write, those of unknown length with
    nothing: somebody else may be waited for there."""

    def __init__(self, affine: Affine) -> None:
        self.affine = affine
        self.replacements: dict[Value, Value] = {}

    def _element(self, operation: Operation) -> _Element | None:
        """What an operation loads, if that is all that it does."""
        array = memory(operation)
        if operation.code != "load" or not isinstance(array, Array) or isinstance(operation, ReadFlag):
            return None
        return array, tuple(map(self.affine.number, indices(operation)))

    def _load_before_conditions(self, region: Region) -> None:
        """Load what is needed on every way before the `if` in front of it."""
        if not any(isinstance(each, If) for each in region.operations):
            return
        here = set(walk(region))
        coming: _Known = {}
        result: list[Operation] = []
        for operation in reversed(region.operations):
            result.append(operation)
            if isinstance(operation, If):
                sides = [self._loaded_first(side) for side in (operation.then, operation.orelse)]
                if any(each.code in _JUMPS for each in inside(operation)):
                    coming.clear()
                _forget(inside(operation), coming)
                wanted = {**sides[0], **sides[1]}
                for element, load in wanted.items():
                    if (element in coming or all(element in side for side in sides)) and here.isdisjoint(load.operands):
                        early = Operation("load", load.type, load.operands, load.payload, load.line)
                        early.origin = load.origin
                        coming[element] = early
                        result.append(early)
            elif (loaded := self._element(operation)) is not None:
                coming[loaded] = operation
            else:
                _forget([operation, *inside(operation)], coming)
        region.operations = result[::-1]

    def _loaded_first(self, side: Region) -> dict[_Element, Operation]:
        """What a side of an `if` loads before it writes anything."""
        found: dict[_Element, Operation] = {}
        for operation in side.operations:
            element = self._element(operation)
            if element is not None:
                found.setdefault(element, operation)
            elif operation.code not in _HARMLESS and OPCODES[operation.code].effect != "pure":
                break
        return found

    def region(self, region: Region, known: _Known) -> None:
        """`known` is what has been loaded before, and then what has been loaded after."""
        self._load_before_conditions(region)
        kept: list[Operation] = []
        for operation in region.operations:
            substitute(operation, self.replacements)
            element = self._element(operation)
            if element is not None:
                if element in known:
                    self.replacements[operation] = known[element]
                    continue
                if len(known) < MOST:
                    known[element] = operation
            elif regions(operation):
                self._control(operation, known)
            else:
                _forget([operation], known)
                array = memory(operation)
                if operation.code == "store" and isinstance(array, Array) and operation.operands[-1].type is array.dtype:
                    known[array, tuple(map(self.affine.number, indices(operation)))] = operation.operands[-1]
            kept.append(operation)
        region.operations = kept

    def _control(self, operation: Operation, known: _Known) -> None:
        if isinstance(operation, If):
            sides = [dict(known), dict(known)]
            for side, before in zip((operation.then, operation.orelse), sides, strict=True):
                self.region(side, before)
            for element in [each for each in known if not all(side.get(each) is known[each] for side in sides)]:
                del known[element]
            return
        _forget([each for inner in regions(operation) for each in walk(inner)], known)
        for inner in regions(operation) if isinstance(operation, (For, While)) else ():
            self.region(inner, dict(known) if isinstance(operation, For) else {})


def _forget(operations: Iterable[Operation], known: _Known) -> None:
    """Drop what operations may write."""
    for operation in operations:
        if not known:
            return
        if operation.code in _HARMLESS or OPCODES[operation.code].effect == "pure" or regions(operation):
            continue
        written = memory(operation)
        for element in [each for each in known if written is each[0] or not _is_apart(written, each[0])]:
            del known[element]


def _is_apart(written: object, array: Array) -> bool:
    """Whether an array has nothing in common with what is written."""
    return isinstance(written, Array) and written.alone and array.alone
