"""One row of the table: a problem, and the loop that solves it in C, in Samovar and in Numba.

The problem, the two Python texts and the C source of a family stand next to each other, so that they can be compared.
Numba's functions are plain here; they are compiled where Numba is installed (`contenders.with_numba`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from problems import Array, Arrays, Problem, aligned, filled

#: Limits of `posed` for integers and for double precision.
EXACT = {"relative": 0.0, "absolute": 0.0}
DOUBLE = {"relative": 1e-9, "absolute": 1e-9}


@dataclass(frozen=True)
class Entry:
    """`layout` is what the C function of the same name takes (see `contenders.with_c`); `names` what the others take.

    `serial` loops run in order on one thread everywhere: `sv.kernel(serial=True)`, plain `njit`, C without OpenMP.
    """

    problem: Callable[[float], Problem]
    layout: str
    names: str
    samovar: Callable[..., None]
    numba: Callable[..., None]
    serial: bool = False


def posed(
    name: str,
    arrays: Arrays,
    outputs: str,
    reference: Callable[[], Arrays],
    scalars: dict[str, int | float] | None = None,
    **limits: float,
) -> Problem:
    """A problem whose result is compared to about single precision."""
    limits = {"relative": 1e-4, "absolute": 1e-4, **limits}
    return Problem(name, arrays, scalars or {}, tuple(outputs.split()), reference, **limits)


def random_floats(low: float, high: float, shape: int | tuple[int, ...], seed: int, dtype: str = "f4") -> Array:
    return filled((low + (high - low) * np.random.default_rng(seed).random(shape)).astype(dtype))


def random_integers(low: int, high: int, shape: int | tuple[int, ...], seed: int, dtype: str = "i4") -> Array:
    return filled(np.random.default_rng(seed).integers(low, high, shape, dtype=dtype))


def zeros(shape: int | tuple[int, ...], dtype: str = "f4") -> Array:
    return aligned(shape, dtype)


def side(scale: float, full: int) -> int:
    """The length of the side of a square whose area is scaled."""
    return int(scale**0.5 * full)
