"""Eigenvalues and eigenvectors of symmetric matrices by Jacobi rotations. Kernels compile the same source."""

from __future__ import annotations

from samovar.language import (
    TABLED,
    cast,
    detach,
    library,
    ndrange,
    select,
    static,
    static_assert,
    surrogate,
    uses_surrogates,
)
from samovar.values.linear_algebra.rotations import inverse_gap, rotation, rounds, size_of, unit
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

magnitude = TABLED["abs"]

#: Up to this many rows, the rotations are unrolled.
FEW = 6
#: Far more than any tested matrix needs; iteration stops on convergence.
MOST_ROUNDS = 24
#: A row's share of the off-diagonal elements, times this: smaller elements wait for another sweep. Rotations of equal
#: eigenvalues, which may have any angle, would bring back elements that others have zeroed.
LESS = 2.0**-5


@library
def sym_eig(A: Any, dt: Any = None) -> Any:
    """The eigenvalues of a symmetric matrix in ascending order, and its eigenvectors.

    The eigenvectors are the columns of a matrix, orthonormal and in the same order. Only the upper triangle of A is
    read. At equal eigenvalues, the eigenvectors have no derivative: it is infinite or NaN. `make_spd` has one.

    >>> import samovar as sv
    >>> values, vectors = sv.sym_eig(sv.Matrix([[3.0, 0.0], [0.0, 2.0]]))
    >>> values
    Vector([2.0, 3.0], dt=f32)
    """
    static_assert(A.n == A.m, "`sym_eig` requires a square matrix")
    if static(A.n == 1):
        return (A / 1)[0, :], Matrix.identity((A / 1).dtype, 1)
    if static(A.n == 2):
        return _derived(A / 1, *_of_2(A / 1))
    if static(A.n == 3):
        return _derived(A / 1, *_of_3(A / 1))
    if static(A.n <= FEW):
        return _derived(A / 1, *_of_few(A / 1))
    return _derived(A / 1, *_of_many(A / 1))


@library
def make_spd(A: Any, dt: Any = None) -> Any:
    """The nearest positive semidefinite matrix: negative eigenvalues of a symmetric matrix become 0.

    >>> import samovar as sv
    >>> sv.make_spd(sv.Matrix([[3.0, 0.0], [0.0, -2.0]]))
    Matrix([[3.0, 0.0], [0.0, 0.0]], dt=f32)
    """
    values, vectors = sym_eig(A)
    kept = Matrix.zero(values.dtype, A.n, A.n)
    if static(A.n <= FEW):
        for k in static(range(A.n)):
            size = max(values[k], 0)
            for i, j in static(ndrange(A.n, A.n)):
                kept[i, j] += size * vectors[i, k] * vectors[j, k]
    else:
        for k in range(A.n):
            size = max(values[k], 0)
            for i in range(A.n):
                for j in range(A.n):
                    kept[i, j] += size * vectors[i, k] * vectors[j, k]
    return _derived_part(A / 1, values, vectors, kept)


def _derived(A: Any, values: Any, vectors: Any) -> Any:
    """The decomposition with its derivative: the diagonal of P = Qᵀ dA Q, and Q times P over differences of eigenvalues."""
    if static(uses_surrogates(A.n <= FEW)):
        numbers, basis = detach(values), detach(vectors)
        P = basis.transpose() @ _mirrored(A) @ basis
        largest = magnitude(numbers).max()
        diagonal, turn = values * 0, P * 0
        if static(A.n <= FEW):
            for i, j in static(ndrange(A.n, A.n)):
                if static(i == j):
                    diagonal[i] = P[i, i]
                else:
                    turn[i, j] = P[i, j] * inverse_gap(numbers[j] - numbers[i], largest, A.dtype)
        else:
            for i in range(A.n):
                diagonal[i] = P[i, i]
                for j in range(A.n):
                    if i != j:
                        turn[i, j] = P[i, j] * inverse_gap(numbers[j] - numbers[i], largest, A.dtype)
        return surrogate(values, diagonal), surrogate(vectors, basis @ turn)
    return values, vectors


def _derived_part(A: Any, values: Any, vectors: Any, kept: Any) -> Any:
    """The positive part with its derivative: Q times P over the secants of max(λ, 0) times Qᵀ."""
    if static(uses_surrogates(A.n <= FEW)):
        numbers, basis = detach(values), detach(vectors)
        P = basis.transpose() @ _mirrored(A) @ basis
        if static(A.n <= FEW):
            for i, j in static(ndrange(A.n, A.n)):
                P[i, j] = P[i, j] * _secant(numbers[i], numbers[j])
        else:
            for i in range(A.n):
                for j in range(A.n):
                    P[i, j] = P[i, j] * _secant(numbers[i], numbers[j])
        return surrogate(kept, basis @ P @ basis.transpose())
    return kept


