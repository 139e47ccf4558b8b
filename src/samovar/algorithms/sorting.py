"""Sorting of whole arrays."""

from __future__ import annotations

from typing import Any

from samovar._native import disjoint, plain_api_boundary, sort_elements
from samovar.algorithms.operands import copied, described, is_plain, stored


@plain_api_boundary
def parallel_sort(keys: Any, values: Any = None) -> None:
    """Sort keys in place, and values along with them. The sort is stable: values of equal keys keep their order.

    NaN comes last, and -0.0 before 0.0.

    >>> import samovar as sv
    >>> keys, values = sv.ndarray(sv.f32, 3), sv.ndarray(sv.i32, 3)
    >>> for i in range(3):
    ...     keys[i], values[i] = -i, i
    >>> sv.algorithms.parallel_sort(keys, values)
    >>> list(values)
    [2, 1, 0]
    """
    shape, _ = described(keys)
    if values is not None and described(values)[0] != shape:
        raise ValueError(f"parallel_sort: the keys have shape {shape}, but the values have shape {described(values)[0]}")
    if values is not None and is_plain(keys) and is_plain(values) and not disjoint((keys, values), ()):
        raise ValueError("parallel_sort: the keys and the values overlap in memory")
    sorted_keys = keys if is_plain(keys) else copied(keys)
    sorted_values = values if values is None or is_plain(values) else copied(values)
    sort_elements(sorted_keys, sorted_values)
    for each, done in ((keys, sorted_keys), (values, sorted_values)):
        if done is not each:
            stored(each, done)
