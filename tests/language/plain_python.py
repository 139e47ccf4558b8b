"""Plain Python as the reference: the text of a kernel runs as a function, on arrays of Python's own numbers.

Python counts without end, so integers are wrapped where they are stored, and where they are cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import samovar as sv

NUMPY = {
    "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip


def wrapped(numbers: np.ndarray, dtype: Any) -> np.ndarray:
    """Numbers of Python's as those of a dtype: integers modulo its size."""
    if np.dtype(dtype).kind == "f":
        return numbers.astype(dtype)
    bits = np.dtype(dtype).itemsize * 8
    flat = [int(number) % (1 << bits) for number in numbers.ravel().tolist()]
    return np.array(flat, np.uint64).reshape(numbers.shape).astype(f"u{bits // 8}").view(dtype)


class Plain:
    """An array of Python's own numbers. A loop over it goes over its indices, as in a kernel."""

    def __init__(self, array: np.ndarray) -> None:
        self.dtype = array.dtype
        self.shape = array.shape
        self.numbers = array.astype(object)

    def __getitem__(self, place: Any) -> Any:
        self._check(place)
        return self.numbers[place]

    def __setitem__(self, place: Any, number: Any) -> None:
        self._check(place)
        if self.dtype.kind in "iu":
            number = int(wrapped(np.array([number], object), self.dtype)[0])
        self.numbers[place] = number

    def _check(self, place: Any) -> None:
        places = place if isinstance(place, tuple) else (place,)
        assert all(0 <= each < extent for each, extent in zip(places, self.shape, strict=True)), "out of bounds"

    def __iter__(self) -> Iterator[Any]:
        return (place if len(self.shape) > 1 else place[0] for place in np.ndindex(self.shape))

    def array(self) -> np.ndarray:
        """As NumPy has it."""
        return wrapped(self.numbers, self.dtype)


def _cast_to(dtype: Any) -> Callable[[Any], int]:
    return lambda number: int(wrapped(np.array([int(number)], object), dtype)[0])


class InPython:
    """What the texts use of `sv`, for plain Python."""

    ndrange = sv.ndrange
    types = sv.types

    @staticmethod
    def func(function: Any) -> Any:
        return function

    kernel = func

    @staticmethod
    def loop_config(**hints: object) -> None:
        """Nothing."""

    @staticmethod
    def static(value: Any) -> Any:
        return value


for _name, _type in NUMPY.items():
    setattr(InPython, _name, float if _name.startswith("f") else _cast_to(_type))


def python_function(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    # Annotations mean nothing to Python.
    namespace = dict(names)
    exec(compile("from __future__ import annotations\n" + text, "<kernel in plain Python>", "exec"), namespace)
    function: Callable[..., Any] = namespace["k"]
    return function
