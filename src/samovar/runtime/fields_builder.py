"""`sv.FieldsBuilder`: a tree of fields that is laid out on request."""

from __future__ import annotations

from samovar._native import api_boundary_methods
from samovar.errors import SamovarRuntimeError
from samovar.runtime.dense_trees import Above, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar._native import Field
    from samovar.runtime.dense_trees import Node
    from samovar.runtime.dimensions import Axes, Shape


class LaidOut:
    """A tree with memory, which is freed with the last of its fields."""

    __slots__ = ("_is_destroyed",)

    def __init__(self) -> None:
        self._is_destroyed = False

    def destroy(self) -> None:
        """Declare that its fields are no longer used."""
        if self._is_destroyed:
            raise SamovarRuntimeError("this tree is already destroyed")
        self._is_destroyed = True


@api_boundary_methods
class FieldsBuilder(Above):
    """A tree that is built step by step, and laid out by `finalize()` or when one of its fields is used.

    >>> import samovar as sv
    >>> builder = sv.FieldsBuilder()
    >>> x = sv.field(sv.i32)
    >>> node = builder.dense(sv.i, 5).place(x)
    >>> tree = builder.finalize()
    >>> x.to_numpy().tolist()
    [0, 0, 0, 0, 0]
    """

    __slots__ = ("_is_finalized", "_tree")

    def __init__(self) -> None:
        self._tree = Tree()
        self._is_finalized = False

    def _tops(self) -> list[Node]:
        return [self._tree.top]

    def _node(self, kind: str, indices: Axes, dimensions: Shape, chunk: int = 0) -> Node:
        return self._tree.top._node(kind, indices, dimensions, chunk)

    def deactivate_all(self) -> None:
        """Deactivate all cells of the sparse nodes."""
        self._tree.top.deactivate_all()

    def place(self, *fields: Field, offset: Shape | None = None) -> None:
        """Place 0-D fields."""
        self._tree.top.place(*fields, offset=offset)

    @property
    def finalized(self) -> bool:
        """Whether it was laid out by `finalize()`."""
        return self._is_finalized

    @property
    def empty(self) -> bool:
        """Whether it is empty."""
        return self._tree.is_empty

    def finalize(self, raise_warning: bool = True) -> LaidOut:
        """Lay out the tree; nothing can be added afterward. The result has a method `destroy`."""
        if self._is_finalized:
            raise SamovarRuntimeError("this FieldsBuilder is already finalized")
        self._is_finalized = True
        self._tree()
        return LaidOut()
