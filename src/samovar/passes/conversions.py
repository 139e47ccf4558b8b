"""Floats that become integers: what does not fit becomes the nearest number that does, NaN becomes 0. Where that needs no
instructions, the cast is marked, so that it costs what it costs in C.

- "fits": the expression shows that the value is in range and not NaN.
- "index": the integer is used for nothing but indices that nobody checks, or it is one of an access that follows in any
  case, and may then be used for anything beside (`i = i32(x)`, `a[i]`, `x - i`). One that does not fit leads out of the
  array either way; NaN still means the first element.
- "position": such an integer that is not negative, because it is an index itself, or a constant less is one. What is not
  positive then becomes 0 while it is a float, and NaN with it: one instruction where a comparison and a choice are two.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Constant,
    Kernel,
    Operation,
    Region,
    Value,
    bodies,
    float_range,
    indices,
    memory,
    regions,
    users,
    walk,
)

#: A constant that is added to an index does not lead back into the array if it is smaller.
_NEAR = 1 << 30
#: After these, the operation that stands next is executed: nothing is left or checked.
_GOES_ON = frozenset("load store load_local store_local shape update atomic scatter accumulate".split())


def mark_conversions(kernel: Kernel, without: str = "") -> None:
    """Mark the casts of floats to integers that need no care, or less. `without="floats"` keeps the care for indices."""
    everything = bodies(kernel)
    casts = [operation for body in everything for operation in walk(body) if _truncates(operation)]
    if not casts:
        return
    affine = Affine(*everything)
    found = _Uses(everything)
    leading: dict[Operation, bool] = {}
    for cast, is_position in (each for body in everything for each in _leading(body, found)):
        leading[cast] = leading.get(cast, False) or is_position
    for cast in casts:
        assert cast.type is not None
        if float_range(cast.operands[0], affine.range).fits(cast.type):
            cast.payload = "fits"
        elif cast.type.kind != "int" or cast.type.bits != 32 or "floats" in without:
            continue
        elif cast in leading or found.only_indices(cast):
            cast.payload = "position" if leading.get(cast) or found.only_indices(cast, at_most=0) else "index"


def _truncates(operation: Operation) -> bool:
    if operation.code != "cast" or operation.type is None or operation.type.kind not in ("int", "uint"):
        return False
    source = operation.operands[0].type
    return source is not None and source.kind == "float"


def _leading(body: Region, found: _Uses) -> Iterator[tuple[Operation, bool]]:
    """The casts that an access follows, whatever happens, of which they are an index; and whether that shows that they are
    not negative."""
    begun: list[Operation] = []
    for operation in body.operations:
        inside = regions(operation)
        for region in inside:
            yield from _leading(region, found)
        if inside or not _goes_on(operation):
            begun = []
        elif _truncates(operation):
            begun.append(operation)
        elif indices(operation):
            for cast in begun:
                constants = found.constants(operation, cast)
                if constants:
                    yield cast, min(constants) <= 0


def _goes_on(operation: Operation) -> bool:
    row = OPCODES.get(operation.code)
    return operation.code in _GOES_ON or (row is not None and row.effect == "pure")


class _Uses:
    def __init__(self, regions: list[Region]) -> None:
        self._users = users(regions)

    def only_indices(self, value: Value, at_most: int = _NEAR) -> bool:
        """Is an i32 used for nothing but elements of arrays that are not wide, itself or next to a constant, which is at
        most so large?"""
        return all(self._as_index(user, value, at_most) for user in self._users.get(value, ()))

    def _as_index(self, user: Operation, value: Value, at_most: int) -> bool:
        constant = _constant_beside(user, value)
        if constant is not None:
            return constant <= at_most and self.only_indices(user, at_most - constant)
        places = indices(user)
        if not any(each is value for each in places) or any(each is value for each in user.operands[len(places) :]):
            return False
        array = memory(user)
        return at_most >= 0 and isinstance(array, Array) and not array.wide

    def constants(self, access: Operation, value: Value) -> list[int]:
        """What is added to an i32 where it is an index of an access to an array that is not wide."""
        array = memory(access)
        if not isinstance(array, Array) or array.wide:
            return []
        added = (0 if each is value else _constant_beside(each, value) for each in indices(access))
        return [constant for constant in added if constant is not None]


def _constant_beside(index: Value, value: Value) -> int | None:
    """What is added to a value by an operation, if it is a constant that is not large."""
    if not isinstance(index, Operation) or index.code not in ("add", "sub") or index.payload is not None:
        return None
    first, other = index.operands
    if first is not value or not isinstance(other, Constant) or abs(int(other.value)) >= _NEAR:
        return None
    return int(other.value) if index.code == "add" else -int(other.value)
