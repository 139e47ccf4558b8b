"""`a.fill(value)` in a kernel: a loop over all elements, parallel if a loop would be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samovar.frontend.staged.base import Staged

if TYPE_CHECKING:
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.staged.view import View


class Filling(Staged):
    """The bound method `fill` of an array."""

    __slots__ = ("tensor",)

    advice = "call it with a value"

    def __init__(self, tensor: Tensor | View) -> None:
        self.tensor = tensor

    def describe(self) -> str:
        return f"the method `fill` of {self.tensor.describe()}"
