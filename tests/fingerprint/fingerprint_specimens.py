"""Classes, functions and objects that other processes and other versions of Python have to find under the same
names.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import pathlib
import types
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from samovar.fingerprint import metadata


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class Location:
    file: str
    line: int
    column: int


@dataclasses.dataclass(frozen=True)
class Type:
    kind: str
    bits: int


@dataclasses.dataclass(frozen=True)
class Node:
    type: Type | None
    location: Location | None


@dataclasses.dataclass(frozen=True)
class Constant(Node):
    value: Any


@dataclasses.dataclass(frozen=True)
class Operation(Node):
    name: str
    operands: tuple[Node, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    name: str
    value: Any = None


@dataclasses.dataclass
class Tuned:
    option: Any
    log: Any = dataclasses.field(default=None, metadata=metadata(fingerprint=False))
    scale: dataclasses.InitVar[int] = 1
    kind: str = dataclasses.field(default="tuned", init=False)

    def __post_init__(self, scale: int) -> None:
        self.option = (self.option, scale)


@dataclasses.dataclass(frozen=True)
class Arguments:
    name: str
    tables: dict[str, Any]


class Plain:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Named(dict[Any, Any]):
    """A dictionary with attributes of its own."""


class SlottedList(list[Any]):
    __slots__ = ("unit",)


class Doubled(Plain):
    @functools.cached_property
    def twice(self) -> int:
        return 2 * int(self.__dict__["value"])


class Reduced:
    """Says itself how it is made."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.scratch = object()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Reduced, (self.seed,))


@dataclasses.dataclass(frozen=True)
class Scale:
    """A step with configuration."""

    factor: float

    def __call__(self, value: float) -> float:
        return self.factor * value


def double(value: Any) -> Any:
    return 2 * value


def lowering(node: Node) -> str:
    """A step for inputs that are trees."""
    return repr(node)


def tree(line: int = 1, bits: int = 32, file: str = "model.py") -> Operation:
    """A small program: at a place, of a type."""
    kind = Type("float", bits)
    left = Constant(kind, Location(file, line, 4), 1.5)
    right = Constant(kind, Location(file, line, 8), 2)
    return Operation(kind, Location(file, line, 0), "add", (left, right))


def shared() -> list[Any]:
    pair = ("x", 1)
    return [pair, pair, {"again": pair}]


#: Objects by name. Every version of Python has to give them the same fingerprints.
SPECIMENS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "ellipsis": lambda: ...,
    "not implemented": lambda: NotImplemented,
    "true": lambda: True,
    "one": lambda: 1,
    "one float": lambda: 1.0,
    "one text": lambda: "1",
    "one bytes": lambda: b"1",
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "byte edge": lambda: -128,
    "word edge": lambda: 2**63,
    "word edge below": lambda: -(2**63),
    "big": lambda: 3**1000,
    "big negative": lambda: -(3**1000),
    "zero float": lambda: 0.0,
    "negative zero": lambda: -0.0,
    "infinity": lambda: math.inf,
    "nan": lambda: math.nan,
    "complex": lambda: 1.5 - 2j,
    "text": lambda: "Grüße, 世界 🫖",
    "surrogate": lambda: "\ud800",
    "empty text": lambda: "",
    "bytearray": lambda: bytearray(b"abc"),
    "memoryview": lambda: memoryview(b"abcdef")[::2],
    "array": lambda: array.array("i", [1, 2, 3]),
    "empty tuple": lambda: (),
    "tuple": lambda: (1, "a", None),
    "list": lambda: [1, "a", None],
    "dict": lambda: {"a": 1, 2: "b", (3,): None},
    "set": lambda: {1, "a", None},
    "frozenset": lambda: frozenset({1, "a", None}),
    "nested": lambda: {"a": [{"b": ({1, 2}, [])}]},
    "ordered dict": lambda: collections.OrderedDict(b=1, a=2),
    "defaultdict": lambda: collections.defaultdict(list, a=[1]),
    "counter": lambda: collections.Counter("abca"),
    "deque": lambda: collections.deque([1, 2], maxlen=3),
    "mappingproxy": lambda: types.MappingProxyType({"a": 1}),
    "namespace": lambda: types.SimpleNamespace(b=1, a=2),
    "range": lambda: range(1, 10, 2),
    "slice": lambda: slice(None, 5, -1),
    "decimal": lambda: decimal.Decimal("1.20"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "date": lambda: datetime.date(2024, 2, 29),
    "time": lambda: datetime.time(1, 2, 3, 4, fold=1),
    "datetime": lambda: datetime.datetime(2024, 2, 29, 1, 2, 3, 4, datetime.timezone.utc),
    "timedelta": lambda: datetime.timedelta(days=-1, microseconds=5),
    "uuid": lambda: uuid.UUID(int=7),
    "path": lambda: pathlib.PurePosixPath("/a/b"),
    "windows path": lambda: pathlib.PureWindowsPath("c:/a/b"),
    "enum": lambda: Color.RED,
    "int enum": lambda: Level.HIGH,
    "flag": lambda: Access.READ | Access.RUN,
    "no flag": lambda: Access(0),
    "namedtuple": lambda: Point(1.0, 2.0),
    "dataclass": lambda: Location("a.py", 1, 2),
    "slotted dataclass": lambda: Slotted("a", [1]),
    "dataclass with options": lambda: Tuned("a", log="not seen", scale=3),
    "tree": tree,
    "shared": shared,
    "plain object": lambda: Plain(b=1, a=2),
    "empty object": lambda: Plain(),
    "dict with state": lambda: _with(Named(a=1), unit="m"),
    "list with slot": lambda: _with(SlottedList([1]), unit="m"),
    "reduced": lambda: Reduced(3),
    "exception": lambda: ValueError("no", 3),
    "class": lambda: Location,
    "builtin class": lambda: dict,
    "type of none": lambda: type(None),
    "function": lambda: double,
    "builtin function": lambda: len,
    "math function": lambda: math.sin,
    "method of a type": lambda: str.upper,
    "bound method": lambda: Scale(2.0).__call__,
    "partial": lambda: functools.partial(double, 3),
    "module": lambda: math,
    "generic alias": lambda: list[int],
    "cycle": lambda: _cycle(),
}


def _with(value: Any, **attributes: Any) -> Any:
    for name, attribute in attributes.items():
        setattr(value, name, attribute)
    return value


def _cycle() -> list[Any]:
    inner: dict[str, Any] = {}
    outer = [inner, 1]
    inner["up"] = outer
    return outer
