"""Views of a slice of an array of structs: a view of the array of each member."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.static import Slice
from samovar.frontend.staged.struct_tensor import StructTensor
from samovar.frontend.staged.view import SUBVIEW, Cutting, Part, View

if TYPE_CHECKING:
    from samovar._native import DType
    from samovar.frontend.stager import Stager
    from samovar.ir import Value


class StructView(StructTensor, Part):
    """A slice of an array of structs. Its members are views of the same slice."""

    __slots__ = ()

    def describe(self) -> str:
        return f"the BufferView `{self.name}` of {self.struct.kind}"

    @property
    def advice_for_array(self) -> str:  # type: ignore[override]
        return f"annotate it as a view, `sv.BufferView[{self.struct.kind}]`, or pass the whole array"

    def is_array(self) -> bool:
        return False

    @property
    def view(self) -> View:
        """The view of one of the members."""
        first: Any = self.first
        assert isinstance(first, View)
        return first

    @property
    def index_type(self) -> DType:
        return self.view.index_type

    @property
    def ndim(self) -> int:
        return 1

    def size(self, stager: Stager) -> Value:
        return self.view.size(stager)

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "subview":
            return Cutting(self)
        if name == "element_shape":
            return self.view.attribute(stager, "element_shape", node)
        return super().attribute(stager, name, node)

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if isinstance(index, Slice):
            return self.sliced(stager, index, node)
        return super().subscript(stager, index, node)

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        return Part.as_view(self, stager, node)

    def part(self, stager: Stager, start: Value, count: Value, problem: str | None = SUBVIEW) -> StructView:
        members: list[Any] = []
        for member in self.members:
            assert isinstance(member, Part)
            members.append(member.part(stager, start, count, problem))
            problem = None  # the same for all of them
        return StructView(self.name, self.struct, tuple(members))

    def with_boundary(self, boundary: str) -> StructView:
        """The same slice, with another rule for indices beyond its ends."""
        members: Any = tuple(member.with_boundary(boundary) for member in self.members)  # type: ignore[union-attr]
        return StructView(self.name, self.struct, members)
