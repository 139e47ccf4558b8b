"""The memory layout of sparse fields: trees with nodes of which only some cells are in use.

A sparse tree has the layout of a dense one, in reserved address space: the system provides memory for the parts that are
written. Beside the cells, each sparse node has a mask with a byte per cell, or the lengths of its lists; see
`_native/sparse/tree.h`. The masks are fields too, `Node.cells`, by which kernels find them.
"""

from __future__ import annotations

from math import prod

from samovar._native import field_layout, i32, new_field, place_field, sparse_tree, u1
from samovar.errors import SamovarFieldError
from samovar.runtime.component_places import elements_of, share_entry, wholes_of
from samovar.runtime.tangents import companions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from samovar._native import Field, Ndarray
    from samovar.runtime.dense_trees import Layout, Node, Piece, Placed, Tree

    #: The layout of a field with some pieces and an offset.
    LayOut = Callable[[Field, tuple[Piece, ...], tuple[int, ...] | None], Layout]

    #: How a field finds the cells of the sparse node above it: the kind (0 a mask, 1 lengths of lists), the distances
    #: in bytes of the mask and the list of active cells from its first element, whether the list has 64-bit numbers,
    #: the maximum length of a list, and for each digit of a cell's number (axis, divisor, modulus, factor); the last
    #: one of an element of a list is its position there, with the factor 0.
    Cells = tuple[int, int, int, int, int, tuple[tuple[int, int, int, int], ...]]

#: The alignment of trees that share memory, in bytes.
LINE = 64
#: The maximum number of parts of a cell that has both sparse nodes and other things in it.
MOST_RANGES = 4096
#: The size of the address space that a tree may reserve.
MOST_BYTES = 1 << 46


def check_node(node: Node, chunk: int) -> None:
    """Raise an error if a sparse node cannot be where it is."""
    above = node.above_it
    if above is not None and above.is_in_list:
        raise SamovarFieldError(
            f"`{node.kind}` below `dynamic`: the lists of a dynamic node can hold fields and dense nodes only"
        )
    if node.kind == "dynamic":
        if len(node.own_axes) != 1:
            raise SamovarFieldError(f"dynamic({node.own_axes}, …): a list has one dimension, such as sv.i")
        if above is not None and node.own_axes[0] in above.used_axes:
            raise SamovarFieldError(f"dynamic({node.own_axes}, …): the dimension of the lists is already used above it")
        if chunk < 0:
            raise ValueError(f"chunk_size={chunk} must not be negative")


class _Sparse:
    """A sparse node, while its tree is laid out."""

    def __init__(self, node: Node, number: int, above: _Sparse | None, start: int, path: list[tuple[Node, int]]) -> None:
        """`path` lists the nodes down to this one, with the stride of their cells in bytes."""
        self.node = node
        self.number = number
        self.above = above
        self.start = start
        self.is_list = node.kind == "dynamic"
        self.path = path[:-1] if self.is_list else path
        self.cells = _count(self.path)
        inside = self.path if above is None else self.path[len(above.path) :]
        self.per_above = _count(inside)
        self.mask = self.listed = 0  # offsets in bytes

    def row(self) -> tuple[Any, ...]:
        """As `_native.sparse_tree` takes it."""
        levels, divisor = [], 1
        for node, stride in reversed(self.path):
            levels.append((divisor, prod(node.extents), stride))
            divisor *= prod(node.extents)
        size, _ = self.node.cell()
        ranges = tuple(plain_ranges(self.node))
        above = -1 if self.above is None else self.above.number
        capacity = self.node.extents[0] if self.is_list else 0
        return above, self.is_list, self.cells, self.per_above, self.start, size, capacity, tuple(levels), ranges

    def pieces(self) -> tuple[Piece, ...]:
        """The digits of the number of a cell, as (axis, extent, factor)."""
        found: list[Piece] = []
        factor = 1
        for node, _ in reversed(self.path):
            for axis, extent in reversed(tuple(zip(node.own_axes, node.extents, strict=True))):
                found.insert(0, (axis, extent, factor))
                factor *= extent
        return tuple(found)

    def facts(self, start: int, used: list[int], pieces: tuple[Piece, ...]) -> Cells:
        """For a field that begins at a byte and has these pieces, with the dimensions `used`."""
        own = self.pieces()
        terms = []
        for place, (axis, extent, factor) in enumerate(own):
            later = [piece for piece in pieces[place + 1 :] if piece[0] == axis]
            terms.append((used.index(axis), prod(piece[1] for piece in later), extent, factor))
        if self.is_list and len(pieces) > len(own):
            axis, extent, _ = pieces[len(own)]
            later = [piece for piece in pieces[len(own) + 1 :] if piece[0] == axis]
            terms.append((used.index(axis), prod(piece[1] for piece in later), extent, 0))
        wide = int(self.cells > (1 << 31) - 1)
        capacity = self.node.extents[0] if self.is_list else 0
        return int(self.is_list), self.mask - start, self.listed - start, wide, capacity, tuple(terms)


def _count(path: list[tuple[Node, int]]) -> int:
    return prod(extent for node, _ in path for extent in node.extents)


