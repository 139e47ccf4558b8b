"""Vector and matrix types, such as `vec3` and `sv.types.matrix(2, 2, sv.f32)`."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING

from samovar.frontend.staged.base import Staged
from samovar.values import MatrixType

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class MatrixKind(Staged):
    """A vector or matrix type. A call creates a value."""

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

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        return UniformMaker(self.kind, UNIFORM[name]) if name in UNIFORM else super().attribute(stager, name, node)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return "its methods are zero() and one()"

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("matrix type", self.kind.key())


#: Method of a type → the value of all elements of its result.
UNIFORM = {"zero": 0, "one": 1}


class UniformMaker(Staged):
    """The bound methods `vec3.zero` and `vec3.one`."""

    __slots__ = ("kind", "number_everywhere")

    advice = "call it"

    def __init__(self, kind: MatrixType, number_everywhere: int) -> None:
        self.kind = kind
        self.number_everywhere = number_everywhere

    def describe(self) -> str:
        return f"a method of the type `{self.kind}`"
