"""`sv.algorithms`: sums, sorts and selections over whole arrays and fields, on all threads.

Each takes arrays of ours, fields in any layout, and NumPy arrays; the elements are taken in C order. Results do not depend
on the number of threads. Called from Python, not in kernels; those that are called in kernels are in
`samovar.composable_algorithms`, and under the same names here.

>>> import samovar as sv
>>> a = sv.ndarray(sv.i32, 4)
>>> a.fill(3)
>>> sv.algorithms.prefix_sum(a, exclusive=True).to_numpy().tolist()
[0, 3, 6, 9]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from samovar import _door
from samovar._native import (
    DType,
    Ndarray,
    describe_tensor,
    disjoint,
    extreme_element,
    f16,
    f32,
    i32,
    plain_entrance,
    scan_elements,
    select_elements,
    sort_elements,
    sum_elements,
    u1,
)
from samovar.errors import SamovarTypeError, not_one_of

#: For calls at the top level of a kernel.
_COMPOSABLE = (
    "exclusive_scan_add", "exclusive_scan_max", "exclusive_scan_min", "exclusive_scan_scratch_slots", "reduce_add",
    "reduce_by_key_add", "reduce_by_key_scratch_slots", "reduce_max", "reduce_min", "reduce_scratch_slots", "select",
    "select_scratch_slots", "sort", "sort_scratch_slots",
)  # fmt: skip

__all__ = [
    "PrefixSumExecutor", "argmax", "argmin", "compact", "max", "min", "parallel_sort", "prefix_sum", "reduce", "unique",
    *_COMPOSABLE,
]  # fmt: skip

if TYPE_CHECKING:  # for who completes names
    from samovar.composable_algorithms import (  # noqa: F401
        exclusive_scan_add,
        exclusive_scan_max,
        exclusive_scan_min,
        exclusive_scan_scratch_slots,
        reduce_add,
        reduce_by_key_add,
        reduce_by_key_scratch_slots,
        reduce_max,
        reduce_min,
        reduce_scratch_slots,
        select,
        select_scratch_slots,
        sort,
        sort_scratch_slots,
    )

__getattr__ = _door(globals(), {"composable_algorithms": " ".join(_COMPOSABLE)}, (), "samovar")[0]


@plain_entrance
def prefix_sum(a: Any, out: Any = None, *, exclusive: bool = False) -> Any:
    """The sum of all elements up to each, or before each with `exclusive=True`: of the same shape and dtype (of u1, in i32).

    Integers wrap, floats are added in f64 and rounded at the end. `out` takes the result, and may be `a` itself
    or overlap it.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.f32, 3)
    >>> a.fill(0.5)
    >>> sv.algorithms.prefix_sum(a)
    ndarray([0.5, 1.0, 1.5], dtype=f32, shape=(3,))
    """
    shape, dtype = _described(a)
    wanted = i32 if dtype is u1 else dtype
    if out is not None and _described(out)[0] != shape:
        raise ValueError(f"prefix_sum: the result has the shape {shape}, and out has {_described(out)[0]}")
    work = f32 if wanted is f16 else wanted
    if out is not None and _is_plain(a, work) and _is_plain(out, work) and disjoint((out,), (a,)):
        scan_elements(a, out, exclusive)
        return out
    result = Ndarray(work, shape)
    result.copy_from(a)
    scan_elements(result, result, exclusive)
    if out is not None:
        return _stored(out, result)
    return result if work is wanted else _stored(Ndarray(wanted, shape), result)


class PrefixSumExecutor:
    """Inclusive prefix sums in place, of arrays of one length.

    >>> import samovar as sv
    >>> f = sv.field(sv.i32, 3)
    >>> f.fill(2)
    >>> sv.algorithms.PrefixSumExecutor(3).run(f)
    >>> f.to_numpy().tolist()
    [2, 4, 6]
    """

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, a: Any) -> None:
        """Put the sum of all elements up to each in its place."""
        shape, _ = _described(a)
        if shape != (self.length,):
            raise ValueError(f"this PrefixSumExecutor is for {self.length} elements, and the array has the shape {shape}")
        prefix_sum(a, a)


@plain_entrance
def parallel_sort(keys: Any, values: Any = None) -> None:
    """Sort keys in place, and values along with them. Stable: values of equal keys stay in their order.

    NaN comes last, and -0.0 before 0.0.

    >>> import samovar as sv
    >>> keys, values = sv.ndarray(sv.f32, 3), sv.ndarray(sv.i32, 3)
    >>> for i in range(3):
    ...     keys[i], values[i] = -i, i
    >>> sv.algorithms.parallel_sort(keys, values)
    >>> list(values)
    [2, 1, 0]
    """
    shape, _ = _described(keys)
    if values is not None and _described(values)[0] != shape:
        raise ValueError(f"parallel_sort: the keys have the shape {shape}, and the values have {_described(values)[0]}")
    if values is not None and _is_plain(keys) and _is_plain(values) and not disjoint((keys, values), ()):
        raise ValueError("parallel_sort: the keys and the values overlap in memory")
    sorted_keys = keys if _is_plain(keys) else _copied(keys)
    sorted_values = values if values is None or _is_plain(values) else _copied(values)
    sort_elements(sorted_keys, sorted_values)
    for each, done in ((keys, sorted_keys), (values, sorted_values)):
        if done is not each:
            _stored(each, done)


@plain_entrance
def reduce(a: Any, operation: str = "add") -> Any:
    """All elements put together by "add", "mul", "min" or "max", as a number of Python.

    Sums and products of integers are those modulo 2^64; of floats, they are computed in f64.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i8, 1000)
    >>> a.fill(100)
    >>> sv.algorithms.reduce(a)
    100000
    """
    if operation in ("min", "max"):
        return _extreme(a, operation == "max")[1]
    if operation not in ("add", "mul"):
        raise ValueError(not_one_of("reduce(a, operation)", operation, ("add", "mul", "min", "max")))
    return sum_elements(_readable(a), operation == "mul")


@plain_entrance
def min(a: Any) -> Any:
    """The least element, NaN if there is one.

    >>> import samovar as sv
    >>> sv.algorithms.min(sv.ndarray(sv.f32, 3))
    0.0
    """
    return _extreme(a, False)[1]


@plain_entrance
def max(a: Any) -> Any:
    """The greatest element, NaN if there is one.

    >>> import samovar as sv
    >>> sv.algorithms.max(sv.ndarray(sv.f32, 3))
    0.0
    """
    return _extreme(a, True)[1]


@plain_entrance
def argmin(a: Any) -> int:
    """Where the first least element is, counted in C order from 0. NaN is less than everything.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 3)
    >>> a[1] = -2
    >>> sv.algorithms.argmin(a)
    1
    """
    return _extreme(a, False)[0]


@plain_entrance
def argmax(a: Any) -> int:
    """Where the first greatest element is, counted in C order from 0. NaN is greater than everything.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 3)
    >>> a[1] = 2
    >>> sv.algorithms.argmax(a)
    1
    """
    return _extreme(a, True)[0]


@plain_entrance
def unique(a: Any) -> Ndarray:
    """The different elements, sorted, as a new array. All NaN are one, and so are 0.0 and -0.0.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 5)
    >>> a[3] = 7
    >>> sv.algorithms.unique(a)
    ndarray([0, 7], dtype=i32, shape=(2,))
    """
    work = _copied(a)
    sort_elements(work, None)
    return select_elements(work, None)


@plain_entrance
def compact(a: Any, mask: Any) -> Ndarray:
    """The elements where a mask of the same shape is not 0, in their order, as a new array.

    >>> import samovar as sv
    >>> a, mask = sv.ndarray(sv.f32, 4), sv.ndarray(sv.u1, 4)
    >>> a[2], mask[0], mask[2] = 5, True, True
    >>> sv.algorithms.compact(a, mask)
    ndarray([0.0, 5.0], dtype=f32, shape=(2,))
    """
    shape, _ = _described(a)
    if _described(mask)[0] != shape:
        raise ValueError(f"compact: the array has the shape {shape}, and the mask has {_described(mask)[0]}")
    marks = mask
    if not _is_plain(mask, u1):
        marks = Ndarray(u1, shape)
        marks.copy_from(mask)
    return select_elements(a if _is_plain(a) else _copied(a), marks)


def _extreme(a: Any, greatest: bool) -> tuple[int, Any]:
    return extreme_element(_readable(a), greatest)


def _described(a: Any) -> tuple[tuple[int, ...], DType]:
    """Shape and dtype of an array of any library."""
    found = describe_tensor(a)
    if found is None:
        raise SamovarTypeError(f"an array or a field is expected, not {type(a).__name__}")
    return found["shape"], found["dtype"]


def _is_plain(a: Any, dtype: DType | None = None) -> bool:
    """Are the elements in C order, and of a dtype?"""
    found = describe_tensor(a)
    return found is not None and found["contiguous"] and (dtype is None or found["dtype"] is dtype)


def _copied(a: Any, dtype: DType | None = None) -> Ndarray:
    shape, own = _described(a)
    copy = Ndarray(own if dtype is None else dtype, shape)
    copy.copy_from(a)
    return copy


def _readable(a: Any) -> Any:
    """The elements in C order, f16 as f32."""
    _, dtype = _described(a)
    if dtype is f16:
        return _copied(a, f32)
    return a if _is_plain(a) else _copied(a)


def _stored(to: Any, result: Ndarray) -> Any:
    """A result put into an array of any library."""
    if hasattr(to, "copy_from"):
        to.copy_from(result)
    else:
        to[...] = result.to_numpy(copy=None)
    return to
