"""`sv.types`: the dtypes and the annotations of kernel parameters."""

from __future__ import annotations

from samovar._native import DType, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64
from samovar.errors import SamovarTypeError
from samovar.language import BOUNDARIES, PYTHON_SCALARS, Annotation, ArrayAnnotation, TemplateAnnotation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import matrix, vector

__all__ = [
    "NDArray",
    "Template",
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
    "matrix",
    "ndarray",
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


def ndarray(
    dtype: Any = None, ndim: int | None = None, *, needs_grad: bool | None = None, boundary: str = "unsafe"
) -> ArrayAnnotation:
    """The annotation of an array parameter. What is left out is taken from the argument.

    `boundary="clamp"` moves an index to the nearest edge; with "unsafe" an index has to be in range.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def blur(a: sv.types.ndarray(dtype=sv.f32, ndim=1, boundary="clamp"), b: sv.types.ndarray(ndim=1)):
    ...     for i in a:
    ...         b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    """
    default, element = None, None
    if isinstance(dtype, Annotation) and dtype.is_matrix:
        default, element, dtype = dtype.default, dtype.shape, dtype.dtype  # type: ignore[attr-defined]
    elif isinstance(dtype, DType):
        element = ()
    elif dtype is not None:
        try:
            scalar = PYTHON_SCALARS[dtype]
        except (KeyError, TypeError):
            raise SamovarTypeError(
                f"the dtype of an array has to be one of samovar's (sv.f32), int, float or bool, not {dtype!r}"
            ) from None
        dtype, default, element = scalar.dtype, scalar.default, ()
    if ndim is not None and (not isinstance(ndim, int) or isinstance(ndim, bool) or ndim < 0):
        raise SamovarTypeError(f"ndim has to be a whole number from 0, not {ndim!r}")
    if boundary not in BOUNDARIES:
        raise SamovarTypeError(f"boundary has to be one of {', '.join(map(repr, BOUNDARIES))}, not {boundary!r}")
    return ArrayAnnotation(dtype, ndim, needs_grad, boundary, default, element)


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
            raise SamovarTypeError(f"NDArray takes a dtype and a number of axes: {len(given)} parts given")
        for index, part in enumerate(given):
            if part is None or part is Ellipsis:
                continue
            if isinstance(part, int) and not isinstance(part, bool):
                if ndim is not None or (index == 0 and len(given) == 2):
                    raise SamovarTypeError(f"NDArray[dtype, ndim]: {part!r} is in the place of the dtype")
                ndim = part
            elif index == 0:
                dtype = part
            else:
                raise SamovarTypeError(f"NDArray[dtype, ndim]: the number of axes has to be a whole number, not {part!r}")
        return ndarray(dtype, ndim)

    def __new__(cls) -> NDArray:
        raise SamovarTypeError("NDArray is an annotation; make an array with sv.ndarray(dtype, shape)")


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
        raise SamovarTypeError("Template is an annotation; write it without parentheses, or as sv.template()")


def template() -> TemplateAnnotation:
    """The same annotation as `Template`, as a call.

    >>> import samovar as sv
    >>> sv.template() == sv.template()
    True
    """
    return TemplateAnnotation()


def __getattr__(name: str) -> object:
    """The types of vectors and matrices, loaded when one is made."""
    if name not in ("matrix", "vector"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from samovar import language

    value = globals()[name] = getattr(language, name)
    return value
