"""Rotations that make an entry vanish, or two columns orthogonal: a step of what iterates. Kernels compile the same text.

Whoever uses them has scaled the matrix, so that squares do not overflow, and those that vanish do not count.
"""

from __future__ import annotations

from samovar._native import DType, f64
from samovar.language.functions import select
from samovar.language.mathematics import TABLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, magnitude, sqrt = TABLED["copysign"], TABLED["abs"], TABLED["sqrt"]


def rounds(dtype: DType) -> int:
    """How often all pairs of a 3×3 matrix are rotated: after the first two rounds, each one squares what is left."""
    return 6 if dtype is f64 else 4


def size_of(A: Any) -> Any:
    """The largest magnitude of an entry, 1 if all are 0: dividing by it leaves entries up to 1."""
    size = magnitude(A).max()
    return select(size == 0, 1, size)


def rotation(first: Any, both: Any, second: Any) -> Any:
    """Cosine, sine and tangent of the rotation that makes the symmetric matrix [[first, both], [both, second]] diagonal.

    The diagonal is then `first - tangent * both` and `second + tangent * both`.
    """
    difference = second - first
    denominator = difference + copysign(sqrt(difference * difference + 4 * both * both), difference)
    tangent = 2 * both / select(denominator == 0, 1, denominator)
    cosine = 1 / sqrt(1 + tangent * tangent)
    return cosine, cosine * tangent, tangent
