"""Paths: how a compile reached a user object, as data that can be followed again for other arguments.

A path is a chain of steps from a root. Paths are immutable, compare by their steps, and print as a person would write them:
`self.dofs.x`, `global clamp`, `offsets[2]`. Hashing and comparison are native. The kernel's own function is the root that
names resolve from.
"""

from __future__ import annotations

from samovar import _native
from samovar.lens.answers import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The kinds of steps, and what `key` holds. The first group has no parent.
STEPS = {
    "kernel": "name of the kernel: its own function",
    "parameter": "name of an argument of the kernel",
    "operator": "name of a function of the module `operator`, of a builtin, or of an intrinsic",
    "options": "name of an option",
    "overlap": "(paths of written arrays, paths of all arrays)",
    "probes": "((file, line), …): coverage bytes; there are no questions about them",
    # Below a function.
    "cell": "name of a free variable",
    "global": "name in the module's namespace",
    "builtin": "name among the builtins, and not in the module's namespace",
    "undefined": "name in neither namespace",
    "default": "name of a parameter with a default value",
    # Below any object.
    "attribute": "name",
    "item": "index or key, a simple value",
    "super": "(path of a class, name): the attribute that `super()` finds in a method of that class",
    "function": "the Python function that a func wraps",
    "call": "(number of the call in this compile, arguments, keywords): the result of a plain Python call",
}

#: Questions whose answer is another path: same function, same cell, same global namespace.
RELATIONS = ("same", "same cell", "namespace")


class Path(_native.Path):
    """A root, or a step from a parent."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Path {self}>"

    def __str__(self) -> str:
        parent, step, key = self.parent, self.step, self.key
        if step == "attribute":
            return f"{parent}.{key}"
        if step == "item":
            return f"{parent}[{shown(key)}]"
        if step == "super":
            return f"{parent}.super().{key[1]}"
        if step == "call":
            return f"{parent}({_arguments(key)})"
        if step == "function":
            return f"{parent}()"
        if step == "default":
            return f"default of {key}{_owner(parent)}"
        if step == "options":
            return f"option {key}"
        if step == "overlap":
            return f"overlap of {', '.join(map(str, key[0]))} with {', '.join(map(str, key[1]))}"
        if step == "probes":
            return "the lines that have run"
        if step == "cell":
            return f"captured {key}{_owner(parent)}"
        if step in ("global", "builtin", "undefined"):
            return f"{step} {key}{_owner(parent)}"
        return str(key)

    def spelled(self) -> str:
        """Return the path as the program spells it, without the origin of names: for messages that quote the line."""
        parent, step, key = self.parent, self.step, self.key
        if step in ("cell", "global", "builtin"):
            return str(key)
        if parent is None or step not in ("attribute", "item", "super", "call"):
            return str(self)
        return f"{parent.spelled()}{str(self).removeprefix(str(parent))}"

    def below_call(self) -> bool:
        """Whether the path leads through the result of a plain Python call."""
        path: Path | None = self
        while path is not None:
            if path.step == "call":
                return True
            path = path.parent
        return False


def compared_paths(call: Path) -> tuple[Path, ...]:
    """Return the paths of what a plain call depends on: the function, then its arguments in order."""
    assert call.parent is not None
    _, arguments, keywords = call.key
    return (call.parent, *paths_in((*arguments, *(value for _, value in keywords))))


def paths_in(values: tuple[Any, ...]) -> Iterator[Path]:
    """Yield the paths among the arguments of a call, including nested tuples."""
    for value in values:
        if isinstance(value, Path):
            yield value
        elif isinstance(value, tuple):
            yield from paths_in(value)


def _owner(function: Path | None) -> str:
    """Return " of ..." for names of funcs; names of the kernel itself need no owner."""
    return "" if function is None or function.step == "kernel" else f" of {function}"


def _arguments(key: tuple[int, tuple[Any, ...], tuple[tuple[str, Any], ...]]) -> str:
    _, arguments, keywords = key
    return ", ".join([*map(_argument, arguments), *(f"{name}={_argument(value)}" for name, value in keywords)])


def _argument(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_argument, value))}{',' if len(value) == 1 else ''})"
    return str(value) if isinstance(value, Path) else shown(value)
