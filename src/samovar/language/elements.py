"""Elements of arrays that are vectors or matrices, in plain Python: reading one gives a value that writes back what is
assigned to its entries."""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.language.matrices import made
from samovar.language.nested_values import read, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class ArrayEntries(list):  # type: ignore[type-arg]
    """The entries of an element. What is assigned to one is stored in the array."""

    __slots__ = ("array", "key")
    array: Any
    key: Any

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        self.array[self.key] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def element(shape: tuple[int, ...], entries: list[Any], dtype: DType, array: Any, key: Any) -> Any:
    """The element of an array at an index, from its entries in row order."""
    result = made(shape, entries, dtype)
    kept = ArrayEntries(result.entries)
    kept.array, kept.key = array, key
    object.__setattr__(result, "entries", kept)
    return result


def entries_of(value: Any, shape: tuple[int, ...], dtype: DType) -> list[Any]:
    """The entries of what is stored as an element: a vector or matrix, lists of numbers, or one number for all of them."""
    if type(value) is ArrayEntries:
        return list(value)
    found = read(value, "an element of this array")
    if found.shape not in ((), shape):
        raise SamovarTypeError(f"an element of this array is of shape {shown(shape)}, not {shown(found.shape)}")
    count = 1
    for extent in shape:
        count *= extent
    numbers = found.numbers * count if found.shape == () else found.numbers
    if dtype.kind in ("int", "uint"):  # the array itself warns of what does not fit
        return [number if isinstance(number, int) else dtype(number) for number in numbers]
    return [dtype(number) for number in numbers]
