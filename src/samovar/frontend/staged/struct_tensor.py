"""Arrays of structs: an array for each member; the members of an element are elements of these."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar.errors import did_you_mean
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.cell_list import METHODS, ListMethod, list_at, only_list
from samovar.frontend.staged.static import Slice, Static
from samovar.frontend.staged.struct import StructKind
from samovar.frontend.staged.struct_places import StructPlace
from samovar.frontend.staged.tensor import Tensor, questions_about
from samovar.values import StructType

if TYPE_CHECKING:
    from samovar.frontend.staged.space import Space
    from samovar.frontend.staged.view import Part
    from samovar.frontend.stager import Binding, Stager
    from samovar.ir import Value

#: The attributes that arrays of structs share with other arrays in kernels.
FACTS = ("element_shape", "ndim", "offset", "shape", "size")


class StructTensor(Staged):
    """An array or field of structs: the arrays of its members, in order."""

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
        return questions_about(self.name)

    def has_member(self, stager: Stager, name: str, node: ast.AST) -> bool | None:
        return name in (*FACTS, "fill", "grad") or self.struct.kind.place(name) is not None

    def is_array(self) -> bool:
        return True

    @property
    def first(self) -> Tensor:
        """One of the arrays: all have the same shape."""
        member = self.members[0]
        return member.first if isinstance(member, StructTensor) else member

    def tensors(self) -> Iterator[Tensor]:
        """All arrays, including those of members that are structs."""
        for member in self.members:
            if isinstance(member, StructTensor):
                yield from member.tensors()
            else:
                yield member

    def set_boundary(self, boundary: str) -> None:
        """Set the handling of out-of-bounds indices."""
        for tensor in self.tensors():
            tensor.array.boundary = boundary

    @property
    def ndim(self) -> int:
        return self.first.ndim

    # --- parts

    def advice_for_member(self) -> str:
        return f"assign to its elements: `{self.name}[i].{self.struct.kind.keys[0]} = x`"

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
        if name in ("parent", "snode") and self.first.array.layout is not None:
            return self.first.attribute(stager, name, node)
        only = only_list(self) if name in METHODS else None
        if only is not None:
            return ListMethod(only, name)
        stager.fail(
            node,
            f"{self.describe()} has no attribute `{name}` in a kernel"
            f"{did_you_mean(name, (*FACTS, 'fill', *self.struct.kind.keys))}",
            f"its attributes are shape, ndim, size, fill, and its members {', '.join(self.struct.kind.keys)}",
        )

    def gradient(self, stager: Stager, node: ast.Attribute) -> Staged:
        """The gradients of the members that have one, as an array of structs."""
        found = self.gradients(stager, node)
        if found is not None:
            return found
        if stager.static_depth:
            return Static(None)
        advice = "create the array with `needs_grad=True`, or test it first: `if sv.static(a.grad is not None)`"
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

    def place(self, indices: tuple[Value, ...]) -> StructPlace:
        """The element at zero-based indices."""
        return StructPlace(self.struct, tuple(member.place(indices) for member in self.members))

    def parts_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Iterator[Place]:
        for member in self.members:
            yield member.element_at(stager, index, node)

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Binding:
        found = None if isinstance(index, Slice) else list_at(stager, self, index, node)
        return found or self.element(stager, index, node) or self.subscript(stager, index, node)

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

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        members = tuple(member.specialization_key(stager, node) for member in self.members)
        return ("structs", self.struct.specialization_key(stager, node), members)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        first = self.struct.kind.keys[0]
        stager.fail(
            node,
            f"a plain Python function runs at compile time and cannot be passed {self.describe()}",
            f"pass the arrays of the members it needs: `{self.name}.{first}`",
        )


class StructFilling(Staged):
    """`a.fill(value)`: sets every element to a struct, or every number in them to one number."""

    __slots__ = ("tensor",)

    advice = "call it with a value"

    def __init__(self, tensor: StructTensor) -> None:
        self.tensor = tensor

    def describe(self) -> str:
        return f"the method `fill` of {self.tensor.describe()}"
