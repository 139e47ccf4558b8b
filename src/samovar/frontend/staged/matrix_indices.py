"""Which entries of a vector or matrix an index, a slice or a swizzle means."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, NoReturn

from samovar.frontend.operators import as_index, whole_number
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items, Slice
from samovar.ir import Value

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager

#: An index that is known, or a run-time value.
Index = int | Value
#: Along one axis: one index, or several that are known.
Selector = Index | range

#: The letters of swizzles, in sets that do not mix.
SWIZZLES = ("xyzw", "rgba", "stpq", "uv")


def swizzle(shape: tuple[int, ...], name: str) -> tuple[int, ...] | None:
    """The entries that letters name, None if they are no swizzle of such a vector."""
    if len(shape) != 1 or not 1 <= len(name) <= 4:
        return None
    for letters in SWIZZLES:
        places = tuple(letters.find(letter) for letter in name)
        if all(0 <= place < shape[0] for place in places):
            return places
    return None


def is_swizzle(name: str) -> bool:
    """Do letters name entries, of a vector that is long enough?"""
    return len(name) <= 4 and any(set(name) <= set(letters) for letters in SWIZZLES)


def entry_names(shape: tuple[int, ...]) -> str:
    """How the entries of a vector or matrix are named, for a message."""
    if len(shape) != 1:
        return "the entries of a matrix have indices: `m[i, j]`"
    if shape[0] > len(SWIZZLES[0]):
        return f"the entries of a vector of {shape[0]} have indices: `v[i]`"
    spelled = [", ".join(letters[: shape[0]]) for letters in SWIZZLES[:2]]
    return f"its entries are {spelled[0]} (or {spelled[1]})"


def selectors(stager: Stager, shape: tuple[int, ...], index: Staged, node: ast.Subscript) -> list[Selector]:
    """What is selected along each axis; of an axis that the index does not name, everything."""
    parts = index.items if isinstance(index, Items) else (index,)
    if len(parts) > len(shape):
        axes = "one axis" if len(shape) == 1 else "two axes"
        stager.fail_axes(node, f"{len(parts)} indices are given, and there is {axes}")
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
        stager.fail_axes(node, f"index {known} is out of bounds: there are {extent} entries along this axis")
    return int(known)


def sliced(stager: Stager, extent: int, wanted: slice, node: ast.AST) -> range:
    """The entries that a slice means."""
    for bound in (wanted.start, wanted.stop):
        if bound is not None and bound < 0:
            fail_negative(stager, extent, bound, node)
    places = range(extent)[wanted]
    if not places:
        stager.fail_type(node, f"this slice has no entries: there are {extent} along this axis")
    return places


def fail_negative(stager: Stager, extent: int, index: int, node: ast.AST) -> NoReturn:
    stager.fail_type(
        node,
        f"index {index} is out of bounds: negative indices do not count from the end in kernels",
        f"write {extent + index}" if index + extent >= 0 else None,
    )


def selected(chosen: list[Selector]) -> tuple[tuple[int, ...], list[tuple[Index, ...]]]:
    """The shape of what is selected (none for a single entry), and the indices of its entries."""
    shape = tuple(len(each) for each in chosen if isinstance(each, range))
    columns: list[tuple[Index, ...]] = [tuple(each) if isinstance(each, range) else (each,) for each in chosen]
    return shape, list(itertools.product(*columns))
