"""One list of a `dynamic` node in a kernel: `x[i]`, or `x` if there is only one, with the methods `append`, `length` and
`deactivate`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar._native import i64
from samovar.frontend.operators import as_index
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged

if TYPE_CHECKING:
    from samovar.frontend.staged.struct_tensor import StructTensor
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Stager
    from samovar.ir import Value

METHODS = ("append", "deactivate", "length")


class CellList(Staged):
    """A list: the field of its elements, which may be structs, and the indices of the list, counted from 0."""

    __slots__ = ("at", "elements")

    advice = "call one of its methods: append, length, deactivate; or read an element with all indices"

    def __init__(self, elements: Tensor | StructTensor, at: tuple[Value, ...]) -> None:
        self.elements = elements
        self.at = at

    @property
    def tensor(self) -> Tensor:
        """The field, or one for a member of the structs."""
        return self.elements.first

    def describe(self) -> str:
        return f"a list of `{self.elements.name}`"

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


def only_list(elements: Tensor | StructTensor) -> CellList | None:
    """The list of a field that has only one."""
    cells = elements.first.array.cells
    is_list = cells is not None and cells.is_list and not cells.is_own and len(cells.terms) == 1
    return CellList(elements, ()) if is_list else None


def list_at(stager: Stager, elements: Tensor | StructTensor, index: Staged, node: ast.Subscript) -> CellList | None:
    """`x[i]` where all dimensions but that of the lists are given; None for other indices and fields."""
    array, ndim = elements.first.array, elements.ndim
    cells = array.cells
    if cells is None or not cells.is_list or cells.is_own or index.is_none():
        return None
    parts = (index,) if index.is_number() else index.sequence(stager, node)
    lists = sorted({axis for axis, *_ in cells.terms[:-1]})
    if len(parts) != len(lists) or len(parts) >= ndim:
        return None
    offset = [array.offset[axis] for axis in lists]
    at = [as_index(stager, part.unforced(), node.slice) for part in parts]
    with stager.unwritten():
        at = [
            each if first == 0 else stager.emit("sub", i64, (convert(stager, each, i64), constant(first, i64)))
            for each, first in zip(at, offset, strict=True)
        ]
    return CellList(elements, tuple(at))
