"""Builtin values and containers.

A rule for `dict` also handles subclasses of `dict`. Their fingerprints include the class and the state that their instances
add.
"""

from __future__ import annotations

import collections
import gc
import struct
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from samovar.fingerprint.declared_fields import FieldsRule, plan_fields
from samovar.fingerprint.deconstruction import (
    Deconstruction,
    EmptyDeconstruction,
    OrderInsensitiveDeconstruction,
    Rule,
    UnfingerprintableError,
    encode_names,
)
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.objects import plan_reduction
from samovar.fingerprint.state import StateRule
from samovar.fingerprint.vocabulary import BUILTIN_TAGS, BUILTIN_WALKS, TAG_EXTENDED, TAG_ITEM, WALK_EXTENDED
from samovar.reflection import ABSENT, bases, has_hidden_state, own, read_as

__all__ = ["PLANNERS", "ExtendedRule", "exact_or_extended", "items", "native_walk"]


def items(pairs: Iterable[tuple[Any, Any]]) -> tuple[Deconstruction, ...]:
    """Return the pairs of a mapping as levels, which keeps each key with its value."""
    return tuple(Deconstruction(TAG_ITEM, pieces=pair) for pair in pairs)


def _none(value: None) -> Deconstruction:
    return EmptyDeconstruction(BUILTIN_TAGS[type(None)])


def _ellipsis(value: types.EllipsisType) -> Deconstruction:
    return EmptyDeconstruction("Ellipsis")


def _not_implemented(value: types.NotImplementedType) -> Deconstruction:
    return EmptyDeconstruction("NotImplemented")


def _bool(value: bool) -> Deconstruction:
    return EmptyDeconstruction(BUILTIN_TAGS[bool], b"\1" if value else b"\0")


def _int(value: int) -> Deconstruction:
    # The builtin's own methods: a subclass may override them.
    size = (int.bit_length(value) + 8) // 8
    return EmptyDeconstruction(BUILTIN_TAGS[int], int.to_bytes(value, size, "little", signed=True))


def _float(value: float) -> Deconstruction:
    return EmptyDeconstruction(BUILTIN_TAGS[float], struct.pack("<d", value))


def _complex(value: complex) -> Deconstruction:
    parts = (complex.real.__get__(value), complex.imag.__get__(value))
    return EmptyDeconstruction(BUILTIN_TAGS[complex], struct.pack("<dd", *parts))


def _str(value: str) -> Deconstruction:
    return EmptyDeconstruction(BUILTIN_TAGS[str], str.encode(value, "utf-8", "surrogatepass"))


def _bytes(value: bytes) -> Deconstruction:
    return EmptyDeconstruction(BUILTIN_TAGS[bytes], bytes.__getitem__(value, slice(None)))


def _tuple(value: tuple[Any, ...]) -> Deconstruction:
    return Deconstruction(
        BUILTIN_TAGS[tuple],
        pieces=value if type(value) is tuple else tuple(tuple.__iter__(value)),
        labels=_namedtuple_labels(type(value)),
    )


def _list(value: list[Any]) -> Deconstruction:
    return Deconstruction(BUILTIN_TAGS[list], pieces=tuple(list.__iter__(value)))


