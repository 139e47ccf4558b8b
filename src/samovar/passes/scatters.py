"""Scatters: atomics of a task into unpredictable elements of one array, as of a histogram, may go to private copies.

As with reductions, the array must be `alone`, all its accesses in the task are one commuting operation, and the old values
are unused. What has become a reduction is left alone. A copy is as large as the array, which must be contiguous, and copies
pay only where iterations outnumber the elements. Where every variable of the task appears in the indices (`a[i + 1] += x`),
they do not: such an array stays atomic. The rest is decided at run time, from the extents.
"""

from __future__ import annotations

from samovar.ir import Affine, Array, Kernel, Operation, ParallelFor, Scatter, indices, rewrite
from samovar.passes.facts import Facts
from samovar.passes.reductions import contribution, gathered, private


def scatter(kernel: Kernel, facts: Facts) -> None:
    """Turn what can go to private copies into `Scatter`s of the tasks and `scatter` operations."""
    replaced: dict[Operation, list[Operation]] = {}
    for task, accesses in facts.accesses.items():
        reduced = {reduction.target for reduction in task.reductions}
        for array, operations in accesses.operations.items():
            actions = {gathered(operation) for operation in operations}
            action = actions.pop()
            if (
                isinstance(array, Array)
                and array not in reduced
                and array.contiguous
                and private(array, accesses)
                and action is not None
                and not actions
                and not any(facts.uses[operation] for operation in operations)
                and not all(_spread_out(operation, task, facts.affine) for operation in operations)
            ):
                scatter = Scatter(action, array)
                task.scatters.append(scatter)
                for operation in operations:
                    replaced[operation] = _scattered(operation, scatter)
    if replaced:
        rewrite(kernel.body, lambda operation: replaced.get(operation, [operation]))


def _spread_out(operation: Operation, task: ParallelFor, affine: Affine) -> bool:
    """Whether every variable of the task moves the element."""
    moving = {symbol.identity for index in indices(operation) for symbol, _ in affine.form(index).terms}
    return moving.issuperset(task.variables)


def _scattered(operation: Operation, scatter: Scatter) -> list[Operation]:
    before = contribution(operation)
    value = before[-1] if before else operation.operands[-1]
    return [*before, Operation("scatter", None, (*indices(operation), value), scatter, operation.line)]
