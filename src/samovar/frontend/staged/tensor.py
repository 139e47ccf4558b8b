"""Arrays, and their elements as places."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar._native import DType, i32, i64
from samovar.errors import did_you_mean
from samovar.frontend.lossy import element_at, kept
from samovar.frontend.operators import as_index
from samovar.frontend.scalars import constant, convert, read
from samovar.frontend.staged.array_values import METHODS as METHODS_OF_ARRAYS
from samovar.frontend.staged.array_values import (
    TRANSPOSED,
    ArrayMethod,
    Range,
    Section,
    SectionPlace,
    counted_from_start,
    index_parts,
)
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.cell_list import METHODS, ListMethod, list_at, only_list
from samovar.frontend.staged.complex import ComplexPlace
from samovar.frontend.staged.fill_method import Filling
from samovar.frontend.staged.items import ElementShape, Items, Shape
from samovar.frontend.staged.node import Node, Parent
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Counted, Space
from samovar.frontend.staged.static import Slice, Static
from samovar.ir import Array, Atomic, Constant, Operation, Value
from samovar.language import integer_type, loop_type
from samovar.lens import Ref

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.staged.view import Part
    from samovar.frontend.stager import Stager

#: The attributes of an array in a kernel.
ATTRIBUTES = ("dtype", "ndim", "size", "element_shape", "offset", "grad", "fill")


class Tensor(Staged):
    """An array, and where it comes from (None for an array parameter of a func).

    The last dimensions of an array of vectors or matrices belong to its elements: `inner` is their shape, () for numbers.
    """

    __slots__ = ("array", "inner", "ref")

    advice_for_assignment = "assign to its elements: `for i in a: a[i] += 1`, or `a.fill(0)`"
    advice_for_view = "pass a view of it, `a[:]`, or annotate it as an array: `sv.types.NDArray[dtype, 1]`"

    def __init__(self, array: Array, ref: Ref | None = None, inner: tuple[int, ...] = ()) -> None:
        self.array = array
        self.ref = ref
        self.inner = inner

    def seen_by(self, stager: Stager) -> Tensor:
        """An array of the kernel as a function sees it."""
        return Tensor(stager.visible(self.array), self.ref, self.inner)

    @property
    def ndim(self) -> int:
        """The number of dimensions, without those of the elements."""
        return self.array.rank - len(self.inner)

    @property
    def first(self) -> Tensor:
        """Itself: an array of structs has one for each member."""
        return self

    @property
    def name(self) -> str:
        """As the program spells it."""
        return self.array.name if self.ref is None else self.ref.spelled

    def describe(self) -> str:
        return f"the array `{self.name}`"

    @property
    def advice(self) -> str:  # type: ignore[override]
        index = "None" if self.ndim == 0 else ", ".join("ijklmnop"[: self.ndim])
        return f"read an element: `{self.name}[{index}]`"

    def truth(self, stager: Stager) -> bool | None:
        return None if self.is_number() else True

    def advice_for_truth(self) -> str | None:
        return None if self.is_number() else questions_about(self.array.name)

    # --- as a number: a 0-D array such as `numpy.array(3)` stands for its number

    def is_number(self) -> bool:
        return self.array.ndim == 0

    def as_operand(self, stager: Stager, node: ast.AST) -> Staged:
        is_one = self.is_number() or (self.ndim == 0 and self.array.element is not None)
        return self.place(()).load(stager) if is_one else self

    def type(self, stager: Stager, node: ast.AST) -> DType:
        return self.array.dtype if self.is_number() else super().type(stager, node)

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        if not self.is_number():
            return super().as_type(stager, dtype, node)
        return self.as_operand(stager, node).as_type(stager, dtype, node)

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        known = None if self.is_number() else self.operand(stager)
        if known is not None:
            return known.unary(stager, operator, node)
        if not self.is_number():
            return super().unary(stager, operator, node)
        return self.as_operand(stager, node).unary(stager, operator, node)

    # --- at compile time

    def known_array(self, stager: Stager) -> Staged | None:
        from samovar.frontend.staged.known_array import known_array

        return known_array(self)

    def as_array_value(self) -> Section | None:
        if self.ndim == 0 or self.array.cells is not None:
            return None
        return Section(self, (Range(),) * self.ndim)

    def part_of_tensor(self) -> tuple[Tensor, int]:
        return self, self.ndim

    def operand(self, stager: Stager) -> Staged | None:
        """It as an operand of operators: with elements known at compile time, or as a run-time array."""
        return self.known_array(stager) or self.as_array_value()

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        known = self.operand(stager)
        return None if known is None else known.binary(stager, operator, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        known = self.operand(stager)
        return None if known is None else known.reflected(stager, operator, other, node)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        known = self.operand(stager)
        return None if known is None else known.compare(stager, comparison, other, node)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        known = self.operand(stager)
        return None if known is None else known.compare_reflected(stager, comparison, other, node)

    def is_array(self) -> bool:
        return True

    def advice_for_member(self) -> str:
        return f"assign to its elements: `{self.name}[i] = x`"

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        known = self.known_array(stager) if stager.static_depth and name not in ATTRIBUTES else None
        if known is not None:
            return known.attribute(stager, name, node)
        if name == "shape":
            return Shape(tuple(self.extents(stager)), self.name)
        if name == "dtype":
            return Static(self.array.element or self.array.dtype)
        if name == "ndim":
            return Static(self.ndim)
        if name == "size":
            return self.size(stager)
        if name == "element_shape":
            return ElementShape(tuple(map(Static, self.inner)))
        if name in ("n", "m") and self.inner:
            return Static((*self.inner, 1)[name == "m"])
        if name == "offset" and self.array.layout is not None:
            return Items(tuple(map(Static, self.array.offset[: self.ndim])))
        if name == "grad":
            return self.gradient(stager, node)
        if name == "fill":
            return Filling(self)
        if name in ("parent", "snode") and self.array.layout is not None and self.ref is not None:
            place = self.ref.attribute("snode")
            return Parent(place) if name == "parent" else Node(place)
        only = only_list(self) if name in METHODS else None
        if only is not None:
            return ListMethod(only, name)
        whole = self.as_array_value() if name in METHODS_OF_ARRAYS else None
        if whole is not None:
            return ArrayMethod(whole, name)
        advice = "its attributes are shape, dtype, ndim, size, element_shape, n and m (vectors and matrices), grad and fill"
        if name in ("copy", "astype", "reshape", "tolist"):
            advice = "call it outside the kernel, or write a loop over the elements"
        if name in TRANSPOSED:
            other = f"`{self.name}[j, i]` is the element `[i, j]` of the transpose"
            advice = f"swap the indices: {other}; or pass `{self.name}.T`"
        close = did_you_mean(name, ("shape", *ATTRIBUTES))
        stager.fail(node, f"an array has no attribute `{name}` in a kernel{close}", advice)

    def extent(self, stager: Stager, axis: int) -> Staged:
        known = self.array.extents[axis]
        if self.array.layout is not None and known is not None:
            return Static(known)
        return Scalar(stager.emit("shape", i64 if self.array.wide else i32, (), (self.array, axis)))

    def extents(self, stager: Stager) -> list[Staged]:
        return [self.extent(stager, axis) for axis in range(self.ndim)]

    def size(self, stager: Stager) -> Staged:
        """The number of elements, in the type of an extent."""
        dtype = i64 if self.array.wide else i32
        total: Value = constant(1, dtype)
        with stager.unwritten():
            for extent in self.extents(stager):
                total = stager.emit("mul", dtype, (total, extent.as_type(stager, dtype, stager.source.node)))
        return Scalar(total)

    def gradient(self, stager: Stager, node: ast.AST) -> Staged:
        source = self.gradient_source()
        if source is not None:
            gradient = stager.open(source.attribute("grad"), node)
            assert isinstance(gradient, Tensor)
            return Tensor(gradient.array, gradient.ref, self.inner)
        if stager.static_depth:
            return Static(None)
        stager.fail_type(
            node,
            f"`{self.array.name}` has no gradient",
            "create the array with `needs_grad=True`, or test it first: `if sv.static(a.grad is not None)`",
        )

    def gradient_source(self) -> Ref | None:
        """The source of an array with a gradient; None for an array without one in a func.

        `.grad` is reached through that path, so a func is specialized on it.
        """
        return self.ref if self.ref is not None and self.ref.tensor().needs_grad else None

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        known = self.known_array(stager) if stager.static_depth and not index.is_run_time() else None
        if known is not None:
            return known.subscript(stager, index, node)
        if is_contiguous_slice(index) and self.ndim == 1 and self.array.layout is None:
            assert isinstance(index, Slice)
            return self.as_view(stager, node).sliced(stager, index, node, ends_with_array=True)
        part = self.part(stager, index, node)
        if part is not None:
            return part
        cells = self.array.cells
        if cells is not None and cells.is_list:
            found = list_at(stager, self, index, node)
            if found is not None:
                return found
        return self.element_at(stager, index, node).load(stager)

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        from samovar.frontend.staged.view import whole

        return whole(stager, self, node)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        part = self.part(stager, index, node)
        return SectionPlace(part) if part is not None else self.element_at(stager, index, node)

    def part(self, stager: Stager, index: Staged, node: ast.Subscript) -> Section | None:
        """The part of the array at an index: a row, a slice. None for an element."""
        whole = self.as_array_value()
        if whole is None or self.array.layout is not None:
            if isinstance(index, Slice):
                self.as_view(stager, node)
            return None
        if isinstance(index, Slice):
            return whole.part(stager, [index], node)
        if isinstance(node.slice, ast.Tuple) and isinstance(index, Items):
            if not any(isinstance(each, Slice) for each in index.items) and len(index.items) >= self.ndim:
                return None
        elif not index.is_number() or self.ndim == 1:
            if index.is_none() or not (self.ndim > 1 and index.is_elementwise()):
                return None
            if len(index.sequence(stager, node)) >= self.ndim:
                return None
        parts = index_parts(stager, index, node)
        if len(parts) >= self.ndim and not any(isinstance(each, Slice) for each in parts):
            return None
        return whole.part(stager, parts, node)

    def element_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        """`a[i, j]`, `a[I]`, `a[I, k]`, `a[None]`, `a[()]`."""
        array, given = self.array, self.indices(stager, index, node)
        if array.layout is None and array.boundary != "clamp":
            given = self.counted_from_start(stager, given)
        indices = self.from_zero(stager, given)
        for axis, position in enumerate(indices):
            if isinstance(position, Constant) and position.value < 0 and array.boundary != "clamp":
                if array.offset[axis]:
                    begin = array.offset[axis]
                    message = f"index {position.value + begin} is out of bounds: dimension {axis} begins at {begin}"
                    stager.fail_type(node, message)
                stager.fail_type(
                    node,
                    f"index {position.value} is out of bounds: negative indices are not supported in kernels",
                    f"write `{array.name}.shape[{axis}] - {-position.value}`",
                )
        return self.place(tuple(indices))

    def counted_from_start(self, stager: Stager, indices: list[Value]) -> list[Value]:
        """Indices with negative constants, which count from the end, counted from the start."""
        whole = self.as_array_value()
        return indices if whole is None else counted_from_start(stager, whole, indices)

    def place(self, indices: tuple[Value, ...]) -> Place:
        """The element at zero-based indices."""
        if self.array.element is not None:
            return ComplexPlace(*(Element(self.array, (*indices, constant(part, i32))) for part in range(2)))
        if not self.inner:
            return Element(self.array, indices)
        from samovar.frontend.staged.matrix_places import InMemory

        return InMemory(self.array, indices, self.inner)

    def indices(self, stager: Stager, index: Staged, node: ast.Subscript) -> list[Value]:
        """The indices in the brackets, one integer per dimension."""
        array = self.array
        parts: tuple[tuple[ast.expr, Staged], ...] = ((node.slice, index),)
        if isinstance(node.slice, ast.Tuple) and isinstance(index, Items):
            parts = tuple(zip(node.slice.elts, index.items, strict=True))
        indices: list[Value] = []
        for place, part in parts:
            if isinstance(part, Slice):
                stager.fail(place, f"`{array.name}` cannot be sliced in a kernel", "write a loop over the elements")
            part = part.as_operand(stager, place)
            if part.as_array_value() is not None and part.known_array(stager) is None:
                stager.fail(place, "an array as an index is not supported in kernels", "write a loop over the indices")
            if not (part.is_number() or part.is_none()):
                indices.extend(as_index(stager, item.unforced(), place) for item in part.sequence(stager, place))
            elif not (part.is_none() and len(parts) == 1):
                indices.append(as_index(stager, part, place))
        if len(indices) != self.ndim:
            given = "1 index" if len(indices) == 1 else f"{len(indices)} indices"
            advice = "index all dimensions at once, as in `a[i, j]`; rows are not supported as values"
            message = f"`{self.name}` is {self.ndim}-dimensional but was indexed with {given}"
            stager.fail_axes(node, message, advice if len(indices) < self.ndim else None)
        return indices

    def assign(self, stager: Stager, index: list[Value], value: Staged, node: ast.AST) -> None:
        """Store a value at an index."""
        self.place(tuple(self.from_zero(stager, index))).store(stager, value, node)

    def from_zero(self, stager: Stager, index: list[Value]) -> list[Value]:
        """An index counted from the first element."""
        offset = self.array.offset[: self.ndim]
        return [shifted(stager, position, -first) for position, first in zip(index, offset, strict=True)]

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        if self.ndim == 0:
            stager.fail_type(node, "a 0-D array has no length")
        if self.ref is not None and stager.static_depth and self.known_array(stager) is not None:
            return Static(self.ref.exact_extent(0))
        return self.extent(stager, 0)

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        known = self.known_array(stager)
        if known is not None:
            return known.sequence(stager, node) if stager.static_depth else self.elements(stager, node)
        message = f"the length of {self.describe()} is only known at run time"
        stager.fail_type(node, message, f"write a loop: `for i in range({self.name}.shape[0])`")

    def elements(self, stager: Stager, node: ast.AST, *indices: int) -> tuple[Staged, ...]:
        """The elements of an array of known extents, as separate reads; a row is a vector."""
        from samovar.frontend.staged.matrix import as_matrix

        assert self.ref is not None
        found: list[Staged] = []
        for index in range(self.ref.exact_extent(len(indices))):
            place = (*indices, index)
            if len(place) == self.ndim:
                found.append(self.place(tuple(constant(each, i32) for each in place)).load(stager))
            else:
                row = Items(self.elements(stager, node, *place), is_list=True)
                found.append(as_matrix(stager, row, node) or row)
        return tuple(found)

    def counted(self, stager: Stager, node: ast.AST) -> Counted | None:
        """The elements, for `enumerate` and `zip`."""
        if self.ndim != 1 or self.inner or self.array.cells is not None:
            stager.fail_type(
                node,
                f"`enumerate` and `zip` go over arrays of numbers with one dimension, not over {self.describe()}",
                f"write `for i in range({self.name}.shape[0])`, and read `{self.name}[i]`",
            )

        def element(inner: Stager, place: Staged, at: ast.AST) -> Staged:
            return self.place((place.scalar(inner, at),)).load(inner)

        return Counted(self.extent(stager, 0), element)

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """The space of a loop over an array or field: its indices, in memory order."""
        many = self.ndim != 1
        if self.array.cells is not None:
            from samovar.frontend.staged.domain import cell_space

            return cell_space(self, stager, node)
        if self.array.layout is None:
            order = None if self.array.order is None else tuple(axis for axis in self.array.order if axis < self.ndim)
            axes = tuple(Axis(Static(0), extent) for extent in self.extents(stager))
            return Space(axes, order=order, tuple_of_axes=many)
        layout, first = self.array.layout[: self.ndim], self.array.offset[: self.ndim]
        extents = self.array.extents[: self.ndim]
        axes = tuple(Axis(Static(low), Static(low + (length or 0))) for low, length in zip(first, extents, strict=True))
        if all(len(pieces) == 1 for pieces in layout):
            order = tuple(sorted(range(len(layout)), key=lambda axis: -layout[axis][0][1]))
            return Space(axes, order=order, tuple_of_axes=many)
        return Space(axes, blocks=layout, tuple_of_axes=many)

    # --- in calls

    def ir_values(self) -> tuple[Value, ...]:
        return (self.array,)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        array = next(values)
        assert isinstance(array, Array)
        return self if array is self.array else Tensor(array, self.gradient_source(), self.inner)

    def is_like(self, other: Staged) -> bool:
        return isinstance(other, Tensor) and other.array is self.array and other.inner == self.inner

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        array, source = self.array, self.gradient_source()
        layout = (self.inner, array.contiguous, array.wide, array.extents, array.layout, array.offset, array.record_stride)
        kind = (array.element or array.dtype, array.ndim, array.boundary, array.private, array.soa_ndim, array.order)
        return ("array", kind, layout, None if source is None else source.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return super().as_outside_argument(stager, node) if self.ref is None else self.ref


def is_contiguous_slice(index: Staged) -> bool:
    """Whether it is a slice without a step or a negative bound, which views can have."""
    if not isinstance(index, Slice) or not index.bounds[2].is_none():
        return False
    numbers = [each.number() for each in index.bounds]
    return not any(isinstance(each, int) and each < 0 for each in numbers)


def questions_about(name: str) -> str:
    """What a condition can test about an array."""
    return (
        f"test whether it exists, `{name} is not None`, whether it has elements, `{name}.size > 0`, or one element,"
        f" `{name}[i]`; outside kernels, use `{name}.any()` or `{name}.all()`"
    )


def shifted(stager: Stager, index: Value, distance: int) -> Value:
    """An index moved by a known distance."""
    if distance == 0:
        return index
    assert index.type is not None
    dtype = loop_type(index.type, integer_type(distance, i32) or i64)
    if isinstance(index, Constant):
        return constant(int(index.value) + distance, dtype)
    with stager.unwritten():
        return stager.emit("add", dtype, (convert(stager, index, dtype), constant(distance, dtype)))


class Element(Place):
    """An element of an array."""

    __slots__ = ("array", "indices")

    def __init__(self, array: Array, indices: tuple[Value, ...]) -> None:
        self.array = array
        self.indices = indices

    @property
    def type(self) -> DType:
        return self.array.dtype

    def load(self, stager: Stager) -> Staged:
        return Scalar(read(stager, stager.emit("load", self.array.dtype, self.indices, self.array)))

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        converted = kept(stager, value, self.array.dtype, node, element_at(node, self.array))
        stager.emit("store", None, (*self.indices, converted), self.array)

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        return stager.emit("atomic", self.array.dtype, (*self.indices, *values), Atomic(code, self.array))

    def referred(self, stager: Stager) -> Staged:
        return ElementReference(self.array, self.indices)

    def arrays(self) -> tuple[Array, ...]:
        return (self.array,)


class ElementReference(Staged):
    """A number in an array, passed to a func that modifies it: the array and the indices."""

    __slots__ = ("array", "indices")

    def __init__(self, array: Array, indices: tuple[Value, ...]) -> None:
        self.array = array
        self.indices = indices

    def ir_values(self) -> tuple[Value, ...]:
        return (self.array, *self.indices)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        array = next(values)
        assert isinstance(array, Array)
        return ElementReference(array, tuple(next(values) for _ in self.indices))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        array = self.array
        layout = (array.contiguous, array.wide, array.extents, array.layout, array.record_stride, array.soa_ndim)
        kind = (array.dtype, array.boundary, array.private, array.order)
        return ("element", kind, layout, tuple(index.type for index in self.indices))
