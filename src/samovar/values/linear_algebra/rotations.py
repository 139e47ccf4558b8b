"""Jacobi rotations, which zero an element or make two columns orthogonal. Kernels compile the same source.

Callers scale the matrix first, so that squares do not overflow and underflow is negligible.
"""

from __future__ import annotations

from samovar._native import DType, f64
from samovar.language import TABLED, cast, clamp, select, static
from samovar.values.linear_algebra.products import dot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, magnitude, maximum, sqrt = TABLED["copysign"], TABLED["abs"], TABLED["max"], TABLED["sqrt"]


def rounds(dtype: DType) -> int:
    """The number of Jacobi sweeps over all pairs of a 3×3 matrix: after two sweeps, each one squares the remaining error."""
    return 6 if dtype is f64 else 4


def unit(dtype: DType) -> float:
    """The machine epsilon: the distance from 1 to the next number."""
    return {16: 2.0**-10, 32: 2.0**-23, 64: 2.0**-52}[dtype.bits]


def least_normal(dtype: DType) -> float:
    """The smallest number with a finite reciprocal: kernels may divide by multiplying with it."""
    return {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}[dtype.bits]


def size_of(A: Any) -> Any:
    """The largest magnitude of an element, at least the smallest safe divisor: dividing by it makes elements at most 1."""
    return maximum(magnitude(A).max(), cast(static(least_normal(A.dtype)), A.dtype))


def direction(a: Any, otherwise: Any) -> Any:
    """The unit vector in the direction of another one, however small; `otherwise` for a zero vector."""
    scaled = a / size_of(a)
    square = dot(scaled, scaled)
    is_zero = square == 0
    return select(is_zero, otherwise, scaled / sqrt(select(is_zero, 1, square)))


def rotation(first: Any, both: Any, second: Any) -> Any:
    """The cosine, sine and tangent of the rotation that makes the symmetric matrix [[first, both], [both, second]] diagonal.

    The diagonal is then `first - tangent * both` and `second + tangent * both`.
    """
    difference = second - first
    denominator = difference + copysign(sqrt(difference * difference + 4 * both * both), difference)
    # At most 1, except where squares underflow.
    tangent = clamp(2 * both / select(denominator == 0, 1, denominator), -1, 1)
    cosine = 1 / sqrt(1 + tangent * tangent)
    return cosine, cosine * tangent, tangent


def inverse_gap(gap: Any, largest: Any, dtype: DType) -> Any:
    """The reciprocal of a difference, infinite for one that may be zero but for rounding errors of the largest value."""
    return 1 / select(magnitude(gap) <= largest * static(8 * unit(dtype)), 0, gap)
