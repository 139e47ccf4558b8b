"""Answers to questions: plain data, how two answers are compared, and how they are formatted in messages."""

from __future__ import annotations

from samovar._native import DType, same_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar


class Kind:
    """What an object is to the compiler. Each kind is a singleton."""

    __slots__ = ("name",)

    #: All kinds by name.
    members: ClassVar[dict[str, Kind]] = {}

    TENSOR: ClassVar[Kind]
    SCALAR: ClassVar[Kind]  # a Python or NumPy number
    COMPLEX: ClassVar[Kind]  # a complex one
    STRING: ClassVar[Kind]
    ENUM: ClassVar[Kind]
    DTYPE: ClassVar[Kind]
    NONE: ClassVar[Kind]
    INTRINSIC: ClassVar[Kind]  # a function that the compiler knows
    FUNC: ClassVar[Kind]  # made by @sv.func
    METHOD: ClassVar[Kind]  # a func bound to an object
    FUNCTION: ClassVar[Kind]  # a plain Python callable: function, method, builtin, class
    MODULE: ClassVar[Kind]
    SAMOVAR: ClassVar[Kind]  # samovar itself or one of its modules, whose names are covered by the version
    SEQUENCE: ClassVar[Kind]  # tuple, list
    MAPPING: ClassVar[Kind]  # dict
    ANNOTATION: ClassVar[Kind]  # one of samovar's type annotations
    KERNEL: ClassVar[Kind]
    MATRIX: ClassVar[Kind]  # a vector or matrix outside kernels
    STRUCT: ClassVar[Kind]  # a struct outside kernels
    STRUCTS: ClassVar[Kind]  # an array or field of structs
    OBJECT: ClassVar[Kind]  # anything else: its attributes may be read; used as a value, it is opaque
    ABSENT: ClassVar[Kind]  # the path leads nowhere

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Kind.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _kind_named, (self.name,)


def _kind_named(name: str) -> Kind:
    return Kind.members[name]


# Not an `enum.Enum`: importing `enum` takes a third of the time in which a warm program loads a hundred kernels.
for _name in Kind.__annotations__:
    if _name != "members":
        Kind.members[_name] = Kind(_name)
        setattr(Kind, _name, Kind.members[_name])


class EnumValue:
    """A member of an enum as data. Equality compares class, name, value and operators.

    `operators` says how the member is compared: as an "object" (by identity), as its "value", or by its "own" methods, which
    only Python can call. `number` distinguishes enums with the same name, see `enum_members`.
    """

    __slots__ = ("class_name", "name", "number", "operators", "value")

    def __init__(self, class_name: str, name: str, value: Any, operators: str, number: int = 0) -> None:
        self.class_name = class_name
        self.name = name
        self.value = value
        self.operators = operators
        self.number = number

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EnumValue)
            and self.class_name == other.class_name
            and self.name == other.name
            and self.operators == other.operators
            and self.number == other.number
            and same_answer(self.value, other.value)
        )

    def __hash__(self) -> int:
        return hash((self.class_name, self.name))

    def __repr__(self) -> str:
        return f"{self.class_name.rpartition('.')[2]}.{self.name}"


#: Equality of answers: exact types, floats by bits, tuples element-wise.
same_answer = same_value


def essence(question: str, answer: Any) -> Any:
    """The part of an answer that decides equality. For source text that is the syntax tree; the lines only speed up the
    comparison."""
    return answer[2] if question == "source" else answer


def same_objects(first: Sequence[object], second: Sequence[object]) -> bool:
    """Whether two sequences hold the same objects. User objects are compared by identity only."""
    return len(first) == len(second) and all(map(_same_object, first, second))


def _same_object(first: object, second: object) -> bool:
    if type(first) is tuple and type(second) is tuple:
        return same_objects(first, second)
    return first is second or (type(first) is type(second) and type(first) in _SIMPLE_TYPES and same_value(first, second))


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


#: Larger integers are abbreviated: Python refuses to convert integers of many thousand digits.
_LONGEST_INTEGER = 512


def shown(answer: Any) -> str:
    """Format an answer, or a value of the user's, for a message."""
    if isinstance(answer, DType):
        return answer.name
    if isinstance(answer, int) and answer.bit_length() > _LONGEST_INTEGER:
        return f"<{answer.bit_length()} bits>"
    if isinstance(answer, tuple):
        return f"({', '.join(map(shown, answer))})"
    if isinstance(answer, bytes):
        return answer.hex()
    name = getattr(answer, "name", None)
    return name.lower() if isinstance(name, str) and not isinstance(answer, EnumValue) else repr(answer)
