"""Float-to-integer casts: out-of-range values saturate, NaN becomes 0. Where that needs no extra instructions, the cast is
marked, so that it is as cheap as in C.

- "fits": the expression shows that the value is in range and not NaN.
- "index": the integer is used only in unchecked indices, or it is an index of an access that is certain to follow, and may
  then have other uses too (`i = i32(x)`, `a[i]`, `x - i`). A value that does not fit is out of bounds in any case; NaN
  still becomes 0, the first element.
- "position": such an integer that is nonnegative, because it is an index itself, or a constant less than it is one. Values
  that are not positive, and NaN, then become 0 while still floats: one instruction instead of a comparison and a select.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar._native import i32
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
    dtype_of,
    float_range,
    indices,
    memory,
    users,
    walk,
    walk_regions,
)

#: Adding a smaller constant to an out-of-bounds index cannot lead back into the array.
_NEAR = 1 << 30
#: After these, the next operation is certain to be executed: nothing exits or is checked.
_GOES_ON = frozenset("load store load_local store_local shape update atomic scatter accumulate".split())


def mark_conversions(kernel: Kernel, without: str = "") -> None:
    """Mark the casts of floats to integers that need fewer instructions or none. `without="floats"` leaves indices alone."""
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
        if float_range(cast.operands[0], affine.range).fits(dtype_of(cast)):
            cast.payload = "fits"
        elif cast.type is not i32 or "floats" in without:
            continue
        elif cast in leading or found.only_indices(cast):
            cast.payload = "position" if leading.get(cast) or found.only_indices(cast, at_most=0) else "index"


def _truncates(operation: Operation) -> bool:
    if operation.code != "cast" or operation.type is None or operation.type.kind not in ("int", "uint"):
        return False
    source = operation.operands[0].type
    return source is not None and source.kind == "float"


def _leading(body: Region, found: _Uses) -> Iterator[tuple[Operation, bool]]:
    """The casts that are an index of an access that is certain to follow, and whether that shows that they are
    nonnegative."""
    for region in walk_regions(body):
        begun: list[Operation] = []
        for operation in region.operations:
            if operation.__class__ is not Operation or not _goes_on(operation):
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
        """Whether an i32 is only used as an index of arrays that are not wide, itself or plus a constant of at most this
        size."""
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
        """The constants added to an i32 that is an index of an access to an array that is not wide."""
        array = memory(access)
        if not isinstance(array, Array) or array.wide:
            return []
        added = (0 if each is value else _constant_beside(each, value) for each in indices(access))
        return [constant for constant in added if constant is not None]


def _constant_beside(index: Value, value: Value) -> int | None:
    """The constant that an operation adds to a value, if it is small."""
    if not isinstance(index, Operation) or index.code not in ("add", "sub") or index.payload is not None:
        return None
    first, other = index.operands
    if first is not value or not isinstance(other, Constant) or abs(int(other.value)) >= _NEAR:
        return None
    return int(other.value) if index.code == "add" else -int(other.value)
