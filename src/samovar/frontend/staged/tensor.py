"""Arrays, and their elements as places."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar._native import DType, i32, i64
from samovar.frontend.operators import as_index
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.items import Items, Slice
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.ir import Array, Atomic, Constant, Operation, Value
from samovar.lens import Ref

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class Tensor(Staged):
    """An array, and where it comes from (None for the array parameter of a func).

    The last axes of an array of vectors or matrices belong to its elements: `inner` is their shape, () of numbers.
    """

    __slots__ = ("array", "inner", "ref")

    def __init__(self, array: Array, ref: Ref | None = None, inner: tuple[int, ...] = ()) -> None:
        self.array = array
        self.ref = ref
        self.inner = inner

    @property
    def ndim(self) -> int:
        """The number of axes, without those of the elements."""
        return self.array.ndim - len(self.inner)

    def describe(self) -> str:
        return f"the array `{self.array.name}`"

    @property
    def advice(self) -> str:  # type: ignore[override]
        index = "None" if self.ndim == 0 else ", ".join("ijklmnop"[: self.ndim])
        return f"read an element: `{self.array.name}[{index}]`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    # --- its parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "shape":
            return Items(tuple(self.extents(stager)))
        if name == "dtype":
            return Static(self.array.dtype)
        if name == "ndim":
            return Static(self.ndim)
        if name == "element_shape":
            return Items(tuple(map(Static, self.inner)))
        if name == "grad":
            return self.gradient(stager, node)
        advice = "there are shape, dtype, ndim, element_shape and grad"
        stager.fail(node, f"an array has no attribute `{name}` in a kernel", advice)

    def extent(self, stager: Stager, axis: int) -> Scalar:
        return Scalar(stager.emit("shape", i64 if self.array.wide else i32, (), (self.array, axis)))

    def extents(self, stager: Stager) -> list[Scalar]:
        return [self.extent(stager, axis) for axis in range(self.ndim)]

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
            "make the array with `needs_grad=True`, or ask first: `if sv.static(a.grad is not None)`",
        )

    def gradient_source(self) -> Ref | None:
        """Where an array with a gradient comes from; in a func, an array without one comes from nowhere.

        `.grad` is reached through that path, so a func is bound to it.
        """
        return self.ref if self.ref is not None and self.ref.tensor().needs_grad else None

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        return self.element(stager, index, node).load(stager)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        """`a[i, j]`, `a[I]`, `a[I, k]`, `a[None]`, `a[()]`."""
        array = self.array
        parts: tuple[tuple[ast.expr, Staged], ...] = ((node.slice, index),)
        if isinstance(node.slice, ast.Tuple) and isinstance(index, Items):
            parts = tuple(zip(node.slice.elts, index.items, strict=True))
        indices: list[Value] = []
        for place, part in parts:
            if isinstance(part, Slice):
                stager.fail(place, f"`{array.name}` cannot be sliced in a kernel", "write a loop over the elements")
            part = part.as_operand(stager, place)
            if not (part.is_number() or part.is_none()):
                indices.extend(as_index(stager, item.unforced(), place) for item in part.sequence(stager, place))
            elif not (part.is_none() and len(parts) == 1):
                indices.append(as_index(stager, part, place))
        if len(indices) != self.ndim:
            axes = "axis" if self.ndim == 1 else "axes"
            stager.fail_type(node, f"`{array.name}` has {self.ndim} {axes}, but {len(indices)} indices are given")
        for axis, position in enumerate(indices):
            if isinstance(position, Constant) and position.value < 0 and array.boundary != "clamp":
                stager.fail_type(
                    node,
                    f"index {position.value} is out of bounds: negative indices do not count from the end in kernels",
                    f"write `{array.name}.shape[{axis}] - {-position.value}`",
                )
        if not self.inner:
            return Element(array, tuple(indices))
        from samovar.frontend.staged.matrix_places import InMemory

        return InMemory(array, tuple(indices), self.inner)

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        if self.ndim == 0:
            stager.fail_type(node, "an array without axes has no length")
        return self.extent(stager, 0)

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """A loop over an array runs over its indices."""
        axes = tuple(Axis(Static(0), extent) for extent in self.extents(stager))
        return Space(axes, tuple_of_axes=self.ndim != 1)

    # --- in calls

    def ir_values(self) -> tuple[Value, ...]:
        return (self.array,)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        array = next(values)
        assert isinstance(array, Array)
        return self if array is self.array else Tensor(array, self.gradient_source(), self.inner)

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        array, source = self.array, self.gradient_source()
        layout = (array.dtype, self.ndim, self.inner, array.contiguous, array.wide, array.boundary, array.extents)
        return ("array", layout, None if source is None else source.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return super().as_outside_argument(stager, node) if self.ref is None else self.ref


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
        return Scalar(stager.emit("load", self.array.dtype, self.indices, self.array))

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        converted = value.as_stored(stager, self.array.dtype, node)
        stager.emit("store", None, (*self.indices, converted), self.array)

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        return stager.emit("atomic", self.array.dtype, (*self.indices, *values), Atomic(code, self.array))
