"""The memory layout of fields: trees of nodes, laid out as written. Here are dense ones; see also `sparse_trees`.

A node has a cell for each point of its dimensions, in C order of the dimensions as named; a cell holds the fields placed
in it and the nodes below it, in the order in which they were added. So two fields of one node are adjacent in each cell,
and a dimension that occurs at several levels is split into blocks.

A tree is laid out when the first of its fields is used. Its memory is one block of bytes.
"""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` loads `collections`
from _weakref import ref
from itertools import count
from math import prod
from operator import index
from typing import SupportsIndex

from samovar._native import (
    Field,
    active_cells,
    api_boundary_methods,
    deactivate_all,
    give_gradient,
    is_placed,
    new_field,
    place_field,
    postpone_field,
)
from samovar.errors import SamovarFieldError, SamovarTypeError
from samovar.runtime.component_places import components_of, elements_of, follow, require_free, share_entry, wholes_of
from samovar.runtime.dimensions import Axes, numbers_of
from samovar.runtime.field_memory import field_memory
from samovar.runtime.tangents import accept_gradient, companions, give_tangent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from samovar.runtime.dimensions import Shape

    #: As returned by `_native.field_layout`: the first index of each dimension, and its pieces; of a sparse field also where
    #: its cells are (`sparse_trees.Cells`).
    Layout = tuple[Any, ...]
    #: A split dimension: (dimension, extent, stride in bytes).
    Piece = tuple[int, int, int]

MOST_PIECES = 16


@api_boundary_methods
class Above:
    """What `sv.root`, the top of a tree and its nodes have in common: nodes and fields are placed below them."""

    __slots__ = ()

    def _node(self, kind: str, indices: Axes, dimensions: Shape, chunk: int = 0) -> Node:
        raise NotImplementedError

    def dense(self, indices: Axes, dimensions: Shape) -> Node:
        """A node with a cell for each point of its dimensions (`sv.i`, `sv.ij` and so on).

        >>> import samovar as sv
        >>> x, y = sv.field(sv.f32), sv.field(sv.f32)
        >>> node = sv.root.dense(sv.ij, (4, 8)).place(x, y)
        >>> x.shape
        (4, 8)
        """
        return self._node("dense", indices, dimensions)

    def pointer(self, indices: Axes, dimensions: Shape) -> Node:
        """A node of which only the active cells have memory. A write to an element activates its cell.

        >>> import samovar as sv
        >>> x = sv.field(sv.f32)
        >>> block = sv.root.pointer(sv.ij, 1024)
        >>> node = block.dense(sv.ij, 8).place(x)
        >>> x[5000, 77] = 1
        >>> block.active_count
        1
        """
        return self._node("pointer", indices, dimensions)

    def hash(self, indices: Axes, dimensions: Shape) -> Node:
        """The same as `pointer`."""
        return self._node("hash", indices, dimensions)

    def bitmasked(self, indices: Axes, dimensions: Shape) -> Node:
        """The same as `pointer`, for small cells."""
        return self._node("bitmasked", indices, dimensions)

    def dynamic(self, indices: Axes, dimension: SupportsIndex, chunk_size: SupportsIndex = 0) -> Node:
        """A list of at most `dimension` elements in each cell. `chunk_size` is ignored: a list grows by pages.

        >>> import samovar as sv
        >>> x = sv.field(sv.i32)
        >>> node = sv.root.dense(sv.i, 4).dynamic(sv.j, 100).place(x)
        >>> x[2, 3] = 7
        >>> node.active_count
        4
        """
        return self._node("dynamic", indices, (dimension,), index(chunk_size))

    def quant_array(self, *arguments: object, **options: object) -> NoReturn:
        """Unsupported: there are no quantized types."""
        _refuse("quant_array")

    def bit_struct(self, *arguments: object, **options: object) -> NoReturn:
        """Unsupported: there are no quantized types."""
        _refuse("bit_struct")

    def lazy_grad(self) -> None:
        """Add a grad to the float fields below that are not in use yet."""
        for node, field in self._fields_below():
            if not field.needs_grad:
                grad = _like(field)
                give_gradient(field, grad)
                node.take_along(grad)

    def lazy_dual(self) -> None:
        """Add a dual to the float fields below that are not in use yet."""
        for node, field in self._fields_below():
            if getattr(field, "dual", None) is None:
                dual = _like(field)
                give_tangent(field, dual)
                node.take_along(dual)

    def _fields_below(self) -> Iterator[tuple[Node, Field]]:
        """The fields of floats below that are not in use yet, with a node of their tree."""
        for node in self._tops():
            for field in node.fields():
                if field.dtype.kind == "float":
                    yield node, field

    def _tops(self) -> list[Node]:
        raise NotImplementedError


def _like(field: Field) -> Field:
    """A field of such elements, without a place."""
    inner = elements_of(field)
    made = new_field(field.dtype, None, len(inner))
    if inner:
        made.wanted_element_shape = inner
    return made


def _refuse(name: str) -> NoReturn:
    raise SamovarTypeError(
        f"`{name}` is not supported: Samovar has no quantized types\n"
        "  help: use a field of the smallest type that holds the numbers, such as `sv.f16` or `sv.i8`"
    )


@api_boundary_methods
class Node(Above):
    """A node of a tree: `sv.root.dense(axes, extents)`, `pointer(…)`, `bitmasked(…)`, `dynamic(…)`."""

    __slots__ = ("_axes", "_below", "_cells", "_children", "_elements", "_extents", "_kind", "_parent", "_tree")

    if TYPE_CHECKING:  # loops in kernels

        def __iter__(self) -> Iterator[Any]: ...

    def __init__(
        self, tree: Tree, parent: Node | None, axes: Axes, extents: tuple[int, ...], kind: str = "dense"
    ) -> None:
        self._tree = tree
        self._kind = kind
        self._cells: Field | None = None  # of a sparse node: its mask or lengths
        self._elements: tuple[ref[Field], ...] = ()  # the fields in the cells of a sparse node
        self._below: list[ref[Field]] = []  # of a node that is laid out: those of the nearest sparse nodes below
        self._parent = parent
        self._axes = axes
        self._extents = extents
        self._children: list[Node | Placed] = []

    def __repr__(self) -> str:
        above = "sv.root" if self._parent is None else repr(self._parent)
        return above if not self._axes else f"{above}.{self._kind}({self._axes}, {self._extents})"

    def __reduce__(self) -> Any:
        from samovar.runtime.sparse_pickles import reduced_node

        return reduced_node(self)

    def _node(self, kind: str, indices: Axes, dimensions: Shape, chunk: int = 0) -> Node:
        self._tree.require_open()
        axes = indices
        if not isinstance(axes, Axes):
            raise TypeError(f"the dimensions of a node must be sv.i, sv.ij and so on, not {axes!r}")
        extents = numbers_of(dimensions)
        if len(extents) == 1:
            extents *= len(axes)
        if len(extents) != len(axes) or min(extents) <= 0:
            raise SamovarFieldError(f"{kind}({axes}, {dimensions!r}): expected one positive extent per dimension")
        node = Node(self._tree, self, axes, extents, kind)
        if kind != "dense":
            from samovar.runtime.sparse_trees import check_node

            check_node(node, chunk)
            self._tree.is_sparse = True
        self._children.append(node)
        return node

    def place(self, *fields: Field, offset: Shape | None = None) -> Node:
        """Place fields in each cell. `offset` is the first index of each dimension."""
        self._tree.require_open()
        first = None if offset is None else numbers_of(offset)
        fields = tuple(part for field in fields for part in getattr(field, "parts", (field,)))  # of a field of structs
        for field in fields:
            if not isinstance(field, Field):
                raise TypeError(f"place() takes fields, not {type(field).__name__}")
        for field in fields:
            accept_gradient(field)
            require_free(field)
            try:
                postpone_field(field, self._tree, getattr(field, "followed", None))
            except ValueError as error:
                raise SamovarFieldError(str(error)) from None
            self._children.append(Placed(field, first))
            field.placed_in = self
            for beside in companions(field):
                self._tree.take_along(beside)
        return self

    @property
    def tree(self) -> Tree:
        """The tree of this node."""
        return self._tree

    @property
    def kind(self) -> str:
        """How the node is stored: "dense", "pointer", "bitmasked", "hash" or "dynamic"."""
        return self._kind

    @property
    def cells(self) -> Field | None:
        """Of a sparse node: whether each cell is active (of a `dynamic` one, the length of each list), for kernels."""
        if self._cells is None and self._kind != "dense":
            self._tree()
        return self._cells

    @property
    def active_count(self) -> int:
        """The number of active cells, or of elements in the lists of a `dynamic` node."""
        cells = self.cells
        return prod(self.shape) if cells is None else active_cells(cells)

    def deactivate_all(self) -> None:
        """Deactivate all cells of this node, or of the sparse nodes below a dense one. Inactive cells are zero, and their
        memory is reused or returned to the system.

        >>> import samovar as sv
        >>> x = sv.field(sv.f32)
        >>> block = sv.root.pointer(sv.i, 1024)
        >>> node = block.dense(sv.i, 8).place(x)
        >>> x[100] = 1
        >>> block.deactivate_all()
        >>> x[100], block.active_count
        (0.0, 0)
        """
        if self._tree.is_sparse:
            self._tree()
        for cells in [each() for each in self._below] if self._cells is None else [self._cells]:
            if cells is not None:
                deactivate_all(cells)

    @property
    def is_below_root(self) -> bool:
        """Whether the node was made by `dense`."""
        return self._parent is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the dimensions down to this node."""
        extents: dict[int, int] = {}
        node: Node | None = self
        while node is not None:
            for axis, extent in zip(node._axes, node._extents, strict=True):
                extents[axis] = extents.get(axis, 1) * extent
            node = node._parent
        return tuple(extents[axis] for axis in sorted(extents))

    def parent(self, n: int = 1) -> Node | Root | None:
        """The n-th node above: `sv.root` above the topmost, and None above that.

        >>> import samovar as sv
        >>> sv.root.dense(sv.i, 4).dense(sv.j, 2).parent()
        sv.root.dense(sv.i, (4,))
        """
        node: Node | None = self
        for _ in range(n):
            if node is None or not node.is_below_root:
                return None
            node = node._parent
        return root if node is not None and not node.is_below_root else node

    @property
    def above(self) -> Node | Root | None:
        """The node above."""
        return self.parent()

    # --- for `sparse_trees`

    @property
    def own_axes(self) -> Axes:
        """Its dimensions, without those of the nodes above."""
        return self._axes

    @property
    def extents(self) -> tuple[int, ...]:
        """Their extents."""
        return self._extents

    @property
    def above_it(self) -> Node | None:
        """The node above, the top of the tree included."""
        return self._parent

    @property
    def used_axes(self) -> set[int]:
        """The dimensions down to this node."""
        return {*self._axes, *(() if self._parent is None else self._parent.used_axes)}

    @property
    def is_in_list(self) -> bool:
        """Whether it is a `dynamic` node or below one."""
        return self._kind == "dynamic" or (self._parent is not None and self._parent.is_in_list)

    def children(self) -> tuple[Node | Placed, ...]:
        """What is in a cell, of a tree that is not laid out."""
        return tuple(self._children)

    def place_beside(self, field: Field, placed: Placed) -> None:
        """Place a field in the cells, like another one."""
        self._children.append(Placed(field, placed.offset))
        field.placed_in = self

    def has_sparse_below(self) -> bool:
        """Whether a cell has sparse nodes in it."""
        return any(isinstance(each, Node) and (each._kind != "dense" or each.has_sparse_below()) for each in self._children)

    @property
    def known_cells(self) -> Field | None:
        """Its cells, if it is laid out."""
        return self._cells

    def set_cells(self, cells: Field) -> None:
        """Set its cells when it is laid out."""
        self._cells = cells

    @property
    def is_sparse(self) -> bool:
        """Whether it is a sparse node or in one: not all of its cells are active."""
        return self._kind != "dense" or (self._parent is not None and self._parent.is_sparse)

    @property
    def list_place(self) -> int:
        """Of a `dynamic` node: the place of its dimension among those of a field in it."""
        return sorted(self.used_axes).index(self._axes[0])

    def note_element(self, field: Field) -> None:
        """Remember a field in the cells, weakly."""
        self._elements = (*self._elements, ref(field))

    @property
    def element(self) -> Field | None:
        """The only field in the cells of a sparse node, if it is laid out; None if there are several."""
        return self._elements[0]() if len(self._elements) == 1 else None

    def set_below(self, below: list[Field]) -> None:
        """Tell it the cells of the nearest sparse nodes below."""
        self._below = [ref(cells) for cells in below]

    # ---

    def _tops(self) -> list[Node]:
        return [self]

    def take_along(self, beside: Field) -> None:
        """Lay out the grad or dual of a field with it, see `Tree.take_along`."""
        self._tree.take_along(beside)

    def fields(self) -> Iterator[Field]:
        """The fields in and below this node, of a tree that is not laid out."""
        for child in self._children:
            if isinstance(child, Node):
                yield from child.fields()
            else:
                yield child.field

    # --- layout

    def cell(self) -> tuple[int, int]:
        """The size and alignment of a cell in bytes."""
        end = 0
        alignment = 1
        for _, start, size, needed in self.members():
            end = start + size
            alignment = max(alignment, needed)
        return _aligned(end, alignment), alignment

    def members(self) -> Iterator[tuple[Node | Placed, int, int, int]]:
        """The content of a cell, with its offset, size and alignment."""
        end = 0
        for child in self._children:
            if isinstance(child, Node):
                size, alignment = child.cell()
                size *= prod(child._extents)
            else:
                alignment = child.field.dtype.itemsize
                size = alignment * prod(elements_of(child.field))
            start = _aligned(end, alignment)
            yield child, start, size, alignment
            end = start + size

    def placed(self, start: int, pieces: tuple[Piece, ...]) -> Iterator[tuple[Placed, int, tuple[Piece, ...]]]:
        """The fields in and below the cells of this node, which begins at a byte: where each begins, and its pieces."""
        stride, _ = self.cell()
        own: list[Piece] = []
        for axis, extent in reversed(tuple(zip(self._axes, self._extents, strict=True))):
            own.insert(0, (axis, extent, stride))
            stride *= extent
        for child, offset, _, _ in self.members():
            if isinstance(child, Node):
                yield from child.placed(start + offset, (*pieces, *own))
            else:
                yield child, start + offset, (*pieces, *own)


class Placed:
    """A field in a node."""

    __slots__ = ("field", "offset")

    def __init__(self, field: Field, offset: tuple[int, ...] | None) -> None:
        self.field = field
        self.offset = offset


#: Of trees, in the order in which they are started.
_numbers = count()
#: The alignment of trees that share memory, in bytes.
LINE = 64


class Tree:
    """A tree of nodes. Calling it lays it out."""

    __slots__ = ("__weakref__", "_closed", "is_empty_when_closed", "is_sparse", "number", "restored", "top")

    def __init__(self) -> None:
        self.top = Node(self, None, Axes(), ())
        self.number = next(_numbers)
        self._closed = False
        self.is_empty_when_closed = False
        self.is_sparse = False
        #: What was in a sparse tree that has arrived in a pickle, see `sparse_pickles`.
        self.restored: list[Callable[[], None]] = []

    @staticmethod
    def new_top() -> Node:
        """The top of a new tree, for pickles."""
        return Tree().top

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_empty(self) -> bool:
        return self.is_empty_when_closed if self._closed else not self.top._children

    def close(self) -> None:
        """Allow no more additions. The nodes drop their fields, which refer to their nodes: memory is freed with the last
        reference to a field, without the garbage collector."""
        self.is_empty_when_closed = self.is_empty
        self._closed = True
        nodes = [self.top]
        while nodes:
            node = nodes.pop()
            nodes += [child for child in node._children if isinstance(child, Node)]
            node._children = []

    def take_along(self, beside: Field) -> None:
        """Lay out the grad or dual of a field with it, unless it is placed itself until then."""
        if not is_placed(beside) and not hasattr(beside, "placed_in"):
            follow(beside, partial(self))

    def require_open(self) -> None:
        if self._closed:
            raise RuntimeError("this tree is in use, so its size is fixed: start another one with sv.root.dense(…)")

    def __call__(self) -> None:
        if self._closed:
            return
        trees, size = self._joined(), 0
        if any(tree.is_sparse for tree in trees):
            from samovar.runtime.sparse_trees import lay_out_sparse

            lay_out_sparse(trees, lambda field, pieces, offset: layout_of(Placed(field, offset), pieces))
            for tree in trees:
                root.remember_sparse(tree)
                for restore in tree.restored:
                    restore()
                tree.restored.clear()
            return
        found: list[tuple[Placed, int, Layout]] = []
        for tree in trees:
            for each, start, pieces in tree.top.placed(0, ()):
                found.append((each, size + start, layout_of(each, pieces)))
            size = _aligned(size + tree.top.cell()[0], 1 if len(trees) == 1 else LINE)
        separate = wholes_of(found)
        memory = field_memory(size)
        for tree in trees:
            tree.close()
        for field, start, layout in separate:
            place_field(field, layout, memory, start)
            for beside in companions(field):
                lay_out(beside, layout)
        for each, start, layout in found:
            if hasattr(each.field, "entry_of"):
                share_entry(each.field)
            else:
                place_field(each.field, layout, memory, start)
        for each, _, layout in found:
            for beside in companions(each.field):
                if not is_placed(beside) and not hasattr(beside, "placed_in"):
                    lay_out(beside, layout)


    def _joined(self) -> list[Tree]:
        """The trees that share memory with this one, because they hold components of the same fields."""
        trees: list[Tree] = [self]
        for tree in trees:
            for field in tree.top.fields():
                for component in components_of(field):
                    if component.placed_in.tree not in trees:
                        trees.append(component.placed_in.tree)
        return sorted(trees, key=lambda tree: tree.number)


def layout_of(placed: Placed, pieces: tuple[Piece, ...]) -> Layout:
    """The layout of a field, see `_native.field_layout`. Adjacent pieces of a dimension are merged."""
    itemsize = placed.field.dtype.itemsize
    used = sorted({axis for axis, _, _ in pieces})
    split: list[tuple[tuple[int, int], ...]] = []
    for axis in used:
        whole: list[tuple[int, int]] = []
        for _, extent, stride in (piece for piece in pieces if piece[0] == axis):
            if whole and (extent == 1 or whole[-1][1] == extent * (stride // itemsize)):
                outer, step = whole.pop()
                whole.append((outer * extent, step if extent == 1 else stride // itemsize))
            else:
                whole.append((extent, stride // itemsize))
        if len(whole) > 1 and whole[0][0] == 1:
            del whole[0]
        split.append(tuple(whole))
    if sum(map(len, split)) + len(elements_of(placed.field)) > MOST_PIECES:
        raise ValueError(f"the dimensions of a field are split into more than {MOST_PIECES} pieces: use fewer levels")
    offset = placed.offset or (0,) * len(used)
    if len(offset) != len(used):
        raise SamovarFieldError(f"offset={offset} for a {len(used)}-D field: expected one number per dimension")
    inner = elements_of(placed.field)
    entries = tuple(((extent, prod(inner[axis + 1 :])),) for axis, extent in enumerate(inner))
    return (*offset, *(0,) * len(inner)), (*split, *entries)


def lay_out(field: Field, layout: Layout) -> None:
    """Allocate memory for a field."""
    pieces = [piece for axis in layout[1] for piece in axis]
    empty = any(extent == 0 for extent, _ in pieces)
    span = 0 if empty else 1 + sum((extent - 1) * stride for extent, stride in pieces)
    place_field(field, layout, field_memory(span * field.dtype.itemsize), 0)


@api_boundary_methods
class Root(Above):
    """`sv.root`: each node below it is a separate tree. It knows those that are not laid out yet.

    >>> import samovar as sv
    >>> position, mass = sv.field(sv.f64), sv.field(sv.f32)
    >>> node = sv.root.dense(sv.i, 100).place(position, mass)
    >>> mass.shape
    (100,)
    """

    __slots__ = ("_sparse", "_trees")

    def __init__(self) -> None:
        self._trees: list[ref[Tree]] = []
        self._sparse: list[ref[Tree]] = []  # those that are laid out

    def __repr__(self) -> str:
        return "sv.root"

    def _new_tree(self) -> Tree:
        made = Tree()
        self._trees = [*self._open(), ref(made)]
        return made

    def remember_sparse(self, tree: Tree) -> None:
        """Know a tree that is laid out, for `deactivate_all`."""
        self._sparse = [*(each for each in self._sparse if each() is not None), ref(tree)]

    def _open(self) -> list[ref[Tree]]:
        return [each for each in self._trees if (tree := each()) is not None and not tree.is_closed]

    def _tops(self) -> list[Node]:
        return [tree.top for each in self._open() if (tree := each()) is not None]

    @property
    def shape(self) -> tuple[int, ...]:
        """The empty shape."""
        return ()

    def parent(self, n: int = 1) -> None:
        """None: there is nothing above."""

    def _node(self, kind: str, indices: Axes, dimensions: Shape, chunk: int = 0) -> Node:
        return self._new_tree().top._node(kind, indices, dimensions, chunk)

    def deactivate_all(self) -> None:
        """Deactivate all cells of all sparse fields that are in use.

        >>> import samovar as sv
        >>> x = sv.field(sv.f32)
        >>> node = sv.root.pointer(sv.i, 8).place(x)
        >>> x[1] = 1
        >>> sv.root.deactivate_all()
        >>> x[1]
        0.0
        """
        for each in self._sparse:
            tree = each()
            if tree is not None:
                tree.top.deactivate_all()

    def place(self, *fields: Field, offset: Shape | None = None) -> None:
        """Place 0-D fields."""
        for field in fields:
            self._new_tree().top.place(field, offset=offset)


root = Root()


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
