"""Which sparse fields a kernel asks for active cells, and changes them later in the launch.

A reverse that runs without a tape finds the cells as the launch has left them: those that the kernel asked for must not have
changed since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from samovar.ir import Kernel, Operation, Region, regions
from samovar.passes.activation import Same, activate_cells

#: Operations that depend on active cells, and operations that change them.
ASKS = ("list_cells", "cell_active", "list_length")
CHANGES = ("activate", "deactivate", "list_append")


def changed_cells(kernel: Kernel, asked: Collection[object], same: Same) -> Operation | None:
    """An operation that may change active cells after the kernel has asked for them: those of an array with a source in
    `asked`. The kernel is changed, in place. Statements of one loop are taken to precede each other."""
    activate_cells(kernel, same)
    is_asked = False
    for statement in kernel.body.operations:
        found = list(_executed(Region([statement])))
        changes = [place for place, each in enumerate(found) if each.code in CHANGES]
        asks = any(each.code in ASKS and each.payload.source in asked for each in found)
        if changes and (is_asked or asks):
            # The activation for a write has no line of its own: it is before the write.
            return next(each for each in found[changes[0] :] if each.line)
        is_asked = is_asked or asks
    return None


def _executed(region: Region) -> Iterator[Operation]:
    """The operations of a region and of the functions that it calls."""
    for operation in region.operations:
        yield operation
        for inner in regions(operation):
            yield from _executed(inner)
        if operation.code == "call":
            yield from _executed(operation.payload.body)
