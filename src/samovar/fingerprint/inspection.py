"""Looking at classes and instances without running their code.

A metaclass can make `getattr`, `hasattr`, `==` and `hash` of a class do anything. So a class is only looked at through
the descriptors of `type` itself, which read `__mro__` and `__dict__`, and instances through the descriptors found
there.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from samovar import _native

__all__ = [
    "MISSING",
    "bases_of",
    "class_name",
    "counted_positions",
    "describe_type",
    "has_dictionary",
    "has_hidden_state",
    "instance_state",
    "lookup",
    "mro_of",
    "namespace_of",
    "qualified_name_of",
    "read_as",
    "read_state",
    "slots_below",
]

#: What a lookup returns if there is nothing; `None` can be a value.
MISSING: Final = object()

_MRO: Final = type.__dict__["__mro__"]
_BASES: Final = type.__dict__["__bases__"]
_NAMESPACE: Final = type.__dict__["__dict__"]
_MODULE: Final = type.__dict__["__module__"]
_QUALIFIED_NAME: Final = type.__dict__["__qualname__"]
_NAME: Final = type.__dict__["__name__"]
_BASIC_SIZE: Final = type.__dict__["__basicsize__"]
_DICT_OFFSET: Final = type.__dict__["__dictoffset__"]
_WEAKREF_OFFSET: Final = type.__dict__["__weakrefoffset__"]
_FLAGS: Final = type.__dict__["__flags__"]
_MANAGED_DICT: Final = 1 << 4
_POINTER_SIZE: Final = tuple.__itemsize__


def mro_of(cls: type) -> tuple[type, ...]:
    """The method resolution order."""
    return cast("tuple[type, ...]", _MRO.__get__(cls))


def bases_of(cls: type) -> tuple[type, ...]:
    """The direct bases."""
    return cast("tuple[type, ...]", _BASES.__get__(cls))


def namespace_of(cls: type) -> Mapping[str, Any]:
    """The class's own `__dict__`, without those of its bases."""
    return cast("Mapping[str, Any]", _NAMESPACE.__get__(cls))


def lookup(cls: type, name: str) -> Any:
    """The attribute as the nearest class of the MRO has it, not bound to anything; `MISSING` if none has."""
    for base in mro_of(cls):
        found = namespace_of(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def class_name(cls: type) -> str:
    """The unqualified name, for messages."""
    return cast(str, _NAME.__get__(cls))


def qualified_name_of(cls: type) -> tuple[str, str]:
    """The module and the qualified name that a class claims for itself."""
    try:
        module = _MODULE.__get__(cls)
    except AttributeError:
        module = None
    return (module if type(module) is str else "", cast(str, _QUALIFIED_NAME.__get__(cls)))


def describe_type(value: object) -> str:
    """The type of a value as a message names it."""
    module, name = qualified_name_of(type(value))
    return name if module in ("builtins", "") else f"{module}.{name}"


def has_hidden_state(cls: type, base: type) -> bool:
    """Whether instances hold memory beyond `base` that is neither `__dict__`, nor weak references, nor slots:
    state that only C code sees.
    """
    known = len(slots_below(cls, base)) + _own_pointers(cls) - _own_pointers(base)
    return bool(_BASIC_SIZE.__get__(cls) - _BASIC_SIZE.__get__(base) > _POINTER_SIZE * known)


def has_dictionary(cls: type) -> bool:
    """Whether instances have a dictionary for attributes. That of a class is something else."""
    return bool(_DICT_OFFSET.__get__(cls) != 0) and not issubclass(cls, type)


def instance_state(instance: object, base: type) -> dict[Any, Any]:
    """What an instance holds by name: its dictionary, and those slots that classes derived from `base` add."""
    names, values = read_state(instance, base)
    return {names[position]: values[position] for position in counted_positions(type(instance), names)}


def read_as(base: type, value: object, name: str) -> Any:
    """An attribute as the base class has it: a subclass may have others under the same names."""
    return lookup(base, name).__get__(value, base)


def read_state(instance: object, base: type) -> tuple[list[Any], list[Any]]:
    """Names and values of what an instance holds, slots first. A name may come twice."""
    names: list[Any] = []
    values: list[Any] = []
    for name, slot in slots_below(type(instance), base):
        try:
            value = slot.__get__(instance)
        except AttributeError:
            continue
        if name not in names:
            names.append(name)
            values.append(value)
    # Not by `__dict__`, which a class may define to be anything.
    for key, value in dict.items(_native.instance_dict(instance) or {}):
        names.append(key)
        values.append(value)
    return names, values


def counted_positions(cls: type, names: Sequence[Any]) -> list[int]:
    """Which of the names count. What a cached property has left in an instance is not state; an attribute hides a slot."""
    positions = {name: position for position, name in enumerate(names)}
    return [position for name, position in positions.items() if not _is_cached_property(cls, name)]


def slots_below(cls: type, base: type) -> list[tuple[str, Any]]:
    """The slots that classes derived from `base` add, the nearest class first."""
    found = []
    for derived in mro_of(cls):
        if derived is base:
            break
        for name, attribute in namespace_of(derived).items():
            if type(attribute) is types.MemberDescriptorType and name not in ("__dict__", "__weakref__"):
                found.append((name, attribute))
    return found


def _own_pointers(cls: type) -> int:
    """How many of the two pointers, to the `__dict__` and to the weak references, lie inside of an instance and
    not in front of it.
    """
    has_dict = _DICT_OFFSET.__get__(cls) != 0 and not _FLAGS.__get__(cls) & _MANAGED_DICT
    return int(has_dict) + int(_WEAKREF_OFFSET.__get__(cls) > 0)


def _is_cached_property(cls: type, name: object) -> bool:
    return type(name) is str and issubclass(type(lookup(cls, name)), functools.cached_property)
