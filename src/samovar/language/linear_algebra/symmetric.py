"""Eigenvalues and eigenvectors of symmetric matrices, by rotations. Kernels compile the same text."""

from __future__ import annotations

from samovar.language.functions import library, ndrange, static, static_assert
from samovar.language.linear_algebra.rotations import rotation, rounds, size_of
from samovar.language.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@library
def sym_eig(A: Any, dt: Any = None) -> Any:
    """The eigenvalues of a symmetric 2×2 or 3×3 matrix, from the smallest to the largest, and its eigenvectors.

    The eigenvectors are the columns of a matrix, in the same order, orthogonal and of length 1. Of A, the diagonal and what
    is above it count.

    >>> import samovar as sv
    >>> values, vectors = sv.sym_eig(sv.Matrix([[3.0, 0.0], [0.0, 2.0]]))
    >>> values
    Vector([2.0, 3.0], dt=f32)
    """
    static_assert(A.n == A.m and (A.n == 2 or A.n == 3), "`sym_eig` needs a matrix of 2×2 or 3×3")
    if static(A.n == 2):
        return _of_2(A / 1)
    return _of_3(A / 1)


@library
def make_spd(A: Any, dt: Any = None) -> Any:
    """The nearest symmetric matrix without negative eigenvalues: those of a symmetric 2×2 or 3×3 matrix that are become 0.

    >>> import samovar as sv
    >>> sv.make_spd(sv.Matrix([[3.0, 0.0], [0.0, -2.0]]))
    Matrix([[3.0, 0.0], [0.0, 0.0]], dt=f32)
    """
    values, vectors = sym_eig(A)
    kept = Matrix.zero(A.dtype, A.n, A.n)
    for k in static(range(A.n)):
        size = max(values[k], 0)
        for i, j in static(ndrange(A.n, A.n)):
            kept[i, j] += size * vectors[i, k] * vectors[j, k]
    return kept


def _of_2(A: Any) -> Any:
    size = size_of(A)
    scaled = A / size
    cosine, sine, tangent = rotation(scaled[0, 0], scaled[0, 1], scaled[1, 1])
    low = scaled[0, 0] - tangent * scaled[0, 1]
    high = scaled[1, 1] + tangent * scaled[0, 1]
    first, second = Vector([cosine, -sine], A.dtype), Vector([sine, cosine], A.dtype)
    if low > high:
        low, high = high, low
        first, second = second, first
    return Vector([low, high], A.dtype) * size, Matrix.cols([first, second])


def _of_3(A: Any) -> Any:
    size = size_of(A)
    scaled = A / size
    a, b, c = scaled[0, 0], scaled[1, 1], scaled[2, 2]
    ab, bc, ca = scaled[0, 1], scaled[1, 2], scaled[0, 2]
    u, v, w = Vector([1, 0, 0], A.dtype), Vector([0, 1, 0], A.dtype), Vector([0, 0, 1], A.dtype)
    for _ in range(static(rounds(A.dtype))):
        a, b, ab, ca, bc, u, v = _rotated(a, b, ab, ca, bc, u, v)
        b, c, bc, ab, ca, v, w = _rotated(b, c, bc, ab, ca, v, w)
        c, a, ca, bc, ab, w, u = _rotated(c, a, ca, bc, ab, w, u)
    if a > b:
        a, b = b, a
        u, v = v, u
    if b > c:
        b, c = c, b
        v, w = w, v
    if a > b:
        a, b = b, a
        u, v = v, u
    return Vector([a, b, c], A.dtype) * size, Matrix.cols([u, v, w])


def _rotated(p: Any, q: Any, pq: Any, rp: Any, rq: Any, u: Any, v: Any) -> Any:
    """The entries of the diagonal p and q, those beside it, and their vectors, after the rotation that makes pq vanish."""
    cosine, sine, tangent = rotation(p, pq, q)
    return (
        p - tangent * pq,
        q + tangent * pq,
        pq - pq,
        cosine * rp - sine * rq,
        sine * rp + cosine * rq,
        u * cosine - v * sine,
        u * sine + v * cosine,
    )
