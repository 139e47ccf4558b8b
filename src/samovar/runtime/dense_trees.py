"""Where the elements of fields lie: trees of dense nodes, laid out as they are written.

A node has a cell for each point of its axes, in C order of the axes as they are named; a cell holds the fields that are
placed in it and the nodes below it, in the order in which they were added. So two fields of one node lie next to each other
in each cell, and an axis that occurs at several levels is split into blocks.

A tree is laid out when the first of its fields is used. Its memory is one block of bytes.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import SupportsIndex

from samovar._native import Field, Ndarray, is_placed, plain_methods, postpone_field, settle_field, u8
from samovar.errors import SamovarFieldError, SamovarRuntimeError, SamovarTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

    Shape = SupportsIndex | Iterable[SupportsIndex]
    #: As `_native.field_layout` gives it.
    Layout = tuple[tuple[int, ...], tuple[tuple[tuple[int, int], ...], ...]]
    #: A split axis: (axis, extent, bytes from one to the next).
    Piece = tuple[int, int, int]

#: The names of axes, in their order.
LETTERS = "ijklmnopqrstuvwx"
MOST_PIECES = 16


class Axes(tuple[int, ...]):
    """The axes of a node, the outermost first: `sv.i`, `sv.ij`, `sv.ji`, …, or `sv.axes(0, 1)`.

    >>> import samovar as sv
    >>> f = sv.field(sv.f32)
    >>> node = sv.root.dense(sv.j, 3).dense(sv.i, 2).place(f)
    >>> f.shape
    (2, 3)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "sv." + "".join(LETTERS[axis] for axis in self)


def axes(*numbers: int) -> Axes:
    """The axes with these numbers: `axes(0, 1)` is `sv.ij`.

    >>> import samovar as sv
    >>> sv.axes(1, 0)
    sv.ji
    """
    wanted = Axes(map(index, numbers))
    if not wanted or len(set(wanted)) != len(wanted) or not all(0 <= axis < len(LETTERS) for axis in wanted):
        last = len(LETTERS) - 1
        raise ValueError(f"axes{tuple(numbers)} names no axes: each is a number from 0 to {last}, and occurs once")
    return wanted


