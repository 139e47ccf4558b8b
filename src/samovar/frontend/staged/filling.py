"""`a.fill(value)` in a kernel: a loop over all elements, parallel where a loop would be."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static

if TYPE_CHECKING:
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.staged.view import View
    from samovar.frontend.stager import Stager


class Filling(Staged):
    """The method of an array, to be called."""

    __slots__ = ("tensor",)

    advice = "call it with a value"

    def __init__(self, tensor: Tensor | View) -> None:
        self.tensor = tensor

    def describe(self) -> str:
        return f"the method `fill` of {self.tensor.describe()}"

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        from samovar.frontend.expressions import filled_with
        from samovar.frontend.loops import stage_over

        tensor = self.tensor
        value = filled_with(stager, node, "a vector or matrix" if tensor.inner else "")
        if value.is_number():  # converted once, before the loop
            keeper = Keeper(f"`{tensor.array.name}`", "filling it with")
            value = Scalar(kept(stager, value, tensor.array.dtype, node, keeper))
        stage_over(stager, tensor.space(stager, node), node, lambda inner, at: tensor.assign(inner, at, value, node))
        return Static(None)
