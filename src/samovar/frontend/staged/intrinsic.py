"""Functions implemented by the frontend."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from samovar._native import DType, u1
from samovar.frontend.rules import INTRINSICS
from samovar.frontend.staged.base import Staged
from samovar.language import complex_type, foreign_dtype

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class Intrinsic(Staged):
    """A function implemented by the frontend, identified by its canonical name."""

    __slots__ = ("name",)

    advice = "call it"

    def __init__(self, name: str) -> None:
        self.name = name

    def describe(self) -> str:
        return f"the function `{self.name.rpartition('.')[2]}`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        member = f"{self.name}.{name}"
        if member in INTRINSICS:
            return Intrinsic(member)
        stager.fail(node, f"{self.describe()} has no attribute `{name}` in a kernel")

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("intrinsic", self.name)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return stager.context.lens.intrinsic(self.name)

    def as_dtype(self, stager: Stager) -> DType | None:
        """The dtype that `int`, `float` or `bool` denotes."""
        return python_type(stager, self.name)


def python_type(stager: Stager, name: str) -> DType | None:
    """The dtype for types of Python, NumPy and torch, by their canonical names."""
    library, _, own = name.partition(".")
    if library in ("numpy", "torch"):
        return foreign_dtype(own.removeprefix("dtype."))
    if name == "builtins.int":
        return stager.context.default_ip
    if name == "builtins.float":
        return stager.context.default_fp
    if name == "builtins.complex":
        return complex_type(stager.context.default_fp)
    return u1 if name == "builtins.bool" else None
