"""Arrays of structs: an array for each member, and elements whose members are elements of these."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar.errors import did_you_mean
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.items import Slice
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructKind, StructValue
from samovar.frontend.staged.struct_places import StructPlace
from samovar.frontend.staged.tensor import Tensor
from samovar.language import StructType

if TYPE_CHECKING:
    from samovar.frontend.staged.space import Space
    from samovar.frontend.staged.view import Part
    from samovar.frontend.stager import Meaning, Stager
    from samovar.ir import Value

#: What arrays of structs have in kernels as other arrays do.
FACTS = ("element_shape", "ndim", "offset", "shape", "size")


class StructTensor(Staged):
    """An array or field of structs: the arrays of its members, in their order."""

    __slots__ = ("members", "name", "struct")

    advice_for_view = "pass a view of it, `a[:]`, or annotate it as an array: `sv.types.NDArray[S, 1]`"

    def __init__(self, name: str, struct: StructKind, members: tuple[Tensor | StructTensor, ...]) -> None:
        self.name = name
        self.struct = struct
        self.members = members

    def describe(self) -> str:
        return f"the array `{self.name}` of {self.struct.kind}"

    @property
    def advice(self) -> str:  # type: ignore[override]
        return f"read a member of an element: `{self.name}[i].{self.struct.kind.keys[0]}`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def advice_for_truth(self) -> str | None:
        from samovar.frontend.staged.tensor import questions_about

        return questions_about(self.name)

    def has_member(self, stager: Stager, name: str, node: ast.AST) -> bool | None:
        return name in (*FACTS, "fill", "grad") or self.struct.kind.place(name) is not None

    def is_array(self) -> bool:
        return True

    @property
    def first(self) -> Tensor:
        """One of the arrays: all have the same axes."""
        member = self.members[0]
        return member.first if isinstance(member, StructTensor) else member

    def tensors(self) -> Iterator[Tensor]:
        """All arrays, those of members that are structs too."""
        for member in self.members:
            if isinstance(member, StructTensor):
                yield from member.tensors()
            else:
                yield member

    def set_boundary(self, boundary: str) -> None:
        """What happens to indices that are out of bounds."""
        for tensor in self.tensors():
            tensor.array.boundary = boundary

    @property
    def ndim(self) -> int:
        return self.first.ndim

    # --- its parts

    def advice_for_member(self) -> str:
        return f"write into its elements: `{self.name}[i].{self.struct.kind.keys[0]} = x`"

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name in FACTS:
            return self.first.attribute(stager, name, node)
        if name == "fill":
            return StructFilling(self)
        place = self.struct.kind.place(name)
        if place is not None:
            return self.members[place]
        if name == "grad":
            return self.gradient(stager, node)
        stager.fail(
            node,
            f"{self.describe()} has no attribute `{name}` in a kernel"
            f"{did_you_mean(name, (*FACTS, 'fill', *self.struct.kind.keys))}",
            f"there are shape, ndim, size, fill, and its members {', '.join(self.struct.kind.keys)}",
        )

    def gradient(self, stager: Stager, node: ast.Attribute) -> Staged:
        """The gradients of the members that have one, as an array of structs."""
        found = self.gradients(stager, node)
        if found is not None:
            return found
        if stager.static_depth:
            return Static(None)
        advice = "make the array with `needs_grad=True`, or ask first: `if sv.static(a.grad is not None)`"
        stager.fail_type(node, f"no member of `{self.name}` has a gradient", advice)

    def gradients(self, stager: Stager, node: ast.Attribute) -> StructTensor | None:
        found: list[tuple[str, Any, Tensor | StructTensor]] = []
        for (name, kind, _), member in zip(self.struct.kind.members, self.members, strict=True):
            if isinstance(member, StructTensor):
                inner = member.gradients(stager, node)
                if inner is not None:
                    found.append((name, inner.struct.kind, inner))
            elif member.gradient_source() is not None:
                gradient = member.gradient(stager, node)
                assert isinstance(gradient, Tensor)
                found.append((name, kind, gradient))
        if not found:
            return None
        struct = StructType(self.struct.kind.name, tuple((name, kind, None) for name, kind, _ in found))
        return StructTensor(f"{self.name}.grad", StructKind(struct), tuple(member for _, _, member in found))

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if isinstance(index, Slice):
            return self.as_view(stager, node).sliced(stager, index, node)
        return self.element_at(stager, index, node).load(stager)

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        from samovar.frontend.staged.struct_view import StructView

        members: Any = tuple(member.as_view(stager, node) for member in self.members)
        return StructView(self.name, self.struct, members)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> StructPlace | None:
        if isinstance(index, Slice):
            from samovar.frontend.staged.view import refuse_assignment

            refuse_assignment(stager, self, node)
            return None
        return self.element_at(stager, index, node)

    def element_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> StructPlace:
        return StructPlace(self.struct, tuple(self.parts_at(stager, index, node)))

    def parts_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Iterator[Place]:
        for member in self.members:
            yield member.element_at(stager, index, node)

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Meaning:
        return self.element(stager, index, node) or self.subscript(stager, index, node)

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return self.first.length(stager, node)

    def space(self, stager: Stager, node: ast.AST) -> Space:
        return self.first.space(stager, node)

    # --- in calls

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for member in self.members for value in member.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        members = tuple(member.rebuild(values) for member in self.members)
        return self.__class__(self.name, self.struct, members)  # type: ignore[arg-type]

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("structs", self.struct.form(stager, node), tuple(member.form(stager, node) for member in self.members))

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        first = self.struct.kind.keys[0]
        stager.fail(
            node,
            f"a plain Python function runs at compile time and cannot take {self.describe()}",
            f"give it the arrays of the members that it needs: `{self.name}.{first}`",
        )


class StructFilling(Staged):
    """`a.fill(value)`: every element becomes a struct, or every number of them one number."""

    __slots__ = ("tensor",)

    advice = "call it with a value"

    def __init__(self, tensor: StructTensor) -> None:
        self.tensor = tensor

    def describe(self) -> str:
        return f"the method `fill` of {self.tensor.describe()}"

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        from samovar.frontend.loops import stage_over
        from samovar.frontend.rules import bind
        from samovar.frontend.staged.items import Items
        from samovar.frontend.staged.scalar import Scalar

        value = bind(stager, node, "value")["value"].as_operand(stager, node)
        if isinstance(value, StructValue):
            value.require_alike(stager, self.tensor.struct.kind, node)
        elif not value.is_number():
            stager.fail_type(node, f"{self.tensor.describe()} is filled with a struct or a number, not {value.describe()}")
        subscript = ast.copy_location(ast.Subscript(node.func, ast.Constant(0), ast.Load()), node)

        def put(inner: Stager, index: list[Value]) -> None:
            element = self.tensor.element_at(inner, Items(tuple(map(Scalar, index))), subscript)
            if isinstance(value, StructValue):
                element.store(inner, value, node)
            else:
                for part in numbers_in(element):
                    part.store(inner, value, node)

        stage_over(stager, self.tensor.space(stager, node), node, put)
        return Static(None)


def numbers_in(place: StructPlace) -> Iterator[Place]:
    """The numbers, vectors and matrices in a struct."""
    for part in place.parts:
        if isinstance(part, StructPlace):
            yield from numbers_in(part)
        else:
            yield part
