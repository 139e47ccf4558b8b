"""Plans of tasks: what is decided about a parallel loop beside what it computes.

`samovar.passes.outline` makes them, `samovar.ir.schedule` says what their numbers mean at run time, and a backend renders
them. A backend decides nothing that is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar._native import DType
from samovar.ir.structure import Reduction, Scatter


@dataclass(frozen=True)
class Partial:
    """The partial results of a reduction: one per group, kept in `type`, each begins with `identity`.

    After the task they are put together in the order of the groups, beginning with `identity` again, and the outcome is
    applied to the target in `type`.
    """

    reduction: Reduction
    type: DType
    identity: bool | int | float


@dataclass(frozen=True)
class PrivateCopy:
    """The private copies of an array that a task scatters into: one per group, all elements begin with `identity`.

    After the task they are applied to the array, group by group. Whether there are copies at all is seen at run time
    (`samovar.ir.schedule.worth_copies`); otherwise the array is updated atomically.
    """

    scatter: Scatter
    identity: bool | int | float


@dataclass(frozen=True)
class PlainLoop:
    """A loop whose vector form is known beforehand (see `samovar.passes.plain_loops`), over elements of 32 or 64 `bits`.

    `from_first_element`: the body takes the addresses of the first elements of its range, and counts from 0. `described`:
    those and integers of the argument block are all that it takes, so it is called by the runtime's own task function, after
    a description (`samovar.ir.runtime_interface`).
    """

    bits: int
    from_first_element: bool
    described: bool


@dataclass(frozen=True)
class Plan:
    """How one task is run.

    `number` is the one by which the runtime knows it, `cost` an estimate in nanoseconds per iteration, `flags` those of
    `samovar.ir.runtime_interface`.

    The first `dealt` axes make units: an iteration of a single axis, a row (or a part of one) of several. The axes after
    them are loops inside of a unit, of `inner_iterations` in all. The last axis is the innermost loop everywhere. Where rows
    are cut, all their first parts come before all second ones.

    A task with `partials`, or with `copies` that are worth it, runs in groups of units: as many as `samovar.ir.schedule`
    says, with about 2^`grain_log2` iterations each, or more. The groups depend on the number of iterations alone, and so
    does a sum of floats. Otherwise `block`, if there is one, is the number of units that are dealt out at a time.
    """

    number: int
    cost: float
    flags: int
    dealt: int
    inner_iterations: int
    grain_log2: int
    block: int | None
    partials: tuple[Partial, ...]
    copies: tuple[PrivateCopy, ...]
    plain: PlainLoop | None

    @property
    def flat(self) -> bool:
        """A unit, before any grouping, is one step of a single axis."""
        return self.dealt == 1
