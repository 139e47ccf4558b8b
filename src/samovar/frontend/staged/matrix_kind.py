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

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("matrix type", self.kind.key())
