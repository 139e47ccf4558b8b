"""The types of vectors and matrices: `sv.types.vector`, `sv.types.matrix`, `sv.math.vec3` and the like.

A type annotates parameters and results, is the element type of arrays, and makes values when it is called.
"""

from __future__ import annotations

import sys

import samovar
from samovar._native import DType, api_boundary, api_boundary_methods
from samovar.language import PYTHON_SCALARS, Annotation, ScalarAnnotation, default_type, options_in_force

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import Options


@api_boundary_methods
class MatrixType(Annotation):
    """The type of vectors and matrices of one shape and dtype. Called with numbers, vectors, lists or arrays, it makes one.

    Vectors and numbers are concatenated to a vector, vectors of the right length become the rows of a matrix, and a single
    number fills all elements. `dtype` is None if `int` or `float` was written: then the option named by `default` sets it.
    If no dtype was written at all, it is that of the arguments.

    >>> import samovar as sv
    >>> vec2, vec3 = sv.types.vector(2, sv.f32), sv.types.vector(3, sv.f32)
    >>> vec3(vec2(1, 2), 3)
    Vector([1.0, 2.0, 3.0], dt=f32)
    >>> sv.types.matrix(2, 2, sv.i32)(vec2(1, 2), vec2(3, 4))
    Matrix([[1, 2], [3, 4]], dt=i32)
    >>> vec3(0.5)
    Vector([0.5, 0.5, 0.5], dt=f32)
    """

    __slots__ = ("default", "dtype", "shape")
    is_matrix = True
    default: str | None
    dtype: DType | None
    shape: tuple[int, ...]

    def __init__(self, default: str | None, dtype: DType | None, shape: tuple[int, ...]) -> None:
        self._set(default=default, dtype=dtype, shape=shape)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def m(self) -> int:
        """The number of columns; 1 for vectors."""
        return self.shape[1] if len(self.shape) == 2 else 1

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def resolved(self, options: Options) -> DType:
        """The dtype under these options; reading them through a recording view records the one that was read."""
        if self.dtype is not None:
            return self.dtype
        return default_type(self.default or "default_fp", options)

    @property
    def is_open(self) -> bool:
        """Whether the arguments decide the dtype; without arguments it is a float."""
        return self.dtype is None and self.default is None

    def ndarray(self, shape: Any, needs_grad: bool = False, layout: str = "aos", needs_dual: bool = False) -> Any:
        """An array of such elements, see `sv.ndarray`."""
        return sys.modules["samovar"].ndarray(self, shape, needs_grad, layout, needs_dual)

    def field(self, shape: Any = None, **options: Any) -> Any:
        """A field of such elements, see `sv.field`."""
        return sys.modules["samovar"].field(self, shape, **options)

    def zero(self) -> Any:
        """A value of zeros."""
        return self(0)

    def one(self) -> Any:
        """A value of ones."""
        return self(1)

    def __call__(self, *arguments: Any) -> Any:
        from samovar.values.matrices import made
        from samovar.values.nested_values import read, shown

        is_list = len(arguments) == 1 and isinstance(arguments[0], (list, tuple, range))
        items = arguments[0] if is_list else arguments
        if len(items) > self.n * self.m:
            raise samovar.SamovarTypeError(f"{self} has {self.n * self.m} elements, but got {len(items)} values")
        parts = [read(item, str(self)) for item in items]
        shapes = [part.shape for part in parts]
        is_number = shapes == [()] and not is_list
        if not is_number and not self._takes(shapes):
            given = ", ".join(map(shown, shapes)) or "nothing"
            raise samovar.SamovarTypeError(f"{self} has {self.n * self.m} elements, but got {given}")
        numbers = [number for part in parts for number in part.numbers] * (self.n * self.m if is_number else 1)
        options = options_in_force()
        whole = self.is_open and all(isinstance(number, int) for number in numbers)
        return made(self.shape, numbers, options.default_ip if whole else self.resolved(options))

    def _takes(self, shapes: list[tuple[int, ...]]) -> bool:
        """Whether values of these shapes can be combined to one of this type."""
        count = self.n * self.m
        if shapes in ([self.shape], [(count,)]) or shapes == [()] * count:
            return True
        if len(self.shape) == 2:
            return shapes == [(self.m,)] * self.n
        return all(len(shape) < 2 for shape in shapes) and sum(shape[0] if shape else 1 for shape in shapes) == count

    def __str__(self) -> str:
        kind = "vector" if len(self.shape) == 1 else "matrix"
        dtype = "" if self.is_open else f", {ScalarAnnotation(self.dtype, self.default)}"
        return f"{kind}({', '.join(map(str, self.shape))}{dtype})"

    def __repr__(self) -> str:
        return f"sv.types.{self}"


