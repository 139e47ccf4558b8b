"""Index-set splitting: loops are peeled, or get a larger step, so that conditions on their variables are known.

Loops of constant length then begin with 0, wherever they began: `for k in range(i - 3, i + 4)` has the same bounds for all
i, and x[k] is x[i - 3 + k].

Runs before all passes that examine the operations of each iteration.
"""

from __future__ import annotations

from samovar.ir import (
    Affine,
    Builder,
    Constant,
    For,
    Kernel,
    LoopVariable,
    Machine,
    Operation,
    Region,
    Value,
    is_own,
    regions,
    scopes,
    substitute,
    variables,
    walk,
)
from samovar.passes.dead_code import drop_unused, fold
from samovar.passes.locals import forward_in
from samovar.passes.loops.congruence import strided
from samovar.passes.loops.peel import peel
from samovar.passes.loops.price import is_unrolled


def split_index_sets(kernel: Kernel, machine: Machine) -> None:
    """Split the loops of a kernel and its functions, in place, for machines with vectors."""
    if not machine.vector_bits:
        return
    for body, _ in list(scopes(kernel)):
        if any(isinstance(each, For) for each in walk(body)):
            _split(body, Affine(body), set())
            affine = Affine(body)
            for loop in [each for each in walk(body) if isinstance(each, For)]:
                _normalize(loop, affine)


def _normalize(loop: For, affine: Affine) -> None:
    """Make a loop of constant length count from 0."""
    begin, end, step = loop.operands
    first, last = affine.form(begin), affine.form(end)
    length = last.plus(first, -1)
    variable = loop.variable
    if isinstance(begin, Constant) or length.terms or min(first.bits, last.bits) < 64 or loop.hints.parallel:
        return
    if loop.stride == 1:
        loop.variable = LoopVariable(variable.name, variable.type)
        build = Builder(loop.line, loop.origin)
        moved = build.make("add", variable.type, build.cast(begin, variable.type), loop.variable)
        for operation in walk(loop.body):
            substitute(operation, {variable: moved})
        loop.body.operations[:0] = build.operations
        loop.operands = (Constant(0, variable.type), Constant(max(0, length.constant), variable.type), step)


def _split(region: Region, affine: Affine, scope: set[Value]) -> None:
    """Split the loops of a region, innermost first. `scope` has the values defined before."""
    result: list[Operation] = []
    for operation in region.operations:
        scope.update(variables(operation))
        for inner in regions(operation) if is_own(operation) else ():
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
    """Fold code with known conditions."""
    region = Region(operations)
    forward_in(region)
    fold(region)
    drop_unused(region)
    affine.look_into(region)
    return region.operations
