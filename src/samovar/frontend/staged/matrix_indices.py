"""The elements of a vector or matrix that an index, a slice or a swizzle selects."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, NoReturn

from samovar.frontend.operators import as_index, whole_number
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Slice
from samovar.ir import Value

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager

#: A compile-time index, or a run-time value.
Index = int | Value
#: Along one dimension: one index, or several known ones.
Selector = Index | range

#: The letters of swizzles, in groups that do not mix.
SWIZZLES = ("xyzw", "rgba", "stpq", "uv")


def swizzle(shape: tuple[int, ...], name: str) -> tuple[int, ...] | None:
    """The components that a swizzle names; None if it is not a swizzle of such a vector."""
    if len(shape) != 1 or not 1 <= len(name) <= 4:
        return None
    for letters in SWIZZLES:
        places = tuple(letters.find(letter) for letter in name)
        if all(0 <= place < shape[0] for place in places):
            return places
    return None


def is_swizzle(name: str) -> bool:
    """Whether a name is a swizzle of a sufficiently long vector."""
    return len(name) <= 4 and any(set(name) <= set(letters) for letters in SWIZZLES)


def entry_names(shape: tuple[int, ...]) -> str:
    """How to access the elements of a vector or matrix, for messages."""
    if len(shape) != 1:
        return "use indices for the elements of a matrix: `m[i, j]`"
    if shape[0] > len(SWIZZLES[0]):
        return f"use indices for the components of a vector of {shape[0]}: `v[i]`"
    spelled = [", ".join(letters[: shape[0]]) for letters in SWIZZLES[:2]]
    return f"its components are {spelled[0]} (or {spelled[1]})"


def selectors(stager: Stager, shape: tuple[int, ...], index: Staged, node: ast.Subscript) -> list[Selector]:
    """The selection along each dimension; everything for dimensions that are not indexed."""
    given = index.items if isinstance(index, Items) else (index,)
    # As for arrays, a vector is several indices.
    parts = [each for part in given for each in (part.sequence(stager, node) if part.is_elementwise() else (part,))]
    if len(parts) > len(shape):
        stager.fail_axes(node, f"a {len(shape)}-dimensional value was indexed with {len(parts)} indices")
    chosen = [selector(stager, extent, part, node) for extent, part in zip(shape, parts, strict=False)]
    return [*chosen, *(range(extent) for extent in shape[len(parts) :])]


def selector(stager: Stager, extent: int, part: Staged, node: ast.Subscript) -> Selector:
    if isinstance(part, Slice):
        return sliced(stager, extent, part.known(stager, node), node)
    known = part.number()
    if known is None:
        return as_index(stager, part, node)
    if not isinstance(known, int):
        stager.fail_type(node, f"an index must be an integer, got {known!r}", whole_number(node))
    if known < 0:
        fail_negative(stager, extent, known, node)
    if known >= extent:
        stager.fail_axes(node, f"index {known} is out of bounds: this dimension has {extent} elements")
    return int(known)


def sliced(stager: Stager, extent: int, wanted: slice, node: ast.AST) -> range:
    """The elements that a slice selects."""
    for bound in (wanted.start, wanted.stop):
        if bound is not None and bound < 0:
            fail_negative(stager, extent, bound, node)
    places = range(extent)[wanted]
    if not places:
        stager.fail_type(node, f"this slice is empty: this dimension has {extent} elements")
    return places


def fail_negative(stager: Stager, extent: int, index: int, node: ast.AST) -> NoReturn:
    stager.fail_type(
        node,
        f"index {index} is out of bounds: negative indices are not supported in kernels",
        f"write {extent + index}" if index + extent >= 0 else None,
    )


def selected(chosen: list[Selector]) -> tuple[tuple[int, ...], list[tuple[Index, ...]]]:
    """The shape of the selection (() for a single element), and the indices of its elements."""
    shape = tuple(len(each) for each in chosen if isinstance(each, range))
    columns: list[tuple[Index, ...]] = [tuple(each) if isinstance(each, range) else (each,) for each in chosen]
    return shape, list(itertools.product(*columns))