class ElementType(Annotation):
    """Vectors or matrices of any size as the elements of an array: `sv.types.NDArray[sv.types.vector(), 1]`."""

    __slots__ = ("default", "dtype", "shape")
    is_element = True
    default: str | None
    dtype: DType | None
    shape: tuple[None, ...]

    def __init__(self, default: str | None, dtype: DType | None, shape: tuple[None, ...]) -> None:
        self._set(default=default, dtype=dtype, shape=shape)

    def __str__(self) -> str:
        kind = "vector" if len(self.shape) == 1 else "matrix"
        is_open = self.dtype is None and self.default is None
        return f"{kind}({'' if is_open else f'dtype={ScalarAnnotation(self.dtype, self.default)}'})"

    def __repr__(self) -> str:
        return f"sv.types.{self}"


@api_boundary
def vector(n: int | None = None, dtype: Any = None, *, unpacked: bool = False) -> Any:
    """The type of vectors with `n` components. Without a dtype, the arguments decide. `unpacked` is a hint without effect:
    components are in registers wherever possible. Without `n`, it is the type of the elements of an array, which decides.

    >>> import samovar as sv
    >>> vec5 = sv.types.vector(5, sv.f64)
    >>> vec5(range(5)).sum()
    10.0
    """
    return _type((n,), dtype)


@api_boundary
def matrix(n: int | None = None, m: int | None = None, dtype: Any = None) -> Any:
    """The type of matrices with `n` rows and `m` columns. Without a dtype, the arguments decide; without `n` and `m`, the
    array that it is the element type of.

    >>> import samovar as sv
    >>> sv.types.matrix(2, 3, int)(1, 2, 3, 4, 5, 6)
    Matrix([[1, 2, 3], [4, 5, 6]], dt=i32)
    """
    return _type((n, m), dtype)


def _type(shape: tuple[Any, ...], dtype: Any) -> Any:
    made: Any = ElementType if all(extent is None for extent in shape) else MatrixType
    for extent in shape if made is MatrixType else ():
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            raise samovar.SamovarTypeError(f"an extent must be a positive integer, not {extent!r}")
    if dtype is complex or (isinstance(dtype, DType) and dtype.kind == "complex"):
        raise samovar.SamovarTypeError(
            "vectors and matrices of complex numbers are not supported\n"
            "  help: use an array with another dimension, or a struct of complex numbers"
        )
    if dtype is None or isinstance(dtype, DType):
        return made(None, dtype, shape)
    try:
        scalar = PYTHON_SCALARS[dtype]
    except (KeyError, TypeError):
        raise samovar.SamovarTypeError(
            f"the dtype of a vector or matrix must be a Samovar dtype (sv.f32), int, float or bool, not {dtype!r}"
        ) from None
    return made(scalar.default, scalar.dtype, shape)


vec2, vec3, vec4 = vector(2, float), vector(3, float), vector(4, float)
ivec2, ivec3, ivec4 = vector(2, int), vector(3, int), vector(4, int)
uvec2, uvec3, uvec4 = (MatrixType("default_up", None, (n,)) for n in (2, 3, 4))
mat2, mat3, mat4 = matrix(2, 2, float), matrix(3, 3, float), matrix(4, 4, float)
