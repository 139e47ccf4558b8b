"""Functions on the cells of sparse fields: compiled in kernels, and for single cells in plain Python."""

from __future__ import annotations

from samovar.language.functions import REGISTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def _root(function: _Function) -> _Function:
    """Register a function as a name of `sv`."""
    REGISTRY[f"samovar.{function.__name__}"] = function
    return function


def _cells(node: Any, name: str, lists: bool = False) -> Any:
    """The mask of a sparse node, or the lengths of the lists of a dynamic one."""
    cells = getattr(node, "cells", None)
    kind = getattr(node, "kind", "")
    if cells is None or kind in ("", "dense") or (lists and kind != "dynamic"):
        from samovar.errors import SamovarTypeError

        wanted = "a `dynamic` node" if lists else "a sparse node"
        raise SamovarTypeError(f"{name}() takes {wanted}, not {node!r}")
    return cells


def _key(indices: Any) -> Any:
    return indices if isinstance(indices, int) else tuple(int(index) for index in indices)


@_root
def activate(node: Any, indices: Any) -> None:
    """Activate a cell of a sparse node.

    >>> import samovar as sv
    >>> x = sv.field(sv.f32)
    >>> block = sv.root.pointer(sv.i, 8)
    >>> node = block.dense(sv.i, 4).place(x)
    >>> sv.activate(block, 3)
    >>> sv.is_active(block, 3)
    True
    """
    _cells(node, "activate")[_key(indices)] = True


@_root
def deactivate(node: Any, indices: Any) -> None:
    """Deactivate a cell of a sparse node: its elements become zero, and everything in it inactive. The list of a `dynamic`
    node becomes empty.

    >>> import samovar as sv
    >>> x = sv.field(sv.f32)
    >>> block = sv.root.pointer(sv.i, 8)
    >>> node = block.dense(sv.i, 4).place(x)
    >>> x[13] = 1
    >>> sv.deactivate(block, 3)
    >>> x[13]
    0.0
    """
    _cells(node, "deactivate")[_key(indices)] = 0


@_root
def is_active(node: Any, indices: Any) -> bool:
    """Whether a cell of a sparse node is active.

    >>> import samovar as sv
    >>> x = sv.field(sv.f32)
    >>> block = sv.root.pointer(sv.i, 8)
    >>> node = block.dense(sv.i, 4).place(x)
    >>> x[13] = 1
    >>> sv.is_active(block, 3), sv.is_active(block, 0)
    (True, False)
    """
    return bool(_cells(node, "is_active")[_key(indices)])


@_root
def append(node: Any, indices: Any, val: Any) -> int:
    """Append a value to a list of a `dynamic` node; returns the length before. In kernels also `x[i].append(val)`.

    >>> import samovar as sv
    >>> x = sv.field(sv.i32)
    >>> lists = sv.root.dense(sv.i, 4).dynamic(sv.j, 100).place(x)
    >>> sv.append(lists, 2, 7)
    0
    >>> x[2, 0], sv.length(lists, 2)
    (7, 1)
    """
    place = length(node, indices)
    field = node.element
    if field is None:
        from samovar.errors import SamovarTypeError

        raise SamovarTypeError("append() needs a node with one field: assign the elements of each field instead")
    key = _key(indices)
    at = list(key) if isinstance(key, tuple) else [key]
    at.insert(node.list_place, place)
    field[tuple(at)] = val
    return place


@_root
def length(node: Any, indices: Any) -> int:
    """The length of a list of a `dynamic` node. In kernels also `x[i].length()`.

    >>> import samovar as sv
    >>> x = sv.field(sv.i32)
    >>> lists = sv.root.dense(sv.i, 4).dynamic(sv.j, 100).place(x)
    >>> x[1, 4] = 5
    >>> sv.length(lists, 1)
    5
    """
    return int(_cells(node, "length", lists=True)[_key(indices)])


@_root
def rescale_index(a: Any, b: Any, I: Any) -> list[int]:
    """The index of a cell of `b` that contains the element (or is contained in the cell) `I` of `a`: fields or nodes.

    >>> import samovar as sv
    >>> x = sv.field(sv.f32)
    >>> block = sv.root.pointer(sv.ij, 8)
    >>> node = block.dense(sv.ij, 4).place(x)
    >>> sv.rescale_index(x, block, [13, 6])
    [3, 1]
    """
    found = []
    for axis, index in enumerate([I] if isinstance(I, int) else I):
        number = int(index)
        if axis < len(b.shape):
            source, target = a.shape[axis], b.shape[axis]
            number = number // (source // target) if source > target else number * (target // source)
        found.append(number)
    return found
