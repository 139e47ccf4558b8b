"""Determinants and adjugates of matrices up to 4×4 in closed form. Kernels compile the same source.

A 2×2 minor is a difference of products; rounding the products first would lose all digits of a small one. In a dtype of
twice the size the products are exact, so 16-bit and 32-bit numbers are made `wider`. For 64-bit numbers, fused multiply-add
makes a minor accurate to the last digit or two, so that results are as accurate as the matrix allows.
"""

from __future__ import annotations

from samovar._native import DType, f16, f32, f64
from samovar.language import TABLED
from samovar.values.matrices import Matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

fma, magnitude = TABLED["fma"], TABLED["abs"]


def wider(dtype: DType) -> DType:
    """The dtype in which products of two numbers are exact, and those of four are in range; at most f64."""
    return f32 if dtype is f16 else f64


def minor(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a * d - b * c, accurate to the last digit or two."""
    product = b * c
    rest = fma(-b, c, product)
    return fma(a, d, -product) + rest


def exact_minor(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a * d - b * c, for numbers whose products are exact."""
    return a * d - b * c


def adjugate_2(A: Any, minor_of: Any) -> Any:
    """The adjugate, the determinant, and the sum of the magnitudes of its terms, by one of both minors."""
    adjugate = Matrix([[A[1, 1], -A[0, 1]], [-A[1, 0], A[0, 0]]], A.dtype)
    determinant = minor_of(A[0, 0], A[0, 1], A[1, 0], A[1, 1])
    return adjugate, determinant, magnitude(determinant)


def adjugate_3(A: Any, minor_of: Any) -> Any:
    """The same for a 3×3 matrix. Its elements are minors and accurate to the last digits, so cancellation is harmless."""
    adjugate = Matrix(
        [
            [
                minor_of(A[1, 1], A[1, 2], A[2, 1], A[2, 2]),
                minor_of(A[2, 1], A[2, 2], A[0, 1], A[0, 2]),
                minor_of(A[0, 1], A[0, 2], A[1, 1], A[1, 2]),
            ],
            [
                minor_of(A[1, 2], A[1, 0], A[2, 2], A[2, 0]),
                minor_of(A[2, 2], A[2, 0], A[0, 2], A[0, 0]),
                minor_of(A[0, 2], A[0, 0], A[1, 2], A[1, 0]),
            ],
            [
                minor_of(A[1, 0], A[1, 1], A[2, 0], A[2, 1]),
                minor_of(A[2, 0], A[2, 1], A[0, 0], A[0, 1]),
                minor_of(A[0, 0], A[0, 1], A[1, 0], A[1, 1]),
            ],
        ],
        A.dtype,
    )
    determinant = A[0, 0] * adjugate[0, 0] + A[0, 1] * adjugate[1, 0] + A[0, 2] * adjugate[2, 0]
    return adjugate, determinant, magnitude(determinant)


def adjugate_4(A: Any, minor_of: Any) -> Any:
    """The same for a 4×4 matrix, by the minors of the upper and the lower two rows."""
    u01, l01 = minor_of(A[0, 0], A[0, 1], A[1, 0], A[1, 1]), minor_of(A[2, 0], A[2, 1], A[3, 0], A[3, 1])
    u02, l02 = minor_of(A[0, 0], A[0, 2], A[1, 0], A[1, 2]), minor_of(A[2, 0], A[2, 2], A[3, 0], A[3, 2])
    u03, l03 = minor_of(A[0, 0], A[0, 3], A[1, 0], A[1, 3]), minor_of(A[2, 0], A[2, 3], A[3, 0], A[3, 3])
    u12, l12 = minor_of(A[0, 1], A[0, 2], A[1, 1], A[1, 2]), minor_of(A[2, 1], A[2, 2], A[3, 1], A[3, 2])
    u13, l13 = minor_of(A[0, 1], A[0, 3], A[1, 1], A[1, 3]), minor_of(A[2, 1], A[2, 3], A[3, 1], A[3, 3])
    u23, l23 = minor_of(A[0, 2], A[0, 3], A[1, 2], A[1, 3]), minor_of(A[2, 2], A[2, 3], A[3, 2], A[3, 3])
    adjugate = Matrix(
        [
            [
                A[1, 1] * l23 - A[1, 2] * l13 + A[1, 3] * l12,
                A[0, 2] * l13 - A[0, 1] * l23 - A[0, 3] * l12,
                A[3, 1] * u23 - A[3, 2] * u13 + A[3, 3] * u12,
                A[2, 2] * u13 - A[2, 1] * u23 - A[2, 3] * u12,
            ],
            [
                A[1, 2] * l03 - A[1, 0] * l23 - A[1, 3] * l02,
                A[0, 0] * l23 - A[0, 2] * l03 + A[0, 3] * l02,
                A[3, 2] * u03 - A[3, 0] * u23 - A[3, 3] * u02,
                A[2, 0] * u23 - A[2, 2] * u03 + A[2, 3] * u02,
            ],
            [
                A[1, 0] * l13 - A[1, 1] * l03 + A[1, 3] * l01,
                A[0, 1] * l03 - A[0, 0] * l13 - A[0, 3] * l01,
                A[3, 0] * u13 - A[3, 1] * u03 + A[3, 3] * u01,
                A[2, 1] * u03 - A[2, 0] * u13 - A[2, 3] * u01,
            ],
            [
                A[1, 1] * l02 - A[1, 0] * l12 - A[1, 2] * l01,
                A[0, 0] * l12 - A[0, 1] * l02 + A[0, 2] * l01,
                A[3, 1] * u02 - A[3, 0] * u12 - A[3, 2] * u01,
                A[2, 0] * u12 - A[2, 1] * u02 + A[2, 2] * u01,
            ],
        ],
        A.dtype,
    )
    outer, middle, inner = minor_of(u01, u02, l13, l23), minor_of(u03, u13, l02, l12), minor_of(u12, u23, -l01, l03)
    size = magnitude(u01 * l23) + magnitude(u02 * l13) + magnitude(u03 * l12)
    rest = magnitude(u12 * l03) + magnitude(u13 * l02) + magnitude(u23 * l01)
    return adjugate, outer + middle + inner, size + rest
