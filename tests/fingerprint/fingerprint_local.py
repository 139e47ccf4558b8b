"""Classes and functions without a name that another process could find, each made anew at every call."""

import abc
import dataclasses
import enum
import functools
import typing

import attrs
import pydantic

Element = typing.TypeVar("Element")


def make() -> dict[str, typing.Any]:
    scale = 3

    @dataclasses.dataclass
    class Data:
        value: int
        tags: list = dataclasses.field(default_factory=list)

    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Frozen:
        value: int = 3

    @attrs.define
    class Slotted:
        value: int
        tags: list = attrs.field(factory=list)

    @attrs.frozen(slots=False)
    class Hashed:
        value: int

    class Model(pydantic.BaseModel):
        value: int
        tags: list = []

    class Pair(typing.NamedTuple):
        value: int

    class Box(typing.Generic[Element]):
        def __init__(self, value):
            self.value = value

    class Abstract(abc.ABC):
        def __init__(self, value):
            self.value = value

        @abc.abstractmethod
        def area(self):
            return super().__repr__()

    class Square(Abstract):
        def area(self):
            return self.value**2

    class Mode(enum.Enum):
        FAST = 1

        def label(self):
            return self.name.lower()

    class Meta(type):
        pass

    class Made(metaclass=Meta):
        constants = frozenset({"a", "b", "c"})

    @functools.lru_cache(maxsize=7)
    def remembered(value):
        return value * scale

    def counting(limit):
        return (index for index in range(limit) if index in {"x", "y", scale})

    async def waiting(value):
        return value

    return {
        "dataclass": Data(1),
        "frozen dataclass": Frozen(),
        "attrs": Slotted(1),
        "hashed attrs": Hashed(1),
        "pydantic": Model(value=1),
        "named tuple": Pair(1),
        "generic": Box(1),
        "parametrized": Box[int](1),
        "abstract": Square(2),
        "enum": Mode.FAST,
        "metaclass": Made(),
        "class": Data,
        "attrs class": Slotted,
        "pydantic class": Model,
        "cached function": remembered,
        "generator function": counting,
        "coroutine function": waiting,
        "partial": functools.partial(lambda value: value, 1),
        "bound method": Square(2).area,
        "lambda": lambda value: value + scale,
    }
