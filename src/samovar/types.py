"""`sv.types`: dtypes and annotations of kernel parameters."""

from __future__ import annotations

import samovar
from samovar import _lazy_exports
from samovar._native import DType, bf16, c64, c128, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64
from samovar.language import (
    BOUNDARIES,
    Annotation,
    ArrayAnnotation,
    ScalarAnnotation,
    TemplateAnnotation,
    ViewAnnotation,
    specification,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.values import StructBase, matrix, struct, vector

__all__ = [
    "Array",
    "NDArray",
    "StructBase",
    "Template",
    "bf16",
    "bfloat16",
    "buffer_view",
    "c64",
    "c128",
    "complex64",
    "complex128",
    "f16",
    "f32",
    "f64",
    "float16",
    "float32",
    "float64",
    "i8",
    "i16",
    "i32",
    "i64",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_integral",
    "is_real",
    "is_signed",
    "is_tensor",
    "matrix",
    "ndarray",
    "ref",
    "sparse_matrix_builder",
    "struct",
    "template",
    "u1",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint1",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "vector",
]  # fmt: skip

int8, int16, int32, int64 = i8, i16, i32, i64
uint1, uint8, uint16, uint32, uint64 = u1, u8, u16, u32, u64
float16, float32, float64 = f16, f32, f64
complex64, complex128 = c64, c128
bfloat16 = bf16


def _array(
    dtype: Any = None,
    ndim: int | None = None,
    *,
    element_dim: int | None = None,
    element_shape: tuple[int, ...] | None = None,
    needs_grad: bool | None = None,
    boundary: str = "unsafe",
) -> ArrayAnnotation:
    """The annotation that `ndarray(...)` and `NDArray[...]` create."""
    if isinstance(dtype, Annotation) and dtype.is_struct:
        return _array_of_structs(dtype, ndim, needs_grad, boundary)  # type: ignore[no-any-return]
    default, element = None, _element(element_dim, element_shape)
    if isinstance(dtype, Annotation) and (dtype.is_matrix or dtype.is_element):
        default, element, dtype = dtype.default, dtype.shape, dtype.dtype  # type: ignore[attr-defined]
    elif isinstance(dtype, DType):
        element = element or ()
    elif dtype is not None:
        scalar = specification(dtype)
        if not isinstance(scalar, ScalarAnnotation):
            raise samovar.SamovarTypeError(
                "the dtype of an array must be a Samovar dtype (sv.f32), a NumPy or torch dtype, int, float or bool,"
                f" not {dtype!r}"
            )
        dtype, default, element = scalar.dtype, scalar.default, element or ()
    _check_array(ndim, boundary)
    return ArrayAnnotation(dtype, ndim, needs_grad, boundary, default, element)


def _check_array(ndim: int | None, boundary: str) -> None:
    if ndim is not None and (not isinstance(ndim, int) or isinstance(ndim, bool) or ndim < 0):
        raise samovar.SamovarTypeError(f"ndim must be a non-negative integer, not {ndim!r}")
    if boundary not in BOUNDARIES:
        from samovar.errors import not_one_of

        raise samovar.SamovarArrayError(not_one_of("boundary=…", boundary, BOUNDARIES))


def _array_of_structs(struct: Any, ndim: int | None, needs_grad: bool | None, boundary: str) -> Any:
    from samovar.values import StructArrayAnnotation

    _check_array(ndim, boundary)
    return StructArrayAnnotation(struct, ndim, needs_grad, boundary)


def _element(element_dim: int | None, element_shape: tuple[int, ...] | None) -> tuple[int | None, ...] | None:
    """The shape of elements, from the number of their dimensions or from their extents."""
    if element_shape is None:
        if element_dim is not None and element_dim not in (0, 1, 2):
            raise samovar.SamovarTypeError(
                f"element_dim must be 0 (numbers), 1 (vectors) or 2 (matrices), not {element_dim!r}"
            )
        return None if element_dim is None else (None,) * element_dim
    shape = tuple(element_shape)
    if len(shape) > 2 or not all(isinstance(extent, int) and extent > 0 for extent in shape):
        raise samovar.SamovarTypeError(f"element_shape must be one or two positive integers, not {element_shape!r}")
    if element_dim not in (None, len(shape)):
        raise samovar.SamovarTypeError(f"element_dim={element_dim} does not match element_shape={shape}")
    return shape


def buffer_view(dtype: Any = None, boundary: str = "unsafe") -> ViewAnnotation:
    """The annotation of a parameter that accepts a slice of an array, the same as `sv.BufferView[dtype, boundary]`.

    `boundary="clamp"` moves an index to the nearest edge of the slice.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def smooth(v: sv.types.buffer_view(sv.f32, "clamp"), out: sv.BufferView[sv.f32]):
    ...     for i in v:
    ...         out[i] = (v[i - 1] + v[i] + v[i + 1]) / 3
    """
    array: Any = _array(dtype, 1, boundary=boundary)
    if array.is_struct:
        return ViewAnnotation(boundary=boundary, struct=array.struct)
    return ViewAnnotation(array.dtype, array.boundary, array.default, array.element)


class NDArray:
    """The annotation of an array parameter, as a subscript: `sv.Array[dtype, ndim]`, each part optional. `sv.types.NDArray`
    is the same; `sv.f32[:, :]` is `sv.Array[sv.f32, 2]`, as in Numba.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.Array[sv.f32, 2]):
    ...     for i, j in a:
    ...         a[i, j] *= 2
    """

    _samovar_annotation = ArrayAnnotation()

    def __class_getitem__(cls, parts: Any) -> ArrayAnnotation:
        dtype, ndim = None, None
        given = parts if isinstance(parts, tuple) else (parts,)
        if len(given) > 2:
            raise samovar.SamovarTypeError(f"NDArray[dtype, ndim] takes at most 2 parts, not {len(given)}")
        for index, part in enumerate(given):
            if part is None or part is Ellipsis:
                continue
            if isinstance(part, int) and not isinstance(part, bool):
                if ndim is not None or (index == 0 and len(given) == 2):
                    raise samovar.SamovarTypeError(f"NDArray[dtype, ndim]: expected a dtype, not {part!r}")
                ndim = part
            elif index == 0:
                dtype = part
            else:
                raise samovar.SamovarTypeError(
                    f"NDArray[dtype, ndim]: the number of dimensions must be an integer, not {part!r}"
                )
        return _array(dtype, ndim)

    def __new__(cls, *parts: Any, **named: Any) -> NDArray:
        given = [f"sv.{part}" if isinstance(part, DType) else repr(part) for part in (*parts, *named.values())]
        shown = f": write `sv.Array[{', '.join(given)}]`, in square brackets" if given else ""
        raise samovar.SamovarTypeError(
            f"{cls.__name__} is an annotation{shown}\n  help: `sv.ndarray(dtype, shape)` makes an array"
        )


#: The short name: `sv.Array`.
Array = NDArray


class ndarray(NDArray):
    """The annotation of an array parameter. Parts that are omitted are taken from the argument. Without a call, it accepts
    any array; `ndarray[dtype, ndim]` is `NDArray[dtype, ndim]`.

    `element_dim` (1 for vectors, 2 for matrices) and `element_shape` declare the last dimensions of an array as those of
    its elements. `boundary="clamp"` moves an index to the nearest edge; with "unsafe" an index has to be in range.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def blur(a: sv.types.ndarray(dtype=sv.f32, ndim=1, boundary="clamp"), b: sv.types.ndarray(ndim=1)):
    ...     for i in a:
    ...         b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    """

    _samovar_annotation = ArrayAnnotation()

    def __new__(  # type: ignore[misc]  # a call makes an annotation, not an array
        cls,
        dtype: Any = None,
        ndim: int | None = None,
        element_dim: int | None = None,
        element_shape: tuple[int, ...] | None = None,
        *,
        needs_grad: bool | None = None,
        boundary: str = "unsafe",
    ) -> ArrayAnnotation:
        return _array(
            dtype,
            ndim,
            element_dim=element_dim,
            element_shape=element_shape,
            needs_grad=needs_grad,
            boundary=boundary,
        )


class Template:
    """The annotation of a compile-time value: a number to specialize on, a dtype, a function, or an array.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def power(a: sv.types.NDArray[sv.f32, 1], n: sv.Template):
    ...     for i in a:
    ...         a[i] = a[i] ** n
    """

    _samovar_annotation = TemplateAnnotation()

    def __new__(cls) -> Template:
        raise samovar.SamovarTypeError("Template is an annotation: write it without parentheses, or as sv.template()")


class template:
    """The same annotation as `Template`, called or not. The arguments of a call document the value; they are not checked.

    >>> import samovar as sv
    >>> sv.template() == sv.template()
    True
    """

    _samovar_annotation = TemplateAnnotation()

    def __new__(cls, element_type: Any = object, ndim: int | None = None) -> TemplateAnnotation:  # type: ignore[misc]
        return TemplateAnnotation()  # a call makes an annotation


def ref(tp: Any = None) -> TemplateAnnotation:
    """The annotation of a `func` parameter passed by reference: assignments to it change the caller's variable.

    >>> import samovar as sv
    >>> @sv.func
    ... def count(n: sv.types.ref(sv.i32)):
    ...     n += 1
    """
    return TemplateAnnotation()


def sparse_matrix_builder() -> TemplateAnnotation:
    """The annotation of a parameter that accepts an `sv.linalg.SparseMatrixBuilder`: a kernel adds elements to it.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def unit(matrix: sv.types.sparse_matrix_builder(), n: sv.i32):
    ...     for i in range(n):
    ...         matrix[i, i] += 1.0
    """
    return TemplateAnnotation()


def is_integral(dtype: Any) -> bool:
    """Whether a dtype is an integer type, u1 included.

    >>> import samovar as sv
    >>> sv.types.is_integral(sv.u8), sv.types.is_integral(float)
    (True, False)
    """
    return _kind(dtype) in ("int", "uint", "bool")


def is_real(dtype: Any) -> bool:
    """Whether a dtype is a floating-point type.

    >>> import samovar as sv
    >>> sv.types.is_real(sv.f16), sv.types.is_real(int)
    (True, False)
    """
    return _kind(dtype) == "float"


def is_signed(dtype: Any) -> bool:
    """Whether an integer type is signed.

    >>> import samovar as sv
    >>> sv.types.is_signed(sv.i8), sv.types.is_signed(sv.u8)
    (True, False)
    """
    return _kind(dtype) == "int"


def is_tensor(dtype: Any) -> bool:
    """Whether it is a vector or matrix type.

    >>> import samovar as sv
    >>> sv.types.is_tensor(sv.math.vec3), sv.types.is_tensor(sv.f32)
    (True, False)
    """
    return isinstance(dtype, Annotation) and dtype.is_matrix


def _kind(dtype: Any) -> str:
    plain = {int: "int", float: "float", bool: "bool"}
    return plain[dtype] if isinstance(dtype, type) and dtype in plain else str(dtype.kind)


# The types of vectors, matrices and structs are loaded on first use.
__getattr__ = _lazy_exports(globals(), {"values": "StructBase matrix struct vector"}, (), "samovar")[0]


def __dir__() -> list[str]:
    return __all__
