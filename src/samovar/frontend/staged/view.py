"""Views of a part of an array of one axis: an array, where the part begins in it, and how long it is.

A view that a launch brings is an array of its own to the code: its memory begins where the part begins. What is cut inside
of a kernel is a beginning and a size beside an array; each index has the beginning added.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar._native import DType, i32, i64, u1, u32, u64
from samovar.artifact import Hole, Site
from samovar.errors import did_you_mean
from samovar.frontend.operators import as_index
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.filling import Filling
from samovar.frontend.staged.items import ElementShape, Items, Slice
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.tensor import Tensor
from samovar.ir import Array, Constant, Value
from samovar.language import loop_type

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.language import ViewAnnotation

#: What debug mode says of a part that does not fit.
SUBVIEW = "BufferView subview Out Of Range"
CONSTRUCTION = "BufferView construction out of range"


class Part(Staged):
    """What parts are cut of: a view, and a view of structs."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Of the array, for messages."""
        raise NotImplementedError

    @property
    def index_type(self) -> DType:
        """The type of sizes and offsets."""
        raise NotImplementedError

    def size(self, stager: Stager) -> Value:
        """How many elements there are."""
        raise NotImplementedError

    def part(self, stager: Stager, start: Value, count: Value, problem: str | None = SUBVIEW) -> Part:
        """`count` elements from an element on. Where they are not all there, debug mode says `problem`, if it has one."""
        raise NotImplementedError

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        advice = "cut a part of a view with `v.subview(offset, size)`, or with a slice"
        stager.fail_type(node, f"`BufferView` takes an array, got {self.describe()}", advice)

    def sliced(self, stager: Stager, index: Slice, node: ast.Subscript) -> Part:
        """`v[a:b]`, `v[:n]`, `v[n:]`, `v[:]`."""
        assert isinstance(node.slice, ast.Slice)
        if node.slice.step is not None:
            stager.fail(
                node.slice.step,
                f"{self.describe()} does not support an explicit step in a kernel",
                "leave it out: a BufferView has no gaps; to skip elements, index it with `i * step`",
            )
        lower, upper, _ = index.bounds
        if lower.is_none() and upper.is_none():
            return self
        zero = constant(0, self.index_type)
        start = zero if lower.is_none() else bound(stager, self, lower, node.slice.lower or node)
        count = self.size(stager) if upper.is_none() else bound(stager, self, upper, node.slice.upper or node)
        if start is not zero:
            with stager.unwritten():
                count = stager.emit("sub", self.index_type, (count, start))
        return self.part(stager, start, count)


