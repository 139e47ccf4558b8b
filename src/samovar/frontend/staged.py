"""What a name or an expression can stand for while a function is staged.

Run-time scalars are `ir.Value`s. Everything else is known at compile time and is one of the classes below. A number that
is `Static` has no dtype yet: it takes one when it meets a run-time value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from samovar.ir import Array, Local, Value
from samovar.lens import FunctionRef, Kind, Ref


class Static:
    """A simple compile-time value: number, string, None, dtype, enum member, or the result of a static call.

    `origin` is where it was found if it is of a type of its own (`numpy.float32`): such a value is a plain number here, but
    plain functions get it as it is, and Python knows how it is written.
    """

    __slots__ = ("origin", "value")

    def __init__(self, value: Any, origin: Ref | None = None) -> None:
        self.value = value
        self.origin = origin


@dataclass(frozen=True)
class Items:
    """A tuple or list of staged values; `index` marks what a grouped loop gives: arithmetic goes element by element."""

    items: tuple[Staged, ...]
    index: bool = False
    is_list: bool = False


@dataclass(frozen=True)
class Tensor:
    """An array, and where it comes from (None for the array parameter of a func)."""

    array: Array
    ref: Ref | None = None


@dataclass(frozen=True)
class Intrinsic:
    """A function that the frontend implements itself, by its canonical name."""

    name: str


@dataclass(frozen=True)
class Callee:
    """A `func`, and the object that it is bound to if it is a method."""

    function: FunctionRef
    receiver: Staged | None = None


@dataclass(frozen=True)
class Outside:
    """A user object that is not a value of the language: it can only be read through, or called inside `static`."""

    ref: Ref
    kind: Kind


@dataclass(frozen=True)
class Axis:
    """One axis of an iteration space: half-open."""

    begin: Staged
    end: Staged


@dataclass(frozen=True)
class Space:
    """What a `for` runs over: range (one axis and a step), ndrange, an array.

    `order` lists the axes from the outermost to the innermost loop. `grouped` gives one index instead of one name per axis.
    """

    axes: tuple[Axis, ...]
    step: Staged | None = None
    order: tuple[int, ...] | None = None
    grouped: bool = False
    wide: bool = False
    tuple_of_axes: bool = False  # an ndrange of several axes: one name takes them all as a tuple


@dataclass(frozen=True)
class Forced:
    """The result of `static(...)`: a loop over it is unrolled, a branch on it is taken at compile time."""

    value: Staged


@dataclass(frozen=True)
class Reference:
    """A variable of the caller that a func may change: it gets the value, and gives the new one back."""

    local: Local


Staged = Value | Static | Items | Tensor | Intrinsic | Callee | Outside | Space | Forced | Reference


@dataclass(frozen=True)
class Element:
    """A place that can be assigned: an element of an array."""

    array: Array
    indices: tuple[Value, ...]


@dataclass(frozen=True)
class Variable:
    """A place that can be assigned: a local variable."""

    local: Local


Place = Element | Variable
