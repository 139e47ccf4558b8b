"""The distance of a calculated value from the exact one in units in the last place, against mpmath.

Many points are screened in the next wider format first; the worst of them are then judged by mpmath alone, so that
the maximum reported is exact for its point and found among very many.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from math_functions import PRECISION

WORST = 48

WIDER = {np.dtype(np.float16): np.float64, np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


@dataclass(frozen=True)
class Measure:
    """The largest error over all points with a normal result, where it was, and the special values that are off."""

    ulp: float
    where: tuple[float, ...]
    specials: tuple[str, ...]


def exact_ulp(found: float, wanted: Any, dtype: np.dtype) -> float:
    """|found - wanted| over the spacing of the format at `wanted`."""
    format_ = np.finfo(dtype)
    if wanted == 0:
        exponent = int(format_.minexp)
    else:
        exponent = max(int(mpmath.floor(mpmath.log(abs(wanted), 2))), int(format_.minexp))
    spacing = mpmath.mpf(2) ** (exponent - int(format_.nmant))
    return float(abs(mpmath.mpf(float(found)) - wanted) / spacing)


def screen(found: np.ndarray, wanted: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The ULP of each point, as well as the wider format can tell; 0 where the result is not a normal number."""
    format_ = np.finfo(dtype)
    with np.errstate(all="ignore"):
        size = np.abs(wanted)
        normal = (size >= format_.smallest_normal) & (size <= format_.max)
        _, exponent = np.frexp(np.where(normal, size, 1))
        spacing = np.ldexp(np.ones_like(wanted), np.maximum(exponent - 1, format_.minexp) - format_.nmant)
        error = np.abs(found.astype(wanted.dtype) - wanted) / spacing
        # An infinity or a NaN where a number belongs is no rounding error but a wrong special value.
        return np.where(normal & np.isfinite(found), error, 0)


def measure(
    found: np.ndarray,
    arguments: tuple[np.ndarray, ...],
    wider: Callable[..., np.ndarray],
    exact: Callable[..., Any],
    signed_zero: bool,
) -> Measure:
    """The measure of `found`, which is a function of `arguments`, all of one format."""
    dtype = found.dtype
    with np.errstate(all="ignore"):
        wanted = wider(*(argument.astype(WIDER[dtype]) for argument in arguments))
    errors = screen(found, wanted, dtype)
    worst, where = 0.0, tuple(float(argument[0]) for argument in arguments)
    with mpmath.workprec(PRECISION):
        suspects = np.argsort(errors)[-WORST:]
        for index in suspects[errors[suspects] > 0]:
            point = tuple(float(argument[index]) for argument in arguments)
            value = exact(*(mpmath.mpf(number) for number in point))
            error = exact_ulp(float(found[index]), value, dtype)
            if error > worst:
                worst, where = error, point
    return Measure(worst, where, special_differences(found, arguments, wanted, signed_zero))


def special_differences(
    found: np.ndarray, arguments: tuple[np.ndarray, ...], wanted: np.ndarray, signed_zero: bool
) -> tuple[str, ...]:
    """One line per kind of special value that is not what IEEE 754 (as NumPy has it) gives."""
    format_ = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = wanted.astype(found.dtype)
        apart = np.abs(found - rounded)
    subnormal = (rounded != 0) & (np.abs(rounded) < format_.smallest_normal)
    # A result that rounds to the largest number or just past it may be either.
    brink = np.isfinite(wanted) & (np.abs(wanted) >= format_.max * (1 - 2.0 ** (2 - format_.nmant)))
    kinds = {
        "NaN": np.isnan(rounded) != np.isnan(found),
        "infinity": (np.isinf(rounded) != np.isinf(found)) & ~np.isnan(rounded) & ~np.isnan(found) & ~brink,
        "sign of infinity": np.isinf(rounded) & np.isinf(found) & (np.sign(rounded) != np.sign(found)),
        "subnormal result": subnormal & (apart > 16 * format_.smallest_subnormal),
        "zero result": (rounded == 0) & np.isfinite(found) & (np.abs(found) > 4 * format_.smallest_subnormal),
    }
    if signed_zero:
        kinds["sign of zero"] = (rounded == 0) & (found == 0) & (np.signbit(rounded) != np.signbit(found))
    lines = []
    for kind, off in kinds.items():
        if np.any(off):
            index = int(np.flatnonzero(off)[0])
            point = ", ".join(f"{float(argument[index]):.9g}" for argument in arguments)
            lines.append(f"{kind}: at ({point}) {float(found[index]):g} instead of {float(rounded[index]):g}")
    return tuple(lines)
