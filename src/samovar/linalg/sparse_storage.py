"""How sparse matrices are stored: by SciPy, or without it as dense NumPy matrices."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import samovar as sv
from samovar._native import Tensor
from samovar.errors import SamovarError

#: Without SciPy, matrices of up to this many elements are stored dense.
_MOST_PLACES = 1 << 24


def scipy_module(name: str) -> Any:
    """A module of SciPy; None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def dense_zeros(shape: tuple[int, int]) -> Any:
    """A dense NumPy matrix of zeros, used if SciPy is not installed."""
    import numpy

    if shape[0] * shape[1] > _MOST_PLACES:
        raise SamovarError(
            f"sparse matrices of {shape[0]} × {shape[1]} need SciPy: install it (pip install scipy), or use CG or BiCGSTAB"
        )
    sv.runtime.say_once("SciPy is not installed: sparse matrices are stored as dense ones")
    return numpy.zeros(shape)


def like(given: Any, found: Any) -> Any:
    """A vector as an `sv.ndarray`, if the given one is."""
    if not isinstance(given, Tensor):
        return found
    made = sv.ndarray(given.dtype, found.shape)
    made.copy_from(found)
    return made
