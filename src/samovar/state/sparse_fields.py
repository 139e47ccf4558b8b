"""The parts of a sparse field in a file: which cells are active, for each sparse node above it, and the active elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import samovar
from samovar._native import (
    Ndarray,
    deactivate_all,
    restore_sparse_cells,
    restore_sparse_elements,
    sparse_cells,
    sparse_elements,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from samovar._native import Field
    from samovar.runtime import Node
    from samovar.state.npz_files import Header


class SparseCells(NamedTuple):
    """The active cells of a node, in rows of indices; of lists also the lengths. `path` is that of the first field with this
    node above it, where it is number `place` of the sparse nodes."""

    cells: Field
    path: str
    place: int

    def read(self) -> Ndarray:
        """The rows."""
        return sparse_cells(self.cells)

    def mismatch(self, header: Header) -> bool:
        """Whether an entry of a file is of another form."""
        current = self.read()
        return header.typestr != "<i8" or len(header.shape) != 2 or header.shape[1] != current.shape[1]

    def write(self, rows: Ndarray) -> None:
        """Activate these cells and no others. All elements in them are 0 afterward."""
        deactivate_all(self.cells)
        restore_sparse_cells(self.cells, rows)


class SparseElements(NamedTuple):
    """The active elements of a field, cell by cell."""

    field: Field
    path: str

    def read(self) -> Ndarray:
        """The elements; those of vectors and matrices with their dimensions."""
        found, shape = sparse_elements(self.field), self.field.element_shape
        count = found.shape[0]
        for extent in shape:
            count //= extent
        return found.reshape((count, *shape))

    def mismatch(self, header: Header) -> bool:
        """Whether an entry of a file is of another form."""
        return header.typestr != self.field.dtype.typestr or header.shape[1:] != self.field.element_shape

    def write(self, elements: Ndarray) -> None:
        """Overwrite the active elements."""
        restore_sparse_elements(self.field, elements)


def nodes_above(field: Field) -> list[Node]:
    """The nodes that a field is in, the outermost first."""
    found: list[Node] = []
    node: Node | None = field.placed_in  # type: ignore[attr-defined]
    while node is not None and node.is_below_root:
        found.insert(0, node)
        node = node.above_it
    return found


def described_nodes(nodes: Iterable[Node]) -> list[Any]:
    """Nodes as plain data."""
    return [[node.kind, list(node.own_axes), list(node.extents)] for node in nodes]


def new_sparse(nodes: Iterable[Any], field: Any, offset: Any) -> list[Field]:
    """Place a field, or one of structs, in new nodes of a description. Return the cells of the sparse ones."""
    builder: Any = samovar.FieldsBuilder()
    below, made = builder, []
    for kind, axes, extents in nodes:
        if kind not in ("dense", "pointer", "bitmasked", "hash", "dynamic"):
            raise ValueError(f"there are no {kind!r} nodes")
        below = getattr(below, kind)(samovar.axes(*axes), extents[0] if kind == "dynamic" else tuple(extents))
        made.append(below)
    below.place(field, offset=None if offset is None else tuple(offset))
    builder.finalize()
    return [node.cells for node in made if node.kind != "dense"]
