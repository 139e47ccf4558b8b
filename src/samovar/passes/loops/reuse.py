"""Reuse: an element that was loaded before, and that nobody has written since, is not loaded again.

Backends find that too, in scalar code. Here it matters for what is loaded under a condition: in lanes it would be a load with
a mask, though all lanes have the element.
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

#: So many elements are remembered at once: time stays linear.
MOST = 64
#: What writes no memory, beside what only computes.
_HARMLESS = frozenset(("load", "load_local", "store_local", "reserve", "break", "continue", "poll"))

#: An element: its array, and the numbers of its indices.
_Element = tuple[Array, tuple[Hashable, ...]]
_Known = dict[_Element, Operation]


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

    def region(self, region: Region, known: _Known) -> None:
        """`known` is what has been loaded before, and then what has been loaded after."""
        kept: list[Operation] = []
        for operation in region.operations:
            substitute(operation, self.replacements)
            array = memory(operation)
            if operation.code == "load" and isinstance(array, Array) and not isinstance(operation, ReadFlag):
                element = array, tuple(map(self.affine.number, indices(operation)))
                if element in known:
                    self.replacements[operation] = known[element]
                    continue
                if len(known) < MOST:
                    known[element] = operation
            elif regions(operation):
                self._control(operation, known)
            else:
                _forget([operation], known)
            kept.append(operation)
        region.operations = kept

    def _control(self, operation: Operation, known: _Known) -> None:
        if isinstance(operation, If):
            sides = [dict(known), dict(known)]
            for side, before in zip((operation.then, operation.orelse), sides, strict=True):
                self.region(side, before)
            for element in [each for each in known if not all(each in side for side in sides)]:
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
