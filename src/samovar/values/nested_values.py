"""A uniform view of numbers, nested lists, arrays, vectors and matrices: a shape, numbers in row order, and a dtype.

Numbers are kept as written, so that each is rounded once, when its final type is known.
"""

from __future__ import annotations

from math import prod

import samovar
from samovar._native import DType
from samovar.language import as_dtype, options_in_force, promote
from samovar.values.arithmetic import natural_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: The maximum number of elements of a vector or matrix: larger values are arrays, which are not read number by number.
MOST_ENTRIES = 1 << 20
#: How deeply lists are read. Vectors and matrices are at most 2-D; deeper lists are read for the error message.
_MOST_AXES = 8


class Nested:
    """Numbers in row order with their shape, `()` for a single number, and the dtype they promote to.

    The numbers of an array are read on demand: comparing shapes first never reads those of a wrong one.
    """

    __slots__ = ("_numbers", "_source", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], numbers: list[Any] | None, dtype: DType, source: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self._numbers = numbers
        self._source = source

    @property
    def numbers(self) -> list[Any]:
        """The numbers, in row order."""
        if self._numbers is None:
            check_count(self.shape)
            self._numbers = list(_flat(self._source.tolist()))
        return self._numbers


def nested(value: object, axes: int = 0) -> Nested | None:
    """A value read as numbers; None if it is not numeric. `axes` is the number of lists around it."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        return Nested((), [value], natural_type(value))  # type: ignore[arg-type]
    of_matrix = getattr(kind, "_samovar_nested", None)
    if of_matrix is not None:
        found: Nested = of_matrix(value)
        return found
    if isinstance(value, (list, tuple, range)):
        return _of_items(value, axes + 1)
    if hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "tolist"):
        return _of_array(value)
    if isinstance(value, (bool, int, float)):
        return Nested((), [value], natural_type(value))
    return None


def read(value: object, what: str) -> Nested:
    """Like `nested`, but raises an error for other values."""
    found = nested(value)
    if found is None:
        raise samovar.SamovarTypeError(
            f"{what} requires numbers, lists, arrays, vectors or matrices, not a {type(value).__name__}"
        )
    return found


def _of_items(items: list[object] | tuple[object, ...] | range, axes: int) -> Nested | None:
    if not items:
        raise samovar.SamovarTypeError("a vector or matrix must have at least one element, but this list is empty")
    if axes > _MOST_AXES:
        raise samovar.SamovarTypeError("a vector or matrix is 1-D or 2-D, but these lists are nested more deeply")
    check_count((len(items),))
    numbers: list[Any] = []
    dtype, shape = None, None
    for item in items:
        part = nested(item, axes)
        if part is None:
            return None
        if shape is None:
            check_count((len(items), *part.shape))
        elif part.shape != shape:
            raise samovar.SamovarTypeError(
                f"the items of a list have different shapes: {shown(shape)} and {shown(part.shape)}"
            )
        shape = part.shape
        dtype = part.dtype if dtype is None else promote(dtype, part.dtype)
        numbers += part.numbers
    assert shape is not None
    assert dtype is not None
    return Nested((len(items), *shape), numbers, dtype)


def _of_array(array: Any) -> Nested:
    shape = tuple(int(extent) for extent in array.shape)
    if 0 in shape:
        raise samovar.SamovarTypeError(f"a vector or matrix must have at least one element, but the array has shape {shape}")
    return Nested(shape, None, as_dtype(array.dtype, options_in_force()), array)


def check_count(shape: tuple[int, ...]) -> None:
    """Reject values that are too large, before their numbers are read."""
    if prod(shape) > MOST_ENTRIES:
        raise samovar.SamovarTypeError(
            f"a vector or matrix has at most {MOST_ENTRIES} elements, but this has shape {shown(shape)}: use an array"
        )


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def shown(shape: tuple[int, ...]) -> str:
    """A shape in a message: `a number`, `3`, `2×3`."""
    return "×".join(map(str, shape)) if shape else "a number"
