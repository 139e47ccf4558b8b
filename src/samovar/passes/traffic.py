"""What an iteration of a task moves: the bytes of arrays that it has to read and to write at least, where that is known.

An element that neighbours read as well counts once, as if caches were perfect: a stencil reads one element of each array.
What is the same for many iterations (`x[j]` in a loop over i and j) counts nothing. Where an iteration chooses what it
touches (branches, inner loops, indices that are read or computed) nothing is known.
"""

from __future__ import annotations

from samovar.ir import Array, Captured, Constant, LoopVariable, Operation, ParallelFor, Parameter, Value, indices, memory

_STEPS = ("add", "sub", "cast")
#: A plain update reads and writes; what stays atomic is somebody else's as well.
_DIRECTIONS = {"load": ("in",), "store": ("out",), "update": ("in", "out")}


def bytes_per_iteration(task: ParallelFor) -> int | None:
    """The bytes that each iteration of a task moves between memory and the processor, or None if they are not known."""
    moved: dict[tuple[object, ...], int] = {}
    every = frozenset(task.variables)
    for operation in task.body.operations:
        if operation.__class__ is not Operation or operation.code == "call":
            return None
        target = memory(operation)
        if not isinstance(target, Array) or operation.code == "accumulate":
            continue
        if operation.code not in _DIRECTIONS:
            return None
        places = [_place(index, every) for index in indices(operation)]
        if None in places:
            return None
        spread = frozenset().union(*(place for place in places if isinstance(place, frozenset)))
        if spread == every:
            parts = tuple(place for place in places if isinstance(place, int))
            for direction in _DIRECTIONS[operation.code]:
                moved[target, direction, parts] = target.dtype.bits // 8 or 1
    return sum(moved.values())


def _place(index: Value, every: frozenset[LoopVariable]) -> int | frozenset[LoopVariable] | None:
    """A constant; or the variables that an index moves along with; None if it goes its own way."""
    if isinstance(index, Constant):
        return int(index.value)
    if isinstance(index, LoopVariable):
        return frozenset([index]) if index in every else None
    if isinstance(index, (Captured, Parameter)):
        return frozenset()
    if not isinstance(index, Operation):
        return None
    if index.code == "shape":
        return frozenset()
    if index.code not in _STEPS:
        return None
    found: frozenset[LoopVariable] = frozenset()
    for operand in index.operands:
        place = _place(operand, every)
        if place is None:
            return None
        if isinstance(place, frozenset):
            found |= place
    return found
