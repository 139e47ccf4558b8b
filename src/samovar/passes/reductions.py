"""Reductions: atomics of a task on one location that the task does not access otherwise become partial results.

The location must be the same in every iteration (its indices are computed before the task), the old value unused, and the
array `alone` (noalias) and not accessed in any other way: then the order of updates is unobservable, and each chunk of
iterations may accumulate its own part.

Different operations on one location do not commute. Several locations of one array must be distinguished by constant
indices, or the array stays atomic.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from samovar._native import u1
from samovar.ir import (
    FAMILIES,
    OPCODES,
    Accesses,
    Affine,
    Array,
    Atomic,
    Builder,
    Facts,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Reduction,
    Value,
    computed_before,
    defined_in,
    indices,
    operands_first,
    rewrite,
)


def find_reductions(kernel: Kernel, facts: Facts) -> None:
    """Turn atomics that can be accumulated into `Reduction`s of the tasks and `accumulate` operations."""
    affine = facts.affine
    replaced: dict[Operation, list[Operation]] = {}
    for task, accesses in facts.accesses.items():
        search = _Reductions(task, affine)
        for target, operations in accesses.operations.items():
            if (
                private(target, accesses)
                and all(reduction_of(operation) is not None and not facts.uses[operation] for operation in operations)
                and search.reaches(operations)
                and _are_distinct(operations, affine)
            ):
                for operation in operations:
                    replaced[operation] = search.accumulate(operation, target)
        if search.before.operations:
            replaced[task] = [*search.before.operations, task]
    if replaced:
        rewrite(kernel.body, lambda operation: replaced.get(operation, [operation]))


def private(target: Array | Local, accesses: Accesses) -> bool:
    """Whether the given operations are the only accesses of a task to a target that all its iterations share."""
    if isinstance(target, Local):
        return target.shared
    if target.private:
        return False
    called, contested = accesses.called, accesses.contested
    return target.alone and not any(target in arrays for arrays in (called.read, called.written, contested))


def reduction_of(operation: Operation) -> str | None:
    """The operation by which an atomic can be accumulated; None if it cannot, and for all other operations."""
    payload = operation.payload
    if operation.code != "atomic" or not isinstance(payload, Atomic):
        return None
    # Arithmetic on u1 is not worth the effort.
    if operation.operands[-1].type is u1 and payload.operation not in ("and", "or", "xor"):
        return None
    return FAMILIES.get(payload.operation)


def contributing(operation: Operation, code: str, indices: Sequence[Value], payload: object) -> list[Operation]:
    """The replacement of an atomic, which accumulates its operand; see `FAMILIES`."""
    build, value = Builder(operation.line), operation.operands[-1]
    if operation.payload.operation == "sub":
        value = build.make("neg", value.type, value)
    build.make(code, None, *indices, value, payload=payload)
    return build.operations


def _are_distinct(operations: Sequence[Operation], affine: Affine) -> bool:
    """Whether no location is the target of two different operations."""
    if len({reduction_of(operation) for operation in operations}) == 1:
        return True
    axes = [[affine.form(index) for index in column] for column in zip(*map(indices, operations), strict=True)]
    # The constants of forms are comparable if nothing was lost to wrapping and the rest is the same.
    telling = [axis for axis in axes if all(form.bits == 64 and form.terms == axis[0].terms for form in axis)]
    meant: dict[tuple[int, ...], str | None] = {}
    for position, operation in enumerate(operations):
        key = tuple(axis[position].constant for axis in telling)
        if meant.setdefault(key, reduction_of(operation)) != reduction_of(operation):
            return False
    return True


@dataclass
class _Reductions:
    """The reductions of one task as they are found."""

    task: ParallelFor
    affine: Affine
    found: dict[Hashable, Reduction] = field(default_factory=dict)
    copies: dict[Value, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.within = {*self.task.variables, *defined_in(self.task.body)}
        #: Computes locations, before the task.
        self.before = Builder(self.task.line, self.task.origin)

    def reaches(self, operations: Sequence[Operation]) -> bool:
        """Whether the locations are the same in all iterations and can be computed before the task."""
        locations = {index for operation in operations for index in indices(operation)}
        # An invariant form is not enough: `i - i + n` has one, but cannot be computed where i is undefined.
        needed = operands_first(locations, self.within.__contains__)
        return all(self.affine.form(each).invariant() for each in locations) and all(map(self._is_invariant, needed))

    def _is_invariant(self, value: Value) -> bool:
        pure = isinstance(value, Operation) and (OPCODES[value.code].effect == "pure" or value.code == "load_local")
        return pure and self.affine.form(value).invariant()

    def _outside(self, value: Value) -> Value:
        return computed_before(value, self.before, lambda each: each not in self.within, self.copies)

    def accumulate(self, operation: Operation, target: Array | Local) -> list[Operation]:
        """The replacement of an atomic; creates a reduction for its location if there is none yet."""
        action = reduction_of(operation)
        assert action is not None
        location = indices(operation)
        key = (target, action, *(self.affine.number(index) for index in location))
        reduction = self.found.get(key)
        if reduction is None:
            type = target.dtype if isinstance(target, Array) else target.type
            outside = tuple(map(self._outside, location))
            reduction = self.found[key] = Reduction(action, type, target, outside)
            self.task.reductions.append(reduction)
        return contributing(operation, "accumulate", (), reduction)
