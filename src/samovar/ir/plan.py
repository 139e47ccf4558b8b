"""Plans of tasks: what is decided about a parallel loop beside what it computes.

`samovar.passes.outline` makes them, `samovar.ir.schedule` says what their numbers mean at run time, and a backend renders
them. A backend decides nothing that is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar._native import DType
from samovar.ir.structure import Reduction, Scatter
from samovar.ir.values import Local, Operation, Value


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
class Lanes:
    """Neighbouring iterations along the last axis side by side, `width` at a time (see `samovar.passes.lanes`).

    `varying` is what differs between them: operations, locals, the variable of the axis. `loose` are locals whose values
    do not matter in lanes that have left the loop that they are used in. `ragged` are the loops that some lanes may leave,
    or begin anew, before others; `apart` the accesses to elements that do not lie side by side. `walks` are loops that go
    from row to row: they run for several groups of lanes at a time, so that they find more of each row. `partly`: where a
    range ends in the middle of the lanes, those that are there can run without the others.
    """

    width: int
    varying: frozenset[Value | Local]
    loose: frozenset[Local]
    ragged: frozenset[Operation]
    apart: frozenset[Operation]
    walks: tuple[Operation, ...]
    partly: bool = False


@dataclass(frozen=True)
class PlainIndex:
    """An operation that gives variable of the last axis + `terms` + `loops` + `constant`, as long as that is at least
    `least`, at most `most` and below `below`, each if there is one. Terms are values with factors, known before the loop
    over the axis; `loops` variables of constant loops inside, with factors, which add from `inner[0]` to `inner[1]`."""

    operation: Operation
    terms: tuple[tuple[Value, int], ...]
    loops: tuple[tuple[Value, int], ...]
    constant: int
    inner: tuple[int, int]
    least: Value | None
    most: Value | None
    below: Value | None


@dataclass(frozen=True)
class Borders:
    """Indices that are plain in all but a few iterations of the last axis (see `samovar.passes.borders`). `before` are the
    operations of the body that their terms and bounds come from: they do not depend on the variable of the axis."""

    indices: tuple[PlainIndex, ...]
    before: tuple[Operation, ...]


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

    `extremes` are the loops that keep minima and maxima in vectors (see `samovar.passes.extremes`), None is that over the
    last axis. `independent`: an array is changed in place, and what compiles the loop has to be told that iterations do not
    meet. With `lanes`, neighbouring iterations along the last axis run in vectors; with `borders`, those at the ends of the
    last axis are apart from the others.
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
    plain: PlainLoop | None = None
    lanes: Lanes | None = None
    borders: Borders | None = None
    extremes: tuple[tuple[Operation | None, Lanes], ...] = ()
    independent: bool = False

    @property
    def flat(self) -> bool:
        """A unit, before any grouping, is one step of a single axis."""
        return self.dealt == 1