@plain_methods
class _Sparse:
    """What trees of other languages have and these have not: refused by name, with what to do."""

    __slots__ = ()

    def pointer(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no sparse nodes."""
        _refuse("pointer")

    def bitmasked(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no sparse nodes."""
        _refuse("bitmasked")

    def dynamic(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no sparse nodes."""
        _refuse("dynamic")

    def hash(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no sparse nodes."""
        _refuse("hash")

    def quant_array(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no quantised types."""
        _refuse("quant_array")

    def bit_struct(self, *arguments: object, **options: object) -> NoReturn:
        """Refused: there are no quantised types."""
        _refuse("bit_struct")

    def lazy_grad(self) -> None:
        """Nothing: the grad of a field that is not placed itself is laid out like the field."""


def _refuse(name: str) -> NoReturn:
    what = "quantised types" if name in ("quant_array", "bit_struct") else "sparse nodes"
    raise SamovarTypeError(
        f"`{name}`: fields have no {what}, every element has its place\n"
        "  help: use `dense`; for a sparse domain, keep a dense field of blocks and an array of those that are in use"
    )


@plain_methods
class Node(_Sparse):
    """A dense node of a tree: `sv.root.dense(axes, extents)`."""

    __slots__ = ("_axes", "_children", "_extents", "_parent", "_tree")

    def __init__(self, tree: Tree, parent: Node | None, axes: Axes, extents: tuple[int, ...]) -> None:
        self._tree = tree
        self._parent = parent
        self._axes = axes
        self._extents = extents
        self._children: list[Node | Placed] = []

    def __repr__(self) -> str:
        above = "sv.root" if self._parent is None else repr(self._parent)
        return above if not self._axes else f"{above}.dense({self._axes}, {self._extents})"

    def dense(self, indices: Axes, dimensions: Shape) -> Node:
        """A node in each cell of this one, with a cell for each point of its axes, which are `sv.i`, `sv.ij` and so on."""
        self._tree.require_open()
        axes = indices
        if not isinstance(axes, Axes):
            raise TypeError(f"the axes of a node are sv.i, sv.ij and so on, not {axes!r}")
        extents = numbers_of(dimensions)
        if len(extents) == 1:
            extents *= len(axes)
        if len(extents) != len(axes) or min(extents) <= 0:
            raise ValueError(f"dense({axes}, {dimensions!r}): one extent for each axis, and none below 1")
        node = Node(self._tree, self, axes, extents)
        self._children.append(node)
        return node

    def place(self, *fields: Field, offset: Shape | None = None) -> Node:
        """Give fields a place in each cell. `offset` is the first index of each axis."""
        self._tree.require_open()
        first = None if offset is None else numbers_of(offset)
        fields = tuple(part for field in fields for part in getattr(field, "parts", (field,)))  # those of a field of structs
        for field in fields:
            if not isinstance(field, Field):
                raise TypeError(f"place() takes fields, not {type(field).__name__}")
        for field in fields:
            try:
                postpone_field(field, self._tree)
            except ValueError as error:
                raise SamovarFieldError(str(error)) from None
            self._children.append(Placed(field, first))
            field.placed_in = self
        return self

    @property
    def is_below_root(self) -> bool:
        """Is it a node that was made by `dense`?"""
        return self._parent is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes down to this node."""
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

    # --- layout

    def cell(self) -> tuple[int, int]:
        """Size and alignment of a cell in bytes."""
        end = 0
        alignment = 1
        for _, start, size, needed in self.members():
            end = start + size
            alignment = max(alignment, needed)
        return _aligned(end, alignment), alignment

    def members(self) -> Iterator[tuple[Node | Placed, int, int, int]]:
        """What is in a cell: where it begins, its size and its alignment."""
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


def elements_of(field: Field) -> tuple[int, ...]:
    """The shape of the elements that a field was made for: () of numbers. It lies whole in a cell."""
    found: tuple[int, ...] = getattr(field, "wanted_element_shape", ())
    return found


class Tree:
    """A tree of nodes. Called, it lays itself out."""

    __slots__ = ("_closed", "is_empty_when_closed", "top")

    def __init__(self) -> None:
        self.top = Node(self, None, Axes(), ())
        self._closed = False
        self.is_empty_when_closed = False

    @property
    def is_empty(self) -> bool:
        return self.is_empty_when_closed if self._closed else not self.top._children

    def close(self) -> None:
        """Nothing is added any more. The nodes let go of their fields, which know their nodes: memory goes with the last
        reference to a field, and no collector has to find it."""
        self.is_empty_when_closed = self.is_empty
        self._closed = True
        nodes = [self.top]
        while nodes:
            node = nodes.pop()
            nodes += [child for child in node._children if isinstance(child, Node)]
            node._children = []

    def require_open(self) -> None:
        if self._closed:
            raise RuntimeError("this tree is in use, and its memory has its size: begin another one, sv.root.dense(…)")

    def __call__(self) -> None:
        if self._closed:
            return
        found = [(each, start, layout_of(each, pieces)) for each, start, pieces in self.top.placed(0, ())]
        size, _ = self.top.cell()
        memory = Ndarray(u8, size)
        self.close()
        for each, start, layout in found:
            settle_field(each.field, layout, memory, start)
        for each, _, layout in found:
            grad = each.field.grad
            if isinstance(grad, Field) and not is_placed(grad):
                lay_out(grad, layout)


def layout_of(placed: Placed, pieces: tuple[Piece, ...]) -> Layout:
    """The layout of a field, see `_native.field_layout`. Pieces that go on where the next one ends are one."""
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
        raise ValueError(f"the axes of a field are split into more than {MOST_PIECES} pieces: use fewer levels")
    offset = placed.offset or (0,) * len(used)
    if len(offset) != len(used):
        raise SamovarFieldError(f"offset={offset} of a field with {len(used)} axes: one number for each")
    inner = elements_of(placed.field)
    entries = tuple(((extent, prod(inner[axis + 1 :])),) for axis, extent in enumerate(inner))
    return (*offset, *(0,) * len(inner)), (*split, *entries)


def lay_out(field: Field, layout: Layout) -> None:
    """Give a field memory of its own."""
    pieces = [piece for axis in layout[1] for piece in axis]
    empty = any(extent == 0 for extent, _ in pieces)
    span = 0 if empty else 1 + sum((extent - 1) * stride for extent, stride in pieces)
    settle_field(field, layout, Ndarray(u8, span * field.dtype.itemsize), 0)


class LaidOut:
    """A tree that has its memory. It is given back with the last of its fields."""

    __slots__ = ("_is_destroyed",)

    def __init__(self) -> None:
        self._is_destroyed = False

    def destroy(self) -> None:
        """Say that its fields are not used any more."""
        if self._is_destroyed:
            raise SamovarRuntimeError("this tree was destroyed before")
        self._is_destroyed = True


@plain_methods
class Root(_Sparse):
    """`sv.root`: each node below it is a tree of its own.

    >>> import samovar as sv
    >>> position, mass = sv.field(sv.f64), sv.field(sv.f32)
    >>> node = sv.root.dense(sv.i, 100).place(position, mass)
    >>> mass.shape
    (100,)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "sv.root"

    @property
    def shape(self) -> tuple[int, ...]:
        """No axes."""
        return ()

    def parent(self, n: int = 1) -> None:
        """Nothing is above."""

    def dense(self, indices: Axes, dimensions: Shape) -> Node:
        """The first node of a new tree.

        >>> import samovar as sv
        >>> x, y = sv.field(sv.f32), sv.field(sv.f32)
        >>> node = sv.root.dense(sv.ij, (4, 8)).place(x, y)
        >>> x.shape
        (4, 8)
        """
        return Tree().top.dense(indices, dimensions)

    def place(self, *fields: Field, offset: Shape | None = None) -> None:
        """Give fields of a single element their place."""
        for field in fields:
            Tree().top.place(field, offset=offset)


@plain_methods
class FieldsBuilder(_Sparse):
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

    def dense(self, indices: Axes, dimensions: Shape) -> Node:
        """A node at the top of the tree, after those that are there."""
        return self._tree.top.dense(indices, dimensions)

    def place(self, *fields: Field, offset: Shape | None = None) -> None:
        """Give fields of a single element their place."""
        self._tree.top.place(*fields, offset=offset)

    @property
    def finalized(self) -> bool:
        """Was it laid out by `finalize()`?"""
        return self._is_finalized

    @property
    def empty(self) -> bool:
        """Is nothing in it?"""
        return self._tree.is_empty

    def finalize(self, raise_warning: bool = True) -> LaidOut:
        """Lay the tree out; nothing can be added afterwards. What it gives back can be told that it is not needed."""
        if self._is_finalized:
            raise SamovarRuntimeError("this FieldsBuilder was finalized before")
        self._is_finalized = True
        self._tree()
        return LaidOut()


root = Root()

i, j, k, l = (Axes((axis,)) for axis in range(4))
ij, ik, il, jk, jl, kl = (Axes(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)))
ji, ki, kj = Axes((1, 0)), Axes((2, 0)), Axes((2, 1))
ijk, ijl, ikl, jkl, kji = (Axes(some) for some in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (2, 1, 0)))
ijkl = Axes((0, 1, 2, 3))


def numbers_of(given: Shape) -> tuple[int, ...]:
    """One integer, or some."""
    if isinstance(given, SupportsIndex):
        return (index(given),)
    numbers = tuple(given) if hasattr(type(given), "__iter__") else (given,)
    wrong = next((each for each in numbers if not isinstance(each, SupportsIndex)), None)
    if wrong is not None:
        advice = "\n  help: `//` divides integers, and `/` gives a float" if isinstance(wrong, float) else ""
        raise SamovarTypeError(f"a shape is an integer or a tuple of integers: {wrong!r} is not one{advice}")
    return tuple(index(each) for each in numbers if isinstance(each, SupportsIndex))


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
