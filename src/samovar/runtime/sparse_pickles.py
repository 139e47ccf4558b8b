"""Sparse fields in pickles. A field is sent with the nodes that it is in and their active cells; fields that are pickled
together stay in the same nodes.

The receiver gets a tree that is not laid out yet, so that further fields of the same pickle can be placed in it. Cells and
elements are restored when one of its fields is used.
"""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` loads `collections`

from samovar._native import (
    new_field,
    restore_sparse_cells,
    restore_sparse_elements,
    sparse_cells,
    sparse_elements,
)
from samovar.errors import SamovarTypeError
from samovar.lens import dtype_named
from samovar.runtime.dimensions import Axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import Field, Ndarray
    from samovar.runtime.dense_trees import Node


def reduced_node(node: Node) -> tuple[Any, ...]:
    """How to pickle a node."""
    if not node.tree.is_sparse:
        raise SamovarTypeError(
            f"{node!r} cannot be pickled: only nodes of trees with sparse nodes can\n"
            "  help: pickle the fields, which keep their layout"
        )
    cells = node.cells
    if node.above_it is None:
        return node.tree.new_top, ()
    rows = None if cells is None else sparse_cells(cells)
    return rebuilt_node, (node.above_it, node.kind, tuple(node.own_axes), node.extents, rows)


def reduced_field(field: Any) -> tuple[Any, ...]:
    """How to pickle a sparse field."""
    return rebuilt_field, (
        field.placed_in, field.dtype.name, field.element_shape, field.offset[: field.ndim], field.grad,
        sparse_elements(field),
    )  # fmt: skip


def rebuilt_node(above: Node, kind: str, axes: tuple[int, ...], extents: tuple[int, ...], rows: Ndarray | None) -> Node:
    """A node in a tree that is not laid out yet."""
    below = getattr(above, kind)
    node: Node = below(Axes(axes), extents[0] if kind == "dynamic" else extents)
    if rows is not None:
        node.tree.restored.append(partial(_restore_cells, node, rows))
    return node


def rebuilt_field(
    node: Node, dtype: str, inner: tuple[int, ...], offset: tuple[int, ...], grad: Field | None, elements: Ndarray
) -> Field:
    """A field in such a tree."""
    field: Any = new_field(dtype_named(dtype), grad, len(inner))
    if inner:
        field.wanted_element_shape = inner
    node.place(field, offset=offset)
    node.tree.restored.append(partial(restore_sparse_elements, field, elements))
    return field  # type: ignore[no-any-return]


def _restore_cells(node: Node, rows: Ndarray) -> None:
    restore_sparse_cells(node.cells, rows)  # type: ignore[arg-type]
