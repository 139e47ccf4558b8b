"""Parallel loops whose iterations read what others write. The result depends on their order, and a reverse has none."""

from __future__ import annotations

from collections.abc import Container, Iterator

from samovar.ir import Affine, Array, For, Kernel, Operation, ParallelFor, Region, constant_integer, indices, memory, walk
from samovar.passes.derivatives.activity import NotDifferentiable

_WRITES = frozenset("store atomic update".split())


def refuse_carried(kernel: Kernel, arrays: Container[Array]) -> None:
    """Check that no iteration of a parallel loop certainly reads an element of `arrays` that another iteration writes.

    Accesses under conditions, as in red-black sweeps, and indices that are not affine may be well separated: the race
    detector finds out (`check_races`).
    """
    affine = Affine(kernel.body, numbered=False)
    for task in walk(kernel.body):
        if not isinstance(task, ParallelFor):
            continue
        accesses = [each for each in _unconditional(task.body) if memory(each) in arrays]
        for read in accesses:
            for write in accesses if read.code == "load" else ():
                if write.code in _WRITES and memory(write) is memory(read) and _is_elsewhere(affine, task, write, read):
                    raise NotDifferentiable(
                        read,
                        f"an iteration of the parallel loop reads an element that another one writes in line {write.line}:"
                        " the result depends on their order",
                        "write to another array, or run the loop in order: `sv.loop_config(serialize=True)` before it",
                    )


def _unconditional(region: Region) -> Iterator[Operation]:
    for operation in region.operations:
        yield operation
        if isinstance(operation, For):
            yield from _unconditional(operation.body)


def _is_elsewhere(affine: Affine, task: ParallelFor, write: Operation, read: Operation) -> bool:
    """Whether the element that an iteration reads is written by another one."""
    shifts: dict[object, int] = {}
    for place, other in zip(indices(write), indices(read), strict=True):
        one, two = affine.form(place), affine.form(other)
        if dict(one.terms) != dict(two.terms):
            return False
        distance = two.constant - one.constant
        moving = [(symbol.identity, factor) for symbol, factor in one.terms if symbol.identity in task.variables]
        if not moving and distance and one.invariant():
            return False
        if len(moving) > 1 or any(distance % factor for _, factor in moving):
            return False
        for variable, factor in moving:
            if shifts.setdefault(variable, distance // factor) != distance // factor:
                return False
    ends = zip(task.operands[::2], task.operands[1::2], strict=True)
    for variable, (begin, end) in zip(task.variables, ends, strict=True):
        first, last = constant_integer(begin), constant_integer(end)
        if first is not None and last is not None and last - first <= abs(shifts.get(variable, 0)):
            return False
    return any(shifts.values())