def _secant(x: Any, y: Any) -> Any:
    """The slope of max(λ, 0) between two points."""
    width = magnitude(x) + magnitude(y)
    return (max(x, 0) + max(y, 0)) / select(width == 0, 1, width)


def _mirrored(A: Any) -> Any:
    """The symmetric matrix of which a matrix has the upper triangle."""
    full = A
    if static(A.n <= FEW):
        for i, j in static(ndrange(A.n, A.n)):
            if static(i > j):
                full[i, j] = A[j, i]
    else:
        for i in range(A.n):
            for j in range(i):
                full[i, j] = A[j, i]
    return full


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


def _of_few(A: Any) -> Any:
    size = size_of(A)
    work, vectors = A / size, Matrix.identity(A.dtype, A.n)
    for _ in range(MOST_ROUNDS):
        beside = cast(0, A.dtype)
        for p in static(range(A.n)):
            for q in static(range(p + 1, A.n)):
                beside = beside + magnitude(work[p, q])
        if not beside <= static(unit(A.dtype) / 4):
            for p in static(range(A.n)):
                for q in static(range(p + 1, A.n)):
                    both = select(magnitude(work[p, q]) < beside * static(LESS / A.n), 0, work[p, q])
                    cosine, sine, tangent = rotation(work[p, p], both, work[q, q])
                    work[p, p] = work[p, p] - tangent * both
                    work[q, q] = work[q, q] + tangent * both
                    work[p, q] = work[p, q] - both
                    for k in static(range(A.n)):
                        if static(k != p and k != q):  # above the diagonal
                            x = work[static(min(k, p)), static(max(k, p))]
                            y = work[static(min(k, q)), static(max(k, q))]
                            work[static(min(k, p)), static(max(k, p))] = cosine * x - sine * y
                            work[static(min(k, q)), static(max(k, q))] = sine * x + cosine * y
                        u, v = vectors[k, p], vectors[k, q]
                        vectors[k, p] = cosine * u - sine * v
                        vectors[k, q] = sine * u + cosine * v
    values = Vector.zero(A.dtype, A.n)
    for k in static(range(A.n)):
        values[k] = work[k, k] * size
    for last in static(range(A.n - 1, 0, -1)):
        for k in static(range(last)):
            if values[k] > values[k + 1]:
                value = values[k]
                values[k] = values[k + 1]
                values[k + 1] = value
                for i in static(range(A.n)):
                    entry = vectors[i, k]
                    vectors[i, k] = vectors[i, k + 1]
                    vectors[i, k + 1] = entry
    return values, vectors


def _of_many(A: Any) -> Any:
    size = size_of(A)
    work, vectors = A / size, Matrix.identity(A.dtype, A.n)
    for i in range(A.n):
        for j in range(i):
            work[i, j] = work[j, i]
    for _ in range(MOST_ROUNDS):
        beside = cast(0, A.dtype)
        for p in range(A.n):
            for q in range(p + 1, A.n):
                beside = beside + magnitude(work[p, q])
        if not beside <= static(unit(A.dtype) / 4):
            for p in range(A.n - 1):
                for q in range(p + 1, A.n):
                    if not magnitude(work[p, q]) < beside * static(LESS / A.n):
                        cosine, sine, tangent = rotation(work[p, p], work[p, q], work[q, q])
                        first, second = work[p, p] - tangent * work[p, q], work[q, q] + tangent * work[p, q]
                        for k in range(A.n):
                            x, y = work[k, p], work[k, q]
                            work[k, p] = cosine * x - sine * y
                            work[k, q] = sine * x + cosine * y
                            u, v = vectors[k, p], vectors[k, q]
                            vectors[k, p] = cosine * u - sine * v
                            vectors[k, q] = sine * u + cosine * v
                        for k in range(A.n):
                            x, y = work[p, k], work[q, k]
                            work[p, k] = cosine * x - sine * y
                            work[q, k] = sine * x + cosine * y
                        work[p, p] = first
                        work[q, q] = second
                        work[p, q] = 0
                        work[q, p] = 0
    values = Vector.zero(A.dtype, A.n)
    for k in range(A.n):
        values[k] = work[k, k] * size
    for done in range(A.n - 1):
        for k in range(A.n - 1 - done):
            if values[k] > values[k + 1]:
                value = values[k]
                values[k] = values[k + 1]
                values[k + 1] = value
                for i in range(A.n):
                    entry = vectors[i, k]
                    vectors[i, k] = vectors[i, k + 1]
                    vectors[i, k + 1] = entry
    return values, vectors


def _rotated(p: Any, q: Any, pq: Any, rp: Any, rq: Any, u: Any, v: Any) -> Any:
    """The diagonal elements p and q, those beside them, and their vectors, after the rotation that zeroes pq."""
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
