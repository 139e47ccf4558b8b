"""The body of a task: its loop nest as a function of its captures.

Two functions per task. The body takes every array pointer as a parameter of its own, `noalias` where that is known (a
pointer loaded from memory carries no such fact), and is never inlined, so that the facts stay. Of a captured array it takes
the parts that it uses. The task function, which the runtime calls with the frame and a range of units, loads what the body
needs and calls it. A described task has none: `sv_elements` of the runtime does so, and LLVM has a function less to compile.

What a unit is, the plan says. The loop over the last axis is a real loop in every case, because that is the one LLVM
vectorises, and so is the one around it; indices further out advance like an odometer, without division.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeGuard

from samovar._native import DType, f64
from samovar.backends.llvm.borders import plain_range, renderings_between
from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.foresight import BRIEF, Expression, Known, foreseen
from samovar.backends.llvm.functions import part_fact
from samovar.backends.llvm.indices import interval, offset, widened
from samovar.backends.llvm.lanes import GROUPS, IN_LANES, Together, blocks
from samovar.backends.llvm.memory import atomically, update, write
from samovar.backends.llvm.module import AS_WRITTEN, BOOLEAN, EXTENT, OUTLINED, UNLIKELY, WIDE_EXTENT, Module
from samovar.backends.llvm.operations import convert
from samovar.backends.llvm.polling import stands_twice
from samovar.backends.llvm.running import keep_extremes
from samovar.backends.llvm.scattering import of_neighbours, update_alone
from samovar.backends.llvm.types import is_signed, literal, memory_type, register_type
from samovar.backends.llvm.writer import MOST_BRANCHES, Writer, dtype_of
from samovar.ir import (
    FRAME_DESCRIPTION,
    FRAME_SLOT,
    FRAME_VALUES,
    Array,
    Axis,
    Borders,
    Captured,
    Constant,
    For,
    Lanes,
    Local,
    LocalArray,
    Operation,
    Parameter,
    Partial,
    Reduction,
    Scatter,
    Task,
    Value,
    description,
    part_offset,
    walk,
)


@dataclass(frozen=True)
class BodyParameter:
    """A parameter of the body: where the task function finds it.

    In the argument block at `offset`, or in a slot of the frame, which the entry fills with `source`.
    """

    fact: str
    name: str
    dtype: DType | None
    kind: str
    metadata: str = ""
    offset: int = -1
    source: Callable[[], str] | None = None


def _value_of(writer: Writer, local: Local, kind: str) -> str:
    return writer.define(f"load {kind}, ptr {writer.local(local)}")


class TaskWriter(Writer):
    """The body of a task. `outer` is the writer of the entry; `named` are values that the entry computes for the task."""

    def __init__(self, module: Module, task: Task, outer: Writer, offsets: dict[Value, int], private: bool) -> None:
        super().__init__(module)
        self.task = task
        self.plan = task.plan
        self.dealt, self.inner = task.dealt(), task.inner()
        self.outer = outer
        self.offsets = offsets
        self.private = private
        self.runs_once = all(_is_one(begin, end) for _, begin, end in (*self.dealt, *self.inner))
        self.from_first = task.plan.plain is not None and task.plan.plain.from_first_element
        is_described = task.plan.plain is not None and task.plan.plain.described
        self.described = is_described and not module.program.flush_denormals  # the runtime would call the body itself
        self.named: dict[str, str] = {}
        self.parameters: dict[object, BodyParameter] = {}
        self.patient: TaskWriter | None = None
        self.takes_long = ""  # the condition under which the patient one runs
        self.works: dict[For, Known] = {}  # what the loops take that are brief
        self.accumulators: dict[Reduction, tuple[str, Partial]] = {}
        self.copies: dict[Scatter, str] = {}
        self.apart = of_neighbours(task.body) if private and "neighbours" not in module.program.without else frozenset()
        self.together: Together | None = None
        taken = [each.source if isinstance(each, Captured) else each for each in task.captures]
        self.may_use: set[Value | Local] = {*task.operands, *taken}
        # An extent comes with the array that it is one of.
        extents = [each for each in self.may_use if isinstance(each, Operation) and each.code == "shape"]
        self.may_use.update(extent.payload[0] for extent in extents)

    # What comes from outside.

    def parameter(
        self,
        key: object,
        wanted: str,
        fact: str,
        source: Callable[[], str] | None = None,
        dtype: DType | None = None,
        offset: int = -1,
        metadata: str = "",
    ) -> str:
        """Make something of the kernel a parameter of the body, once."""
        found = self.parameters.get(key)
        if found is None:
            kind = fact.split(" ", 1)[0]
            found = BodyParameter(fact, self.name(wanted), dtype, kind, metadata, offset, source)
            self.parameters[key] = found
        return found.name

    def _require(self, value: Value | Local) -> None:
        if value not in self.may_use:
            raise LookupError(f"the task {self.task.name!r} uses what it does not capture")

    def outside(self, value: Value) -> str:
        source = value.source if isinstance(value, Captured) else value
        self._require(source)
        if isinstance(source, Operation) and source.code == "shape":
            return self._shape(source)
        dtype = dtype_of(source)
        fact = register_type(dtype) + " noundef"
        if isinstance(source, Parameter):
            return self.parameter(source, source.name, fact, dtype=dtype, offset=self.offsets[source])
        return self.parameter(source, getattr(source, "name", "v"), fact, functools.partial(self.outer.value, source), dtype)

    def _shape(self, value: Operation) -> str:
        array, axis = value.payload
        dtype = dtype_of(value)
        extent = self.extent(array, axis)
        if dtype.bits < 64 and array.extents[axis] is None:
            extent = self.define_early(f"trunc nuw nsw i64 {extent} to {register_type(dtype)}", "n")
        self.values[value] = extent
        return extent

    def array_part(self, array: Array, part: str, axis: int) -> str:
        self._require(array)
        if isinstance(array, LocalArray):
            return self.parameter(array, array.name, part_fact(array, part), functools.partial(self.outer.pointer, array))
        offset = self.offsets[array] + part_offset(array, part, axis)
        metadata = "" if part != "extent" else WIDE_EXTENT if array.wide else EXTENT
        key, wanted = (array, part, axis), array.name if part == "pointer" else f"{array.name}_{part}{axis}"
        return self.parameter(key, wanted, part_fact(array, part), offset=offset, metadata=metadata)

    def outside_local(self, local: Local) -> str:
        self._require(local)
        if local.shared:
            pointer = self.parameter(local, local.name, "ptr noundef", functools.partial(self.outer.local, local))
            self.slots[local] = pointer
            return pointer
        kind = memory_type(local.type)
        name = self.parameter(local, local.name, kind + " noundef", functools.partial(_value_of, self.outer, local, kind))
        self.declare_local(local)
        self.prologue.append(f"  store {kind} {name}, ptr {self.slots[local]}")
        return self.slots[local]

    def context(self) -> str:
        return self.parameter("context", "context", "ptr noundef", self.outer.context)

    def entry_value(self, name: str, fact: str = "i64 noundef") -> str:
        """A value that the entry computes under this name."""
        return self.parameter(name, name, fact, functools.partial(self.named.__getitem__, name))

    def leave(self) -> str:
        return "ret void"

    def give(self, operation: Operation) -> None:
        raise AssertionError("return inside a task")

    # The loops.

    def render(self) -> None:
        """Write the whole body, and another one if its loops are expected to be short: the one that asks whether they are to
        stop. Where iterations are written twice already, in lanes or apart at the borders, all that may be long do."""
        written_once = self.plan.lanes is None and self.plan.borders is None
        twice = written_once and stands_twice(self.task.body) and not self.runs_once
        works: dict[For, Known] = {}
        if "foresight" not in self.module.program.without:
            works = foreseen(self.task.body, (*self.dealt, *self.inner), self.module.looping)
        for loop, work in works.items():
            if work <= BRIEF if isinstance(work, float) else twice:
                self.works[loop] = work
        self.brief = {each for root in self.works for each in (root, *walk(root.body)) if isinstance(each, For)}
        self._loops()
        if any(not isinstance(work, float) for work in self.works.values()):
            self.takes_long = self._takes_long()
            self.patient = TaskWriter(self.module, self.task, self.outer, self.offsets, self.private)
            self.context()
            self.patient.parameters, self.patient.named, self.patient._count = self.parameters, self.named, self._count
            self.patient.lengthy = self.brief
            self.patient._loops()

    def _loops(self) -> None:
        for local in self.task.locals:
            self.declare_local(local)
        block = self.plan.block
        if self.plan.partials or self.private:
            self._groups()
        elif block is not None:
            first = self.define(f"mul nsw i64 %begin, {block}")
            last = self.define(f"mul nsw i64 %end, {block}")
            self._units(first, self._at_most(last, self.entry_value("total")))
        elif self.from_first:
            self._elements()
        else:
            self._units("%begin", "%end")
        self.emit("ret void")

    def _at_most(self, value: str, limit: str) -> str:
        self.module.declare("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        return self.define(f"call i64 @llvm.smin.i64(i64 {value}, i64 {limit})")

    def _groups(self) -> None:
        """Units in groups of 2^shift: each with its own partial results."""
        shift = self.entry_value("shift")
        loop = self.open_loop("group", "%begin", "%end")
        for partial in self.plan.partials:
            slot = self.define_early(f"alloca {memory_type(partial.type)}", "sum")
            self.accumulators[partial.reduction] = slot, partial
            write(self, slot, partial.type, literal(partial.identity, partial.type))
        if self.private:
            self._fresh_copies(loop.counter)
        first = self.define(f"shl nsw i64 {loop.counter}, {shift}")
        after = self.define(f"add nsw i64 {loop.counter}, 1")
        last = self._at_most(self.define(f"shl nsw i64 {after}, {shift}"), self.entry_value("total"))
        self._units(first, last)
        for position, partial in enumerate(self.plan.partials):
            kind = memory_type(partial.type)
            partials = self.entry_value(f"partials{position}", "ptr noalias noundef")
            place = self.define(f"getelementptr inbounds {kind}, ptr {partials}, i64 {loop.counter}")
            result = self.define(f"load {kind}, ptr {self.accumulators[partial.reduction][0]}")
            self.emit(f"store {kind} {result}, ptr {place}")
        self.close_loop(loop, self.module.small_loop(vectorise=True))

    def _fresh_copies(self, group: str) -> None:
        """A private copy per scatter and group, filled with what changes nothing."""
        for position, copy in enumerate(self.plan.copies):
            dtype = copy.scatter.array.dtype
            kind = memory_type(dtype)
            pitch = self.entry_value(f"pitch{position}")
            start = self.define(f"mul nsw i64 {group}, {pitch}")
            copies = self.entry_value(f"copies{position}", "ptr noalias noundef")
            place = self.define(f"getelementptr inbounds {kind}, ptr {copies}, i64 {start}")
            self.copies[copy.scatter] = place
            fill = self.open_loop("fill", "0", self.entry_value(f"elements{position}"))
            element = self.define(f"getelementptr inbounds {kind}, ptr {place}, i64 {fill.counter}")
            write(self, element, dtype, literal(copy.identity, dtype))
            self.close_loop(fill, self.module.small_loop(vectorise=True))

    def _units(self, first: str, last: str) -> None:
        if self.plan.flat:
            axis = self.dealt[0]
            self._axis(axis, self._shifted(axis, first), self._shifted(axis, last), self._inner)
        else:
            self._rows(first, last)

    def _axis(self, axis: Axis, first: str, last: str, then: Callable[[], None]) -> None:
        variable = axis[0]
        if self.plan.lanes is not None and variable in self.plan.lanes.varying:
            first = self._lanes(axis, first, last, self.plan.lanes)
            if self.plan.lanes.partly:
                return
        own = next((lanes for each, lanes in self.plan.extremes if each is None), None)
        if own is not None and axis is self.dealt[-1]:
            span, body = (first, last), self.task.body
            first = keep_extremes(self, own, variable, self._bounds(axis), span, body, self.accumulators, self._install)
        if self.plan.borders is not None and axis is self.dealt[-1]:
            self._between_borders(axis, first, last, self.plan.borders, then)
            return
        loop = self.open_loop(variable.name or "i", first, last)
        self.bind(variable, loop.counter, *self._bounds(axis))
        mark = self._hint()
        independent = not mark and self.plan.independent and axis is (*self.dealt, *self.inner)[-1]
        if independent:
            self.independent, mark = self.module.independent_loop()
        then()
        self.independent = ""
        if independent and self.branches - loop.branches > MOST_BRANCHES:
            mark = self.module.branching_loop()
        self.close_loop(loop, mark)

    def _lanes(self, axis: Axis, first: str, last: str, lanes: Lanes) -> str:
        """As many iterations of the last axis as make whole groups, side by side, and the others too if there can be lanes
        that do not count; gives where those begin that are left."""
        size = GROUPS * lanes.width if lanes.walks else lanes.width
        self.module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
        count = self.define(f"call i64 @llvm.smax.i64(i64 {self.define(f'sub nsw i64 {last}, {first}')}, i64 0)")
        whole = self.define(f"and i64 {count}, {-lanes.width}")
        end = self.define(f"add nsw i64 {first}, {whole}")
        together = self._side_by_side(lanes)
        # Counted from 0: the last walk may be shorter than a step, which 64 bits have room for there.
        loop = self.open_loop(f"{axis[0].name or 'i'}.lanes", "0", whole, str(size))
        here = self.define(f"add nsw i64 {first}, {loop.counter}")
        if not lanes.walks:
            together.bind(axis[0], here, *self._bounds(axis))
            self._for_lanes(lanes, lambda: region(self, self.task.body))
        else:
            left = self.define(f"sdiv exact i64 {self.define(f'sub nsw i64 {whole}, {loop.counter}')}, {lanes.width}")
            groups, steps = self._at_most(left, str(GROUPS)), self.task.body.operations
            bounds = self._bounds(axis)
            self._for_lanes(lanes, lambda: blocks(together, axis[0], bounds, here, groups, steps))
        self.close_loop(loop, self.module.small_loop(vectorise=False))
        together.end()
        if lanes.partly:
            self._last_lanes(axis, end, last, lanes)
            return last
        return end

    def running_extremes(self, loop: For, span: tuple[str, str], limits: tuple[int, int]) -> str | None:
        lanes = next((lanes for each, lanes in self.plan.extremes if each is loop), None)
        if lanes is None or self.varying is not None:
            return None
        return keep_extremes(self, lanes, loop.variable, limits, span, loop.body, self.accumulators, self._install)

    def _install(self, together: Together | None) -> None:
        self.together = together

    def _last_lanes(self, axis: Axis, first: str, last: str, lanes: Lanes) -> None:
        """Fewer iterations than there are lanes, or none."""
        some, none = self.label("left"), self.label("none")
        self.branch(self.define(f"icmp slt i64 {first}, {last}"), some, none)
        self.start(some)
        together = self._side_by_side(lanes)
        together.bind(axis[0], first, *self._bounds(axis))
        together.only_first(self.define(f"sub nsw i64 {last}, {first}"))
        self._for_lanes(lanes, lambda: region(self, self.task.body))
        together.end()
        self.jump(none)
        self.start(none)

    def _side_by_side(self, lanes: Lanes) -> Together:
        together = self.together = Together(self, lanes, self.task.locals, self.accumulators)
        together.begin()
        self.width = lanes.width
        return together

    def _for_lanes(self, lanes: Lanes, then: Callable[[], None]) -> None:
        slots = dict(self.slots)
        self.width, self.varying, self.renderings = lanes.width, set(lanes.varying), IN_LANES
        then()
        self.varying, self.width, self.renderings, self.slots = None, 0, None, slots

    def _between_borders(self, axis: Axis, first: str, last: str, borders: Borders, then: Callable[[], None]) -> None:
        """The iterations whose indices are plain, then those before them and those after."""
        begin, end, moved = plain_range(self, borders, first, last)
        variable, name = axis[0], axis[0].name or "i"
        loop = self.open_loop(name, begin, end)
        self.bind(variable, loop.counter, *self._bounds(axis))
        self.renderings = renderings_between(self, borders, loop.counter, moved)
        then()
        self.renderings = None
        self.close_loop(loop, self._hint())
        for each in borders.indices:
            del self.counters[each.operation]
        side = self.open_loop(f"{name}.side", "0", "2")
        before = self.define(f"icmp eq i64 {side.counter}, 0")
        start = self.define(f"select i1 {before}, i64 {first}, i64 {end}")
        stop = self.define(f"select i1 {before}, i64 {begin}, i64 {last}")
        loop = self.open_loop(f"{name}.border", start, stop)
        self.bind(variable, loop.counter, *self._bounds(axis))
        then()
        mark = self.module.small_loop(vectorise=False)
        self.close_loop(loop, mark)
        self.close_loop(side, mark)

    def _elements(self) -> None:
        """The units of a plain task, counted from 0: every pointer is that of the first unit's element.

        What a range begins with is then no part of the addresses, and LLVM is done with them sooner.
        """
        axis = self.dealt[0]
        loop = self.open_loop(axis[0].name or "i", "0", "%count")
        self.bind(axis[0], self.define(f"add nsw i64 {loop.counter}, %first"), *self._bounds(axis))
        self.counters[axis[0]] = loop.counter
        self._inner()
        self.close_loop(loop, self._hint())

    def _hint(self) -> str:
        """What LLVM is told about a loop over an axis."""
        if self.task.scatters and not self.private:
            return self.module.small_loop(vectorise=False)
        return "" if self.plan.plain is None else self.module.plain_loop(self.plan.plain.bits)

    def _inner(self, position: int = 0) -> None:
        """The constant axes inside a unit, then the body itself."""
        if position == len(self.inner):
            region(self, self.task.body)
            return
        axis = self.inner[position]
        self._axis(axis, widened(self, axis[1]), widened(self, axis[2]), lambda: self._inner(position + 1))

    def _rows(self, first: str, last: str) -> None:
        """Units of a nest: rows of the last axis, or parts of rows of some `length`; all first parts, then all second ones.

        The rows along the axis before the last are a loop of their own, so that LLVM keeps addresses in step with it. What
        is further out changes with each such run of rows.
        """
        *outer, row_axis, last_axis = self.dealt
        some, finish = self.label("rows"), self.label("norows")
        self.branch(self.define(f"icmp slt i64 {first}, {last}"), some, finish)
        self.start(some)
        rows = self._extent(row_axis)
        *digits, (row, _) = self._odometer(first, [*(self._extent(axis) for axis in outer), rows])
        unit = self.define_early("alloca i64", "unit")
        self.emit(f"store i64 {first}, ptr {unit}")
        run, done = self.label("run"), self.label("ran")
        self.jump(run)
        self.start(run)
        start, stop = self._row_part(last_axis, self.define(f"load i64, ptr {digits[0][0]}"))
        for axis, (counter, _) in zip(outer, digits[1:], strict=True):
            index = self._shifted(axis, self.define(f"load i64, ptr {counter}"))
            self.bind(axis[0], index, *self._bounds(axis))
        at, row_first = self.define(f"load i64, ptr {unit}"), self.define(f"load i64, ptr {row}")
        left = self.define(f"sub nsw i64 {last}, {at}")
        row_last = self._at_most(self.define(f"add nsw i64 {row_first}, {left}"), rows)
        self._axis(
            row_axis,
            self._shifted(row_axis, row_first),
            self._shifted(row_axis, row_last),
            lambda: self._axis(last_axis, start, stop, self._inner),
        )
        at = self.define(f"add nsw i64 {at}, {self.define(f'sub nsw i64 {row_last}, {row_first}')}")
        self.emit(f"store i64 {at}, ptr {unit}")
        self.emit(f"store i64 0, ptr {row}")
        self._advance(digits)
        self.branch(self.define(f"icmp slt i64 {at}, {last}"), run, done)
        self.start(done)
        self.jump(finish)
        self.start(finish)

    def _row_part(self, axis: Axis, part: str) -> tuple[str, str]:
        """Where a part of a row begins and ends."""
        length = self.entry_value("length")
        start = self._shifted(axis, self.define(f"mul nsw i64 {part}, {length}"))
        return start, self._at_most(self.define(f"add nsw i64 {start}, {length}"), widened(self, axis[2]))

    def _shifted(self, axis: Axis, number: str) -> str:
        """The value of a variable, given its distance from the beginning of the axis."""
        low = widened(self, axis[1])
        return number if low == "0" else self.define(f"add nsw i64 {low}, {number}")

    def _bounds(self, axis: Axis) -> tuple[int, int]:
        low, high = interval(self, axis[1])[0], interval(self, axis[2])[1] - 1
        return low, max(low, high)

    def _extent(self, axis: Axis) -> str:
        """The length of an axis; not negative, or nothing runs."""
        _, begin, end = axis
        low, high = widened(self, begin), widened(self, end)
        return high if low == "0" else self.define(f"sub nsw i64 {high}, {low}")

    def _odometer(self, first: str, extents: list[str]) -> list[tuple[str, str]]:
        """Counters (address, extent) set to the digits of a number, the most significant first, which has no extent."""
        digits: list[tuple[str, str]] = []
        rest = first
        for extent in reversed(extents):
            counter = self.define_early("alloca i64", "digit")
            quotient = self.define(f"udiv i64 {rest}, {extent}")
            product = self.define(f"mul i64 {quotient}, {extent}")
            self.emit(f"store i64 {self.define(f'sub i64 {rest}, {product}')}, ptr {counter}")
            digits.insert(0, (counter, extent))
            rest = quotient
        counter = self.define_early("alloca i64", "digit")
        self.emit(f"store i64 {rest}, ptr {counter}")
        digits.insert(0, (counter, ""))
        return digits

    def _advance(self, digits: list[tuple[str, str]]) -> None:
        """Add one to the odometer."""
        done = self.label("turned")
        for position in range(len(digits) - 1, -1, -1):
            counter, extent = digits[position]
            following = self.define(f"add nuw nsw i64 {self.define(f'load i64, ptr {counter}')}, 1")
            self.emit(f"store i64 {following}, ptr {counter}")
            if position:
                carry = self.label("carry")
                self.branch(self.define(f"icmp eq i64 {following}, {extent}"), carry, done)
                self.start(carry)
                self.emit(f"store i64 0, ptr {counter}")
        self.jump(done)
        self.start(done)

    # Partial results.

    def accumulate(self, operation: Operation) -> None:
        reduction: Reduction = operation.payload
        place, partial = self.accumulators[reduction]
        value = convert(self, self.value(operation.operands[0]), reduction.type, partial.type)
        # The order of a parallel sum is unspecified, whatever fast_math says.
        flags, self.flags = self.flags, self.flags or "reassoc "
        update(self, place, partial.type, reduction.operation, [value])
        self.flags = flags

    def scatter(self, operation: Operation) -> None:
        scatter: Scatter = operation.payload
        *indices, value = operation.operands
        array = scatter.array
        place = offset(self, array, indices)
        base = self.copies[scatter] if self.private else self.pointer(array)
        address = self.define(f"getelementptr inbounds {memory_type(array.dtype)}, ptr {base}, i64 {place}", "p")
        if self.private:
            change = update_alone if scatter in self.apart else update
            change(self, address, array.dtype, scatter.operation, [value])
        else:
            atomically(self, address, array.dtype, scatter.operation, [value])

    # The text.

    def function(self, name: str) -> str:
        """What the runtime calls for a range of units."""
        return "sv_elements" if self.described else name

    def definitions(self, name: str, linkage: str = "") -> str:
        """The body, and the task function `name` or what is in its place; `linkage` is that of what others see of it."""
        bounds = ("%first", "%count") if self.from_first else ("%begin", "%end")
        parameters = [f"{each.fact} {each.name}" for each in self.parameters.values()]
        parameters += [f"i64 noundef {bound}" for bound in bounds]
        listed = ", ".join(parameters)
        bodies = []
        beginning, place = ["  br label %start"], ""
        if self.patient is not None:
            bodies.append(self.patient.text(f"define internal void @{name}.patient({listed}) {OUTLINED}"))
            beginning = self._detour(f"@{name}.patient({listed})")
            place = " align 64"  # how fast a short loop is must not depend on how long the other body is
        bodies.append(self.text(f"define internal void @{name}.body({listed}) {OUTLINED}{place}", beginning))
        seen = self._description(name, linkage) if self.described else self._task_function(name, linkage)
        return "\n".join([*bodies, seen])

    def _detour(self, patient: str) -> list[str]:
        """The beginning of a body: if its loops will take long, the body that runs them in pieces is called in its place.

        The loop that asks whether it is to stop needs registers for that, which the other one has for its work.
        """
        return [
            f"  br i1 {self.takes_long}, label %detour, label %start{UNLIKELY}",
            "detour:",
            f"  call void {patient}",
            "  ret void",
        ]

    def _takes_long(self) -> str:
        total = self._early(0.0)
        for work in self.works.values():
            total = self.define_early(f"fadd double {total}, {self._early(work)}", "work")
        return self.define_early(f"fcmp ogt double {total}, {self._early(BRIEF)}", "long")

    def _early(self, known: Known) -> str:
        """A number that is there before any code runs, as a double."""
        if isinstance(known, float):
            return literal(known, f64)
        if isinstance(known, Expression):
            left, right = map(self._early, known.operands)
            if known.code not in ("min", "max"):
                return self.define_early(f"{known.code} double {left}, {right}", "known")
            less = self.define_early(f"fcmp olt double {left}, {right}", "less")
            first, second = (left, right) if known.code == "min" else (right, left)
            return self.define_early(f"select i1 {less}, double {first}, double {second}", "known")
        if isinstance(known, Operation):
            array, axis = known.payload
            return self.define_early(f"sitofp i64 {self.extent(array, axis)} to double", "known")
        dtype = dtype_of(known)
        conversion = "sitofp" if is_signed(dtype) else "uitofp"
        return self.define_early(f"{conversion} {register_type(dtype)} {self.value(known)} to double", "known")

    def _description(self, name: str, linkage: str) -> str:
        self.module.runtime("sv_elements")
        arguments = []
        for key, parameter in self.parameters.items():
            assert parameter.source is None, "a described task takes nothing from serial code"
            arguments.append((parameter.offset, key[0].dtype.itemsize if _is_element(key) else 0))
        numbers = description(int(widened(self, self.task.operands[0])), arguments)
        listed = ", ".join(f"i64 {number}" for number in numbers)
        kind = f"[{len(numbers)} x i64]"
        value = f"{{ ptr, {kind} }} {{ ptr @{name}.body, {kind} [{listed}] }}"
        return f"@{name} = {linkage or 'private'} unnamed_addr constant {value}\n"

    def _task_function(self, name: str, linkage: str) -> str:
        header = f"void @{name}(ptr noundef %frame, i64 noundef %begin, i64 noundef %end) {AS_WRITTEN}"
        lines = [f"define {linkage or 'internal'} {header} {{"]
        if any(parameter.source is None for parameter in self.parameters.values()):
            lines.append("  %block = load ptr, ptr %frame")
        first, last = "%begin", "%end"
        if self.from_first:
            low = widened(self, self.task.operands[0])
            if low != "0":
                first = "%first"
                lines.append(f"  %first = add nsw i64 {low}, %begin")
            last = "%count"
            lines.append("  %count = sub nsw i64 %end, %begin")
        slot = FRAME_VALUES
        arguments = []
        for position, (key, parameter) in enumerate(self.parameters.items()):
            boolean = parameter.dtype is not None and parameter.dtype.kind == "bool"
            kind = "i8" if boolean else parameter.kind
            if parameter.source is None:
                base, place = "%block", parameter.offset
            else:
                base, place = "%frame", FRAME_SLOT * slot
                slot += 1
            argument = f"%v{position}"
            lines.append(f"  %p{position} = getelementptr inbounds i8, ptr {base}, i64 {place}")
            lines.append(f"  {argument} = load {kind}, ptr %p{position}{BOOLEAN if boolean else parameter.metadata}")
            if boolean:
                lines.append(f"  %b{position} = icmp ne i8 {argument}, 0")
                argument = f"%b{position}"
            elif self.from_first and _is_element(key):
                lines.append(f"  %e{position} = getelementptr {memory_type(key[0].dtype)}, ptr {argument}, i64 {first}")
                argument = f"%e{position}"
            arguments.append(f"{parameter.kind} {argument}")
        arguments += [f"i64 {first}", f"i64 {last}"]
        called = around(self.module, [f"  call void @{name}.body({', '.join(arguments)})"])
        return "\n".join([*lines, *called, "  ret void", "}\n"])

    def fill_frame(self, name: str, frame: str, block: str) -> None:
        """In the entry: store what the task function expects in the frame."""
        outer = self.outer
        parameters = list(self.parameters.values())
        if any(parameter.source is None for parameter in parameters):
            outer.emit(f"store ptr {block}, ptr {frame}")
        if self.described:
            place = outer.define(f"getelementptr inbounds i8, ptr {frame}, i64 {FRAME_SLOT * FRAME_DESCRIPTION}")
            outer.emit(f"store ptr @{name}, ptr {place}")
        slots = count(FRAME_VALUES)
        for parameter in parameters:
            if parameter.source is None:
                continue
            name, kind = parameter.source(), parameter.kind
            if parameter.dtype is not None:
                kind, name = outer.stored(name, parameter.dtype)
            place = outer.define(f"getelementptr inbounds i8, ptr {frame}, i64 {FRAME_SLOT * next(slots)}")
            outer.emit(f"store {kind} {name}, ptr {place}")

    def frame_slots(self) -> int:
        if self.described:
            return FRAME_DESCRIPTION + 1
        return FRAME_VALUES + sum(parameter.source is not None for parameter in self.parameters.values())


def _is_one(begin: Value, end: Value) -> bool:
    """Whether an axis has one iteration: `for _ in range(1)`."""
    return isinstance(begin, Constant) and isinstance(end, Constant) and int(end.value) - int(begin.value) == 1


def _is_element(key: Any) -> TypeGuard[tuple[Array, str, int]]:
    """Is a parameter the pointer of an array?"""
    return isinstance(key, tuple) and key[1] == "pointer"