def _dict(value: dict[Any, Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction(BUILTIN_TAGS[dict], pieces=items(dict.items(value)))


def _set(value: set[Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction(BUILTIN_TAGS[set], pieces=tuple(set.__iter__(value)))


def _frozenset(value: frozenset[Any]) -> Deconstruction:
    return OrderInsensitiveDeconstruction(BUILTIN_TAGS[frozenset], pieces=tuple(frozenset.__iter__(value)))


def _ordered_dict(value: collections.OrderedDict[Any, Any]) -> Deconstruction:
    return Deconstruction("OrderedDict", pieces=items(collections.OrderedDict.items(value)))


def _defaultdict(value: collections.defaultdict[Any, Any]) -> Deconstruction:
    factory = read_as(collections.defaultdict, value, "default_factory")
    return Deconstruction("defaultdict", pieces=(factory, _dict(value)), labels=(".default_factory", ""))


def _deque(value: collections.deque[Any]) -> Deconstruction:
    content = Deconstruction(BUILTIN_TAGS[list], pieces=tuple(collections.deque.__iter__(value)))
    longest = read_as(collections.deque, value, "maxlen")
    return Deconstruction("deque", pieces=(longest, content), labels=(".maxlen", ""))


def _mappingproxy(value: types.MappingProxyType[Any, Any]) -> Deconstruction:
    # The underlying mapping. Its `copy` may have another type, and its methods may do anything.
    return Deconstruction("mappingproxy", pieces=tuple(gc.get_referents(value)), labels=("",))


def _range(value: range) -> Deconstruction:
    return Deconstruction("range", pieces=(value.start, value.stop, value.step), labels=(".start", ".stop", ".step"))


def _slice(value: slice) -> Deconstruction:
    return Deconstruction("slice", pieces=(value.start, value.stop, value.step), labels=(".start", ".stop", ".step"))


def _bytearray(value: bytearray) -> Deconstruction:
    # A subclass may expose memory other than its own.
    content = memoryview(value) if type(value) is bytearray else bytes(bytearray.__getitem__(value, slice(None)))
    return EmptyDeconstruction("bytearray", content)


def _memoryview(value: memoryview) -> Deconstruction:
    try:
        layout = encode_names((value.format, *map(str, value.shape or ())))
    except ValueError as error:
        raise UnfingerprintableError(f"cannot fingerprint a memoryview: {error}") from None
    return Deconstruction("memoryview", layout, (EmptyDeconstruction("memory", value),))


def _namedtuple_labels(cls: type) -> tuple[str, ...] | None:
    names = own(cls, "_fields") if cls is not tuple else ABSENT
    return tuple(f".{name}" for name in names) if type(names) is tuple else None


@dataclass(frozen=True, slots=True)
class ExtendedRule:
    """The rule for a subclass: the content of its base, and what the class adds."""

    base: type
    content: Rule
    own: Rule

    def __call__(self, value: object) -> Deconstruction:
        return Deconstruction(TAG_EXTENDED, pieces=(self.content(value), self.own(value)), labels=("", ""))

    def native_plan(self, cls: type) -> tuple[Any, ...] | None:
        """Return the plan for the native traversal, or `None` if it has to call the rule."""
        walk = native_walk(self.base, self.content)
        own = self.own.native_plan(cls) if isinstance(self.own, (FieldsRule, StateRule)) else None
        if walk is None or own is None or all(base is not self.base for base in bases(cls)):
            return None
        return (WALK_EXTENDED, walk, own, self)


def exact_or_extended(base: type, base_rule: Rule, content: Rule | None = None) -> Planner:
    """Return a planner: for the class itself its rule; for a subclass the same content, its class, and the state that it
    adds.

    `content` replaces the rule for subclasses, where reading past their overrides takes more.
    """

    def plan(cls: type, options: Options) -> Rule:
        if cls is base:
            return base_rule
        if has_hidden_state(cls, base):
            return plan_reduction(cls, options)
        own = plan_fields(cls, options) or StateRule.of("state", cls, base, options)
        return ExtendedRule(base, content or base_rule, own)

    return plan


def native_walk(cls: type, rule: Rule) -> int | None:
    """Return the native traversal's number for a builtin type, if `rule` is the one that it implements."""
    known = _NATIVE_WALKS.get(id(cls))
    return known[1] if known is not None and known[0] is rule else None


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

#: Keyed by address: a lookup must not hash a class, whose metaclass may do anything.
_NATIVE_WALKS: Final = {id(cls): (_RULES[cls], walk) for cls, walk in BUILTIN_WALKS.items()}

PLANNERS: Final[dict[type, Planner]] = {base: exact_or_extended(base, rule) for base, rule in _RULES.items()}
