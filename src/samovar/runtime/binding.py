"""Putting objects into guards: from the plain data of an artifact to the program that native code runs.

What a program names by the number of a path is looked up for the arguments at hand. Where the guards rest on a property of
an object that no question was about, and it is another one here, they are refused.
"""

from __future__ import annotations

import sys
from _weakref import ref
from types import BuiltinFunctionType, MethodType, ModuleType

from samovar._native import same_value
from samovar.classes import own
from samovar.lens.functions import cell_of
from samovar.lens.portable import PathTable
from samovar.lens.questions import is_settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from samovar.artifact import Guards

    Objects = Sequence[Any]

#: Keys of items are numbers, strings and enum members: no path is in them.
_KEYS = PathTable([])


class Refused(Exception):
    """The guards were made for objects of another nature."""


def check_conditions(guards: Guards, objects: Objects) -> None:
    """Refuse objects of another nature than guards were made for; `objects` are those at the paths of the guards."""
    for what, number, expected in guards.conditions:
        if _CONDITIONS[what](objects[number]) != expected:
            raise Refused


class Binding:
    """Gives the operands that native code cannot take from the objects at the paths of guards by itself.

    `actual` gives the key that an answer stands for.
    """

    __slots__ = ("_actual", "_objects")

    def __init__(self, objects: Objects, actual: Callable[[Any], Any]) -> None:
        self._objects = objects
        self._actual = actual

    def __call__(self, operand: tuple[Any, ...]) -> Any:
        if operand[1] == "key":
            return self._actual(_KEYS.decoded(operand[2]))
        return _OPERANDS[operand[1]](self._objects, *operand[2:])


def same_objects(first: Sequence[object], second: Sequence[object]) -> bool:
    """Are they the same, one by one? They are not compared in any other way: they are the user's."""
    return len(first) == len(second) and all(map(_same_object, first, second))


def _same_object(first: object, second: object) -> bool:
    if type(first) is tuple and type(second) is tuple:
        return same_objects(first, second)
    return first is second or (type(first) is type(second) and type(first) in _SIMPLE_TYPES and same_value(first, second))


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


def is_samovar(owner: object) -> bool:
    """Is it samovar itself, or a module of it? Their names belong to the version, which is asked once."""
    if type(owner) is not ModuleType or sys.modules.get(owner.__name__) is not owner:
        return False
    return owner.__name__ == "samovar" or owner.__name__.startswith("samovar.")


def is_unbound(value: object) -> bool:
    """A function, and not a method bound to an object, which is made anew each time it is read."""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is None or type(value.__self__) is ModuleType
    return type(value) is not MethodType


def bound_parts(value: object) -> tuple[str, ...]:
    """What tells one bound method from another."""
    return ("__func__", "__self__") if type(value) is MethodType else ("__self__", "__name__")


def _defaults(function: Any) -> int:
    return len(function.__defaults__ or ())


_CONDITIONS: dict[str, Callable[[Any], int]] = {
    "defaults": _defaults,
    "samovar": is_samovar,
    "unbound": is_unbound,
    "settled": is_settled,
}


def _module_names(objects: Objects, number: int, name: str) -> dict[str, Any]:
    module = objects[number]
    if type(module) is not ModuleType or name not in module.__dict__:
        raise Refused
    return module.__dict__


def _method(objects: Objects, number: int, owner: int, name: str) -> Any:
    func = objects[number].__func__
    if own(type(objects[owner]), name) is not func:
        raise Refused
    return func


def _part(objects: Objects, number: int, attribute: str) -> Any:
    method = objects[number]
    if attribute not in bound_parts(method):
        raise Refused
    return getattr(method, attribute)


def _weak_part(objects: Objects, number: int, attribute: str) -> Any:
    return _weak_reference(_part(objects, number, attribute))


def _weak_reference(value: Any) -> Any:
    try:
        return ref(value)
    except TypeError:  # it takes no weak references
        raise Refused from None


def _has_stable_members(objects: Objects, number: int) -> bool:
    """A promise to the launcher, which no artifact depends on."""
    from samovar.compound import has_stable_members

    return has_stable_members(type(objects[number]))


_OPERANDS: dict[str, Callable[..., Any]] = {
    "cell": lambda objects, number, name: cell_of(objects[number], name),
    "keys": lambda objects, number: tuple(dict.keys(objects[number])),
    "part": _part,
    "weak part": _weak_part,
    "module": _module_names,
    "method": _method,
    "weak": lambda objects, number: _weak_reference(objects[number]),
    "stable": _has_stable_members,
}
