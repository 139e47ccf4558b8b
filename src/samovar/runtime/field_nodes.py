"""The tree position of a field: the nodes above it, their shapes, and single components of its vectors.

A field with its own memory has an implicit tree: one dense node with the dimensions of the field.
"""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` loads `collections`
from operator import index

from samovar._native import Field, field_layout, is_placed, new_field
from samovar.errors import SamovarFieldError
from samovar.runtime.component_places import elements_of, follow, lay_out_apart, share_entry
from samovar.runtime.dense_trees import Node, Root, Tree, root
from samovar.runtime.dimensions import Axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex


class PlaceOfField:
    """`field.snode`: the read-only tree position of a field.

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
        """The shape of the field."""
        return self._field.shape

    @property
    def is_sparse(self) -> bool:
        """Whether the field is in a sparse node."""
        return self._node().is_sparse

    @property
    def cells(self) -> None:
        """None: a place has no cells of its own."""

    @property
    def above(self) -> PlaceOfField | Node | Root | None:
        """The node of the field."""
        return self.parent()

    def parent(self, n: int = 1) -> PlaceOfField | Node | Root | None:
        """The node of the field, or the n-th one above it; `sv.root` at the top, and None above that."""
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
    """One component of the vectors or matrices of a field, as a field in the same memory."""
    is_free = not is_placed(field) and not hasattr(field, "placed_in")
    shape = elements_of(field) if is_free else field.element_shape
    place = tuple(map(index, indices))
    if not shape or len(place) != len(shape):
        given = "numbers" if not shape else f"{len(shape)}-D elements"
        raise SamovarFieldError(f"get_scalar_field{place} of a field of {given}: expected one index per element dimension")
    if any(not 0 <= each < extent for each, extent in zip(place, shape, strict=True)):
        raise SamovarFieldError(f"get_scalar_field{place}: the elements of this field have shape {shape}")
    known: dict[tuple[int, ...], Field] = getattr(field, "components", {})
    if place in known:
        return known[place]
    made = new_field(field.dtype, None if field.grad is None else new_field(field.dtype))
    made.entry_of = field, place  # for its tangent
    if not is_free:
        share_entry(made)
        return made
    # It may be placed by itself, or the whole field may be placed.
    field.components = {**known, place: made}
    follow(made, partial(_use_entry, made))
    if not known:
        follow(field, partial(lay_out_apart, field))
    return made


def _use_entry(made: Any) -> None:
    """Place a component with the whole field."""
    field, _ = made.entry_of
    field_layout(field)
    if not is_placed(made):
        share_entry(made)
