"""Binding guards to objects: from the plain data of an artifact to the program that native code runs.

Objects that a program names by the number of a path are looked up for the current arguments. If the guards rely on a
property of an object that no question was about (where a module stores a name, which class defines a method), and it differs
here, they are rejected, and new guards are made.
"""

from __future__ import annotations

from samovar.lens import PathTable, cell_of, same_objects
from samovar.reflection import ModuleType, comes_from_class
from samovar.runtime.loaded_kernel import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.runtime.loaded_kernel import Objects, Seen

#: Keys of items are numbers, strings and enum members: they contain no path.
_KEYS = PathTable([])


def operand_behind(operand: tuple[Any, ...], objects: Objects, actual: Callable[[Any], Any], seen: Seen) -> Any:
    """The object that (..., what, number, …) stands for. The rest is done by `OperandResolver`."""
    if operand[1] == "key":
        return actual(_KEYS.decoded(operand[2]))
    if operand[1] == "seen":
        return _seen_at(operand[2], seen)
    if operand[1] == "probes":
        from samovar.runtime.kernel_coverage import probes

        return probes(operand[2])
    if operand[1] == "callee":
        from samovar.lens import callee

        described = _seen_at(operand[3], seen)
        return described if described[1] else callee(objects[operand[2]])
    if operand[1] == "again":
        return any(seen(number) is None for number in operand[2])
    return _OPERANDS[operand[1]](objects, *operand[2:])


def _seen_at(places: tuple[tuple[int, int], ...], seen: Seen) -> tuple[Any, ...]:
    """What was seen of one object at some places, mostly the same. A call that is repeated has no such record."""
    found: list[tuple[Any, ...]] = []
    for number, position in places:
        descriptions = seen(number)
        if descriptions is None:
            continue
        now = descriptions[position]
        if not any(same_objects(now, each) for each in found):
            found.append(now)
    return found[0] if len(found) == 1 else ("all", tuple(found))


def _module_names(objects: Objects, number: int, name: str) -> dict[str, Any]:
    module = objects[number]
    if type(module) is not ModuleType or name not in module.__dict__:
        raise Refused
    return module.__dict__


def _method(objects: Objects, number: int, owner: int, name: str) -> Any:
    func = objects[number].__func__
    if not comes_from_class(objects[owner], name, func):
        raise Refused
    return func


def _names(objects: Objects, number: int) -> dict[str, Any]:
    """The dictionary of a module that contains all its names."""
    module = objects[number]
    if type(module) is not ModuleType or "__getattr__" in module.__dict__:
        raise Refused
    return module.__dict__


def _identity(objects: Objects, number: int) -> tuple[Any, ...]:
    from samovar.lens import identity

    return identity(objects[number])


def _has_stable_members(objects: Objects, number: int) -> bool:
    """Whether the class promises stable members: a hint for the launcher that no artifact depends on."""
    from samovar.lens import has_stable_members

    return has_stable_members(type(objects[number]))


_OPERANDS: dict[str, Callable[..., Any]] = {
    "cell": lambda objects, number, name: cell_of(objects[number], name),
    "keys": lambda objects, number: tuple(dict.keys(objects[number])),
    "module": _module_names,
    "names": _names,
    "method": _method,
    "identity": _identity,
    "stable": _has_stable_members,
}
