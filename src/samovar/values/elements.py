"""Vector and matrix elements of arrays in plain Python: reading one returns a value that writes assignments to its
components back to the array."""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.values.matrices import made
from samovar.values.nested_values import read, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class ArrayEntries(list):  # type: ignore[type-arg]
    """The components of an element. Assignments are stored in the array."""

    __slots__ = ("array", "key")
    array: Any
    key: Any

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        self.array[self.key] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def element(shape: tuple[int, ...], entries: list[Any], dtype: DType, array: Any, key: Any) -> Any:
    """The element of an array at an index, from its components in row order."""
    result = made(shape, entries, dtype)
    kept = ArrayEntries(result.entries)
    kept.array, kept.key = array, key
    object.__setattr__(result, "entries", kept)
    return result


def entries_of(value: Any, shape: tuple[int, ...], dtype: DType) -> list[Any]:
    """The components of a value to store as an element: a vector or matrix, lists of numbers, or one number for all."""
    if type(value) is ArrayEntries:
        return list(value)
    found = read(value, "an element of this array")
    if found.shape not in ((), shape):
        raise SamovarTypeError(f"an element of this array has shape {shown(shape)}, not {shown(found.shape)}")
    count = 1
    for extent in shape:
        count *= extent
    numbers = found.numbers * count if found.shape == () else found.numbers
    if dtype.kind in ("int", "uint"):  # the array itself warns about values that do not fit
        return [number if isinstance(number, int) else dtype(number) for number in numbers]
    return [dtype(number) for number in numbers]
