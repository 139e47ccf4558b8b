"""Types of vectors and matrices: what `vec3` and `sv.types.matrix(2, 2, sv.f32)` stand for."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING

from samovar.frontend.staged.base import Staged
from samovar.language import MatrixType

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class MatrixKind(Staged):
    """A type of vectors or matrices. Calling it makes one."""

    __slots__ = ("kind",)

    advice = "call it"

    def __init__(self, kind: MatrixType) -> None:
        self.kind = kind

    def describe(self) -> str:
        return f"the type `{self.kind}`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def matrix_type(self) -> MatrixType:
        return self.kind

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        from samovar.frontend.matrices import construct
        from samovar.frontend.rules import bind

        return construct(stager, self.kind, bind(stager, node, "*values"))

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        return UniformMaker(self.kind, UNIFORM[name]) if name in UNIFORM else super().attribute(stager, name, node)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return "there are zero() and one()"

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("matrix type", self.kind.key())


#: Method of a type → what every entry of its result is.
UNIFORM = {"zero": 0, "one": 1}


class UniformMaker(Staged):
    """`vec3.zero`, `vec3.one`: to be called."""

    __slots__ = ("kind", "number_everywhere")

    advice = "call it"

    def __init__(self, kind: MatrixType, number_everywhere: int) -> None:
        self.kind = kind
        self.number_everywhere = number_everywhere

    def describe(self) -> str:
        return f"a method of the type `{self.kind}`"

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        from samovar.frontend.matrices import filled
        from samovar.frontend.rules import bind
        from samovar.frontend.staged.static import Static

        bind(stager, node, "")
        dtype = self.kind.resolved(stager.context.lens.options)
        return filled(stager, dtype, self.kind.shape, Static(self.number_everywhere), node)
