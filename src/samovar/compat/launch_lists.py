"""`ti.graph`: lists of launches with named arguments, which are given when the list runs.

A launch costs a fraction of a microsecond, so the launches of a list are made one by one. `sv.graph` combines several loops
in one launch.
"""

from __future__ import annotations

import enum

from samovar.errors import SamovarRuntimeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ArgKind(enum.Enum):
    """The kind of an argument."""

    SCALAR = 0
    MATRIX = 1
    VECTOR = 2
    NDARRAY = 3
    TEXTURE = 4
    RWTEXTURE = 5


class Arg:
    """A named argument, given when the list runs."""

    def __init__(self, tag: ArgKind, name: str, dtype: Any = None, ndim: int | None = None, **options: Any) -> None:
        if not isinstance(tag, ArgKind):
            raise SamovarRuntimeError(f"the kind of an argument has to be one of ti.graph.ArgKind, not {tag!r}")
        self.tag, self.name, self.dtype, self.ndim = tag, name, dtype, ndim


class Sequential:
    """A sequence of launches."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []

    def dispatch(self, kernel_fn: Any, *args: Any) -> None:
        """Add a launch. Arguments other than `Arg` are passed unchanged."""
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
        raise SamovarRuntimeError(f"graph.run: the argument {given.name!r} is missing")
    return args[given.name]


class GraphBuilder(Sequential):
    """A list under construction."""

    def create_sequential(self) -> Sequential:
        """Create a sublist, which `append` adds to the list any number of times."""
        return Sequential()

    def append(self, node: Sequential) -> None:
        """Add a sublist."""
        self.nodes.append(node)

    def compile(self) -> Graph:
        """Return the list in its current state."""
        found = Graph()
        found.nodes = list(self.nodes)
        return found


class Graph(Sequential):
    """A complete list: `graph.run({"x": x, "v": v})`."""


NAMES: dict[str, Any] = {each.__name__: each for each in (Arg, ArgKind, Graph, GraphBuilder, Sequential)}
