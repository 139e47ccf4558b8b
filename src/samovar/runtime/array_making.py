"""Array constructors with NumPy's names. Without a dtype, they use that of literals in kernels."""

from __future__ import annotations

from array import array as buffer
from math import ceil, prod
from typing import Any

from samovar._native import DType, Ndarray, Tensor, describe_tensor, plain_api_boundary, reshaped, u1
from samovar.runtime.arrays import component_wise, element_type, ndarray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.runtime.dimensions import Shape

__all__ = ["arange", "array", "full", "ones", "zeros", "zeros_like"]


@plain_api_boundary
def zeros(shape: Shape, dtype: Any = float) -> Ndarray:
    """Create an array of zeros, by default of the default float type of `sv.init`.

    >>> import samovar as sv
    >>> sv.zeros((2, 2), sv.i32)
    ndarray([[0, 0],
             [0, 0]], dtype=i32, shape=(2, 2))
    """
    return ndarray(dtype, shape)


@plain_api_boundary
def ones(shape: Shape, dtype: Any = float) -> Ndarray:
    """Create an array of ones, by default of the default float type of `sv.init`.

    >>> import samovar as sv
    >>> sv.ones(3)
    ndarray([1.0, 1.0, 1.0], dtype=f32, shape=(3,))
    """
    return full(shape, 1, dtype)


@plain_api_boundary
def full(shape: Shape, value: Any, dtype: Any = None) -> Ndarray:
    """Create an array filled with a number. Its default dtype is that of the number as a literal in a kernel.

    >>> import samovar as sv
    >>> sv.full(2, 7)
    ndarray([7, 7], dtype=i32, shape=(2,))
    """
    made = ndarray(_natural_type([value]) if dtype is None else dtype, shape)
    made.fill(value)
    return made


@plain_api_boundary
def zeros_like(array: Any, dtype: Any = None) -> Ndarray:
    """Create an array of zeros with the shape and dtype of another array of Samovar, NumPy or torch.

    >>> import samovar as sv
    >>> sv.zeros_like(sv.ones(2))
    ndarray([0.0, 0.0], dtype=f32, shape=(2,))
    """
    found = describe_tensor(array)
    if found is None:
        raise TypeError(f"zeros_like takes an array, not {type(array).__name__}")
    if dtype is not None:
        return ndarray(dtype, array.shape if isinstance(array, Tensor) else found["shape"])
    if not isinstance(array, Tensor):
        return Ndarray(found["dtype"], found["shape"])
    if array.layout != "aos":
        return component_wise(found["dtype"], array.shape, array.element_shape)
    return Ndarray(found["dtype"], found["shape"], False, len(array.element_shape))


@plain_api_boundary
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Ndarray:
    """The numbers from `start` (by default 0) up to but not including `stop`, in increments of `step`.

    >>> import samovar as sv
    >>> sv.arange(3), sv.arange(0.0, 1.0, 0.5)
    (ndarray([0, 1, 2], dtype=i32, shape=(3,)), ndarray([0.0, 0.5], dtype=f32, shape=(2,)))
    """
    first, end = (0, start) if stop is None else (start, stop)
    if step == 0:
        raise ValueError("arange: the step must not be zero")
    values: Any
    if all(hasattr(each, "__index__") for each in (first, end, step)):
        values = range(first.__index__(), end.__index__(), step.__index__())
        natural = _natural_type([values[0], values[-1]] if values else [0])
    else:
        first, step = float(first), float(step)
        values = [first + position * step for position in range(max(0, ceil((float(end) - first) / step)))]
        natural = _natural_type([0.0])
    made = ndarray(natural if dtype is None else dtype, len(values))
    made.copy_from(_numbers(values))
    return made


