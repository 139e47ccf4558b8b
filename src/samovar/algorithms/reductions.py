"""Reductions of whole arrays to a number or a position."""

from __future__ import annotations

from typing import Any

from samovar._native import extreme_element, plain_api_boundary, sum_elements
from samovar.algorithms.operands import readable
from samovar.errors import not_one_of


@plain_api_boundary
def reduce(a: Any, operation: str = "add") -> Any:
    """Reduce all elements with "add", "mul", "min" or "max" to a Python number.

    Sums and products of integers are computed modulo 2^64, those of floats in f64.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i8, 1000)
    >>> a.fill(100)
    >>> sv.algorithms.reduce(a)
    100000
    """
    if operation in ("min", "max"):
        return _extreme(a, operation == "max")[1]
    if operation not in ("add", "mul"):
        raise ValueError(not_one_of("reduce(a, operation)", operation, ("add", "mul", "min", "max")))
    return sum_elements(readable(a), operation == "mul")


@plain_api_boundary
def min(a: Any) -> Any:
    """The smallest element; NaN if there is one.

    >>> import samovar as sv
    >>> sv.algorithms.min(sv.ndarray(sv.f32, 3))
    0.0
    """
    return _extreme(a, False)[1]


@plain_api_boundary
def max(a: Any) -> Any:
    """The largest element; NaN if there is one.

    >>> import samovar as sv
    >>> sv.algorithms.max(sv.ndarray(sv.f32, 3))
    0.0
    """
    return _extreme(a, True)[1]


@plain_api_boundary
def argmin(a: Any) -> int:
    """The position of the first smallest element in C order, from 0. NaN counts as smaller than everything.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 3)
    >>> a[1] = -2
    >>> sv.algorithms.argmin(a)
    1
    """
    return _extreme(a, False)[0]


@plain_api_boundary
def argmax(a: Any) -> int:
    """The position of the first largest element in C order, from 0. NaN counts as larger than everything.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 3)
    >>> a[1] = 2
    >>> sv.algorithms.argmax(a)
    1
    """
    return _extreme(a, True)[0]


def _extreme(a: Any, greatest: bool) -> tuple[int, Any]:
    return extreme_element(readable(a), greatest)
