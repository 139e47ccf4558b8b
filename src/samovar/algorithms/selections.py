"""Selections from whole arrays, as new ones."""

from __future__ import annotations

from typing import Any

from samovar._native import Ndarray, plain_api_boundary, select_elements, sort_elements, u1
from samovar.algorithms.operands import copied, described, is_plain


@plain_api_boundary
def unique(a: Any) -> Ndarray:
    """The distinct elements, sorted, as a new array. All NaNs count as equal, and so do 0.0 and -0.0.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 5)
    >>> a[3] = 7
    >>> sv.algorithms.unique(a)
    ndarray([0, 7], dtype=i32, shape=(2,))
    """
    work = copied(a)
    sort_elements(work, None)
    return select_elements(work, None)


@plain_api_boundary
def compact(a: Any, mask: Any) -> Ndarray:
    """The elements where a mask of the same shape is not 0, in order, as a new array.

    >>> import samovar as sv
    >>> a, mask = sv.ndarray(sv.f32, 4), sv.ndarray(sv.u1, 4)
    >>> a[2], mask[0], mask[2] = 5, True, True
    >>> sv.algorithms.compact(a, mask)
    ndarray([0.0, 5.0], dtype=f32, shape=(2,))
    """
    shape, _ = described(a)
    if described(mask)[0] != shape:
        raise ValueError(f"compact: the array has shape {shape}, but the mask has shape {described(mask)[0]}")
    marks = mask
    if not is_plain(mask, u1):
        marks = Ndarray(u1, shape)
        marks.copy_from(mask)
    return select_elements(a if is_plain(a) else copied(a), marks)
