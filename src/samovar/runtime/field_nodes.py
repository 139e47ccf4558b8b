"""What programs ask of the place of a field: the nodes above it, their shapes, and single entries of its vectors.

A field with memory of its own stands in a tree that nobody wrote: one dense node with the axes of the field.
"""

from __future__ import annotations

from operator import index

from samovar._native import Field, array_within, field_layout, field_memory, new_field, settle_field, u8
from samovar.errors import SamovarFieldError
from samovar.runtime.dense_trees import Axes, Node, Root, Tree, root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex


class PlaceOfField:
    """`field.snode`: where a field is placed. It can be asked, and not be changed.

    >>> import samovar as sv
    >>> f = sv.field(sv.f32)
    >>> node = sv.root.dense(sv.i, 4).dense(sv.ij, (2, 3)).place(f)
    >>> f.snode.shape, f.parent(2).shape
    ((8, 3), (4,))
    """

    __slots__ = ("_field",)

    def __init__(self, field: Field) -> None:
        self._field = field

    def __repr__(self) -> str:
        return f"{self._node()!r}.place(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlaceOfField) and other._field is self._field

    def __hash__(self) -> int:
        return id(self._field)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the field."""
        return self._field.shape

    def parent(self, n: int = 1) -> PlaceOfField | Node | Root | None:
        """The node that the field is in, the n-th above it, `sv.root`, or None above that."""
        if n == 0:
            return self
        node = self._node()
        return node.parent(n - 1) if n > 1 else node if node.is_below_root else root

    def _node(self) -> Node:
        field = self._field
        found: Node | None = getattr(field, "placed_in", None)
        if found is None:
            tree = Tree()
            shape = field.shape
            found = tree.top.dense(Axes(range(len(shape))), shape) if shape and min(shape) > 0 else tree.top
            tree.close()
            field.placed_in = found  # the same the next time
        return found


def entry_of(field: Field, indices: tuple[SupportsIndex, ...]) -> Field:
    """The entries at one place of the vectors or matrices of a field, as a field in the same memory."""
    shape = field.element_shape
    place = tuple(map(index, indices))
    if not shape or len(place) != len(shape):
        given = "numbers" if not shape else f"elements of {len(shape)} axes"
        raise SamovarFieldError(f"get_scalar_field{place} of a field of {given}: one index for each axis of its elements")
    if any(not 0 <= each < extent for each, extent in zip(place, shape, strict=True)):
        raise SamovarFieldError(f"get_scalar_field{place}: the elements of this field have the shape {shape}")
    memory, start = field_memory(field)
    layout = field_layout(field)
    assert layout is not None
    first, axes = layout
    rank = len(axes) - len(shape)
    size = field.dtype.itemsize
    start += size * sum(each * axis[-1][1] for each, axis in zip(place, axes[rank:], strict=True))
    made = new_field(field.dtype)
    # Memory that is not that of the whole field: launches see that the two share some.
    rest = memory.nbytes - start
    shared = array_within(u8, ((0,), (((rest, 1),),)), memory, start, 0)
    settle_field(made, (first[:rank], axes[:rank]), shared, 0)
    return made
