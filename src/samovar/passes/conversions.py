"""Floats that become integers: what does not fit becomes the nearest number that does, NaN becomes 0. Where that needs no
instructions, the cast is marked, so that it costs what it costs in C.

- "fits": the expression shows that the value is in range and not NaN.
- "index": the integer is used for nothing but indices that nobody checks. One that does not fit leads out of the array
  either way; NaN still means the first element.
"""

from __future__ import annotations

from samovar.ir import Array, Constant, Kernel, Operation, Region, Value, bodies, indices, memory, users, walk
from samovar.language import integer_range
from samovar.passes.affine import Affine
from samovar.passes.float_ranges import float_range

#: A constant that is added to an index does not lead back into the array if it is smaller.
_NEAR = 1 << 30


def mark_conversions(kernel: Kernel) -> None:
    """Mark the casts of floats to integers that need no care, or less."""
    everything = bodies(kernel)
    casts = [operation for body in everything for operation in walk(body) if _truncates(operation)]
    if not casts:
        return
    affine = Affine(kernel)
    found = _Uses(everything)
    for cast in casts:
        assert cast.type is not None
        least, greatest = integer_range(cast.type)
        values = float_range(cast.operands[0], affine)
        if not values.nan and least - 1 < values.low and values.high < greatest + 1:
            cast.payload = "fits"
        elif cast.type.kind == "int" and cast.type.bits == 32 and found.only_indices(cast):
            cast.payload = "index"


def _truncates(operation: Operation) -> bool:
    if operation.code != "cast" or operation.type is None or operation.type.kind not in ("int", "uint"):
        return False
    source = operation.operands[0].type
    return source is not None and source.kind == "float"


class _Uses:
    def __init__(self, regions: list[Region]) -> None:
        self._users = users(regions)

    def only_indices(self, value: Value) -> bool:
        """Is an i32 used for nothing but elements of arrays that are not wide, itself or next to a constant?"""
        return all(self._as_index(user, value) for user in self._users.get(value, ()))

    def _as_index(self, user: Operation, value: Value) -> bool:
        if user.code in ("add", "sub") and user.payload is None and user.operands[0] is value:
            other = user.operands[1]
            return isinstance(other, Constant) and abs(int(other.value)) < _NEAR and self.only_indices(user)
        places = indices(user)
        if not any(each is value for each in places) or any(each is value for each in user.operands[len(places) :]):
            return False
        array = memory(user)
        return isinstance(array, Array) and not array.wide