@plain_api_boundary
def array(values: Any, dtype: Any = None) -> Ndarray:
    """Create an array from nested lists of numbers, or copy an array of Samovar, NumPy or torch.

    Without a dtype, Python numbers take the types of literals in kernels.

    >>> import samovar as sv
    >>> sv.array([[1, 2], [3, 4]])
    ndarray([[1, 2],
             [3, 4]], dtype=i32, shape=(2, 2))
    >>> sv.array([0.5, 1])
    ndarray([0.5, 1.0], dtype=f32, shape=(2,))
    """
    found = describe_tensor(values)
    if found is not None:
        inner = values.element_shape if isinstance(values, Tensor) else ()
        return _filled(found["dtype"] if dtype is None else dtype, found["shape"], inner, values)
    shape, leaves = _flattened(values)
    made = _filled(_natural_type(leaves) if dtype is None else dtype, shape, (), None)
    if not leaves:
        return made
    numbers = made.reshape(made.size) if not made.element_shape else _entries(made)
    if made.dtype.kind == "complex":
        for position, each in enumerate(leaves):
            numbers[position] = each
    elif all(type(each) in (int, bool) for each in leaves) and made.dtype.kind in ("int", "uint"):
        _require_fit(leaves, made.dtype)
        numbers.copy_from(_numbers([int(each) for each in leaves]))
    else:
        numbers.copy_from(_numbers(leaves))
    return made


def _filled(dtype: Any, shape: tuple[int, ...], inner: tuple[int, ...], source: Any) -> Ndarray:
    """A new array of this shape, including that of the elements, with the elements of another one."""
    elements = inner
    if not isinstance(dtype, DType):
        dtype, elements = element_type(dtype)
    elements = elements or inner
    if elements and shape[-len(elements) :] != elements:
        raise ValueError(f"elements of shape {elements} cannot be made from numbers of shape {shape}")
    made = Ndarray(dtype, shape, False, len(elements))
    if source is not None:
        made.copy_from(source)
    return made


def _entries(array: Ndarray) -> Ndarray:
    """The numbers in an array of vectors or matrices."""
    return reshaped(array, array.size * prod(array.element_shape), 0)


def _flattened(values: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and the numbers in them in C order."""
    if hasattr(values, "__index__") or not hasattr(values, "__iter__"):
        is_number = any(hasattr(type(values), name) for name in ("__index__", "__float__")) or isinstance(values, complex)
        if not is_number or isinstance(values, str):
            raise TypeError(f"an array requires numbers, not {type(values).__name__}")
        return (), [values]
    if isinstance(values, (str, bytes, dict)):
        raise TypeError(f"an array requires numbers, not {type(values).__name__}")
    rows = [_flattened(each) for each in values]
    shapes = {shape for shape, _ in rows}
    if len(shapes) > 1:
        raise ValueError(f"rows of an array must have the same shape, got {', '.join(map(str, sorted(shapes)))}")
    inner = shapes.pop() if shapes else ()
    return (len(rows), *inner), [leaf for _, leaves in rows for leaf in leaves]


def _natural_type(leaves: list[Any]) -> DType:
    """The dtype of numbers as literals: the default types, or wider integers if needed."""
    from samovar.language import complex_type, integer_type
    from samovar.runtime.configuration import current_options

    options = current_options()
    if leaves and all(isinstance(each, bool) for each in leaves):
        return u1
    if any(isinstance(each, complex) for each in leaves):
        return complex_type(options.default_fp)
    if not leaves or not all(hasattr(each, "__index__") for each in leaves):
        return options.default_fp
    dtype: DType = options.default_ip
    for number in (min(leaves), max(leaves)):
        wanted = integer_type(number.__index__(), dtype)
        if wanted is None:
            raise OverflowError(f"the integer {number} does not fit in 64 bits")
        dtype = wanted
    return dtype


def _require_fit(leaves: list[int], dtype: DType) -> None:
    from samovar.language import integer_range

    least, greatest = integer_range(dtype)
    for number in (min(leaves), max(leaves)):
        if not least <= number <= greatest:
            raise OverflowError(f"{number} does not fit in {dtype.name} (range {least} to {greatest})")


def _numbers(values: Any) -> Any:
    """Numbers as a Python `array`, from which ours copies."""
    if not all(type(each) is int for each in values):
        return buffer("d", map(float, values))
    return buffer("q" if max(values, default=0) < 2**63 else "Q", values)
