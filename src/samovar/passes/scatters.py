"""Scatters: atomics of a task on unpredictable elements of one array, as in a histogram, may use private copies.

As with reductions, the array must be `alone` (noalias), all its accesses in the task are one commuting operation, and the
old values are unused. Reductions are unchanged. A copy is as large as the array, which must be contiguous, so copies pay
only if there are more iterations than elements. If every variable of the task appears in the indices (`a[i + 1] += x`), they
do not: such an array stays atomic. The rest is decided at run time, from the extents.
"""

from __future__ import annotations

from samovar.ir import Affine, Array, Facts, Kernel, Operation, ParallelFor, Scatter, indices, rewrite
from samovar.passes.reductions import contributing, private, reduction_of


def scatter(kernel: Kernel, facts: Facts) -> None:
    """Turn atomics that can use private copies into `Scatter`s of the tasks and `scatter` operations."""
    replaced: dict[Operation, list[Operation]] = {}
    for task, accesses in facts.accesses.items():
        reduced = {reduction.target for reduction in task.reductions}
        for array, operations in accesses.operations.items():
            actions = {reduction_of(operation) for operation in operations}
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
                    replaced[operation] = contributing(operation, "scatter", indices(operation), scatter)
    if replaced:
        rewrite(kernel.body, lambda operation: replaced.get(operation, [operation]))


def _spread_out(operation: Operation, task: ParallelFor, affine: Affine) -> bool:
    """Whether the element depends on every variable of the task."""
    moving = {symbol.identity for index in indices(operation) for symbol, _ in affine.form(index).terms}
    return moving.issuperset(task.variables)
