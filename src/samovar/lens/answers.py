"""What questions are answered with: plain data, and how two answers are compared and shown."""

from __future__ import annotations

import enum
from _struct import pack

from samovar._native import DType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Kind(enum.Enum):
    """What an object is to the compiler."""

    TENSOR = enum.auto()
    SCALAR = enum.auto()  # a number of Python or NumPy
    STRING = enum.auto()
    ENUM = enum.auto()
    DTYPE = enum.auto()
    NONE = enum.auto()
    INTRINSIC = enum.auto()  # a function that the compiler knows
    FUNC = enum.auto()  # made by @sv.func
    METHOD = enum.auto()  # a func bound to an object
    FUNCTION = enum.auto()  # a plain Python callable: function, method, builtin, class
    MODULE = enum.auto()
    SEQUENCE = enum.auto()  # tuple, list
    MAPPING = enum.auto()  # dict
    ANNOTATION = enum.auto()  # one of samovar's type annotations
    KERNEL = enum.auto()
    OBJECT = enum.auto()  # anything else: attributes may be read through it, used as a value it is opaque
    ABSENT = enum.auto()  # there is nothing


class EnumValue:
    """A member of an enum as data: equal if class, name and value are."""

    __slots__ = ("class_name", "name", "value")

    def __init__(self, class_name: str, name: str, value: Any) -> None:
        self.class_name = class_name
        self.name = name
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EnumValue)
            and self.class_name == other.class_name
            and self.name == other.name
            and same_answer(self.value, other.value)
        )

    def __hash__(self) -> int:
        return hash((self.class_name, self.name))

    def __repr__(self) -> str:
        return f"{self.class_name.rpartition('.')[2]}.{self.name}"


def same_answer(first: Any, second: Any) -> bool:
    """Equal as answers: exact types, floats by their bits, tuples element by element."""
    if first is second:
        return True
    if first.__class__ is not second.__class__:
        return False
    if first.__class__ is float:
        return bool(pack("<d", first) == pack("<d", second))
    if first.__class__ is complex:
        return same_answer((first.real, first.imag), (second.real, second.imag))
    if first.__class__ is tuple:
        return len(first) == len(second) and all(map(same_answer, first, second))
    return bool(first == second)


def shown(answer: Any) -> str:
    """An answer in a sentence."""
    if isinstance(answer, DType):
        return answer.name
    if isinstance(answer, tuple):
        return f"({', '.join(map(shown, answer))})"
    if isinstance(answer, bytes):
        return answer.hex()
    name = getattr(answer, "name", None)
    return name.lower() if isinstance(name, str) and not isinstance(answer, EnumValue) else repr(answer)
