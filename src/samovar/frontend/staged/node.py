"""The nodes above a field, which loops run over: `for i, j in x.parent()`."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.lens import Kind

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.lens import Ref


class Node(Staged):
    """A node of a tree, or the place of a field in one, `x.snode`."""

    __slots__ = ("ref",)

    advice = "loop over it, or read its `shape`"

    def __init__(self, ref: Ref) -> None:
        self.ref = ref

    def tree_node(self) -> Ref:
        return self.ref

    def describe(self) -> str:
        return f"the node `{self.ref.spelled}`"

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "shape":
            return Items(tuple(map(Static, self.extents())))
        return Parent(self.ref) if name == "parent" else super().attribute(stager, name, node)

    def extents(self) -> tuple[int, ...]:
        shape = self.ref.attribute("shape")
        return tuple(shape.item(axis).value() for axis in range(shape.length()))

    def space(self, stager: Stager, node: ast.AST) -> Space:
        extents = self.extents()
        if not extents:
            stager.fail_type(node, f"{self.describe()} has no dimensions to loop over")
        if self.ref.attribute("is_sparse").value():
            cells = self.ref.attribute("cells")
            if cells.kind() is Kind.TENSOR:
                return stager.open(cells, node).space(stager, node)
            stager.fail_type(
                node,
                f"{self.describe()} is dense and in a sparse one, so a loop over it has no list of cells",
                "loop over a field in it, or over the sparse node",
            )
        return Space(tuple(Axis(Static(0), Static(extent)) for extent in extents), tuple_of_axes=len(extents) != 1)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("node", self.ref.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return self.ref


class Parent(Staged):
    """The bound method `parent` of a node or a field."""

    __slots__ = ("ref",)

    advice = "call it"

    def __init__(self, ref: Ref) -> None:
        self.ref = ref

    def describe(self) -> str:
        return "the method `parent` of a field"
