"""Methods of arrays and fields other than element access: `a.sum()`, `a == b`, `a.reshape(2, -1)`, `np.asarray(a)`.

The native class calls these functions, and loads this file on first use. NumPy does reductions along single dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from samovar._native import (
    DType,
    Field,
    Ndarray,
    Tensor,
    as_ndarray,
    bf16,
    c64,
    c128,
    describe_tensor,
    equal_elements,
    extreme_element,
    f16,
    f32,
    f64,
    field_layout,
    i64,
    reshaped,
    sum_elements,
    u1,
    u64,
)

__all__ = [
    "all_true", "any_true", "as_html", "as_numpy", "astype", "compare", "field_node", "field_of_entry", "field_parent",
    "greatest", "least", "mean", "reshape", "sum_of", "to_list", "transposed",
]  # fmt: skip


def to_list(array: Tensor) -> Any:
    """Nested lists of Python numbers; for a 0-D array, the number itself."""
    if array.dtype.kind == "complex":
        return _nested(iter(_parts(array)), array.shape)
    return memoryview(_readable(array)).tolist()


def _parts(array: Tensor) -> list[float]:
    """The real and imaginary parts of all elements, one after the other."""
    if not array.size:
        return []
    memory = memoryview(in_order(array)).cast("B")
    return [float(part) for part in (memory.cast("f") if array.dtype is c64 else memory.cast("d"))]


def _nested(parts: Iterator[float], shape: tuple[int, ...]) -> Any:
    """Nested lists of complex numbers."""
    return [_nested(parts, shape[1:]) for _ in range(shape[0])] if shape else complex(next(parts), next(parts))


def as_html(array: Tensor) -> str:
    """The elements as a table."""
    from samovar.runtime.notebook_views import array_html

    inner = array.element_shape
    return array_html(array, reshaped(in_order(array), (*array.shape, *inner), 0))


def _readable(array: Tensor) -> Tensor:
    """The elements in C order, f16 and bf16 as f32."""
    return _copied(array, f32) if array.dtype in (f16, bf16) else in_order(array)


def in_order(array: Tensor) -> Tensor:
    """The array itself, or a copy if its elements are not in C order."""
    found = describe_tensor(array)
    assert found is not None
    return array if found["contiguous"] else _copied(array, array.dtype)


def _copied(array: Any, dtype: DType) -> Ndarray:
    found = describe_tensor(array)
    assert found is not None
    inner = len(array.element_shape) if isinstance(array, Tensor) else 0
    copy = Ndarray(dtype, found["shape"], False, inner)
    copy.copy_from(array)
    return copy


def astype(array: Tensor, dtype: Any) -> Ndarray:
    if not isinstance(dtype, DType):
        from samovar.runtime.arrays import element_type

        dtype, inner = element_type(dtype)
        if inner and inner != array.element_shape:
            raise TypeError(f"astype: the elements have shape {array.element_shape}, not {inner}")
    return _copied(array, dtype)


# --- reductions


def sum_of(array: Tensor, axis: Any = None, **options: Any) -> Any:
    if not _is_plain(array, axis, options):
        return _along(array, "sum", axis, options)
    return sum_elements(_readable(array), False)


def least(array: Tensor, axis: Any = None, **options: Any) -> Any:
    return _extreme(array, "min", axis, options)


def greatest(array: Tensor, axis: Any = None, **options: Any) -> Any:
    return _extreme(array, "max", axis, options)


def _extreme(array: Tensor, name: str, axis: Any, options: dict[str, Any]) -> Any:
    if not _is_plain(array, axis, options):
        return _along(array, name, axis, options)
    if array.size == 0:
        raise ValueError(f"{name} of an empty array is not defined")
    return extreme_element(_readable(array), name == "max")[1]


def mean(array: Tensor, axis: Any = None, **options: Any) -> Any:
    if array.size == 0:
        raise ValueError("mean of an empty array is not defined")
    return sum_of(array) / array.size if _is_plain(array, axis, options) else _along(array, "mean", axis, options)


def all_true(array: Tensor, axis: Any = None, **options: Any) -> Any:
    if not _is_plain(array, axis, options):
        return _along(array, "all", axis, options)
    return sum_of(compare(array, 0, True)) == 0


def any_true(array: Tensor, axis: Any = None, **options: Any) -> Any:
    if not _is_plain(array, axis, options):
        return _along(array, "any", axis, options)
    return sum_of(compare(array, 0, False)) != 0


def _is_plain(array: Tensor, axis: Any, options: dict[str, Any]) -> bool:
    """Whether it is over all elements without options. `np.sum(a)` passes options that were not given."""
    return axis is None and not array.element_shape and array.dtype.kind != "complex" and not _given(options)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _along(array: Tensor, name: str, axis: Any, options: dict[str, Any]) -> Any:
    """A reduction along dimensions, or of vectors element-wise: a new array, or one element. With options, NumPy's own
    result."""
    if _given(options):
        return getattr(as_numpy(array), name)(axis=axis, **_given(options))
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for each in axes:
        if not -array.ndim <= each < array.ndim:
            raise IndexError(f"{name}: axis {each} is out of range for a {array.ndim}-D array")
    result = getattr(as_numpy(array), name)(axis=tuple(each % array.ndim for each in axes))
    if len(axes) < array.ndim:
        made = as_ndarray(result, True)
        return reshaped(made, result.shape, len(array.element_shape)) if array.element_shape else made
    if array.element_shape:
        from samovar.values import Matrix, Vector

        return (Vector if len(array.element_shape) == 1 else Matrix)(result.tolist())
    return result.item()


# --- other shapes


def reshape(array: Tensor, *shape: Any) -> Ndarray:
    """The same elements in C order with another shape."""
    given = shape[0] if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape
    extents = [each.__index__() for each in given]
    if extents.count(-1) == 1:
        known = prod(each for each in extents if each != -1)
        if known and array.size % known == 0:
            extents[extents.index(-1)] = array.size // known
    if -1 in extents or prod(extents) != array.size:
        raise ValueError(f"cannot reshape an array of shape {array.shape} to {tuple(given)}")
    inner = array.element_shape
    return reshaped(in_order(array), (*extents, *inner), len(inner))


def transposed(array: Tensor) -> Any:
    if array.ndim < 2:
        return array
    inner = len(array.element_shape)
    order = (*reversed(range(array.ndim)), *range(array.ndim, array.ndim + inner))
    return as_numpy(array).transpose(order)


def as_numpy(array: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """The array as a NumPy array, for `__array__`: shared unless a copy is needed or requested."""
    layout = field_layout(array)
    if copy is not False and layout is not None and any(len(pieces) > 1 for pieces in layout[1]):
        array = in_order(array)
    if dtype is bf16:
        raise TypeError("NumPy has no bf16: use float32, which holds its numbers")
    if array.dtype is bf16:
        if copy is False:
            raise ValueError("NumPy has no bf16: converting to float32 requires a copy, but copy=False was given")
        array = _copied(array, f32)
    elif copy:
        return array.to_numpy(True, dtype)
    import numpy

    seen = numpy.asarray(memoryview(array))
    if dtype is None:
        return seen
    wanted = numpy.dtype(dtype.typestr if isinstance(dtype, DType) else dtype)
    if copy is False and wanted != seen.dtype:
        raise ValueError(f"converting {array.dtype.name} to {wanted} requires a copy, but copy=False was given")
    return seen.astype(wanted, copy=False)


# --- comparison


def compare(array: Tensor, other: Any, equal: bool) -> Any:
    """Compare element-wise with a number or an array of the same shape. Anything else is unequal as a whole."""
    found = describe_tensor(other)
    if found is None:
        return _compared_with_number(array, other, equal)
    mine = describe_tensor(array)
    assert mine is not None
    if found["shape"] == ():
        return _compared_with_number(array, other[()], equal)
    if found["shape"] != mine["shape"]:
        raise ValueError(f"cannot compare arrays of shapes {mine['shape']} and {found['shape']} element-wise")
    wanted = _common_types(array.dtype, found["dtype"])
    first, second = (_in(each, dtype) for each, dtype in zip((array, other), wanted, strict=True))
    if first.dtype is u64 and second.dtype is i64:
        first, second = second, first
    result = equal_elements(first, second, equal)
    inner = len(array.element_shape)
    return reshaped(result, mine["shape"], inner) if inner != len(result.element_shape) else result


def _common_types(first: DType, second: DType) -> tuple[DType, DType]:
    """The dtypes in which two kinds of numbers are compared: one that holds both, or i64 and u64."""
    if first is second:
        return first, second
    if "complex" in (first.kind, second.kind):
        return c128, c128
    kinds = {first.kind, second.kind}
    if "float" in kinds:
        return f64, f64
    if "int" in kinds and u64 in (first, second):
        return (u64, i64) if first is u64 else (i64, u64)
    return (i64, i64) if "int" in kinds else (u64, u64)


def _in(array: Any, dtype: DType) -> Tensor:
    found = describe_tensor(array)
    assert found is not None
    if isinstance(array, Tensor) and array.dtype is dtype and found["contiguous"]:
        return array
    return _copied(array, dtype)


def _holds(dtype: DType, number: int) -> bool:
    from samovar.language import integer_range

    least, greatest = integer_range(dtype)
    return least <= number <= greatest


def _compared_with_number(array: Tensor, number: Any, equal: bool) -> Any:
    """Compare with a number, which takes the precision of the elements, as a literal in a kernel does."""
    if isinstance(number, complex):
        return equal_elements(_in(array, c128), _single(c128, number), equal)
    if hasattr(number, "__index__"):
        number = number.__index__()
    elif hasattr(type(number), "__float__") and not isinstance(number, str):
        number = float(number)
    else:
        return NotImplemented
    dtype = array.dtype
    if dtype.kind not in ("float", "complex") and isinstance(number, float):
        dtype = f64
    elif dtype.kind == "bool":
        dtype = i64
    if dtype.kind in ("float", "complex") or _holds(dtype, number):
        one = _single(dtype, number)
    else:  # an integer outside the range of the elements
        result = Ndarray(u1, array.shape + array.element_shape, False, len(array.element_shape))
        result.fill(not equal)
        return result
    return equal_elements(_in(array, dtype), one, equal)


def _single(dtype: DType, number: Any) -> Ndarray:
    one = Ndarray(dtype, ())
    one[None] = number
    return one


# --- fields


def field_node(field: Field) -> Any:
    """The position of a field in a tree."""
    from samovar.runtime.field_nodes import PlaceOfField

    return PlaceOfField(field)


def field_parent(field: Field, n: int = 1) -> Any:
    """The node of a field, or the n-th one above it."""
    return field_node(field).parent(n)


def field_of_entry(field: Field, *indices: Any) -> Field:
    """The field of one component of its vectors or matrices."""
    from samovar.runtime.field_nodes import entry_of

    return entry_of(field, indices)
