"""Inspects instances without running their code: their dictionary, their slots, and whether they have other state.

A class can make `getattr` and `__dict__` do anything, so instances are read through the descriptors in the dictionaries of
their classes.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Sequence
from typing import Any, Final

from samovar import _native
from samovar.reflection.classes import bases, derives, namespace, own

_BASIC_SIZE: Final = type.__dict__["__basicsize__"]
_DICT_OFFSET: Final = type.__dict__["__dictoffset__"]
_WEAKREF_OFFSET: Final = type.__dict__["__weakrefoffset__"]
_FLAGS: Final = type.__dict__["__flags__"]
_MANAGED_DICT: Final = 1 << 4
_POINTER_SIZE: Final = tuple.__itemsize__


def has_hidden_state(cls: type, base: type) -> bool:
    """Whether instances hold memory beyond `base` that is neither `__dict__`, nor weak references, nor slots: state that
    only C code sees.
    """
    known = len(slots_below(cls, base)) + _own_pointers(cls) - _own_pointers(base)
    return bool(_BASIC_SIZE.__get__(cls) - _BASIC_SIZE.__get__(base) > _POINTER_SIZE * known)


def has_dictionary(cls: type) -> bool:
    """Whether instances have an attribute dictionary. The dictionary of a class is something else."""
    return bool(_DICT_OFFSET.__get__(cls) != 0) and not derives(cls, type)


def instance_state(instance: object, base: type) -> dict[Any, Any]:
    """Return the state of an instance by name: its dictionary, and those slots that classes derived from `base` add."""
    names, values = read_state(instance, base)
    return {names[position]: values[position] for position in counted_positions(type(instance), names)}


def read_as(base: type, value: object, name: str) -> Any:
    """Read an attribute as the base class defines it, bypassing overrides of subclasses."""
    return own(base, name).__get__(value, base)


def read_state(instance: object, base: type) -> tuple[list[Any], list[Any]]:
    """Return names and values of an instance's state, slots first. A name may occur twice."""
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
    # Not through `__dict__`, which a class may redefine.
    for key, value in dict.items(_native.instance_dict(instance) or {}):
        names.append(key)
        values.append(value)
    return names, values


def counted_positions(cls: type, names: Sequence[Any]) -> list[int]:
    """Return the positions of the names that count. Results of cached properties are not state; attributes shadow slots."""
    positions = {name: position for position, name in enumerate(names)}
    return [position for name, position in positions.items() if not _is_cached_property(cls, name)]


def slots_below(cls: type, base: type) -> list[tuple[str, Any]]:
    """Return the slots that classes derived from `base` add, the nearest class first."""
    found = []
    for derived in bases(cls):
        if derived is base:
            break
        for name, attribute in namespace(derived).items():
            if type(attribute) is types.MemberDescriptorType and name not in ("__dict__", "__weakref__"):
                found.append((name, attribute))
    return found


def _own_pointers(cls: type) -> int:
    """How many of the two pointers, to the `__dict__` and to the weak references, are inside an instance and not in front of
    it.
    """
    has_dict = _DICT_OFFSET.__get__(cls) != 0 and not _FLAGS.__get__(cls) & _MANAGED_DICT
    return int(has_dict) + int(_WEAKREF_OFFSET.__get__(cls) > 0)


def _is_cached_property(cls: type, name: object) -> bool:
    return type(name) is str and derives(type(own(cls, name)), functools.cached_property)
