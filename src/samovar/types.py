"""`sv.types`: the dtypes and the annotations of kernel parameters."""

from __future__ import annotations

import samovar
from samovar import _door
from samovar._native import DType, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64
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

    from samovar.language import matrix, struct, vector

__all__ = [
    "NDArray",
    "Template",
    "buffer_view",
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


def _array(
    dtype: Any = None,
    ndim: int | None = None,
    *,
    element_dim: int | None = None,
    element_shape: tuple[int, ...] | None = None,
    needs_grad: bool | None = None,
    boundary: str = "unsafe",
) -> ArrayAnnotation:
    """The annotation that `ndarray(...)` and `NDArray[...]` stand for."""
    if isinstance(dtype, Annotation) and dtype.is_struct:
        return _array_of_structs(dtype, ndim, needs_grad, boundary)  # type: ignore[no-any-return]
    default, element = None, _element(element_dim, element_shape)
    if isinstance(dtype, Annotation) and dtype.is_matrix:
        default, element, dtype = dtype.default, dtype.shape, dtype.dtype  # type: ignore[attr-defined]
    elif isinstance(dtype, DType):
        element = element or ()
    elif dtype is not None:
        scalar = specification(dtype)
        if not isinstance(scalar, ScalarAnnotation):
            raise samovar.SamovarTypeError(
                "the dtype of an array has to be one of samovar's (sv.f32), NumPy's or torch's, int, float or bool,"
                f" not {dtype!r}"
            )
        dtype, default, element = scalar.dtype, scalar.default, element or ()
    _check_array(ndim, boundary)
    return ArrayAnnotation(dtype, ndim, needs_grad, boundary, default, element)


def _check_array(ndim: int | None, boundary: str) -> None:
    if ndim is not None and (not isinstance(ndim, int) or isinstance(ndim, bool) or ndim < 0):
        raise samovar.SamovarTypeError(f"ndim has to be a whole number from 0, not {ndim!r}")
    if boundary not in BOUNDARIES:
        from samovar.errors import not_one_of

        raise samovar.SamovarArrayError(not_one_of("boundary=…", boundary, BOUNDARIES))


def _array_of_structs(struct: Any, ndim: int | None, needs_grad: bool | None, boundary: str) -> Any:
    from samovar.language import StructArrayAnnotation

    _check_array(ndim, boundary)
    return StructArrayAnnotation(struct, ndim, needs_grad, boundary)


def _element(element_dim: int | None, element_shape: tuple[int, ...] | None) -> tuple[int | None, ...] | None:
    """The shape of elements, from the number of their axes or from all their extents."""
    if element_shape is None:
        if element_dim is not None and element_dim not in (0, 1, 2):
            raise samovar.SamovarTypeError(
                f"element_dim has to be 0 (numbers), 1 (vectors) or 2 (matrices), not {element_dim!r}"
            )
        return None if element_dim is None else (None,) * element_dim
    shape = tuple(element_shape)
    if len(shape) > 2 or not all(isinstance(extent, int) and extent > 0 for extent in shape):
        raise samovar.SamovarTypeError(f"element_shape has to be one or two whole numbers from 1, not {element_shape!r}")
    if element_dim not in (None, len(shape)):
        raise samovar.SamovarTypeError(f"element_dim={element_dim} and element_shape={shape} are not of one rank")
    return shape


def buffer_view(dtype: Any = None, boundary: str = "unsafe") -> ViewAnnotation:
    """The annotation of a parameter that takes a part of an array, the same as `sv.BufferView[dtype, boundary]`.

    `boundary="clamp"` moves an index to the nearest edge of the part.

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
    """The annotation of an array parameter, as a subscript: `NDArray[dtype, ndim]`, each part optional.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.types.NDArray[sv.f32, 2]):
    ...     for i, j in a:
    ...         a[i, j] *= 2
    """

    _samovar_annotation = ArrayAnnotation()

    def __class_getitem__(cls, parts: Any) -> ArrayAnnotation:
        dtype, ndim = None, None
        given = parts if isinstance(parts, tuple) else (parts,)
        if len(given) > 2:
            raise samovar.SamovarTypeError(f"NDArray takes a dtype and a number of axes: {len(given)} parts given")
        for index, part in enumerate(given):
            if part is None or part is Ellipsis:
                continue
            if isinstance(part, int) and not isinstance(part, bool):
                if ndim is not None or (index == 0 and len(given) == 2):
                    raise samovar.SamovarTypeError(f"NDArray[dtype, ndim]: {part!r} is in the place of the dtype")
                ndim = part
            elif index == 0:
                dtype = part
            else:
                raise samovar.SamovarTypeError(
                    f"NDArray[dtype, ndim]: the number of axes has to be a whole number, not {part!r}"
                )
        return _array(dtype, ndim)

    def __new__(cls, *parts: Any, **named: Any) -> NDArray:
        given = [f"sv.{part}" if isinstance(part, DType) else repr(part) for part in (*parts, *named.values())]
        shown = f": write `sv.types.NDArray[{', '.join(given)}]`, in square brackets" if given else ""
        raise samovar.SamovarTypeError(
            f"NDArray is an annotation{shown}\n  help: `sv.ndarray(dtype, shape)` makes an array"
        )


class ndarray(NDArray):
    """The annotation of an array parameter. What is left out is taken from the argument. Without a call it is
    any array, and `ndarray[dtype, ndim]` is `NDArray[dtype, ndim]`.

    `element_dim` (1 for vectors, 2 for matrices) and `element_shape` say of the last axes of an array that they belong to
    its elements. `boundary="clamp"` moves an index to the nearest edge; with "unsafe" an index has to be in range.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def blur(a: sv.types.ndarray(dtype=sv.f32, ndim=1, boundary="clamp"), b: sv.types.ndarray(ndim=1)):
    ...     for i in a:
    ...         b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    """

    _samovar_annotation = ArrayAnnotation()

    def __new__(  # type: ignore[misc]  # what is called is the annotation, not a class of arrays
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
    """The annotation of a compile-time value: a number that is baked in, a dtype, a function, an array taken as it is.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def power(a: sv.types.NDArray[sv.f32, 1], n: sv.Template):
    ...     for i in a:
    ...         a[i] = a[i] ** n
    """

    _samovar_annotation = TemplateAnnotation()

    def __new__(cls) -> Template:
        raise samovar.SamovarTypeError("Template is an annotation; write it without parentheses, or as sv.template()")


class template:
    """The same annotation as `Template`, called or not. What a call says of the value is for readers: it is not checked.

    >>> import samovar as sv
    >>> sv.template() == sv.template()
    True
    """

    _samovar_annotation = TemplateAnnotation()

    def __new__(cls, element_type: Any = object, ndim: int | None = None) -> TemplateAnnotation:  # type: ignore[misc]
        return TemplateAnnotation()  # what is called is the annotation


def ref(tp: Any = None) -> TemplateAnnotation:
    """The annotation of a parameter of a `func` that is the caller's variable: what is assigned to it is seen there.

    >>> import samovar as sv
    >>> @sv.func
    ... def count(n: sv.types.ref(sv.i32)):
    ...     n += 1
    """
    return TemplateAnnotation()


def sparse_matrix_builder() -> TemplateAnnotation:
    """The annotation of a parameter that takes an `sv.linalg.SparseMatrixBuilder`: a kernel adds elements to it.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def unit(matrix: sv.types.sparse_matrix_builder(), n: sv.i32):
    ...     for i in range(n):
    ...         matrix[i, i] += 1.0
    """
    return TemplateAnnotation()


def is_integral(dtype: Any) -> bool:
    """Is it a type of whole numbers? u1 is one.

    >>> import samovar as sv
    >>> sv.types.is_integral(sv.u8), sv.types.is_integral(float)
    (True, False)
    """
    return _kind(dtype) in ("int", "uint", "bool")


def is_real(dtype: Any) -> bool:
    """Is it a type of floats?

    >>> import samovar as sv
    >>> sv.types.is_real(sv.f16), sv.types.is_real(int)
    (True, False)
    """
    return _kind(dtype) == "float"


def is_signed(dtype: Any) -> bool:
    """Has a type of whole numbers negative ones?

    >>> import samovar as sv
    >>> sv.types.is_signed(sv.i8), sv.types.is_signed(sv.u8)
    (True, False)
    """
    return _kind(dtype) == "int"


def is_tensor(dtype: Any) -> bool:
    """Is it a type of vectors or matrices?

    >>> import samovar as sv
    >>> sv.types.is_tensor(sv.math.vec3), sv.types.is_tensor(sv.f32)
    (True, False)
    """
    return isinstance(dtype, Annotation) and dtype.is_matrix


def _kind(dtype: Any) -> str:
    plain = {int: "int", float: "float", bool: "bool"}
    return plain[dtype] if isinstance(dtype, type) and dtype in plain else str(dtype.kind)


# The types of vectors, matrices and structs are loaded when one is made.
__getattr__ = _door(globals(), {"language": "matrix struct vector"}, (), "samovar")[0]
