"""Products of vectors and matrices other than `*` and `@`. Kernels compile the same source."""

from __future__ import annotations

from samovar.language import library, static, static_assert
from samovar.values.matrices import Matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@library
def dot(x: Any, y: Any) -> Any:
    """The dot product: the sum of the element-wise products.

    >>> import samovar as sv
    >>> sv.math.dot(sv.math.vec3(1, 2, 3), sv.math.vec3(1, 0, 1))
    4.0
    """
    return (x * y).sum()


@library
def cross(x: Any, y: Any) -> Any:
    """The cross product: a vector for two 3-D vectors, a number for two 2-D vectors.

    >>> import samovar as sv
    >>> sv.math.cross(sv.math.vec3(1, 0, 0), sv.math.vec3(0, 1, 0))
    Vector([0.0, 0.0, 1.0], dt=f32)
    """
    static_assert(
        x.shape == y.shape and (x.shape == (2,) or x.shape == (3,)),
        "`cross` requires two 3-D vectors or two 2-D vectors",
    )
    if static(x.n == 2):
        return x.x * y.y - x.y * y.x
    return x.yzx * y.zxy - x.zxy * y.yzx


@library
def outer_product(first: Any, second: Any) -> Any:
    """The outer product: the matrix of all products of an element of one vector and an element of the other."""
    return Matrix.cols([first]) @ Matrix.rows([second])


@library
def trace(matrix: Any) -> Any:
    """The sum of the diagonal elements."""
    static_assert(matrix.n == matrix.m, "`trace` requires a square matrix")
    total = matrix[0, 0]
    for i in static(range(1, matrix.n)):
        total = total + matrix[i, i]
    return total
