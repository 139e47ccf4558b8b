"""Views of a slice of a 1-D array: the array, the offset of the slice, and its length.

A view passed at a launch is a separate array to the code: its memory begins at the slice. A slice made in a kernel is an
offset and a size along with an array; the offset is added to each index.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar._native import DType, i32, i64, u1, u32, u64
from samovar.errors import did_you_mean
from samovar.frontend.operators import as_index
from samovar.frontend.part_checks import check_part, emit_check
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.array_values import METHODS, ArrayMethod, Range, Section, SectionPlace
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.fill_method import Filling
from samovar.frontend.staged.items import ElementShape, Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Counted, Space
from samovar.frontend.staged.static import Slice, Static
from samovar.frontend.staged.tensor import Tensor, questions_about
from samovar.ir import Array, Constant, Value
from samovar.language import loop_type

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.stager import Stager

#: The messages of debug mode for a slice that does not fit.
SUBVIEW = "BufferView subview Out Of Range"
CONSTRUCTION = "BufferView construction out of range"


class Part(Staged):
    """The common base of a view and a view of structs."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the array, for messages."""
        raise NotImplementedError

    @property
    def index_type(self) -> DType:
        """The type of sizes and offsets."""
        raise NotImplementedError

    def size(self, stager: Stager) -> Value:
        """The number of elements."""
        raise NotImplementedError

    def part(self, stager: Stager, start: Value, count: Value, problem: str | None = SUBVIEW) -> Part:
        """`count` elements from `start` on. If they are out of range, debug mode reports `problem`, if given."""
        raise NotImplementedError

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        advice = "slice a view with `v.subview(offset, size)`, or with `v[a:b]`"
        stager.fail_type(node, f"`BufferView` takes an array, got {self.describe()}", advice)

    def sliced(self, stager: Stager, index: Slice, node: ast.Subscript, ends_with_array: bool = False) -> Part:
        """`v[a:b]`, `v[:n]`, `v[n:]`, `v[:]`. With `ends_with_array`, it has no elements beyond the end, as in Python; debug
        mode reports such bounds."""
        assert isinstance(node.slice, ast.Slice)
        if node.slice.step is not None:
            stager.fail(
                node.slice.step,
                f"{self.describe()} does not support a slice step in a kernel",
                "a BufferView is contiguous: remove the step, and index with `i * step`",
            )
        lower, upper, _ = index.bounds
        if lower.is_none() and upper.is_none():
            return self
        zero = constant(0, self.index_type)
        start = zero if lower.is_none() else bound(stager, self, lower, node.slice.lower or node)
        count = self.size(stager) if upper.is_none() else bound(stager, self, upper, node.slice.upper or node)
        if ends_with_array and not upper.is_none() and not stager.context.checks_bounds:
            with stager.unwritten():
                count = stager.emit("min", self.index_type, (count, self.size(stager)))
        if start is not zero:
            with stager.unwritten():
                count = stager.emit("sub", self.index_type, (count, start))
        return self.part(stager, start, count)


