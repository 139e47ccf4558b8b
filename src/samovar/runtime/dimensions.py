"""Dimensions by name (`sv.i`, `sv.ij`, …), and shapes as arguments."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import SupportsIndex

from samovar.errors import SamovarTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    Shape = SupportsIndex | Iterable[SupportsIndex]

#: The names of dimensions, in order.
LETTERS = "ijklmnopqrstuvwx"


class Axes(tuple[int, ...]):
    """The dimensions of a node, the outermost first: `sv.i`, `sv.ij`, `sv.ji`, …, or `sv.axes(0, 1)`.

    >>> import samovar as sv
    >>> f = sv.field(sv.f32)
    >>> node = sv.root.dense(sv.j, 3).dense(sv.i, 2).place(f)
    >>> f.shape
    (2, 3)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "sv." + "".join(LETTERS[axis] for axis in self)


def axes(*numbers: int) -> Axes:
    """The dimensions with these numbers: `axes(0, 1)` is `sv.ij`.

    >>> import samovar as sv
    >>> sv.axes(1, 0)
    sv.ji
    """
    wanted = Axes(map(index, numbers))
    if not wanted or len(set(wanted)) != len(wanted) or not all(0 <= axis < len(LETTERS) for axis in wanted):
        last = len(LETTERS) - 1
        raise ValueError(f"axes{tuple(numbers)} is invalid: use numbers from 0 to {last}, each at most once")
    return wanted


i, j, k, l = (Axes((axis,)) for axis in range(4))
ij, ik, il, jk, jl, kl = (Axes(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)))
ji, ki, kj = Axes((1, 0)), Axes((2, 0)), Axes((2, 1))
ijk, ijl, ikl, jkl, kji = (Axes(some) for some in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (2, 1, 0)))
ijkl = Axes((0, 1, 2, 3))


def numbers_of(given: Shape) -> tuple[int, ...]:
    """One or more integers as a tuple. A 1-D array of integers is a sequence; it also has an `__index__`."""
    if isinstance(given, SupportsIndex) and not getattr(given, "shape", ()):
        return (index(given),)
    numbers: tuple[object, ...] = tuple(given) if isinstance(given, Iterable) else (given,)
    wrong = next((each for each in numbers if not isinstance(each, SupportsIndex)), None)
    if wrong is not None:
        advice = "\n  help: use `//` for integer division: `/` returns a float" if isinstance(wrong, float) else ""
        raise SamovarTypeError(f"a shape must be an integer or a tuple of integers, not {wrong!r}{advice}")
    return tuple(index(each) for each in numbers if isinstance(each, SupportsIndex))
