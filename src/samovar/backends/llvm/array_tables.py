"""Array tables: a function with many array parameters takes one pointer to all their addresses, extents and strides.

Passed one by one, a hundred of them would be copied from stack to stack at each call, needed or not. A table is filled once
at the beginning of its owner, and a function loads only what it reaches. The pieces of a long function (see
`samovar.passes.split`) share the table of that function.

An address loaded from memory cannot be `noalias`: alias facts are attached to each access instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar.ir import Array, Function, Operation, walk

#: A function with more addresses, extents and strides among its parameters has a table: more do not fit in registers.
MOST_PARTS = 12
SLOT = 8

#: A part of an array: `pointer`, or an `extent` or `stride` of a dimension.
Part = tuple[Array, str, int]


def all_parts(array: Array) -> list[tuple[str, int]]:
    """All parts of an array that a launch provides."""
    extents = [("extent", axis) for axis in range(array.ndim) if array.extents[axis] is None]
    strides = [("stride", axis) for axis in range(array.ndim)] if array.brings_strides else []
    return [("pointer", 0), *extents, *strides]


@dataclass(frozen=True)
class Table:
    """The contents of a function's table: the parts of its arrays, by slot. `owner` is the function that fills the table,
    itself or the one that it is a piece of, and `size` the number of slots."""

    owner: Function
    slots: dict[Part, int]
    size: int

    def has(self, array: Array) -> bool:
        return (array, "pointer", 0) in self.slots


@dataclass
class Tables:
    """The tables of the functions of a kernel, created on demand."""

    _made: dict[Function, Table | None] = field(default_factory=dict)
    _calls: dict[Function, dict[Function, Operation]] = field(default_factory=dict)

    def of(self, function: Function) -> Table | None:
        """The table of a function; None if it takes all its arrays as separate parameters."""
        if function not in self._made:
            self._made[function] = self._own(function) if function.piece_of is None else self._shared(function)
        return self._made[function]

    def _own(self, function: Function) -> Table | None:
        slots: dict[Part, int] = {}
        for array in function.parameters:
            if isinstance(array, Array):
                slots.update({(array, *part): len(slots) + place for place, part in enumerate(all_parts(array))})
        return Table(function, slots, len(slots)) if len(slots) > MOST_PARTS else None

    def _shared(self, piece: Function) -> Table | None:
        """The part of its owner's table that a piece needs. Local arrays of the owner are not in tables."""
        assert piece.piece_of is not None
        table = self.of(piece.piece_of)
        if table is None:
            return None
        call = self._call(piece.piece_of, piece)
        slots: dict[Part, int] = {}
        for given, array in zip(call.operands, piece.parameters, strict=True):
            if isinstance(given, Array) and isinstance(array, Array) and table.has(given):
                slots.update({(array, *part): table.slots[given, part[0], part[1]] for part in all_parts(array)})
        return Table(table.owner, slots, table.size) if slots else None

    def _call(self, owner: Function, piece: Function) -> Operation:
        """The only call of a piece in its function."""
        if owner not in self._calls:
            found = (operation for operation in walk(owner.body) if operation.code == "call")
            self._calls[owner] = {call.payload: call for call in found if call.payload.piece_of is owner}
        return self._calls[owner][piece]

