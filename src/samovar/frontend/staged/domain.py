"""The domain of a loop over a sparse field: its active cells, and the elements in each."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.lens import Kind

if TYPE_CHECKING:
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Stager
    from samovar.ir import Array

#: Cells with fewer elements are found by testing the mask in the cells of the node above, if these have at most so many.
FEW_ELEMENTS, MANY_ELEMENTS = 16, 4096


@dataclass(frozen=True)
class Digit:
    """A part of an index of the loop: `step` times a number below `extent`. In a number of a cell it has a `factor`; as a
    loop of its own it moves by `stride` elements."""

    axis: int
    extent: int
    step: int
    factor: int = 0
    stride: int = 0


@dataclass(frozen=True)
class Domain:
    """The elements of a sparse field that a loop runs over: the active cells of `listed`, whose numbers have the digits
    `listed_digits` (all of them if it is None), and in each cell the digits `inner`.

    With a `mask`, only elements whose cell is active there; its indices are those of the loop, each divided by a number.
    In a field of lists, the position in a list of the current length is one more digit, with `below` for each element.
    """

    field: Array
    listed: Array | None
    listed_digits: tuple[Digit, ...]
    inner: tuple[Digit, ...]
    mask: Tensor | None = None
    mask_axes: tuple[tuple[int, int], ...] = ()
    position: Digit | None = None
    below: tuple[Digit, ...] = ()


def cell_space(tensor: Tensor, stager: Stager, node: ast.AST) -> Space:
    """The space of a loop over a sparse field or node."""
    array = tensor.array
    cells = array.cells
    assert cells is not None
    assert array.layout is not None
    if cells.is_own and cells.is_list:
        stager.fail_type(node, "a `dynamic` node cannot be looped over", "loop over a field that is placed in it")
    digits = [Digit(*term) for term in (_as_digit(term) for term in cells.terms)]
    above = _above(tensor, stager, node)
    domain = _of_lists(tensor, digits, above) if cells.is_list else _of_cells(tensor, digits, above)
    first, extents = array.offset[: tensor.ndim], array.extents[: tensor.ndim]
    axes = tuple(Axis(Static(low), Static(low + (length or 0))) for low, length in zip(first, extents, strict=True))
    return Space(axes, tuple_of_axes=tensor.ndim != 1, domain=domain)


def _as_digit(term: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    axis, divisor, modulus, factor = term
    return axis, modulus, divisor, factor


def _above(tensor: Tensor, stager: Stager, node: ast.AST) -> tuple[Tensor, Tensor | None] | None:
    """The masks of the nearest sparse node above, and of the one above that."""
    assert tensor.array.cells is not None
    if tensor.ref is None or tensor.array.cells.is_own:
        return None
    own = tensor.ref.attribute("cells")
    outer = own.attribute("above")
    found = [cast("Tensor", stager.open(each, node)) for each in (own, outer) if each.kind() is Kind.TENSOR]
    return found[0], found[1] if len(found) == 2 else None


def _of_cells(tensor: Tensor, digits: list[Digit], above: tuple[Tensor, Tensor | None] | None) -> Domain:
    array = tensor.array
    size = prod(extent or 1 for extent in array.extents[: tensor.ndim])
    few = size // prod(digit.extent for digit in digits) < FEW_ELEMENTS
    outer = above[1] if above is not None else None
    if few and above is not None and outer is not None:
        assert outer.array.cells is not None
        count = len(outer.array.cells.terms)
        if size // prod(digit.extent for digit in digits[:count]) <= MANY_ELEMENTS:
            used = sorted({digit.axis for digit in digits})
            divided = tuple((axis, _inside(tensor, digits, axis)) for axis in used)
            inner = _inner(tensor, digits[:count])
            return Domain(array, outer.array, _renumbered(digits[:count]), inner, above[0], divided)
    return Domain(array, array, tuple(digits), _inner(tensor, digits))


def _of_lists(tensor: Tensor, digits: list[Digit], above: tuple[Tensor, Tensor | None] | None) -> Domain:
    *lists, position = digits
    outer = above[1] if above is not None else None
    count = 0
    if outer is not None:
        assert outer.array.cells is not None
        count = len(outer.array.cells.terms)
    listed = None if outer is None else outer.array
    return Domain(
        tensor.array, listed, _renumbered(lists[:count]), tuple(lists[count:]), position=position,
        below=_inner(tensor, digits),
    )  # fmt: skip


def _renumbered(digits: list[Digit]) -> tuple[Digit, ...]:
    """Digits of a number that consists of them alone."""
    factor, found = 1, []
    for digit in reversed(digits):
        found.append(Digit(digit.axis, digit.extent, digit.step, factor))
        factor *= digit.extent
    return tuple(reversed(found))


def _inside(tensor: Tensor, digits: list[Digit], axis: int) -> int:
    """How many indices of a dimension are in one combination of digits."""
    return min((digit.step for digit in digits if digit.axis == axis), default=tensor.array.extents[axis] or 1)


def _inner(tensor: Tensor, digits: list[Digit]) -> tuple[Digit, ...]:
    """The digits of an element in its cell, in memory order."""
    assert tensor.array.layout is not None
    found = []
    for axis, pieces in enumerate(tensor.array.layout[: tensor.ndim]):
        left, step = _inside(tensor, digits, axis), 1
        for extent, stride in reversed(pieces):
            taken = min(extent, left)
            if taken > 1:
                found.append(Digit(axis, taken, step, stride=stride))
            left, step = left // taken, step * taken
    return tuple(sorted(found, key=lambda digit: -digit.stride))