class View(Part):
    """A part of an array.

    `offset` is where the memory of the array begins in the array that the user knows. `start` is where the part begins
    in the memory, and `count` is how many elements it has: None for the beginning, and for all of them.
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
        """What it is a part of."""
        return self.tensor.array

    @property
    def inner(self) -> tuple[int, ...]:
        """The shape of the elements: () of numbers."""
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
        return f"annotate it as a view, `sv.BufferView[sv.{self.array.dtype.name}]`, or pass the whole array"

    @property
    def advice_for_choice(self) -> str:  # type: ignore[override]
        cut = f"{self.array.name}[begin:begin + 4]"
        return f"choose numbers, and cut once: `begin = 0 if c else 4`, then `{cut}`; or use it in each branch"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def advice_for_truth(self) -> str | None:
        from samovar.frontend.staged.tensor import questions_about

        return questions_about(self.array.name)

    def required_view(self, stager: Stager, annotation: ViewAnnotation, what: str, node: ast.AST) -> Part:
        from samovar.frontend.members import check_array

        if annotation.struct is not None:
            stager.fail_type(node, f"{what} must hold {annotation.struct}, got {self.describe()}")
        check_array(stager, annotation.as_array(), self.tensor, what, node)
        return self.with_boundary(annotation.boundary)

    def with_boundary(self, boundary: str) -> View:
        """The same part, with another rule for indices beyond its edges."""
        return View(self.tensor, self.offset, self.start, self.count, boundary)

    # --- its parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "size":
            return Scalar(self.size(stager))
        if name == "shape":
            return Items((Scalar(self.size(stager)),))
        if name == "offset":
            return Scalar(self.whole_offset(stager))
        if name == "dtype":
            return Static(self.array.dtype)
        if name == "ndim":
            return Static(1)
        if name == "element_shape":
            return ElementShape(tuple(map(Static, self.inner)))
        if name == "fill":
            return Filling(self)
        if name == "subview":
            return Cutting(self)
        advice = "there are size, shape, offset, dtype, ndim, element_shape, subview and fill"
        close = did_you_mean(name, ("size", "shape", "offset", "dtype", "ndim", "element_shape", "subview", "fill"))
        stager.fail(node, f"a BufferView has no attribute `{name}` in a kernel{close}", advice)

    def size(self, stager: Stager) -> Value:
        if self.count is not None:
            return self.count
        return stager.emit("shape", self.index_type, (), (self.array, 0))

    def whole_offset(self, stager: Stager) -> Value:
        """Where it begins in the array that the user knows."""
        with stager.unwritten():
            offset = convert(stager, self.offset, self.index_type)
            return offset if self.start is None else stager.emit("add", self.index_type, (offset, self.start))

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return Scalar(self.size(stager))

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """A loop over a view runs over its indices."""
        return Space((Axis(Static(0), Scalar(self.size(stager))),))

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if isinstance(index, Slice):
            return self.sliced(stager, index, node)
        return self.element_at(stager, index, node).load(stager)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        if isinstance(index, Slice):
            refuse_assignment(stager, self, node)
            return None
        return self.element_at(stager, index, node)

    def element_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        """`v[i]`."""
        (position,) = self.tensor.indices(stager, index, node)
        if isinstance(position, Constant) and position.value < 0 and self.boundary != "clamp":
            stager.fail_type(
                node,
                f"index {position.value} is out of bounds: negative indices do not count from the end in kernels",
                f"write `{ast.unparse(node.value)}.size - {-position.value}`",
            )
        if self.boundary == "clamp":
            position = clamped(stager, position, self.size(stager))
        if stager.context.checks_bounds:
            self.check(stager, position)
        return self.tensor.place((self.moved(stager, position),))

    def moved(self, stager: Stager, position: Value) -> Value:
        """An index of the array."""
        if self.start is None:
            return position
        assert position.type is not None
        dtype = loop_type(position.type, self.index_type)
        with stager.unwritten():
            return stager.emit("add", dtype, (convert(stager, position, dtype), convert(stager, self.start, dtype)))

    def assign(self, stager: Stager, index: list[Value], value: Staged, node: ast.AST) -> None:
        """Store a value at an index that is known to be within the part."""
        self.tensor.assign(stager, [self.moved(stager, index[0])], value, node)

    # --- parts of it

    def part(self, stager: Stager, start: Value, count: Value, problem: str | None = SUBVIEW) -> View:
        if stager.context.checks_bounds and problem is not None:
            check_part(stager, problem, start, count, self.size(stager))
        begin = start if self.start is None else self.moved(stager, start)
        return View(self.tensor, self.offset, begin, count, self.boundary)

    def check(self, stager: Stager, position: Value) -> None:
        """Say so at run time where an index is outside of the part: the access does not happen then."""
        assert position.type is not None
        with stager.unwritten():
            size, offset = self.size(stager), self.whole_offset(stager)
            # As an unsigned number a negative index is beyond every size.
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

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("view", self.tensor.form(stager, node), self.start is None, self.count is None, self.boundary)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        is_whole = self.start is None and self.count is None
        return self.tensor.as_outside_argument(stager, node) if is_whole else super().as_outside_argument(stager, node)


class Cutting(Staged):
    """The method `subview` of a view, to be called."""

    __slots__ = ("view",)

    advice = "call it with an offset and a size"

    def __init__(self, view: Part) -> None:
        self.view = view

    def describe(self) -> str:
        return f"the method `subview` of {self.view.describe()}"

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        from samovar.frontend.expressions import stage

        names = ("offset", "size")
        given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in names}
        if len(given) != 2 or len(node.args) + len(node.keywords) != 2:
            stager.fail(node, "`subview` takes an offset and a size", "write `v.subview(offset, size)`")
        start, count = (bound(stager, self.view, stage(stager, given[name]), given[name]) for name in names)
        return self.view.part(stager, start, count)


def whole(stager: Stager, tensor: Tensor, node: ast.AST) -> View:
    """All of an array as a view, to cut parts of."""
    array = tensor.array
    if array.layout is not None:
        stager.fail_type(node, f"`{array.name}` is a field, and a field cannot be sliced", "write a loop over the elements")
    if tensor.ndim != 1:
        stager.fail_type(
            node,
            f"`{array.name}` has {tensor.ndim} axes and cannot be sliced in a kernel: a BufferView is a part of a 1D array",
            "write a loop over the elements",
        )
    if tensor.gradient_source() is not None:
        stager.fail_type(node, f"`{array.name}` has a gradient, and a BufferView has none", "pass the array itself")
    return View(tensor, constant(0, i64 if array.wide else i32), boundary=array.boundary)


def bound(stager: Stager, view: Part, staged: Staged, node: ast.AST) -> Value:
    """An offset or a size that a program writes for a part of a view."""
    number, name = staged.number(), view.name
    if isinstance(number, int) and number < 0:
        stager.fail(
            node,
            f"the bound {number} of a part of `{name}` is negative, and bounds do not count from the end in kernels",
            f"write `{name}.size - {-number}`",
        )
    return convert(stager, as_index(stager, staged, node), view.index_type)


def refuse_assignment(stager: Stager, owner: Staged, node: ast.Subscript) -> None:
    """A part can be looked at, but not assigned as a whole."""
    if isinstance(node.ctx, ast.Store):
        stager.fail(node, f"a slice of {owner.describe()} cannot be assigned in a kernel", "write a loop over the elements")


def clamped(stager: Stager, position: Value, size: Value) -> Value:
    """An index, or the nearest edge."""
    assert position.type is not None
    assert size.type is not None
    # A u64 stays one, and the size is never negative; everything else goes to a signed type that holds it.
    dtype = u64 if position.type is u64 else loop_type(position.type, size.type)
    with stager.unwritten():
        one = constant(1, size.type)
        last = stager.emit("sub", size.type, (stager.emit("max", size.type, (size, one)), one))
        below = stager.emit("min", dtype, (convert(stager, position, dtype), convert(stager, last, dtype)))
        return below if dtype is u64 else stager.emit("max", dtype, (below, constant(0, dtype)))


# --- checks


def check_part(stager: Stager, problem: str, start: Value, count: Value, length: Value) -> None:
    """Say so at run time where a part does not lie within what it is cut from."""
    with stager.unwritten():
        begin, size, end = (convert(stager, each, i64) for each in (start, count, length))
        zero = constant(0, i64)
        conditions = [
            stager.emit("ge", u1, (begin, zero)),
            stager.emit("ge", u1, (size, zero)),
            stager.emit("le", u1, (begin, end)),
            stager.emit("le", u1, (size, stager.emit("sub", i64, (end, begin)))),
        ]
        fits: Value = conditions[0]
        for each in conditions[1:]:
            fits = stager.emit("and", u1, (fits, each))
    emit_check(stager, fits, problem, (", got offset=", start, ", size=", count, " (length=", length, ")."))


def emit_check(stager: Stager, fits: Value, problem: str, said: tuple[str | Value, ...]) -> None:
    """A check with the kernel, the number of the iteration if there is one, and what is said of the values."""
    values: list[Value] = []
    parts: list[str | Hole] = [f"{problem}: kernel[{stager.context.lens.kernel.name}]"]
    iteration = stager.iteration()
    for part in (*(() if iteration is None else (" tid=", iteration)), *said):
        if isinstance(part, str) and isinstance(parts[-1], str):
            parts[-1] += part
        elif isinstance(part, str):
            parts.append(part)
        else:
            parts.append(Hole(len(values)))
            values.append(part)
    types = tuple(value.type for value in values if value.type is not None)
    stager.emit("check", None, (fits, *values), Site("view", tuple(parts), types, stager.call_path()))
