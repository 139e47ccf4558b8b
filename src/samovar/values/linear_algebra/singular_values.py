"""Singular values, and the polar decomposition built on them. Kernels compile the same source.

One-sided Jacobi: columns are rotated until they are orthogonal; their lengths are then the singular values. Small ones are
as accurate as large ones, unlike with the eigenvalues of `A.transpose() @ A`.
"""

from __future__ import annotations

from samovar.language import (
    TABLED,
    detach,
    library,
    ndrange,
    select,
    static,
    static_assert,
    surrogate,
    uses_surrogates,
)
from samovar.values.linear_algebra.cofactors import adjugate_3, minor
from samovar.values.linear_algebra.products import cross, dot
from samovar.values.linear_algebra.rotations import direction, inverse_gap, rotation, rounds, size_of
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, magnitude, sqrt = TABLED["copysign"], TABLED["abs"], TABLED["sqrt"]


@library
def svd(A: Any, dt: Any = None) -> Any:
    """The singular value decomposition of a 2×2 or 3×3 matrix: U, S and V with `A == U @ S @ V.transpose()`.

    U and V are orthogonal, and S is diagonal with the singular values in descending order, all non-negative. At
    equal singular values, U and V have no derivative: it is infinite or NaN. S has one, and so has `polar_decompose`.

    >>> import samovar as sv
    >>> U, S, V = sv.svd(sv.Matrix([[0.0, 2.0], [1.0, 0.0]]))
    >>> S
    Matrix([[2.0, 0.0], [0.0, 1.0]], dt=f32)
    """
    static_assert(A.n == A.m and (A.n == 2 or A.n == 3), "`svd` requires a 2×2 or 3×3 matrix")
    if static(A.n == 2):
        return _derived(A / 1, *_of_2(A / 1))
    return _derived(A / 1, *_of_3(A / 1))


@library
def polar_decompose(A: Any, dt: Any = None) -> Any:
    """The polar decomposition of a 2×2 or 3×3 matrix: U and P with `A == U @ P`.

    U is orthogonal, and a reflection if the determinant is negative. P is symmetric positive semidefinite.

    >>> import samovar as sv
    >>> U, P = sv.polar_decompose(sv.Matrix([[0.0, -2.0], [2.0, 0.0]]))
    >>> P
    Matrix([[2.0, 0.0], [0.0, 2.0]], dt=f32)
    """
    static_assert(A.n == A.m and (A.n == 2 or A.n == 3), "`polar_decompose` requires a 2×2 or 3×3 matrix")
    U, S, V = svd(A)
    stretch = V @ S @ V.transpose()
    return _derived_polar(A / 1, U @ V.transpose(), (stretch + stretch.transpose()) / 2)


def _of_2(A: Any) -> Any:
    size = size_of(A)
    a, b = A[:, 0] / size, A[:, 1] / size
    u, v = Vector([1, 0], A.dtype), Vector([0, 1], A.dtype)
    for _ in range(3):
        a, b, u, v = _orthogonal(a, b, u, v)
    if dot(b, b) > dot(a, a):
        a, b = b, a
        u, v = v, u
    p = direction(a, Vector([1, 0], A.dtype))
    q = Vector([-p.y, p.x], A.dtype)
    first, second = dot(p, a), dot(q, b)
    q = q * copysign(1, second)
    second = magnitude(second)
    if second > first:
        first, second = second, first
        p, q = q, p
        u, v = v, u
    S = Matrix([[first, 0], [0, second]], A.dtype) * size
    return Matrix.cols([p, q]), S, Matrix.cols([u, v])


def _of_3(A: Any) -> Any:
    size = size_of(A)
    a, b, c = A[:, 0] / size, A[:, 1] / size, A[:, 2] / size
    u, v, w = Vector([1, 0, 0], A.dtype), Vector([0, 1, 0], A.dtype), Vector([0, 0, 1], A.dtype)
    for _ in range(static(rounds(A.dtype))):
        a, b, u, v = _orthogonal(a, b, u, v)
        b, c, v, w = _orthogonal(b, c, v, w)
        c, a, w, u = _orthogonal(c, a, w, u)
    if dot(b, b) > dot(a, a):
        a, b = b, a
        u, v = v, u
    if dot(c, c) > dot(b, b):
        b, c = c, b
        v, w = w, v
    if dot(b, b) > dot(a, a):
        a, b = b, a
        u, v = v, u
    p = direction(a, Vector([1, 0, 0], A.dtype))
    q = _across(b, p)
    q = q * copysign(1, dot(q, b))
    r = cross(p, q)
    r = r * copysign(1, dot(r, c))
    first, second, third = dot(p, a), dot(q, b), dot(r, c)
    # The order is right except for the effects of rounding and underflowing squares.
    if third > second:
        second, third = third, second
        q, r = r, q
        v, w = w, v
    if second > first:
        first, second = second, first
        p, q = q, p
        u, v = v, u
    if third > second:
        second, third = third, second
        q, r = r, q
        v, w = w, v
    S = Matrix([[first, 0, 0], [0, second, 0], [0, 0, third]], A.dtype) * size
    return Matrix.cols([p, q, r]), S, Matrix.cols([u, v, w])


