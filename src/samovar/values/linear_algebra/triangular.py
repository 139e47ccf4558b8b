"""Decompositions with a triangular factor: QR and Cholesky. Kernels compile the same source."""

from __future__ import annotations

from samovar.language import TABLED, library, select, static, static_assert
from samovar.values.linear_algebra.rotations import least_normal, size_of
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

hypot, sqrt = TABLED["hypot"], TABLED["sqrt"]


@library
def qr(A: Any) -> Any:
    """The QR decomposition of a 2×2 or 3×3 matrix: Q and R with `A == Q @ R`.

    Q is orthogonal. R is upper triangular with a non-negative diagonal, which makes the two unique if A is regular.

    >>> import samovar as sv
    >>> Q, R = sv.qr(sv.Matrix([[0.0, 1.0], [2.0, 3.0]]))
    >>> R
    Matrix([[2.0, 3.0], [0.0, 1.0]], dt=f32)
    """
    static_assert(A.n == A.m and (A.n == 2 or A.n == 3), "`qr` requires a 2×2 or 3×3 matrix")
    size = size_of(A / 1)
    R = A / size
    Q = Matrix.identity(R.dtype, A.n)
    for column in static(range(A.n - 1)):
        for row in static(range(column + 1, A.n)):
            length = hypot(R[column, column], R[row, column])
            is_nothing = length < static(least_normal(R.dtype))
            divisor = select(is_nothing, 1, length)
            cosine = select(is_nothing, 1, R[column, column] / divisor)
            sine = select(is_nothing, 0, R[row, column] / divisor)
            for k in static(range(A.n)):
                above, below = R[column, k], R[row, k]
                R[column, k] = cosine * above + sine * below
                R[row, k] = cosine * below - sine * above
                left, right = Q[k, column], Q[k, row]
                Q[k, column] = cosine * left + sine * right
                Q[k, row] = cosine * right - sine * left
            R[column, column] = length
            R[row, column] = 0
    last = static(A.n - 1)
    if R[last, last] < 0:
        R[last, last] = -R[last, last]
        for k in static(range(A.n)):
            Q[k, last] = -Q[k, last]
    return Q, R * size


@library
def cholesky(A: Any) -> Any:
    """The Cholesky decomposition of a symmetric positive definite matrix: L with `A == L @ L.transpose()`.

    L is lower triangular. Only the lower triangle of A is read. If A has a negative eigenvalue, L is not
    finite.

    >>> import samovar as sv
    >>> sv.cholesky(sv.Matrix([[4.0, 2.0], [2.0, 2.0]]))
    Matrix([[2.0, 0.0], [1.0, 1.0]], dt=f32)
    """
    static_assert(A.n == A.m, "`cholesky` requires a square matrix")
    if static(A.n <= 4):
        return _cholesky_of_few(A / 1)
    return _cholesky_of_many(A / 1)


def _cholesky_of_few(A: Any) -> Any:
    L = Matrix.zero(A.dtype, A.n, A.n)
    for j in static(range(A.n)):
        rest = A[j, j]
        for k in static(range(j)):
            rest = rest - L[j, k] * L[j, k]
        root = sqrt(rest)
        L[j, j] = root
        for i in static(range(j + 1, A.n)):
            below = A[i, j]
            for k in static(range(j)):
                below = below - L[i, k] * L[j, k]
            L[i, j] = (Vector([below], A.dtype) / root)[0]
    return L


def _cholesky_of_many(A: Any) -> Any:
    """Cholesky decomposition with run-time loops."""
    L = Matrix.zero(A.dtype, A.n, A.n)
    for j in range(A.n):
        rest = A[j, j]
        for k in range(j):
            rest = rest - L[j, k] * L[j, k]
        root = sqrt(rest)
        L[j, j] = root
        for i in range(j + 1, A.n):
            below = A[i, j]
            for k in range(j):
                below = below - L[i, k] * L[j, k]
            L[i, j] = (Vector([below], A.dtype) / root)[0]
    return L
