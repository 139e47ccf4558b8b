"""Eigenvalues and eigenvectors of real, not necessarily symmetric matrices. Kernels compile the same source.

A 2×2 matrix has a closed form. A 3×3 matrix is deflated by Francis QR steps until one eigenvalue is isolated; these are
reflections and numerically stable. A real eigenvector is then the direction that `A - value` shrinks most, found from its
singular values; a complex one is computed from the deflated form.
"""

from __future__ import annotations

from samovar.language import TABLED, library, select, static, static_assert
from samovar.values.linear_algebra.cofactors import minor
from samovar.values.linear_algebra.products import dot
from samovar.values.linear_algebra.rotations import direction, size_of, unit
from samovar.values.linear_algebra.singular_values import svd
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, magnitude, maximum, sqrt = TABLED["copysign"], TABLED["abs"], TABLED["max"], TABLED["sqrt"]

#: Far more than any tested matrix needs; iteration stops on convergence.
STEPS = 40
#: Every so many steps, use exceptional shifts, each time different ones, to break cycles.
UNUSUAL = 5


@library
def eig(A: Any, dt: Any = None) -> Any:
    """The eigenvalues and eigenvectors of a real 2×2 or 3×3 matrix.

    The eigenvalues are rows of two numbers, real and imaginary part, in descending order of the real part; of a conjugate
    pair, the one with the positive imaginary part comes first. The eigenvectors are unit columns in the same order: the real
    and imaginary part of the first component, then those of the second, and so on. A defective matrix has repeated
    eigenvectors.

    >>> import samovar as sv
    >>> values, vectors = sv.eig(sv.Matrix([[0.0, -2.0], [2.0, 0.0]]))
    >>> values
    Matrix([[0.0, 2.0], [0.0, -2.0]], dt=f32)
    """
    static_assert(A.n == A.m and (A.n == 2 or A.n == 3), "`eig` requires a 2×2 or 3×3 matrix")
    if static(A.n == 2):
        return _of_2(A / 1)
    return _of_3(A / 1)


# --- 2×2


def _of_2(A: Any) -> Any:
    size = size_of(A)
    scaled = A / size
    b, c, d = scaled[0, 1], scaled[1, 0], scaled[1, 1]
    half, square = _discriminant(scaled[0, 0], b, c, d)
    first, second, imaginary = _values(half, square, b * c, d)
    values = Matrix([[first, imaginary], [second, -imaginary]], A.dtype) * size
    # With the root of the sign of `half`, nothing cancels: (shift, c) and (b, -shift). That sign is tested again below, and
    # fast math may turn a difference of zero into -0.0: both must be the same test.
    root = square * 0
    if square > 0:
        root = sqrt(square)
    shift = half + select(half < 0, -root, root)
    x, y, z, w = shift, c, b, -shift
    if shift == 0:  # then b or c is 0 too
        x, y, z, w = b, c, b, c
        if b == 0 and c == 0:
            x, w = 1, 1
    if half < 0:  # the value of (shift, c) is the smaller one
        x, y, z, w = z, w, x, y
    first_vector = direction(Vector([x, y], A.dtype), Vector([1, 0], A.dtype))
    second_vector = direction(Vector([z, w], A.dtype), Vector([0, 1], A.dtype))
    vectors = Matrix([[first_vector.x, second_vector.x], [0, 0], [first_vector.y, second_vector.y], [0, 0]], A.dtype)
    if square < 0:  # (b, value - a), and its conjugate
        v = direction(Vector([b, -half, imaginary], A.dtype), Vector([1, 0, 0], A.dtype))
        vectors = Matrix([[v.x, v.x], [0, 0], [v.y, v.y], [v.z, -v.z]], A.dtype)
    return values, vectors


