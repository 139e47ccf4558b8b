"""One list of a `dynamic` node in a kernel: `x[i]`, with the methods `append`, `length` and `deactivate`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar._native import i64
from samovar.frontend.operators import as_index
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged

if TYPE_CHECKING:
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Stager
    from samovar.ir import Value

METHODS = ("append", "deactivate", "length")


class CellList(Staged):
    """A list: the field of its elements, and the indices of the list, counted from 0."""

    __slots__ = ("at", "tensor")

    advice = "call one of its methods: append, length, deactivate; or read an element with all indices"

    def __init__(self, tensor: Tensor, at: tuple[Value, ...]) -> None:
        self.tensor = tensor
        self.at = at

    def describe(self) -> str:
        return f"a list of `{self.tensor.name}`"

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name in METHODS:
            return ListMethod(self, name)
        return super().attribute(stager, name, node)


class ListMethod(Staged):
    """A bound method of a list."""

    __slots__ = ("name", "owner")

    advice = "call it"

    def __init__(self, owner: CellList, name: str) -> None:
        self.owner = owner
        self.name = name

    def describe(self) -> str:
        return f"the method `{self.name}` of {self.owner.describe()}"


def list_at(stager: Stager, tensor: Tensor, index: Staged, node: ast.Subscript) -> CellList | None:
    """`x[i]` where all dimensions but that of the lists are given; None for other indices and fields."""
    cells = tensor.array.cells
    if cells is None or not cells.is_list or cells.is_own or index.is_none():
        return None
    parts = (index,) if index.is_number() else index.sequence(stager, node)
    lists = sorted({axis for axis, *_ in cells.terms[:-1]})
    if len(parts) != len(lists) or len(parts) >= tensor.ndim:
        return None
    offset = [tensor.array.offset[axis] for axis in lists]
    at = [as_index(stager, part.unforced(), node.slice) for part in parts]
    with stager.unwritten():
        at = [
            each if first == 0 else stager.emit("sub", i64, (convert(stager, each, i64), constant(first, i64)))
            for each, first in zip(at, offset, strict=True)
        ]
    return CellList(tensor, tuple(at))
