"""Interleaved accesses: elements of adjacent records, one record per lane (array of structures).

`force[j, 0] -= …`, `force[j, 1] -= …`, `force[j, 2] -= …` with j in lanes access every third element, three times. Together
they access all elements between the first lane and the last one, which are loaded at once, deinterleaved, and interleaved
again for the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samovar.ir import Array, Atomic, Builder, Operation, Value, array_of
from samovar.passes.loops.divergence import FARTHEST, Divergence, element_strides, has_vectors


@dataclass(eq=False)
class Record:
    """All accesses of a loop to an array that it writes: each to a part of the lane's record of `step` elements, and all
    parts are written. `parts` gives the part of an access, `last` is the last write."""

    array: Array
    step: int
    parts: dict[Operation, int]
    last: Operation

    @property
    def is_read(self) -> bool:
        """Whether a part is read before it is written."""
        written: set[int] = set()
        for access, part in self.parts.items():
            if access.code != "store" and part not in written:
                return True
            written.add(part)
        return False


def records(plan: Divergence) -> dict[Operation, Record]:
    """The records of a loop, by access."""
    if plan.loop in plan.divergent_loops:
        return {}
    accesses: dict[Array, list[Operation]] = {}
    for operation in plan.accesses:
        accesses.setdefault(array_of(operation), []).append(operation)
    always = {operation: position for position, operation in enumerate(plan.loop.body.operations)}
    found: dict[Operation, Record] = {}
    for array, operations in accesses.items():
        if array.alone and all(each in always for each in operations):
            record = _record(plan, array, sorted(operations, key=always.__getitem__))
            if record is not None:
                found.update((each, record) for each in operations)
    return found


def _record(plan: Divergence, array: Array, operations: Sequence[Operation]) -> Record | None:
    steps = {plan.accesses[each].step for each in operations}
    step = steps.pop()
    writes = [each for each in operations if each.code != "load"]
    if steps or step is None or not 1 < step <= FARTHEST or not writes or not all(map(_is_plain, writes)):
        return None
    if element_strides(array)[-1] != 1:
        return None
    rows = [plan.affine.row(each) for each in operations]
    if len({row for row, _ in rows}) != 1 or not rows[0][1].indexes(array):
        return None
    begin = min(last.constant for _, last in rows)
    parts = {each: last.constant - begin for each, (_, last) in zip(operations, rows, strict=True)}
    if not {parts[each] for each in writes} == set(parts.values()) == set(range(step)):
        return None
    return Record(array, step, parts, writes[-1])


def _is_plain(write: Operation) -> bool:
    payload = write.payload
    if write.code == "store":
        return True
    if write.code != "update" or not isinstance(payload, Atomic) or payload.step is not None:
        return False
    return isinstance(payload.target, Array) and has_vectors(payload.operation, payload.target.dtype)


def interleaved(build: Builder, vectors: Sequence[Value]) -> Value:
    """Interleave vectors: the first lanes of all, then the second ones, and so on."""
    width, count, dtype = vectors[0].width, len(vectors), vectors[0].type
    joined = list(vectors)
    while len(joined) > 1:
        wide = 2 * joined[0].width
        joined = [
            build.make("shuffle", dtype, *pair, payload=_lanes(pair, wide), width=wide)
            for pair in (joined[at : at + 2] for at in range(0, len(joined), 2))
        ]
    lanes = tuple(vector * width + lane for lane in range(width) for vector in range(count))
    return build.make("shuffle", dtype, joined[0], payload=lanes, width=len(lanes))


def _lanes(vectors: Sequence[Value], width: int) -> tuple[int | None, ...]:
    there = sum(each.width for each in vectors)
    return tuple(lane if lane < there else None for lane in range(width))
