"""Random object graphs: classes, containers and their subclasses, functions, arrays, shared parts and cycles.

Every class has a name that another process finds. A graph is built in two steps, so that whatever can be filled later can
refer to anything, itself included.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import decimal
import enum
import functools
import math
import operator
import types
from typing import Any, NamedTuple

import attrs
import numpy
from hypothesis import strategies as st

from samovar.fingerprint import metadata


class Shade(enum.Enum):
    LIGHT = 1
    DARK = "dark"


class Size(enum.IntEnum):
    SMALL = 1


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Name(str):
    pass


class SlimName(str):
    __slots__ = ()


class PlacedName(str):
    __slots__ = ("column", "line")


class Count(int):
    pass


class Length(float):
    pass


class Phase(complex):
    pass


class Raw(bytes):
    pass


class Row(tuple):
    pass


class Stack(list):
    __slots__ = ("top",)


class Queue(collections.deque):
    pass


class Table(dict):
    pass


class Bag(set):
    pass


class FrozenBag(frozenset):
    pass


class Amount(decimal.Decimal):
    pass


class Pair(NamedTuple):
    left: Any
    right: Any


class Plain:
    pass


class Slots:
    __slots__ = ("__weakref__", "left", "right")


class SlotsAndMore(Slots):
    @functools.cached_property
    def twice(self):
        return 2


@dataclasses.dataclass
class Record:
    left: Any = None
    right: Any = None
    log: Any = dataclasses.field(default=None, metadata=metadata(fingerprint=False))


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any
    location: Any = 0


class Inheriting(Record):
    """Declares no fields, and holds what it likes."""


@dataclasses.dataclass(eq=False)
class RecordTable(dict):
    left: Any = None


@attrs.define
class Slotted:
    left: Any = None
    right: Any = None


class Getting:
    def __init__(self):
        self.left = None

    def __getstate__(self):
        return {"left": self.left}


class Namespace(types.SimpleNamespace):
    pass


class Method:
    def run(self):
        return self

    @classmethod
    def make(cls):
        return cls


def function(value, factor=2):
    return value * factor


@functools.lru_cache(maxsize=3)
def remembered(value):
    return value


def _array(dtype: str, layout: int) -> Any:
    values = numpy.arange(12).astype(dtype).reshape(3, 4)
    return (values, values.T, values[::2, ::-1], values[:0], numpy.asfortranarray(values))[layout]


numbers = st.one_of(
    st.booleans(),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 0, -1]),
    st.floats(),
    st.sampled_from([0.0, -0.0, math.nan, -math.nan, math.inf, 5e-324]),
    st.complex_numbers(),
)
texts = st.text(max_size=8) | st.text(st.characters(), max_size=3) | st.sampled_from(["\ud800", "x" * 200, "é" * 70])
scalars = st.one_of(st.sampled_from([None, ..., NotImplemented]), numbers, texts, st.binary(max_size=140))

#: Values that are hashable and hold nothing else.
hashables = st.one_of(
    scalars,
    texts.map(Name),
    texts.map(SlimName),
    st.integers().map(Count),
    st.floats(allow_nan=False).map(Length),
    st.complex_numbers(allow_nan=False).map(Phase),
    st.binary(max_size=5).map(Raw),
    st.sampled_from([*Shade, *Size, *Rights, Rights(0), Rights(3)]),
    st.fractions(max_denominator=9),
    st.decimals(allow_nan=False),
    st.decimals(allow_nan=False).map(Amount),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([function, len, math.sin, str.upper, Plain, Record, dict, Shade, operator.add, math, "x".join]),
    st.sampled_from([remembered, Method.run, Method.make, Method().run, functools.partial(function, factor=3), int | str]),
)

#: Values that hold no other object of the graph.
leaves = st.one_of(
    hashables,
    st.binary(max_size=200).map(bytearray),
    st.binary(max_size=20).map(memoryview),
    st.binary(max_size=20).map(lambda data: memoryview(data)[::-2]),
    st.lists(st.integers(-100, 100), max_size=4).map(lambda values: array.array("i", values)),
    st.builds(_array, st.sampled_from(["i1", "<i4", ">i8", "f4", "g", "G", "c16", "?", "U3", "M8[s]"]), st.integers(0, 4)),
    st.builds(range, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([-2, 1, 3])),
    st.builds(slice, st.none() | st.integers(0, 2), st.integers(0, 2)),
    st.builds(lambda value: functools.lru_cache(functools.partial(function, value)), st.integers()),
    st.sampled_from([numpy.float32(1.5), numpy.int8(-1), numpy.dtype("f4"), numpy.add, numpy.bool_(True)]),
)


def _attributes(make):
    def fill(instance, pieces):
        for name, piece in zip(("left", "right", "extra"), pieces, strict=False):
            try:
                setattr(instance, name, piece)
            except AttributeError:
                # No such slot.
                continue

    return make, fill


def _items(instance, pieces):
    for key, piece in enumerate(pieces):
        instance[str(key) if key % 2 else key] = piece


def _elements(values, pieces):
    for index, piece in enumerate(pieces):
        values[index] = piece


#: How an object is made, and how it gets its pieces. These may refer to anything.
FILLED_LATER = {
    "list": (list, list.extend),
    "list subclass": (Stack, list.extend),
    "list with a slot": (Stack, lambda stack, pieces: setattr(stack, "top", pieces)),
    "deque": (lambda: collections.deque(maxlen=2), collections.deque.extend),
    "deque subclass": (Queue, collections.deque.extend),
    "dict": (dict, _items),
    "dict subclass": (Table, _items),
    "ordered dict": (collections.OrderedDict, _items),
    "default dict": (lambda: collections.defaultdict(list), _items),
    "plain": _attributes(Plain),
    "slots": _attributes(Slots),
    "slots and more": _attributes(SlotsAndMore),
    "dataclass": _attributes(Record),
    "inherited dataclass": _attributes(Inheriting),
    "attrs": _attributes(Slotted),
    "dataclass that is a dict": (RecordTable, lambda table, pieces: (_items(table, pieces), setattr(table, "left", pieces))),
    "own state": _attributes(Getting),
    "namespace": _attributes(types.SimpleNamespace),
    "namespace subclass": _attributes(Namespace),
    "text with attributes": _attributes(lambda: Name("n")),
    "set with attributes": _attributes(lambda: Bag([1, "a"])),
    "object array": (lambda: numpy.empty(3, object), _elements),
}

#: Made from their pieces, which therefore have to be there before.
MADE_AT_ONCE = {
    "tuple": tuple,
    "tuple subclass": Row,
    "named tuple": lambda pieces: Pair(pieces, None),
    "frozen dataclass": Frozen,
    "mapping proxy": lambda pieces: types.MappingProxyType(dict(enumerate(pieces))),
    "partial": lambda pieces: functools.partial(function, *pieces),
    "bound method": lambda pieces: types.MethodType(function, pieces),
    "placed name": lambda pieces: _placed(pieces),
}

#: Made from hashable leaves.
HASHED = {
    "set": set,
    "frozenset": frozenset,
    "set subclass": Bag,
    "frozenset subclass": FrozenBag,
    "dict with keys": dict.fromkeys,
    "counter": collections.Counter,
}


def _placed(pieces):
    name = PlacedName("p")
    name.line = pieces
    return name


@st.composite
def graphs(draw: Any, most: int = 7) -> Any:
    """An object that may hold any of the others, and they it."""
    count = draw(st.integers(1, most))
    nodes: list[Any] = []
    pending = []
    for index in range(count):
        kind = draw(st.sampled_from([*FILLED_LATER, *MADE_AT_ONCE, *HASHED]))
        if kind in HASHED:
            nodes.append(HASHED[kind](draw(st.lists(hashables, max_size=4))))
        elif kind in MADE_AT_ONCE:
            before = [nodes[other] for other in draw(st.lists(st.integers(0, index - 1), max_size=2))] if index else []
            nodes.append(MADE_AT_ONCE[kind]([*before, *draw(st.lists(leaves, max_size=2))]))
        else:
            make, fill = FILLED_LATER[kind]
            nodes.append(make())
            pending.append((fill, nodes[-1], draw(st.lists(st.integers(0, count - 1), max_size=2))))
    for fill, node, others in pending:
        fill(node, [*(nodes[other] for other in others), *draw(st.lists(leaves, max_size=1))])
    return nodes[draw(st.integers(0, count - 1))] if draw(st.booleans()) else nodes
