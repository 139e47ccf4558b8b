"""Array and field classes by element kind, for `isinstance(x, sv.MatrixField)`.

There is one class of arrays and one of fields. These classes only test an object; those of arrays also create one.
"""

from __future__ import annotations

from samovar._native import Field, Ndarray, Tensor
from samovar.runtime.arrays import ndarray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Kind(type):
    """A class whose instances are those of another one with elements of certain ranks."""

    _of: type
    _ranks: tuple[int, ...]

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls._of) and len(value.element_shape) in cls._ranks  # type: ignore[attr-defined]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return cls.made(*arguments, **keywords)  # type: ignore[attr-defined]


class ScalarField(metaclass=_Kind):
    """A field of numbers.

    >>> import samovar as sv
    >>> isinstance(sv.field(sv.f32, 4), sv.ScalarField)
    True
    """

    _of, _ranks, made = Field, (0,), staticmethod(Field)


class MatrixField(metaclass=_Kind):
    """A field of vectors or matrices.

    >>> import samovar as sv
    >>> isinstance(sv.field(sv.math.vec3, 4), sv.MatrixField)
    True
    """

    _of, _ranks, made = Field, (1, 2), staticmethod(Field)


class ScalarNdarray(metaclass=_Kind):
    """An array of numbers. `sv.ScalarNdarray(dtype, shape)` creates one.

    >>> import samovar as sv
    >>> isinstance(sv.ScalarNdarray(sv.f32, (4,)), sv.ScalarNdarray)
    True
    """

    _of, _ranks = Ndarray, (0,)

    @staticmethod
    def made(dtype: Any, arr_shape: Any) -> Ndarray:
        """Create an array."""
        return ndarray(dtype, arr_shape)


class VectorNdarray(metaclass=_Kind):
    """An array of vectors. `sv.VectorNdarray(n, dtype, shape)` creates one.

    >>> import samovar as sv
    >>> sv.VectorNdarray(3, sv.f32, (4,)).element_shape
    (3,)
    """

    _of, _ranks = Ndarray, (1,)

    @staticmethod
    def made(n: int, dtype: Any, shape: Any) -> Ndarray:
        """Create an array."""
        from samovar.values import vector

        return ndarray(vector(n, dtype), shape)


class MatrixNdarray(metaclass=_Kind):
    """An array of matrices. `sv.MatrixNdarray(n, m, dtype, shape)` creates one.

    >>> import samovar as sv
    >>> sv.MatrixNdarray(2, 3, sv.f32, (4,)).element_shape
    (2, 3)
    """

    _of, _ranks = Ndarray, (2,)

    @staticmethod
    def made(n: int, m: int, dtype: Any, shape: Any) -> Ndarray:
        """Create an array."""
        from samovar.values import matrix

        return ndarray(matrix(n, m, dtype), shape)


class VectorTensor(metaclass=_Kind):
    """An array or field of vectors.

    >>> import samovar as sv
    >>> isinstance(sv.field(sv.math.vec3, 4), sv.VectorTensor)
    True
    """

    _of, _ranks, made = Tensor, (1,), staticmethod(Tensor)


class MatrixTensor(metaclass=_Kind):
    """An array or field of matrices.

    >>> import samovar as sv
    >>> isinstance(sv.field(sv.math.mat3, 4), sv.MatrixTensor)
    True
    """

    _of, _ranks, made = Tensor, (2,), staticmethod(Tensor)


def wrap(impl: Tensor) -> Tensor:
    """Return the array or field itself: in other frameworks it wraps theirs.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.f32, 4)
    >>> sv.wrap(a) is a
    True
    """
    if not isinstance(impl, Tensor):
        raise TypeError(f"sv.wrap takes an array or a field, not a {type(impl).__name__}")
    return impl
