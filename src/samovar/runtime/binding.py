"""Putting objects into guards: from the plain data of an artifact to the program that native code runs.

What a program names by the number of a path is looked up for the arguments at hand. Where the guards rest on a property of
an object that no question was about, and it is another one here, they are refused.
"""

from __future__ import annotations

import sys
from _weakref import ref
from types import BuiltinFunctionType, MethodType, ModuleType

from samovar._native import DType, same_value
from samovar.classes import own
from samovar.lens.functions import builtins_of, cell_of
from samovar.lens.portable import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from samovar.artifact import Guards

    Find = Callable[[int], Any]

_CONSTANT_TYPES = (int, float, bool, str, bytes, type(None), DType)


#: Keys of items are numbers, strings and enum members: no path is in them.
_KEYS = PathTable([])


class Refused(Exception):
    """The guards were made for objects of another nature."""


class Binding:
    """The objects that guards speak of, for one set of arguments.

    `find` gives the object at a path of the guards, `actual` the key that an answer stands for. Native code calls it for
    each operand that is to be put in; `objects` is what it gave, in order.
    """

    __slots__ = ("_actual", "_find", "objects")

    def __init__(self, guards: Guards, find: Find, actual: Callable[[Any], Any]) -> None:
        self._find = find
        self._actual = actual
        self.objects: list[Any] = []
        for what, number, expected in guards.conditions:
            if _CONDITIONS[what](find(number)) != expected:
                raise Refused

    def __call__(self, operand: tuple[Any, ...]) -> Any:
        if operand[1] == "key":
            found = self._actual(_KEYS.decoded(operand[2]))
        else:
            found = _OPERANDS[operand[1]](self._find, *operand[2:])
        self.objects.append(found)
        return found


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


def is_constant(value: object) -> bool:
    """A tuple of nothing but simple values, which is compared as a whole."""
    if type(value) is tuple:
        return all(map(is_constant, value))
    return type(value) in _CONSTANT_TYPES


def bound_parts(value: object) -> tuple[str, ...]:
    """What tells one bound method from another."""
    return ("__func__", "__self__") if type(value) is MethodType else ("__self__", "__name__")


def _defaults(function: Any) -> int:
    return len(function.__defaults__ or ())


_CONDITIONS: dict[str, Callable[[Any], int]] = {
    "defaults": _defaults,
    "samovar": is_samovar,
    "unbound": is_unbound,
    "constant": is_constant,
}


def _module_names(find: Find, number: int, name: str) -> dict[str, Any]:
    module = find(number)
    if type(module) is not ModuleType or name not in module.__dict__:
        raise Refused
    return module.__dict__


def _method(find: Find, number: int, owner: int, name: str) -> Any:
    func = find(number).__func__
    if own(type(find(owner)), name) is not func:
        raise Refused
    return func


def _part(find: Find, number: int, attribute: str) -> Any:
    method = find(number)
    if attribute not in bound_parts(method):
        raise Refused
    return getattr(method, attribute)


def _weak_part(find: Find, number: int, attribute: str) -> Any:
    return _weak(lambda _: _part(find, number, attribute), number)


def _weak(find: Find, number: int) -> Any:
    try:
        return ref(find(number))
    except TypeError:  # it takes no weak references
        raise Refused from None


def _has_stable_members(find: Find, number: int) -> bool:
    """A promise to the launcher, which no artifact depends on."""
    from samovar.compound import has_stable_members

    return has_stable_members(type(find(number)))


_OPERANDS: dict[str, Callable[..., Any]] = {
    "object": lambda find, number: find(number),
    "type": lambda find, number: type(find(number)),
    "code": lambda find, number: find(number).__code__,
    "globals": lambda find, number: find(number).__globals__,
    "builtins": lambda find, number: builtins_of(find(number)),
    "cell": lambda find, number, name: cell_of(find(number), name),
    "keys": lambda find, number: tuple(dict.keys(find(number))),
    "part": _part,
    "weak part": _weak_part,
    "module": _module_names,
    "method": _method,
    "weak": _weak,
    "stable": _has_stable_members,
}
