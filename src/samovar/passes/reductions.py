"""Reductions: atomics of a task into one location that nothing else in the task looks at become partial results.

The location must be the same in every iteration (its indices are computed in front of the task), the old value unused, and
the array `alone` and not accessed in any other way: then the order in which iterations meet at the location cannot be
seen, and each chunk of iterations may gather its own part.

Different operations on one location do not commute. On several locations of one array they are kept apart by constant
indices, or the array stays atomic.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from samovar._native import u1
from samovar.ir import FAMILIES, Affine, Array, Atomic, Kernel, Local, Operation, ParallelFor, Reduction, indices, rewrite
from samovar.passes.accesses import Accesses
from samovar.passes.facts import Facts
from samovar.passes.hoist import Hoist


def gather(kernel: Kernel, facts: Facts) -> None:
    """Turn what can be gathered into `Reduction`s of the tasks and `accumulate` operations."""
    affine = facts.affine
    replaced: dict[Operation, list[Operation]] = {}
    for task, accesses in facts.accesses.items():
        gathering = _Gathering(task, affine)
        for target, operations in accesses.operations.items():
            if (
                private(target, accesses)
                and all(gathered(operation) is not None and not facts.uses[operation] for operation in operations)
                and gathering.reaches(operations)
                and _kept_apart(operations, affine)
            ):
                for operation in operations:
                    replaced[operation] = gathering.accumulate(operation, target)
        if gathering.hoist.operations:
            replaced[task] = [*gathering.hoist.operations, task]
    if replaced:
        rewrite(kernel.body, lambda operation: replaced.get(operation, [operation]))


def private(target: Array | Local, accesses: Accesses) -> bool:
    """Whether the operations of a task are all that it does to a target, seen by all its iterations."""
    if isinstance(target, Local):
        return target.shared
    if target.private:
        return False
    called, contested = accesses.called, accesses.contested
    return target.alone and not any(target in arrays for arrays in (called.read, called.written, contested))


def gathered(operation: Operation) -> str | None:
    """The operation in which an atomic can be gathered; None for what cannot, and for all other operations."""
    payload = operation.payload
    if operation.code != "atomic" or not isinstance(payload, Atomic):
        return None
    # Arithmetic on u1 is not worth a thought.
    if operation.operands[-1].type is u1 and payload.operation not in ("and", "or", "xor"):
        return None
    return FAMILIES.get(payload.operation)


def contribution(operation: Operation) -> list[Operation]:
    """What must be computed in front of an atomic so that the last operand is what it contributes; see `FAMILIES`."""
    if operation.payload.operation != "sub":
        return []
    value = operation.operands[-1]
    return [Operation("neg", value.type, (value,), None, operation.line)]


def _kept_apart(operations: Sequence[Operation], affine: Affine) -> bool:
    """Whether no location can be the target of two different operations."""
    if len({gathered(operation) for operation in operations}) == 1:
        return True
    axes = [[affine.form(index) for index in column] for column in zip(*map(indices, operations), strict=True)]
    # The constants of a form are comparable where nothing was lost to wrapping and the rest is the same.
    telling = [axis for axis in axes if all(form.bits == 64 and form.terms == axis[0].terms for form in axis)]
    meant: dict[tuple[int, ...], str | None] = {}
    for position, operation in enumerate(operations):
        key = tuple(axis[position].constant for axis in telling)
        if meant.setdefault(key, gathered(operation)) != gathered(operation):
            return False
    return True


@dataclass
class _Gathering:
    """The reductions of one task as they are found."""

    task: ParallelFor
    affine: Affine
    found: dict[Hashable, Reduction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hoist = Hoist(self.task, self.affine)

    def reaches(self, operations: Sequence[Operation]) -> bool:
        """Whether the locations are the same in all iterations and can be computed in front of the task."""
        locations = {index for operation in operations for index in indices(operation)}
        return all(self.affine.form(each).invariant() and self.hoist.possible(each) for each in locations)

    def accumulate(self, operation: Operation, target: Array | Local) -> list[Operation]:
        """The operations that take the place of an atomic; its location gets a reduction if it has none yet."""
        action = gathered(operation)
        assert action is not None
        location = indices(operation)
        key = (target, action, *(self.affine.number(index) for index in location))
        reduction = self.found.get(key)
        if reduction is None:
            type = target.dtype if isinstance(target, Array) else target.type
            reduction = self.found[key] = Reduction(action, type, target, self.hoist.outside(location))
            self.task.reductions.append(reduction)
        before = contribution(operation)
        value = before[-1] if before else operation.operands[-1]
        return [*before, Operation("accumulate", None, (value,), reduction, operation.line)]
