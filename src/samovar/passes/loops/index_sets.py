"""Index-set splitting: loops are peeled, or made to skip iterations, so that conditions on their variables are known.

Runs before everything that looks at what a loop does in each iteration.
"""

from __future__ import annotations

from samovar.ir import (
    Affine,
    For,
    Kernel,
    Machine,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    regions,
    scopes,
    variables,
    walk,
)
from samovar.passes.locals import forward_in
from samovar.passes.loops.congruence import strided
from samovar.passes.loops.peel import peel
from samovar.passes.loops.price import is_unrolled
from samovar.passes.prune import drop_unused, fold


def split_index_sets(kernel: Kernel, machine: Machine) -> None:
    """Split the loops of a kernel and its functions, in place, for machines with vectors."""
    if not machine.vector_bits:
        return
    for body, _ in list(scopes(kernel)):
        if any(isinstance(each, For) for each in walk(body)):
            _split(body, Affine(body), set())


def _split(region: Region, affine: Affine, scope: set[Value]) -> None:
    """The innermost loops first. `scope` has what is defined before."""
    result: list[Operation] = []
    for operation in region.operations:
        scope.update(variables(operation))
        for inner in () if isinstance(operation, (Task, Sections)) else regions(operation):
            _split(inner, affine, scope)
        scope.difference_update(variables(operation))
        made = None
        if isinstance(operation, For) and not is_unrolled(operation):
            made = strided(operation, affine) or peel(operation, affine, scope)
        made = [operation] if made is None else _simplified(made, affine)
        scope.update(made)
        result += made
    scope.difference_update(result)
    region.operations = result


def _simplified(operations: list[Operation], affine: Affine) -> list[Operation]:
    """Code with conditions that are known, without what they decide."""
    region = Region(operations)
    forward_in(region)
    fold(region)
    drop_unused(region)
    affine.look_into(region)
    return region.operations
