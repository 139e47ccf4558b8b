"""Determinants, inverses, and systems of linear equations. Kernels compile the same source."""

from __future__ import annotations

from samovar._native import f64
from samovar.language import TABLED, cast, library, static, static_assert
from samovar.values.linear_algebra.cofactors import adjugate_2, adjugate_3, adjugate_4, exact_minor, minor, wider
from samovar.values.linear_algebra.elimination import eliminated, factorized, inverse_by_factors, solved
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

magnitude = TABLED["abs"]


@library
def determinant(m: Any) -> Any:
    """The determinant, as a float: in closed form up to 4×4, by elimination with pivoting beyond.

    >>> import samovar as sv
    >>> sv.math.determinant(sv.Matrix([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """
    static_assert(m.n == m.m, "`determinant` requires a square matrix")
    if static(m.n == 1):
        return (m / 1)[0, 0]
    if static(m.n <= 4):
        A = m / 1
        if static(wider(A.dtype) is A.dtype):
            return _adjugate(A, minor)[1]
        return cast(_adjugate(A.cast(static(wider(A.dtype))), exact_minor)[1], A.dtype)
    factors, _, sign = factorized(m / 1)
    product = factors[0, 0] * sign
    for k in range(1, m.n):
        product = product * factors[k, k]
    return product


@library
def inverse(mat: Any) -> Any:
    """The inverse. For a singular matrix it is not finite.

    Up to 4×4 it is computed in closed form: f32 in f64, f64 unless that would overflow, underflow or cancel. Otherwise
    it is computed by elimination with pivoting.

    >>> import samovar as sv
    >>> sv.math.inverse(sv.Matrix([[2.0, 1.0], [1.0, 1.0]]))
    Matrix([[1.0, -1.0], [-1.0, 2.0]], dt=f32)
    """
    static_assert(mat.n == mat.m, "`inverse` requires a square matrix")
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
    """The adjugate, the determinant, and its magnitude, of a 2×2 to 4×4 matrix."""
    if static(A.n == 2):
        return adjugate_2(A, minor_of)
    if static(A.n == 3):
        return adjugate_3(A, minor_of)
    return adjugate_4(A, minor_of)


def _quotient(A: Any, adjugate: Any, found: Any, size: Any) -> Any:
    """The inverse from an adjugate and a determinant in f64, if these are accurate; otherwise by elimination."""
    result = adjugate * (Vector.one(f64, 1) / found)[0]
    # The sum of squares is never below the largest of them, and costs less.
    is_small = (A * A).sum() < static(greatest_entry(A.n) ** 2)
    is_large = magnitude(found) > static(least_determinant(A.n))
    if not (is_small and is_large and magnitude(found) * 128 > size):
        result = eliminated(A, Matrix.identity(f64, A.n))
    return result


def greatest_entry(n: int) -> float:
    """The largest elements for which no product of a closed form overflows, and underflow is negligible."""
    return {2: 1e150, 3: 1e60, 4: 1e50}[n]


def least_determinant(n: int) -> float:
    """The smallest determinant for which a closed form is as accurate as the dtype."""
    return {2: 1e-290, 3: 1e-240, 4: 1e-200}[n]


@library
def solve(A: Any, b: Any, dt: Any = None) -> Any:
    """The vector x with `A @ x == b`, by elimination with pivoting. If A is singular, it is not finite.

    >>> import samovar as sv
    >>> sv.solve(sv.Matrix([[2.0, 0.0], [1.0, 1.0]]), sv.Vector([2.0, 3.0]))
    Vector([1.0, 2.0], dt=f32)
    """
    static_assert(A.n == A.m and b.m == 1 and A.n == b.n, "`solve` requires a square matrix and a vector of as many rows")
    if static(A.n <= 4):
        columns = eliminated(A, Matrix.cols([b]))
        return columns[:, 0]
    return solved(A / 1, b)