def plain_ranges(node: Node) -> Iterator[tuple[int, int]]:
    """The parts of a cell that are in no sparse node within it, as (offset, bytes)."""
    if not node.has_sparse_below():
        yield 0, node.cell()[0]
        return
    found: list[tuple[int, int]] = []
    child: Any
    for child, offset, size, _ in node.members():
        if is_field(child) or not (child.kind != "dense" or child.has_sparse_below()):
            found.append((offset, size))
        elif child.kind == "dense":
            stride, inner = child.cell()[0], tuple(plain_ranges(child))
            if inner:
                count = prod(child.extents)
                if len(found) + count * len(inner) > MOST_RANGES:
                    raise SamovarFieldError(
                        f"{child!r} has sparse nodes and other fields in each of its {count} cells, which is supported"
                        " for few cells only: place the other fields in a node of their own"
                    )
                found += [(offset + each * stride + begin, length) for each in range(count) for begin, length in inner]
    yield from found


def is_field(child: Any) -> bool:
    """Whether something in a node is a field, and not another node."""
    return hasattr(child, "field")


def lay_out_sparse(trees: list[Tree], lay_out: LayOut) -> None:
    """Lay out trees of which one is sparse, in one block of memory."""
    for tree in trees:
        _take_in_companions(tree.top)
    sparse: list[_Sparse] = []
    found: list[tuple[Placed, int, tuple[Piece, ...], _Sparse | None]] = []
    size, is_mixed = 0, False
    for tree in trees:
        found += _walk(tree.top, size, (), [], None, sparse)
        size = -(-(size + tree.top.cell()[0]) // LINE) * LINE
    is_mixed = any(above is None for *_, above in found)
    if size > MOST_BYTES:
        raise SamovarFieldError(
            f"the cells of this tree span {size:.2g} bytes, and the address space of a process allows {MOST_BYTES:.2g}: use"
            " smaller extents, or a smaller maximum length of `dynamic`"
        )
    try:
        memory, places = sparse_tree(size, is_mixed, tuple(each.row() for each in sparse))
    except MemoryError:
        raise SamovarFieldError(
            f"the system does not allow to reserve address space for this tree ({size:.2g} bytes of cells): use smaller"
            " extents, or raise the limit (`ulimit -v`)"
        ) from None
    for each, place in zip(sparse, places, strict=True):
        each.mask, each.listed = place
        cells: Any = _cells_field(each, memory, lay_out)
        cells.above = None if each.above is None else each.above.node.cells
        each.node.set_cells(cells)
    laid_out: list[tuple[Placed, int, Layout]] = []
    for placed, start, pieces, above in found:
        layout = lay_out(placed.field, pieces, placed.offset)
        if above is not None:
            used = sorted({axis for axis, _, _ in pieces})
            layout = (*layout, above.facts(start, used, pieces))
        laid_out.append((placed, start, layout))
    apart = wholes_of([(placed, start, layout[:2]) for placed, start, layout in laid_out])
    if apart:
        raise SamovarFieldError("the components of a field of vectors cannot be placed by themselves in a sparse tree")
    for tree in trees:
        _note_below(tree.top)
        tree.close()
    for (placed, _, _, above), (_, start, layout) in zip(found, laid_out, strict=True):
        if hasattr(placed.field, "entry_of"):
            share_entry(placed.field)
            continue
        place_field(placed.field, layout, memory, start)
        if above is not None:
            field: Any = placed.field
            field.cells = above.node.cells
            above.node.note_element(field)


def _walk(
    node: Node,
    start: int,
    pieces: tuple[Piece, ...],
    path: list[tuple[Node, int]],
    above: _Sparse | None,
    sparse: list[_Sparse],
) -> Iterator[tuple[Placed, int, tuple[Piece, ...], _Sparse | None]]:
    """The fields in and below a node: where each begins, its pieces, and the nearest sparse node above. Appends the sparse
    nodes."""
    stride, _ = node.cell()
    if node.own_axes:
        path = [*path, (node, stride)]
    if node.kind != "dense":
        above = _Sparse(node, len(sparse), above, start, path)
        sparse.append(above)
    own: list[Piece] = []
    for axis, extent in reversed(tuple(zip(node.own_axes, node.extents, strict=True))):
        own.insert(0, (axis, extent, stride))
        stride *= extent
    child: Any
    for child, offset, _, _ in node.members():
        if not is_field(child):
            yield from _walk(child, start + offset, (*pieces, *own), path, above, sparse)
        else:
            yield child, start + offset, (*pieces, *own), above


def _cells_field(sparse: _Sparse, memory: Ndarray, lay_out: LayOut) -> Field:
    """The mask or the lengths of a node, as a field."""
    field = new_field(i32 if sparse.is_list else u1)
    pieces = tuple((axis, extent, factor * field.dtype.itemsize) for axis, extent, factor in sparse.pieces())
    used = sorted({axis for axis, _, _ in pieces})
    layout = lay_out(field, pieces, None)
    place_field(field, (*layout, sparse.facts(sparse.mask, used, pieces)), memory, sparse.mask)
    return field


def _take_in_companions(node: Node) -> None:
    """Place the grads and duals of fields beside them, unless they are placed elsewhere."""
    child: Any
    for child in list(node.children()):
        if not is_field(child):
            _take_in_companions(child)
            continue
        for beside in companions(child.field):
            if not hasattr(beside, "placed_in"):
                if elements_of(child.field):
                    beside.wanted_element_shape = elements_of(child.field)
                node.place_beside(beside, child)


def _note_below(node: Node) -> list[Field]:
    """Tell dense nodes about the nearest sparse nodes below, for `deactivate_all`."""
    inner: list[Any] = [child for child in node.children() if not is_field(child)]
    below = [field for child in inner for field in _note_below(child)]
    cells = node.known_cells
    node.set_below(below)
    return below if cells is None else [cells]


def is_sparse(field: Field) -> bool:
    """Whether a field is in a sparse node."""
    layout = field_layout(field)
    return layout is not None and len(layout) == 3
