"""Determinants, inverses, and systems of linear equations. Kernels compile the same text."""

from __future__ import annotations

from samovar._native import DType, f16, f64
from samovar.language.functions import library, static, static_assert
from samovar.language.linear_algebra.cofactors import adjugate_2, adjugate_3, adjugate_4
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
    if static(m.n == 2):
        return adjugate_2(m / 1)[1]
    if static(m.n == 3):
        return adjugate_3(m / 1)[1]
    if static(m.n == 4):
        return adjugate_4(m / 1)[1]
    factors, _, sign = factorised(m / 1)
    product = factors[0, 0] * sign
    for k in range(1, m.n):
        product = product * factors[k, k]
    return product


@library
def inverse(mat: Any) -> Any:
    """The inverse. Of a singular matrix it is not finite.

    Up to 4×4 it is computed in closed form, unless that would overflow, vanish, or cancel out; beyond, and then, by
    elimination with pivots.

    >>> import samovar as sv
    >>> sv.math.inverse(sv.Matrix([[2.0, 1.0], [1.0, 1.0]]))
    Matrix([[1.0, -1.0], [-1.0, 2.0]], dt=f32)
    """
    static_assert(mat.n == mat.m, "`inverse` needs a square matrix")
    if static(mat.n == 1):
        return 1 / mat
    if static(mat.n == 2):
        adjugate, found, size = adjugate_2(mat / 1)
        return _quotient(mat / 1, adjugate, found, size)
    if static(mat.n == 3):
        adjugate, found, size = adjugate_3(mat / 1)
        return _quotient(mat / 1, adjugate, found, size)
    if static(mat.n == 4):
        adjugate, found, size = adjugate_4(mat / 1)
        return _quotient(mat / 1, adjugate, found, size)
    return inverse_by_factors(mat / 1)


def _quotient(A: Any, adjugate: Any, found: Any, size: Any) -> Any:
    """The inverse from an adjugate and a determinant that can be trusted; else by elimination."""
    result = adjugate * (Vector.one(A.dtype, 1) / found)[0]
    is_small = magnitude(A).max() < static(greatest_entry(A.dtype, A.n))
    is_large = magnitude(found) > static(least_determinant(A.dtype, A.n))
    if not (is_small and is_large and magnitude(found) * 128 > size):
        result = eliminated(A, Matrix.identity(A.dtype, A.n))
    return result


def greatest_entry(dtype: DType, n: int) -> float:
    """Up to which entries no product in a closed form overflows, and what vanishes of one is not missed."""
    if dtype is f64:
        return {2: 1e150, 3: 1e60, 4: 1e50}[n]
    return {2: 100.0, 3: 10.0, 4: 5.0}[n] if dtype is f16 else {2: 1e18, 3: 1e9, 4: 1e6}[n]


def least_determinant(dtype: DType, n: int) -> float:
    """From which determinants on a closed form is as good as the dtype."""
    if dtype is f64:
        return {2: 1e-290, 3: 1e-240, 4: 1e-200}[n]
    return 1e-2 if dtype is f16 else {2: 1e-36, 3: 1e-28, 4: 1e-24}[n]


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