def _derived(A: Any, U: Any, S: Any, V: Any) -> Any:
    """The decomposition with its derivative: dU = U L, dS = diag(P) and dV = V R for P = Uᵀ dA V, where L and R are
    antisymmetric. L + R follows from the symmetric part of P, L - R from the antisymmetric one."""
    if static(uses_surrogates()):
        left, sizes, right = detach(U), detach(S), detach(V)
        P = left.transpose() @ A @ right
        L, R, diagonal = P * 0, P * 0, P * 0
        for i in static(range(A.n)):
            diagonal[i, i] = P[i, i]
        for i, j in static(ndrange(A.n, A.n)):
            if static(i < j):
                both = (P[i, j] + P[j, i]) * inverse_gap(sizes[j, j] - sizes[i, i], sizes[0, 0], A.dtype) / 2
                apart = (P[i, j] - P[j, i]) * inverse_gap(sizes[j, j] + sizes[i, i], sizes[0, 0], A.dtype) / 2
                L[i, j] = both + apart
                L[j, i] = -L[i, j]
                R[i, j] = both - apart
                R[j, i] = -R[i, j]
        return surrogate(U, left @ L), surrogate(S, diagonal), surrogate(V, right @ R)
    return U, S, V


def _derived_polar(A: Any, turn: Any, stretch: Any) -> Any:
    """The polar decomposition with its derivative: dU = U W with the antisymmetric W of W P + P W = Uᵀ dA - dAᵀ U."""
    if static(uses_surrogates()):
        U, P = detach(turn), detach(stretch)
        rates = U.transpose() @ A
        W = rates * 0
        if static(A.n == 2):
            W[1, 0] = (rates[1, 0] - rates[0, 1]) / (P[0, 0] + P[1, 1])
            W[0, 1] = -W[1, 0]
        else:
            # With axial vectors: (trace(P) - P) w = a. Divided by the trace, nothing overflows.
            a = Vector([rates[2, 1] - rates[1, 2], rates[0, 2] - rates[2, 0], rates[1, 0] - rates[0, 1]], A.dtype)
            trace = P[0, 0] + P[1, 1] + P[2, 2]
            adjugate, found, _ = adjugate_3(Matrix.identity(A.dtype, 3) - P / trace, minor)
            w = adjugate @ a / (trace * found)
            W = Matrix([[0, -w.z, w.y], [w.z, 0, -w.x], [-w.y, w.x, 0]], A.dtype)
        return surrogate(turn, U @ W), surrogate(stretch, rates - W @ P)
    return turn, stretch


def _orthogonal(a: Any, b: Any, u: Any, v: Any) -> Any:
    """Two columns rotated so that they are orthogonal, and two others rotated with them."""
    cosine, sine, _ = rotation(dot(a, a), dot(a, b), dot(b, b))
    return a * cosine - b * sine, a * sine + b * cosine, u * cosine - v * sine, u * sine + v * cosine


def _across(b: Any, p: Any) -> Any:
    """A unit vector orthogonal to the unit vector p, in the direction of b unless that is only rounding error."""
    once = direction(b - p * dot(p, b), p)
    twice = once - p * dot(p, once)
    square = dot(twice, twice)
    is_noise = square * 4 < 1
    return select(is_noise, _perpendicular(p), twice / sqrt(select(is_noise, 1, square)))


def _perpendicular(p: Any) -> Any:
    """A unit vector orthogonal to a unit vector."""
    flat, steep = Vector([-p.y, p.x, 0], p.dtype), Vector([0, -p.z, p.y], p.dtype)
    chosen = select(magnitude(p.x) > magnitude(p.z), flat, steep)
    return chosen / sqrt(dot(chosen, chosen))
