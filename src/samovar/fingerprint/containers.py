"""Builtin values and containers.

A rule for `dict` also gets the subclasses of `dict`. Those count with their class and with the state that their
instances add.
"""

from __future__ import annotations

import collections
import struct
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from samovar.fingerprint.deconstruction import (
    Deconstruction,
    EmptyDeconstruction,
    OrderInsensitiveDeconstruction,
    Rule,
    encode_names,
)
from samovar.fingerprint.fields import object_level, plan_fields
from samovar.fingerprint.inspection import MISSING, has_hidden_state, instance_state, lookup
from samovar.fingerprint.objects import plan_reduction
from samovar.fingerprint.options import Options, Planner

__all__ = ["NATIVE_WALKS", "PLANNERS", "exact_or_extended", "items"]


def items(pairs: Iterable[tuple[Any, Any]]) -> tuple[Deconstruction, ...]:
    """The pairs of a mapping as levels: a key and its value belong together."""
    return tuple(Deconstruction("item", pieces=pair) for pair in pairs)


def _none(value: None) -> Deconstruction:
    return EmptyDeconstruction("None")


def _ellipsis(value: types.EllipsisType) -> Deconstruction:
    return EmptyDeconstruction("Ellipsis")


def _not_implemented(value: types.NotImplementedType) -> Deconstruction:
    return EmptyDeconstruction("NotImplemented")


def _bool(value: bool) -> Deconstruction:
    return EmptyDeconstruction("bool", b"\1" if value else b"\0")


def _int(value: int) -> Deconstruction:
    # The builtin's own methods: a subclass may have others under the same names.
    size = (int.bit_length(value) + 8) // 8
    return EmptyDeconstruction("int", int.to_bytes(value, size, "little", signed=True))


def _float(value: float) -> Deconstruction:
    return EmptyDeconstruction("float", struct.pack("<d", value))


def _complex(value: complex) -> Deconstruction:
    return EmptyDeconstruction("complex", struct.pack("<dd", complex.real.__get__(value), complex.imag.__get__(value)))


def _str(value: str) -> Deconstruction:
    return EmptyDeconstruction("str", str.encode(value, "utf-8", "surrogatepass"))


def _bytes(value: bytes) -> Deconstruction:
    return EmptyDeconstruction("bytes", bytes.__getitem__(value, slice(None)))


def _tuple(value: tuple[Any, ...]) -> Deconstruction:
    return Deconstruction(
        "tuple",
        pieces=value if type(value) is tuple else tuple(tuple.__iter__(value)),
        labels=_namedtuple_labels(type(value)),
    )


def _list(value: list[Any]) -> Deconstruction:
    return Deconstruction("list", pieces=tuple(list.__iter__(value)))


def _dict(value: dict[Any, Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction("dict", pieces=items(dict.items(value)))


def _set(value: set[Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction("set", pieces=tuple(set.__iter__(value)))


def _frozenset(value: frozenset[Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction("frozenset", pieces=tuple(frozenset.__iter__(value)))


def _ordered_dict(value: collections.OrderedDict[Any, Any]) -> Deconstruction:
    return Deconstruction("OrderedDict", pieces=items(collections.OrderedDict.items(value)))


def _defaultdict(value: collections.defaultdict[Any, Any]) -> Deconstruction:
    return Deconstruction("defaultdict", pieces=(value.default_factory, _dict(value)), labels=(".default_factory", ""))


def _deque(value: collections.deque[Any]) -> Deconstruction:
    content = Deconstruction("list", pieces=tuple(collections.deque.__iter__(value)))
    return Deconstruction("deque", pieces=(value.maxlen, content), labels=(".maxlen", ""))


def _mappingproxy(value: types.MappingProxyType[Any, Any]) -> Deconstruction:
    try:
        # A copy has the type of the mapping behind the proxy, and with it its rule.
        content: Mapping[Any, Any] = value.copy()
    except AttributeError:
        content = dict(value)
    return Deconstruction("mappingproxy", pieces=(content,), labels=("",))


def _range(value: range) -> Deconstruction:
    return Deconstruction("range", pieces=(value.start, value.stop, value.step), labels=(".start", ".stop", ".step"))


def _slice(value: slice) -> Deconstruction:
    return Deconstruction("slice", pieces=(value.start, value.stop, value.step), labels=(".start", ".stop", ".step"))


def _bytearray(value: bytearray) -> Deconstruction:
    return EmptyDeconstruction("bytearray", memoryview(value))


def _memoryview(value: memoryview) -> Deconstruction:
    layout = encode_names((value.format, *map(str, value.shape or ())))
    return Deconstruction("memoryview", layout, (EmptyDeconstruction("memory", value),))


def _namedtuple_labels(cls: type) -> tuple[str, ...] | None:
    names = lookup(cls, "_fields") if cls is not tuple else MISSING
    return tuple(f".{name}" for name in names) if type(names) is tuple else None


def exact_or_extended(base: type, base_rule: Rule) -> Planner:
    """For the class itself its rule; for a subclass the same content, its class, and the state that it adds."""

    def plan(cls: type, options: Options) -> Rule:
        if cls is base:
            return base_rule
        if has_hidden_state(cls, base):
            return plan_reduction(cls, options)
        fields_rule = plan_fields(cls, options)
        skipped, ordered = options.skipped_names(cls), options.ordered_names(cls)

        def rule(value: object) -> Deconstruction:
            if fields_rule is not None:
                return Deconstruction("extended", pieces=(base_rule(value), fields_rule(value)), labels=("", ""))
            state = instance_state(value, base)
            names = sorted((name for name in state if name not in skipped), key=str)
            own = object_level("state", type(value), {name: state[name] for name in names}, ordered)
            return Deconstruction("extended", pieces=(base_rule(value), own), labels=("", ""))

        return rule

    return plan


_RULES: Final[dict[type, Callable[[Any], Deconstruction]]] = {
    type(None): _none,
    type(Ellipsis): _ellipsis,
    type(NotImplemented): _not_implemented,
    bool: _bool,
    int: _int,
    float: _float,
    complex: _complex,
    str: _str,
    bytes: _bytes,
    tuple: _tuple,
    list: _list,
    dict: _dict,
    set: _set,
    frozenset: _frozenset,
    collections.OrderedDict: _ordered_dict,
    collections.defaultdict: _defaultdict,
    collections.deque: _deque,
    types.MappingProxyType: _mappingproxy,
    range: _range,
    slice: _slice,
    bytearray: _bytearray,
    memoryview: _memoryview,
}

PLANNERS: Final[dict[type, Planner]] = {base: exact_or_extended(base, rule) for base, rule in _RULES.items()}

#: Rules that the native traversal knows itself, by the number it knows them under. They hold for these very classes
#: only.
NATIVE_WALKS: Final[Mapping[type, tuple[Callable[..., Deconstruction], int]]] = {
    type(None): (_none, 1),
    bool: (_bool, 2),
    int: (_int, 3),
    float: (_float, 4),
    complex: (_complex, 5),
    str: (_str, 6),
    bytes: (_bytes, 7),
    tuple: (_tuple, 8),
    list: (_list, 9),
    dict: (_dict, 10),
    set: (_set, 11),
    frozenset: (_frozenset, 12),
}
