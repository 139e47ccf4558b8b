"""Rotations that make an entry vanish, or two columns orthogonal: a step of what iterates. Kernels compile the same text.

Whoever uses them has scaled the matrix, so that squares do not overflow, and those that vanish do not count.
"""

from __future__ import annotations

from samovar._native import DType, f64
from samovar.language.functions import cast, select, static
from samovar.language.linear_algebra.products import dot
from samovar.language.mathematics import TABLED, clamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, magnitude, maximum, sqrt = TABLED["copysign"], TABLED["abs"], TABLED["max"], TABLED["sqrt"]


def rounds(dtype: DType) -> int:
    """How often all pairs of a 3×3 matrix are rotated: after the first two rounds, each one squares what is left."""
    return 6 if dtype is f64 else 4


def unit(dtype: DType) -> float:
    """The distance of 1 to the next number."""
    return {16: 2.0**-10, 32: 2.0**-23, 64: 2.0**-52}[dtype.bits]


def least_normal(dtype: DType) -> float:
    """The least number of which the reciprocal is finite: kernels may divide by multiplying with it."""
    return {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}[dtype.bits]


def size_of(A: Any) -> Any:
    """The largest magnitude of an entry, or the least one that can be divided by: then entries are up to 1."""
    return maximum(magnitude(A).max(), cast(static(least_normal(A.dtype)), A.dtype))


def direction(a: Any, otherwise: Any) -> Any:
    """A vector of length 1 in the direction of another one, however small that is; of zeros, one that is given."""
    scaled = a / size_of(a)
    square = dot(scaled, scaled)
    is_zero = square == 0
    return select(is_zero, otherwise, scaled / sqrt(select(is_zero, 1, square)))


def rotation(first: Any, both: Any, second: Any) -> Any:
    """Cosine, sine and tangent of the rotation that makes the symmetric matrix [[first, both], [both, second]] diagonal.

    The diagonal is then `first - tangent * both` and `second + tangent * both`.
    """
    difference = second - first
    denominator = difference + copysign(sqrt(difference * difference + 4 * both * both), difference)
    # No more than 1, but for squares that vanish.
    tangent = clamp(2 * both / select(denominator == 0, 1, denominator), -1, 1)
    cosine = 1 / sqrt(1 + tangent * tangent)
    return cosine, cosine * tangent, tangent