class View(Part):
    """A slice of an array.

    `offset` is the position of the array's memory in the array that the user knows. `start` is the position of the slice in
    that memory, and `count` its length: None for the beginning, and for all elements.
    """

    __slots__ = ("boundary", "count", "offset", "start", "tensor")

    def __init__(
        self, tensor: Tensor, offset: Value, start: Value | None = None, count: Value | None = None, boundary: str = "unsafe"
    ) -> None:
        self.tensor = tensor
        self.offset = offset
        self.start = start
        self.count = count
        self.boundary = boundary

    @property
    def array(self) -> Array:
        """The array that it is a slice of."""
        return self.tensor.array

    @property
    def inner(self) -> tuple[int, ...]:
        """The shape of the elements: () for numbers."""
        return self.tensor.inner

    @property
    def name(self) -> str:
        return self.array.name

    @property
    def index_type(self) -> DType:
        return i64 if self.array.wide else i32

    def describe(self) -> str:
        return f"the BufferView `{self.array.name}`"

    @property
    def advice(self) -> str:  # type: ignore[override]
        return f"read an element: `{self.array.name}[i]`"

    @property
    def advice_for_array(self) -> str:  # type: ignore[override]
        name = (self.array.element or self.array.dtype).name
        return f"annotate it as a view, `sv.BufferView[sv.{name}]`, or pass the whole array"

    @property
    def advice_for_choice(self) -> str:  # type: ignore[override]
        cut = f"{self.array.name}[begin:begin + 4]"
        return f"choose the bounds, and slice once: `begin = 0 if c else 4`, then `{cut}`; or use it in each branch"

    def as_array_value(self) -> Section:
        return Section(self.tensor, (Range(self.start, self.count),))

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.as_array_value().binary(stager, operator, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.as_array_value().reflected(stager, operator, other, node)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return self.as_array_value().compare(stager, comparison, other, node)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return self.as_array_value().compare_reflected(stager, comparison, other, node)

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        return self.as_array_value().unary(stager, operator, node)

    def truth(self, stager: Stager) -> bool | None:
        return True

    def advice_for_truth(self) -> str | None:
        return questions_about(self.array.name)

    def with_boundary(self, boundary: str) -> View:
        """The same slice, with another rule for indices beyond its ends."""
        return View(self.tensor, self.offset, self.start, self.count, boundary)

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "size":
            return Scalar(self.size(stager))
        if name == "shape":
            return Items((Scalar(self.size(stager)),))
        if name == "offset":
            return Scalar(self.whole_offset(stager))
        if name == "dtype":
            return Static(self.array.element or self.array.dtype)
        if name == "ndim":
            return Static(1)
        if name == "element_shape":
            return ElementShape(tuple(map(Static, self.inner)))
        if name == "fill":
            return Filling(self)
        if name == "subview":
            return Cutting(self)
        if name in METHODS:
            return ArrayMethod(self.as_array_value(), name)
        advice = "its attributes are size, shape, offset, dtype, ndim, element_shape, subview and fill"
        close = did_you_mean(name, ("size", "shape", "offset", "dtype", "ndim", "element_shape", "subview", "fill"))
        stager.fail(node, f"a BufferView has no attribute `{name}` in a kernel{close}", advice)

    def size(self, stager: Stager) -> Value:
        if self.count is not None:
            return self.count
        return stager.emit("shape", self.index_type, (), (self.array, 0))

    def whole_offset(self, stager: Stager) -> Value:
        """Its offset in the array that the user knows."""
        with stager.unwritten():
            offset = convert(stager, self.offset, self.index_type)
            return offset if self.start is None else stager.emit("add", self.index_type, (offset, self.start))

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return Scalar(self.size(stager))

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """The space of a loop over a view: its indices."""
        return Space((Axis(Static(0), Scalar(self.size(stager))),))

    def counted(self, stager: Stager, node: ast.AST) -> Counted | None:
        return self.as_array_value().counted(stager, node)

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if isinstance(index, Slice):
            return self.sliced(stager, index, node)
        return self.element_at(stager, index, node).load(stager)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        if isinstance(index, Slice):
            part = self.sliced(stager, index, node)
            assert isinstance(part, View)
            return SectionPlace(part.as_array_value(), part)
        return self.element_at(stager, index, node)

    def element_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        """`v[i]`."""
        (position,) = self.tensor.indices(stager, index, node)
        if isinstance(position, Constant) and position.value < 0 and self.boundary != "clamp":
            stager.fail_type(
                node,
                f"index {position.value} is out of bounds: negative indices are not supported in kernels",
                f"write `{ast.unparse(node.value)}.size - {-position.value}`",
            )
        if self.boundary == "clamp":
            position = clamped(stager, position, self.size(stager))
        if stager.context.checks_bounds:
            self.check(stager, position)
        return self.tensor.place((self.moved(stager, position),))

    def moved(self, stager: Stager, position: Value) -> Value:
        """The corresponding index of the array."""
        if self.start is None:
            return position
        assert position.type is not None
        dtype = loop_type(position.type, self.index_type)
        with stager.unwritten():
            return stager.emit("add", dtype, (convert(stager, position, dtype), convert(stager, self.start, dtype)))

    def assign(self, stager: Stager, index: list[Value], value: Staged, node: ast.AST) -> None:
        """Store a value at an index known to be within the slice."""
        self.tensor.assign(stager, [self.moved(stager, index[0])], value, node)

    # --- slices of it

    def part(self, stager: Stager, start: Value, count: Value, problem: str | None = SUBVIEW) -> View:
        if stager.context.checks_bounds and problem is not None:
            check_part(stager, problem, start, count, self.size(stager))
        begin = start if self.start is None else self.moved(stager, start)
        return View(self.tensor, self.offset, begin, count, self.boundary)

    def check(self, stager: Stager, position: Value) -> None:
        """Check an index at run time; if it is out of range, the access does not happen."""
        assert position.type is not None
        with stager.unwritten():
            size, offset = self.size(stager), self.whole_offset(stager)
            # As an unsigned number a negative index exceeds every size.
            dtype = u32 if position.type.bits <= 32 and not self.array.wide else u64
            fits = stager.emit("lt", u1, (convert(stager, position, dtype), convert(stager, size, dtype)))
        said = (", got index ", position, " (offset=", offset, ", size=", size, ").")
        emit_check(stager, fits, "BufferView Out Of Range", said)

    # --- in calls

    def ir_values(self) -> tuple[Value, ...]:
        return (self.array, self.offset, *(each for each in (self.start, self.count) if each is not None))

    def rebuild(self, values: Iterator[Value]) -> Staged:
        tensor = self.tensor.rebuild(values)
        assert isinstance(tensor, Tensor)
        offset = next(values)
        start = None if self.start is None else next(values)
        count = None if self.count is None else next(values)
        return View(tensor, offset, start, count, self.boundary)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("view", self.tensor.specialization_key(stager, node), self.start is None, self.count is None, self.boundary)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        is_whole = self.start is None and self.count is None
        return self.tensor.as_outside_argument(stager, node) if is_whole else super().as_outside_argument(stager, node)


class Cutting(Staged):
    """The bound method `subview` of a view."""

    __slots__ = ("view",)

    advice = "call it with an offset and a size"

    def __init__(self, view: Part) -> None:
        self.view = view

    def describe(self) -> str:
        return f"the method `subview` of {self.view.describe()}"


def whole(stager: Stager, tensor: Tensor, node: ast.AST) -> View:
    """All of an array as a view, to slice."""
    array = tensor.array
    if array.layout is not None:
        stager.fail_type(node, f"`{array.name}` is a field and cannot be sliced", "write a loop over the elements")
    if tensor.ndim != 1:
        stager.fail_type(
            node,
            f"`{array.name}` is {tensor.ndim}-D and cannot be sliced in a kernel: a BufferView is a slice of a 1-D array",
            "write a loop over the elements",
        )
    return View(tensor, constant(0, i64 if array.wide else i32), boundary=array.boundary)


def bound(stager: Stager, view: Part, staged: Staged, node: ast.AST) -> Value:
    """An offset or size that a program writes for a slice of a view."""
    number, name = staged.number(), view.name
    if isinstance(number, int) and number < 0:
        stager.fail(
            node,
            f"the bound {number} of a slice of `{name}` is negative, which is not supported in kernels",
            f"write `{name}.size - {-number}`",
        )
    return convert(stager, as_index(stager, staged, node), view.index_type)


def refuse_assignment(stager: Stager, owner: Staged, node: ast.Subscript) -> None:
    """Reject an assignment to a slice of structs."""
    if isinstance(node.ctx, ast.Store):
        stager.fail(node, f"a slice of {owner.describe()} cannot be assigned in a kernel", "write a loop over the elements")


def clamped(stager: Stager, position: Value, size: Value) -> Value:
    """The index, or the nearest end."""
    assert position.type is not None
    assert size.type is not None
    # A u64 stays one, and the size is never negative; all others are converted to a signed type that holds them.
    dtype = u64 if position.type is u64 else loop_type(position.type, size.type)
    with stager.unwritten():
        one = constant(1, size.type)
        last = stager.emit("sub", size.type, (stager.emit("max", size.type, (size, one)), one))
        below = stager.emit("min", dtype, (convert(stager, position, dtype), convert(stager, last, dtype)))
        return below if dtype is u64 else stager.emit("max", dtype, (below, constant(0, dtype)))