def _discriminant(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Half the difference of the diagonal, and the square of half the difference of the eigenvalues."""
    half = (a - d) / 2
    return half, minor(half, -b, c, half)


def _values(half: Any, square: Any, product: Any, d: Any) -> Any:
    """Two real parts, the larger one first, and the imaginary part of the first. `product` is `square - half**2`."""
    first, second = d + half, d + half
    imaginary = square * 0
    if square < 0:  # in a branch: the root of 0 has no derivative
        imaginary = sqrt(-square)
    if square >= 0:
        shift = half + copysign(sqrt(square), half)
        first = d + shift
        second = d - product / select(shift == 0, 1, shift)
        if second > first:
            first, second = second, first
    return first, second, imaginary


# --- 3×3


def _of_3(A: Any) -> Any:
    size = size_of(A)
    scaled = A / size
    H, Q = _schur(scaled)
    real, imaginary, is_first = _spectrum(H)
    along, across = _complex_vector(H, Q, real, imaginary, is_first)
    vectors = Matrix.zero(A.dtype, 6, 3)
    shift = real[0]
    repeated = 0
    for k in static(range(3)):
        # Eigenvalues that are numerically equal take their vectors from one basis, so that these differ.
        if static(k > 0):
            is_real = imaginary[k] == 0 and imaginary[k - 1] == 0
            if is_real and magnitude(real[k] - shift) <= static(16 * unit(A.dtype)):
                repeated = repeated + 1
            else:
                repeated = 0
                shift = real[k]
        if imaginary[k] == 0:
            vector = _shrunk(scaled - Matrix.identity(A.dtype, 3) * shift, repeated)
            for i in static(range(3)):
                vectors[2 * i, k] = vector[i]
        else:
            for i in static(range(3)):
                vectors[2 * i, k] = along[i]
                vectors[2 * i + 1, k] = across[i] if imaginary[k] > 0 else -across[i]
    return Matrix.cols([real, imaginary]) * size, vectors


def _schur(A: Any) -> Any:
    """H and an orthogonal Q with `A == Q @ H @ Q.transpose()`, where H has an eigenvalue on its diagonal.

    The rest of its row or column is zero, up to rounding.
    """
    H, Q = _hessenberg(A, Matrix.identity(A.dtype, 3))
    for step in range(STEPS):
        if magnitude(H[1, 0]) > static(unit(A.dtype) / 4) and magnitude(H[2, 1]) > static(unit(A.dtype) / 4):
            H, Q = _stepped(H, Q, step)
    return H, Q


def _stepped(H: Any, Q: Any, step: Any) -> Any:
    """A Francis step with the eigenvalues of the lower block as shifts."""
    total, product = H[1, 1] + H[2, 2], minor(H[1, 1], H[1, 2], H[2, 1], H[2, 2])
    if step % UNUSUAL == UNUSUAL - 1:
        width = magnitude(H[1, 0]) + magnitude(H[2, 1])
        total, product = width * (step + 3) / 7, width * width * (step + 1) / 11
    x = H[0, 0] * (H[0, 0] - total) + H[0, 1] * H[1, 0] + product
    y = H[1, 0] * (H[0, 0] + H[1, 1] - total)
    column = Vector([x, y, H[1, 0] * H[2, 1]], H.dtype)
    column = column / size_of(column)
    x = column.x
    column.x = x + copysign(sqrt(dot(column, column)), x)
    turned, basis = _reflected(H, Q, column)
    return _hessenberg(turned, basis)


def _hessenberg(A: Any, Q: Any) -> Any:
    """The matrix in Hessenberg form (lower left element 0), and the basis transformed with it."""
    column = Vector([0, A[1, 0], A[2, 0]], A.dtype)
    column = column / size_of(column)
    y = column.y
    column.y = y + copysign(sqrt(dot(column, column)), y)
    H, basis = _reflected(A, Q, column)
    H[2, 0] = 0
    return H, basis


def _reflected(A: Any, Q: Any, v: Any) -> Any:
    """The matrix reflected along a vector, and the basis reflected with it."""
    square = dot(v, v)
    w = v * (2 / select(square == 0, 1, square))
    rows = A - w.outer_product(v @ A)
    return rows - (rows @ v).outer_product(w), Q - (Q @ v).outer_product(w)


def _spectrum(H: Any) -> Any:
    """The real and imaginary parts of the eigenvalues in the order of `eig`, from the form of `_schur`.

    Also, whether the isolated one is the first on the diagonal.
    """
    alone = H[2, 2]
    a, b, c, d = H[0, 0], H[0, 1], H[1, 0], H[1, 1]
    is_first = magnitude(H[1, 0]) < magnitude(H[2, 1])
    if is_first:
        alone = H[0, 0]
        a, b, c, d = H[1, 1], H[1, 2], H[2, 1], H[2, 2]
    half, square = _discriminant(a, b, c, d)
    # Rounding errors must not make a real pair complex.
    is_real = magnitude(square) <= static(16 * unit(H.dtype) ** 2)
    discriminant = select(is_real, maximum(square, 0), square)
    first, second, imaginary = _values(half, discriminant, discriminant - half * half, d)
    real = Vector([first, second, alone], H.dtype)
    other = Vector([imaginary, -imaginary, 0], H.dtype)
    if alone > first:
        real, other = real.zxy, other.zxy
    elif alone > second:
        real, other = real.xzy, other.xzy
    return real, other, is_first


def _complex_vector(H: Any, Q: Any, real: Any, imaginary: Any, is_first: Any) -> Any:
    """The real and imaginary part of the eigenvector for the eigenvalue with positive imaginary part, if there is one."""
    height = imaginary.max()
    width = select(imaginary.x == 0, real.y, real.x)  # one of a conjugate pair is the first or the second
    # As for a 2×2 matrix: (b, value - a).
    along, across = Vector([H[0, 1], width - H[0, 0], 0], H.dtype), Vector([0, height, 0], H.dtype)
    if is_first:
        b, rest = H[1, 2], width - H[1, 1]
        # The element before these two makes the first row 0.
        p, q = H[0, 0] - width, -height
        x, y = H[0, 1] * b + H[0, 2] * rest, H[0, 2] * height
        square = p * p + q * q
        divisor = select(square == 0, 1, square)
        along = Vector([-(x * p + y * q) / divisor, b, rest], H.dtype)
        across = Vector([-(y * p - x * q) / divisor, 0, height], H.dtype)
    size = maximum(size_of(along), size_of(across))
    along, across = along / size, across / size
    length = sqrt(dot(along, along) + dot(across, across))
    divisor = select(length == 0, 1, length)
    return Q @ (along / divisor), Q @ (across / divisor)


def _shrunk(A: Any, repeated: Any) -> Any:
    """The direction that a singular matrix shrinks most, or the next one for a repeated eigenvalue."""
    _, S, V = svd(A)
    vector = V[:, 2]
    if repeated == 1 and S[1, 1] <= static(32 * unit(A.dtype)):
        vector = V[:, 1]
    if repeated == 2 and S[0, 0] <= static(32 * unit(A.dtype)):
        vector = V[:, 0]
    return vector
