"""Determinants, inverses, and systems of linear equations. Kernels compile the same text."""

from __future__ import annotations

from samovar._native import f64
from samovar.language.functions import cast, library, static, static_assert
from samovar.language.linear_algebra.cofactors import adjugate_2, adjugate_3, adjugate_4, exact_minor, minor, wider
from samovar.language.linear_algebra.elimination import eliminated, factorised, inverse_by_factors, solved
from samovar.language.mathematics import TABLED
from samovar.language.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

magnitude = TABLED["abs"]


@library
def determinant(m: Any) -> Any:
    """The determinant, as a float. Up to 4×4 it is computed in closed form, beyond by elimination with pivots.

    >>> import samovar as sv
    >>> sv.math.determinant(sv.Matrix([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """
    static_assert(m.n == m.m, "`determinant` needs a square matrix")
    if static(m.n == 1):
        return (m / 1)[0, 0]
    if static(m.n <= 4):
        A = m / 1
        if static(wider(A.dtype) is A.dtype):
            return _adjugate(A, minor)[1]
        return cast(_adjugate(A.cast(static(wider(A.dtype))), exact_minor)[1], A.dtype)
    factors, _, sign = factorised(m / 1)
    product = factors[0, 0] * sign
    for k in range(1, m.n):
        product = product * factors[k, k]
    return product


@library
def inverse(mat: Any) -> Any:
    """The inverse. Of a singular matrix it is not finite.

    Up to 4×4 it is computed in closed form, of f32 in f64, of f64 unless that would overflow, vanish, or cancel out;
    beyond, and then, by elimination with pivots.

    >>> import samovar as sv
    >>> sv.math.inverse(sv.Matrix([[2.0, 1.0], [1.0, 1.0]]))
    Matrix([[1.0, -1.0], [-1.0, 2.0]], dt=f32)
    """
    static_assert(mat.n == mat.m, "`inverse` needs a square matrix")
    if static(mat.n == 1):
        return 1 / mat
    if static(mat.n > 4):
        return inverse_by_factors(mat / 1)
    A = mat / 1
    if static(wider(A.dtype) is A.dtype):
        adjugate, found, size = _adjugate(A, minor)
        return _quotient(A, adjugate, found, size)
    adjugate, found, _ = _adjugate(A.cast(static(wider(A.dtype))), exact_minor)
    return (adjugate * (Vector.one(adjugate.dtype, 1) / found)[0]).cast(A.dtype)


def _adjugate(A: Any, minor_of: Any) -> Any:
    """The adjugate, the determinant, and its size, of a matrix of 2×2 to 4×4."""
    if static(A.n == 2):
        return adjugate_2(A, minor_of)
    if static(A.n == 3):
        return adjugate_3(A, minor_of)
    return adjugate_4(A, minor_of)


def _quotient(A: Any, adjugate: Any, found: Any, size: Any) -> Any:
    """The inverse from an adjugate and a determinant in f64 that can be trusted; else by elimination."""
    result = adjugate * (Vector.one(f64, 1) / found)[0]
    # The sum of squares is never below the greatest of them, and costs less.
    is_small = (A * A).sum() < static(greatest_entry(A.n) ** 2)
    is_large = magnitude(found) > static(least_determinant(A.n))
    if not (is_small and is_large and magnitude(found) * 128 > size):
        result = eliminated(A, Matrix.identity(f64, A.n))
    return result


def greatest_entry(n: int) -> float:
    """Up to which entries no product in a closed form overflows, and what vanishes of one is not missed."""
    return {2: 1e150, 3: 1e60, 4: 1e50}[n]


def least_determinant(n: int) -> float:
    """From which determinants on a closed form is as good as the dtype."""
    return {2: 1e-290, 3: 1e-240, 4: 1e-200}[n]


@library
def solve(A: Any, b: Any, dt: Any = None) -> Any:
    """The vector x with `A @ x == b`, by elimination with pivots. If A is singular, it is not finite.

    >>> import samovar as sv
    >>> sv.solve(sv.Matrix([[2.0, 0.0], [1.0, 1.0]]), sv.Vector([2.0, 3.0]))
    Vector([1.0, 2.0], dt=f32)
    """
    static_assert(A.n == A.m and b.m == 1 and A.n == b.n, "`solve` needs a square matrix and a vector of as many rows")
    if static(A.n <= 4):
        columns = eliminated(A, Matrix.cols([b]))
        return columns[:, 0]
    return solved(A / 1, b)
