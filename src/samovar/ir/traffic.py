"""Memory traffic of a task: the minimum number of bytes of arrays that an iteration reads and writes, where it is known.

An element that adjacent iterations read too counts once, as with perfect caches: a stencil reads one element of each array.
Elements shared by many iterations (`x[j]` in a loop over i and j) count nothing. If the accesses of an iteration vary
(branches, inner loops, indices that are loaded or computed), nothing is known.
"""

from __future__ import annotations

from samovar.ir.affine import Affine
from samovar.ir.structure import ParallelFor
from samovar.ir.traversal import indices, memory
from samovar.ir.values import Array, Constant, LoopVariable, Operation, Value

#: A plain update reads and writes; an array with atomics is shared with other iterations.
_DIRECTIONS = {"load": ("in",), "store": ("out",), "update": ("in", "out")}


def bytes_per_iteration(loop: ParallelFor, affine: Affine) -> int | None:
    """The bytes that each iteration of a parallel loop moves between memory and the processor; None if unknown."""
    moved: dict[tuple[object, ...], int] = {}
    for operation in loop.body.operations:
        if operation.__class__ is not Operation or operation.code == "call":
            return None
        target = memory(operation)
        if not isinstance(target, Array) or operation.code == "accumulate":
            continue
        if operation.code not in _DIRECTIONS:
            return None
        spread: set[LoopVariable] = set()
        for index in indices(operation):
            found = _moved_by(index, loop, affine)
            if found is None:
                return None
            spread |= found
        if spread.issuperset(loop.variables):
            parts = tuple(int(index.value) for index in indices(operation) if isinstance(index, Constant))
            for direction in _DIRECTIONS[operation.code]:
                moved[target, direction, parts] = target.dtype.bits // 8 or 1
    return sum(moved.values())


def _moved_by(index: Value, loop: ParallelFor, affine: Affine) -> set[LoopVariable] | None:
    """The variables that an index depends on affinely; None if it depends on anything else."""
    found: set[LoopVariable] = set()
    for symbol, _ in affine.form(index).terms:
        if isinstance(symbol.identity, LoopVariable) and symbol.identity in loop.variables:
            found.add(symbol.identity)
        elif symbol.task is not None:
            return None
    return found
