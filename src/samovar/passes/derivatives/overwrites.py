"""Which loads find the same value after a launch as during it: those whose element is not written afterward.

Writes after a load, in program order or in a later iteration of a loop around both, must provably touch other elements: in
some dimension, the indices are never equal (`Affine.differ`). Iterations of one task do not count as later: if one writes
what another one reads, that is a data race.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from samovar.ir import Affine, Array, Operation, Region, Value, indices, memory, walk

if TYPE_CHECKING:
    from samovar.passes.derivatives.levels import Level


class _Moving:
    """The values that may differ between a load and a later write: those computed in the loops around them, and in other
    tasks all that are not the kernel's."""

    def __init__(self, home: Mapping[Value, Level], one_task: bool) -> None:
        self._home = home
        self._one_task = one_task

    def __contains__(self, value: object) -> bool:
        level = self._home.get(value) if isinstance(value, Value) else None
        if level is None:
            return False
        if not self._one_task and level.root().owner is not None:
            return True
        return level.loop() is not None


def overwritten(
    body: Region, reads: Iterable[Operation], home: Mapping[Value, Level]
) -> Iterator[tuple[Operation, Operation]]:
    """The loads whose elements may be written afterward, each with such a write."""
    writes: dict[Array, list[Operation]] = {}
    order: dict[Operation, int] = {}
    for operation in walk(body):
        order[operation] = len(order)
        target = memory(operation)
        if isinstance(target, Array) and operation.code != "load":
            writes.setdefault(target, []).append(operation)
    affine = Affine(body, numbered=False)
    for read in dict.fromkeys(reads):
        for write in writes.get(read.payload, ()):
            one_task = home[read].root() is home[write].root()
            if not (order[write] > order[read] or (one_task and _in_one_loop(home[read], home[write]))):
                continue
            moving = _Moving(home, one_task)
            pairs = zip(indices(read), indices(write), strict=True)
            if not any(_differ(affine, one, other, moving) for one, other in pairs):
                yield read, write
                break


def _differ(affine: Affine, one: Value, other: Value, moving: _Moving) -> bool:
    """Whether two indices are never equal. If nothing moves, forms that differ only in their constants are not equal, and
    may wrap: `t + 1` is never `t`."""
    first, second = affine.form(one), affine.form(other)
    if dict(first.terms) == dict(second.terms) and not any(symbol.identity in moving for symbol, _ in first.terms):
        return bool((first.constant - second.constant) & ((1 << min(first.bits, second.bits)) - 1))
    return affine.differ(one, other, moving)


def _in_one_loop(one: Level, other: Level) -> bool:
    """Whether there is a loop around both, within their task."""
    loops: set[Level] = set()
    level: Level | None = one
    while level is not None and not level.is_root:
        if level.is_loop:
            loops.add(level)
        level = level.parent
    level = other
    while level is not None and not level.is_root:
        if level in loops:
            return True
        level = level.parent
    return False
