"""The body of a task as a loop nest: the code that a thread runs for a range of units of a parallel loop.

A unit is an iteration of a 1-D loop, or a row of a multidimensional one (or a part of a row); trailing dimensions with few
constant iterations are loops inside a unit. Units may be combined in groups, each with its own partial results and private
copies. The loop over the last dimension is always a real loop, because it is the one to be vectorized, and so is the one
around it; outer indices advance like an odometer, without division.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from samovar._native import i64
from samovar.ir import (
    NO_HINTS,
    PLAIN_LOOP,
    Axis,
    Builder,
    Constant,
    For,
    Hints,
    If,
    Local,
    LocalArray,
    LoopVariable,
    Region,
    ScratchArray,
    Task,
    Value,
    While,
    substitute,
    walk,
)
from samovar.language import integer_range
from samovar.passes.schedule import Units, number


@dataclass(frozen=True)
class Partial:
    """Where a reduction accumulates: in a local while a group runs, then in an array element per group."""

    local: Local
    identity: Constant
    array: LocalArray


@dataclass(frozen=True)
class PrivateCopy:
    """The private copies of an array: one per group in `copies`, `stride` elements apart; the first `elements` of each are
    initialized to `identity`."""

    copies: ScratchArray
    stride: Value
    elements: Value
    identity: Constant


@dataclass
class Nest:
    """Writes the body of a task. The `dealt` dimensions are distributed, and those of `inner` are loops in a unit."""

    task: Task
    dealt: Sequence[Axis]
    inner: Sequence[Axis]
    iteration: Region
    work: Units
    partials: Sequence[Partial] = ()
    copies: Sequence[PrivateCopy] = ()
    block: int | None = None
    hints: Hints = NO_HINTS
    group: LoopVariable = field(default_factory=lambda: LoopVariable("group", i64))
    #: Variables of outer dimensions, which are values here, not loops.
    known: dict[Value, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.build = Builder(self.task.line, self.task.origin)

    def write(self) -> None:
        """Write the body of the task."""
        first, last = self.task.first, self.task.last
        self.task.body = self.build.region(lambda: self._ranges(first, last))

    def _ranges(self, first: Value, last: Value) -> None:
        if self.partials or self.copies:
            self._groups(first, last)
        elif self.block is not None:
            assert self.work.total is not None
            build, size = self.build, number(self.block)
            self._units(build.mul(first, size), build.min(build.mul(last, size), self.work.total))
        else:
            self._units(first, last)

    def _loop(
        self, variable: LoopVariable, first: Value, last: Value, write: Callable[[], None], hints: Hints, note: str = ""
    ) -> None:
        step = Constant(1, first.type) if first.type is not None else number(1)
        made = For(variable, first, last, step, self.build.region(write), self.task.line, hints)
        made.note = note
        self.build.append(made)

    def _groups(self, first: Value, last: Value) -> None:
        """Units in groups of 2^shift, each with its own partial results."""
        build, work = self.build, self.work
        assert work.shift is not None
        assert work.total is not None
        group = self.group
        shift, total = work.shift, work.total

        def each() -> None:
            for partial in self.partials:
                build.set(partial.local, partial.identity)
            for copy in self.copies:
                self._fill(copy, group)
            begin = build.make("shift_left", i64, group, shift)
            end = build.make("shift_left", i64, build.add(group, number(1)), shift)
            self._units(begin, build.min(end, total))
            for partial in self.partials:
                build.write(partial.array, [group], build.get(partial.local))

        note = "parallel: groups of iterations, each with partial results of its own"
        self._loop(group, first, last, each, replace(PLAIN_LOOP, parallel=True), note)

    def _fill(self, copy: PrivateCopy, group: Value) -> None:
        build, element = self.build, LoopVariable("element", i64)
        start = build.mul(group, copy.stride)

        def each() -> None:
            build.write(copy.copies, [build.add(start, element)], copy.identity)

        self._loop(element, number(0), copy.elements, each, Hints(parallel=True, unroll=1))

    def _units(self, first: Value, last: Value) -> None:
        if len(self.dealt) == 1:
            self._axis(self.dealt[0], self._at(self.dealt[0], first), self._at(self.dealt[0], last), self._inner)
        else:
            self._rows(first, last)

    def _at(self, axis: Axis, distance: Value) -> Value:
        """The value of a variable, given its distance from the beginning of its dimension."""
        return self.build.add(self.build.cast(axis[1], i64), distance)

    def _axis(self, axis: Axis, first: Value, last: Value, write: Callable[[], None]) -> None:
        innermost = axis is (*self.dealt, *self.inner)[-1]
        self._loop(axis[0], first, last, write, replace(self.hints if innermost else NO_HINTS, parallel=True))

    def _inner(self, position: int = 0) -> None:
        """The constant dimensions inside a unit, then the iteration itself."""
        if position == len(self.inner):
            if self.known:
                for operation in walk(self.iteration):
                    substitute(operation, self.known)
            self.build.operations += self.iteration.operations
            return
        axis = self.inner[position]
        self._axis(axis, axis[1], axis[2], lambda: self._inner(position + 1))

    def _rows(self, first: Value, last: Value) -> None:
        """Units of a nest: rows of the last dimension, or parts of rows; all first parts, then all second ones.

        The rows along the dimension before the last are a loop of their own, so that addresses advance with it. Outer
        indices change with each such run of rows.
        """
        build = self.build
        *outer, row_axis, last_axis = self.dealt
        extents = [self._extent(axis) for axis in (*outer, row_axis)]
        unit = self._local("unit", first)

        def run() -> None:
            digits = self._odometer(first, extents)
            head = self._head(lambda: build.compare("lt", build.get(unit), last))
            rows = While(*head, build.region(lambda: turn(digits)))
            rows.note = "parallel: runs of rows, and parts of rows"
            build.append(rows)

        def turn(digits: list[tuple[Local, Value | None]]) -> None:
            (part, _), *middle, (row, rows) = digits
            assert rows is not None
            start, stop = self._part(last_axis, build.get(part))
            for axis, (digit, _) in zip(outer, middle, strict=True):
                self.known[axis[0]] = self._value_of(axis[0], self._at(axis, build.get(digit)))
            at, row_first = build.get(unit), build.get(row)
            row_last = build.min(build.add(row_first, build.sub(last, at)), rows)
            self._axis(
                row_axis,
                self._at(row_axis, row_first),
                self._at(row_axis, row_last),
                lambda: self._axis(last_axis, start, stop, self._inner),
            )
            build.set(unit, build.add(at, build.sub(row_last, row_first)))
            build.set(row, number(0))
            self._advance(digits[:-1])

        build.append(If(build.compare("lt", first, last), build.region(run), Region()))

    def _value_of(self, variable: LoopVariable, wide: Value) -> Value:
        """The value of a variable that has no loop here."""
        return self.build.make("cast", variable.type, wide, payload=variable.limits or integer_range(variable.type))

    def _head(self, write: Callable[[], Value]) -> tuple[Region, Value]:
        found: list[Value] = []
        return self.build.region(lambda: found.append(write())), found[0]

    def _local(self, name: str, value: Value) -> Local:
        local = Local(name, i64)
        self.task.locals.append(local)
        self.build.set(local, value)
        return local

    def _part(self, axis: Axis, part: Value) -> tuple[Value, Value]:
        """The begin and end of a part of a row."""
        assert self.work.length is not None
        start = self._at(axis, self.build.mul(part, self.work.length))
        return start, self.build.min(self.build.add(start, self.work.length), self.build.cast(axis[2], i64))

    def _extent(self, axis: Axis) -> Value:
        """The length of a dimension, at least 0."""
        return self.build.sub(self.build.cast(axis[2], i64), self.build.cast(axis[1], i64))

    def _odometer(self, first: Value, extents: Sequence[Value]) -> list[tuple[Local, Value | None]]:
        """Counters with their extents, set to the digits of a number, most significant first; that one has no extent."""
        build = self.build
        digits: list[tuple[Local, Value | None]] = []
        rest = first
        for extent in reversed(extents):
            quotient = build.make("quotient", i64, rest, extent)
            digits.insert(0, (self._local("digit", build.sub(rest, build.mul(quotient, extent))), extent))
            rest = quotient
        return [(self._local("digit", rest), None), *digits]

    def _advance(self, digits: Sequence[tuple[Local, Value | None]]) -> None:
        """Increment the odometer."""
        build = self.build
        *before, (digit, extent) = digits
        following = build.add(build.get(digit), number(1))
        build.set(digit, following)
        if extent is None:
            return

        def carry() -> None:
            build.set(digit, number(0))
            self._advance(before)

        build.append(If(build.compare("eq", following, extent), build.region(carry), Region()))
