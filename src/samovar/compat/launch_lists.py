"""`ti.graph`: lists of launches whose arguments are named, and given when the list is run.

A launch costs a fraction of a microsecond here, so that those of a list are made one by one. `sv.graph` has one launch for
several loops.
"""

from __future__ import annotations

import enum

from samovar.errors import SamovarRuntimeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ArgKind(enum.Enum):
    """What an argument is."""

    SCALAR = 0
    MATRIX = 1
    VECTOR = 2
    NDARRAY = 3
    TEXTURE = 4
    RWTEXTURE = 5


class Arg:
    """An argument that a list is given when it is run."""

    def __init__(self, tag: ArgKind, name: str, dtype: Any = None, ndim: int | None = None, **options: Any) -> None:
        if not isinstance(tag, ArgKind):
            raise SamovarRuntimeError(f"the kind of an argument is one of ti.graph.ArgKind, not {tag!r}")
        self.tag, self.name, self.dtype, self.ndim = tag, name, dtype, ndim


class Sequential:
    """Launches one after the other."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []

    def dispatch(self, kernel_fn: Any, *args: Any) -> None:
        """One more launch. What is no `Arg` is given as it is."""
        self.nodes.append((kernel_fn, args))

    def run(self, args: Mapping[str, Any]) -> None:
        """Launch everything."""
        for node in self.nodes:
            if isinstance(node, Sequential):
                node.run(args)
            else:
                kernel, given = node
                kernel(*(_value(each, args) for each in given))


def _value(given: Any, args: Mapping[str, Any]) -> Any:
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], (Arg, list, tuple)):
        return [_value(each, args) for each in given]
    if not isinstance(given, Arg):
        return given
    if given.name not in args:
        raise SamovarRuntimeError(f"the list is run without its argument {given.name!r}")
    return args[given.name]


class GraphBuilder(Sequential):
    """A list that is being written."""

    def create_sequential(self) -> Sequential:
        """A part, which `append` puts into the list as often as it is wanted."""
        return Sequential()

    def append(self, node: Sequential) -> None:
        """Put a part into the list."""
        self.nodes.append(node)

    def compile(self) -> Graph:
        """The list as it is now."""
        found = Graph()
        found.nodes = list(self.nodes)
        return found


class Graph(Sequential):
    """A list that can be run: `graph.run({"x": x, "v": v})`."""


NAMES: dict[str, Any] = {each.__name__: each for each in (Arg, ArgKind, Graph, GraphBuilder, Sequential)}
