"""Funcs, and methods that are funcs."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from samovar.frontend.staged.base import Staged
from samovar.lens import FunctionRef

if TYPE_CHECKING:
    from samovar.frontend.stager import Binding, Stager


class Callee(Staged):
    """A `func`, and the object it is bound to if it is a method.

    `plain` is a library function inside `static`, where it runs at compile time.
    """

    __slots__ = ("function", "plain", "receiver")

    advice = "call it"

    def __init__(
        self, function: FunctionRef, receiver: Binding | None = None, plain: Staged | None = None
    ) -> None:
        self.function = function
        self.receiver = receiver
        self.plain = plain

    def describe(self) -> str:
        return f"the func `{self.function.name}`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        stager.fail(node, f"{self.describe()} has no attribute `{name}` in a kernel")

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        receiver = None if self.receiver is None else self.receiver.load(stager).specialization_key(stager, node)
        return ("func", self.function.identity, receiver)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        func = self.function.declaration() if self.receiver is None else None
        return super().as_outside_argument(stager, node) if func is None else func
