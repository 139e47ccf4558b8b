"""The graph of a kernel, for drawings: the nodes of a launch, from the IR before all passes."""

from __future__ import annotations

from samovar.artifact import Node
from samovar.ir import (
    Checkpoint,
    DoWhile,
    For,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Sections,
    While,
    memory,
    regions,
)


def graph_nodes(kernel: Kernel) -> tuple[Node, ...]:
    """The nodes of a kernel that no pass has processed."""
    return _nodes(kernel.body)


def _nodes(region: Region) -> tuple[Node, ...]:
    found: list[Node] = []
    for operation in region.operations:
        if isinstance(operation, ParallelFor):
            found.append(("task", operation.name, int(operation.line), ()))
        elif isinstance(operation, DoWhile):
            limit = "" if operation.limit is None else f", {operation.limit} times at most"
            found.append(("loop", operation.flag.name + limit, int(operation.line), _nodes(operation.head)))
        elif isinstance(operation, Checkpoint):
            name = f"{operation.label}, yields on {operation.flag.name}"
            found.append(("checkpoint", name, int(operation.line), _nodes(operation.body)))
        elif isinstance(operation, Sections):
            parts = tuple(("section", "", int(part.line), _nodes(part.body)) for part in operation.parts)
            found.append(("sections", "", int(operation.line), parts))
        elif _does_something(operation) and not (found and found[-1][0] == "serial"):
            found.append(("serial", "code", int(operation.line), ()))
    return tuple(found)


def _does_something(operation: Operation) -> bool:
    """Whether serial code is worth a node: it writes, prints, or may take long."""
    if isinstance(operation, (For, While)):
        return True
    if isinstance(operation, If):
        return any(_does_something(inner) for each in regions(operation) for inner in each.operations)
    if operation.code in ("print", "call"):
        return True
    return operation.code in ("store", "atomic") and not isinstance(memory(operation), Local)
