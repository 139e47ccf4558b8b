"""`prange` of Numba, or where that is not installed, the name alone: nothing calls it then."""

try:
    from numba import prange
except ImportError:
    prange = range

__all__ = ["prange"]
