"""Products of vectors and matrices beyond `*` and `@`. Kernels compile the same text."""

from __future__ import annotations

from samovar.language.functions import library, static, static_assert
from samovar.language.matrices import Matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@library
def dot(x: Any, y: Any) -> Any:
    """The sum of the products of entries.

    >>> import samovar as sv
    >>> sv.math.dot(sv.math.vec3(1, 2, 3), sv.math.vec3(1, 0, 1))
    4.0
    """
    return (x * y).sum()


@library
def cross(x: Any, y: Any) -> Any:
    """The cross product: of two vectors of 3 a vector, of two vectors of 2 a number.

    >>> import samovar as sv
    >>> sv.math.cross(sv.math.vec3(1, 0, 0), sv.math.vec3(0, 1, 0))
    Vector([0.0, 0.0, 1.0], dt=f32)
    """
    static_assert(
        x.shape == y.shape and (x.shape == (2,) or x.shape == (3,)),
        "`cross` needs two vectors of 3 or two vectors of 2",
    )
    if static(x.n == 2):
        return x.x * y.y - x.y * y.x
    return x.yzx * y.zxy - x.zxy * y.yzx


@library
def outer_product(first: Any, second: Any) -> Any:
    """The matrix of all products of an entry of the one and an entry of the other."""
    return Matrix.cols([first]) @ Matrix.rows([second])


@library
def trace(matrix: Any) -> Any:
    """The sum of the diagonal."""
    static_assert(matrix.n == matrix.m, "`trace` needs a square matrix")
    total = matrix[0, 0]
    for i in static(range(1, matrix.n)):
        total = total + matrix[i, i]
    return total
