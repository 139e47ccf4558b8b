"""What questions are answered with: plain data, and how two answers are compared and shown."""

from __future__ import annotations

from samovar._native import DType, same_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar


class Kind:
    """What an object is to the compiler. There is one object for each kind."""

    __slots__ = ("name",)

    #: Every kind by its name.
    members: ClassVar[dict[str, Kind]] = {}

    TENSOR: ClassVar[Kind]
    SCALAR: ClassVar[Kind]  # a number of Python or NumPy
    STRING: ClassVar[Kind]
    ENUM: ClassVar[Kind]
    DTYPE: ClassVar[Kind]
    NONE: ClassVar[Kind]
    INTRINSIC: ClassVar[Kind]  # a function that the compiler knows
    FUNC: ClassVar[Kind]  # made by @sv.func
    METHOD: ClassVar[Kind]  # a func bound to an object
    FUNCTION: ClassVar[Kind]  # a plain Python callable: function, method, builtin, class
    MODULE: ClassVar[Kind]
    SAMOVAR: ClassVar[Kind]  # samovar itself, or a module of it: its names belong to the version
    SEQUENCE: ClassVar[Kind]  # tuple, list
    MAPPING: ClassVar[Kind]  # dict
    ANNOTATION: ClassVar[Kind]  # one of samovar's type annotations
    KERNEL: ClassVar[Kind]
    MATRIX: ClassVar[Kind]  # a vector or matrix of plain Python
    STRUCT: ClassVar[Kind]  # a struct of plain Python
    STRUCTS: ClassVar[Kind]  # an array or a field of structs
    OBJECT: ClassVar[Kind]  # anything else: attributes may be read through it, used as a value it is opaque
    ABSENT: ClassVar[Kind]  # there is nothing

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Kind.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _kind_named, (self.name,)


def _kind_named(name: str) -> Kind:
    return Kind.members[name]


# Not an `enum.Enum`: importing `enum` would take a third of the time that a warm program has for a hundred kernels.
for _name in Kind.__annotations__:
    if _name != "members":
        Kind.members[_name] = Kind(_name)
        setattr(Kind, _name, Kind.members[_name])


class EnumValue:
    """A member of an enum as data: equal if class, name, value and operators are.

    `operators` says how it is compared: as an "object" (equal to itself alone), as its "value", or in its "own" way, which
    only Python knows. `number` tells enums of one name apart, see `enum_members`.
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


class TensorFacts:
    """What code depends on in an array: the answer to the question `tensor`, by name.

    The order of the fields is that of the answer, and of the operands of the native guard (`_native/tensor_facts.h`).
    `wide`: some axis has 2^31 elements or more. `baked`: it is a field, whose layout is a question of its own.
    `of_vectors`, `of_matrices`: the last axis, or the last two, belong to the elements; they count as axes here.
    `is_view`: it is a part of an array. `apart`: vectors or matrices lie entry by entry, in C order otherwise. Whether an
    array may be written, and what its extents are, are questions too: most code does not depend on them.
    """

    FIELDS = ("dtype", "ndim", "contiguous", "wide", "needs_grad", "baked", "of_vectors", "of_matrices", "is_view", "apart")
    __slots__ = FIELDS

    def __init__(
        self,
        dtype: DType,
        ndim: int,
        contiguous: bool = True,
        wide: bool = False,
        needs_grad: bool = False,
        baked: bool = False,
        of_vectors: bool = False,
        of_matrices: bool = False,
        is_view: bool = False,
        apart: bool = False,
    ) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.contiguous = contiguous
        self.wide = wide
        self.needs_grad = needs_grad
        self.baked = baked
        self.of_vectors = of_vectors
        self.of_matrices = of_matrices
        self.is_view = is_view
        self.apart = apart

    @property
    def inner(self) -> int:
        """How many axes at the end belong to the elements."""
        return 1 if self.of_vectors else 2 if self.of_matrices else 0

    def answer(self) -> tuple[Any, ...]:
        """The fields in their order."""
        return tuple(getattr(self, name) for name in self.FIELDS)

    def changes(self, new: TensorFacts) -> str:
        """What is different in other facts, in a sentence."""
        pairs = [(name, getattr(self, name), getattr(new, name)) for name in self.FIELDS]
        return " and ".join(
            f"{name} {shown(before)} → {shown(after)}" for name, before, after in pairs if not same_answer(before, after)
        )


#: The question for the length of an axis. The answer is UNKNOWN_EXTENT for a length that code is not made for.
EXTENT_QUESTIONS = tuple(f"extent {axis}" for axis in range(16))
UNKNOWN_EXTENT = 0
#: The question for a length that the program says, as that of an axis of a vector: the answer is the length, whatever it is.
EXACT_EXTENT_QUESTIONS = tuple(f"exact extent {axis}" for axis in range(16))


#: Equal as answers: exact types, floats by their bits, tuples element by element.
same_answer = same_value


def same_objects(first: Sequence[object], second: Sequence[object]) -> bool:
    """Are they the same, one by one? They are not compared in any other way: they are the user's."""
    return len(first) == len(second) and all(map(_same_object, first, second))


def _same_object(first: object, second: object) -> bool:
    if type(first) is tuple and type(second) is tuple:
        return same_objects(first, second)
    return first is second or (type(first) is type(second) and type(first) in _SIMPLE_TYPES and same_value(first, second))


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


#: Integers of more bits are not written out: for one of many thousand digits Python refuses to.
_LONGEST_INTEGER = 512


def shown(answer: Any) -> str:
    """An answer, or a value of the user's, in a sentence."""
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
