"""Writing a vector loop in place of a scalar one: prologue, main loop, remainder and epilogue.

Reductions accumulate in vectors, a partial result in each lane, and are combined at the end. Minima and maxima of floats
prefer a number to NaN, which takes three instructions per vector if the accumulator may be NaN. It cannot be if it starts at
infinity: then one comparison that is false for NaN is enough, and processors have an instruction for exactly that. If the
result is still infinite, it is unknown whether there was any number; then the loop is run again, one iteration at a time.
That is harmless, because seeing a number twice changes neither extreme; so it is done for loops that do nothing else.

A loop that counts down has its vectors in the order of the loop, and its lanes in that of memory: the first lane is the last
iteration. If strides are only known at launch, both versions of the loop are written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import partial, reduce

from samovar._native import i32, i64, u1, u8
from samovar.ir import (
    PLAIN_LOOP,
    Array,
    Builder,
    Clone,
    Constant,
    For,
    If,
    Local,
    LoopVariable,
    Machine,
    Operation,
    Region,
    Value,
    While,
    identity,
    memory,
    walk,
)
from samovar.language import integer_range
from samovar.passes.loops.dependence import Distance, Independence, LoopReduction
from samovar.passes.loops.divergence import Divergence
from samovar.passes.loops.vectorize import Vectorizer

#: The remainder of a loop of at most this many operations first uses a vector of half its registers.
SHORT = 40
#: The number of wide vectors that make a loop long.
LONG = 8
#: A remainder without masks is halved down to so many lanes.
LEAST = 4


def is_short(body: Region) -> bool:
    """Whether a body may be repeated for remainders."""
    return all(count < SHORT and not isinstance(each, (For, While)) for count, each in enumerate(walk(body)))


@dataclass(frozen=True)
class Vectors:
    """How a loop runs in lanes: its divergence, its private variables and reductions, and the number of lanes, in the main
    loop and in the remainder. The last partial vector is masked, or runs one by one. No other thread sees the elements of
    `owned` arrays meanwhile."""

    plan: Divergence
    found: Independence
    width: int
    tail: int
    masked: bool
    owned: Container[Array]
    #: Full vectors have a mask too, so that the body is written once.
    once: bool = False
    #: Long loops have twice the width of the remainder.
    doubled: bool = False

    def hoistable(self) -> Container[Local]:
        """The reductions that can be initialized before enclosing loops, and combined after them."""
        return () if self.found.distances else self.found.reductions

    def __str__(self) -> str:
        """A one-line description."""
        kinds = Counter(
            "gather" if operation.code == "load" else "scatter"
            for operation, access in self.plan.accesses.items()
            if access.step is None
        )
        return ", ".join(
            [
                f"{self.width} lanes",
                *(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(kinds.items())),
                *(f"{each.operation} reduction of {each.local.name}" for each in self.found.reductions.values()),
            ]
        )


def vectorized(
    loop: For, vectors: Vectors, note: str, machine: Machine, locals: list[Local], hoisted: bool = False
) -> tuple[list[Operation], list[Operation], list[Operation]]:
    """The replacement of a loop; `note` is that of the main loop. If it is `hoisted`, the initialization of reductions, the
    loop, and their combination: the first and the last go before and after the enclosing loops."""
    before, made, after = _Emission(loop, vectors, note, machine, locals).write(hoisted)
    if not vectors.found.distances:
        return before, made, after
    build = Builder(loop.line, loop.origin)
    conditions = [_is_far_enough(build, each, vectors.width) for each in vectors.found.distances]
    loop.hints = replace(loop.hints, vectors=0, unroll=1)
    loop.note = "; ".join(each for each in (loop.note, "scalar: where iterations touch the same elements") if each)
    condition = reduce(lambda one, other: build.make("and", u1, one, other), conditions)
    build.append(If(condition, Region(made), Region([loop]), loop.line))
    return before, build.operations, after


def _is_far_enough(build: Builder, distance: Distance, width: int) -> Value:
    """Whether an access touches no element that another lane writes, or only before the write."""
    total: Value = Constant(distance.constant, i64)
    for value, coefficient in distance.terms:
        total = build.add(total, build.mul(build.cast(value, i64), Constant(coefficient, i64)))
    if distance.bits < 64:
        total = build.cast(build.cast(total, i32), i64)
    ahead = total if distance.step > 0 else build.sub(Constant(0, i64), total)
    reach = width * abs(distance.step)
    behind = build.compare("le", ahead, Constant(-reach, i64))
    before = build.compare("ge", ahead, Constant(0 if distance.reads_first else reach, i64))
    if not distance.reads_first:
        before = build.make("or", u1, before, build.compare("eq", ahead, Constant(0, i64)))
    return build.make("or", u1, behind, before)


class _Emission:
    def __init__(self, loop: For, vectors: Vectors, note: str, machine: Machine, locals: list[Local]) -> None:
        self.loop = loop
        self.note = "; ".join(each for each in (loop.note, note) if each)
        self.width = vectors.width
        self.stride = vectors.plan.stride
        self.step = loop.stride
        self.reductions = vectors.found.reductions
        self.hints = replace(PLAIN_LOOP, parallel=loop.hints.parallel)
        self.build = Builder(loop.line, loop.origin)
        self.extremes = self._extremes()
        kept: dict[Operation, Value] = {}
        for local in self.extremes:
            kept.update(self.reductions[local].updates)
        lane_bits = 0 if machine.masks else 32
        self.lane_type = u8 if machine.masks else i32
        self.vectorizer = Vectorizer(vectors.plan, self.width, lane_bits, self.build, locals, kept, vectors.owned)
        # The remainder is shorter than all registers, and may be all there is.
        self.rest = self.vectorizer
        if vectors.tail != vectors.width and not vectors.once:
            self.rest = Vectorizer(vectors.plan, vectors.tail, lane_bits, self.build, locals, kept, vectors.owned)
        self.doubled = vectors.doubled and self.rest is not self.vectorizer
        self.half: Vectorizer | None = None
        if vectors.tail < vectors.width // 2 and not self.reductions and is_short(loop.body):
            half = vectors.width // 2
            self.half = Vectorizer(vectors.plan, half, lane_bits, self.build, locals, kept, vectors.owned)
        self.masked = vectors.masked
        #: Store forwarding fails after masked stores: the remainder of a short loop that works in place uses no masks. Nor
        #: does one with gathers.
        self.narrower: list[Vectorizer] = []
        gathers = any(access.step is None for access in vectors.plan.accesses.values())
        halves = (self._changes() if self.masked else gathers) and not self.hints.parallel and is_short(loop.body)
        width = vectors.tail // 2 if halves else 0
        while width >= LEAST:
            self.narrower.append(Vectorizer(vectors.plan, width, lane_bits, self.build, locals, kept, vectors.owned))
            width //= 2
        self.once = vectors.once

    def _changes(self) -> bool:
        """Whether the loop updates elements in place."""
        touched = {(memory(each), each.code == "store") for each in walk(self.loop.body)}
        return any(
            each.code == "update" or (memory(each), True) in touched
            for each in walk(self.loop.body)
            if each.code in ("load", "update")
        )

    def _extremes(self) -> set[Local]:
        """The float minima and maxima that can start at infinity: the loop does nothing else."""
        found = {
            local for local, each in self.reductions.items()
            if each.operation in ("min", "max") and local.type.kind == "float" and not each.compared
        }
        effects = any(each.code in ("store", "update", "atomic") for each in walk(self.loop.body))
        return found if len(found) == len(self.reductions) and not effects else set()

    def write(self, hoisted: bool) -> tuple[list[Operation], list[Operation], list[Operation]]:
        build, loop = self.build, self.loop
        hoisted = hoisted and not self.extremes
        before = build.region(lambda: self._begin_sums(self.rest)).operations
        if hoisted and self.rest is not self.vectorizer:
            before += build.region(lambda: self._begin_sums(self.vectorizer)).operations
        begin, end = (build.cast(operand, i64) for operand in loop.operands[:2])
        count = build.max(self._iterations(begin, end), Constant(0, i64))
        stop = self._stop(begin, count, self.width)
        if self.once:
            self._all_masked(begin, end)
            stop = end
        elif self.reductions and self.rest is not self.vectorizer and not hoisted:
            self._if(build.compare("ne", begin, stop), lambda: self._in_all_registers(begin, stop))
        elif self.doubled:
            long, whole = build.compare("ge", count, Constant(LONG * self.width, i64)), stop
            self._if(long, lambda: self._loop(self.vectorizer, begin, whole, self.note))
            stop = build.choose(long, stop, begin)
        else:
            self._loop(self.vectorizer, begin, stop, self.note)
        if self.half is not None:
            half, stop = stop, self._stop(begin, count, self.half.width)
            self._if(build.compare("ne", half, stop), lambda: self._once(self.half, half))  # type: ignore[arg-type]
        if self.rest is not self.vectorizer:
            whole, stop = stop, self._stop(begin, count, self.rest.width)
            self._loop(self.rest, whole, stop, f"remainder: {self.rest.width} lanes", short=True)
        if self.narrower or (self.masked and not self.once):
            left = build.make("and", i64, count, Constant(self.rest.width - 1, i64))
            some = build.compare("ne", left, Constant(0, i64))
            halves, once = partial(self._in_halves, stop, end, left), partial(self._once, self.rest, stop, left)
            self._if(some, halves if self.narrower else once)
        after = build.region(self._combine_hoisted).operations if hoisted else []
        unsure = None if hoisted else self._combine_lanes()
        if unsure is not None:
            why = "scalar: again, if there may have been NaN only"
            again = build.region(lambda: self._one_by_one(begin, end, why, short=False))
            build.append(If(unsure, again, Region(), loop.line, unlikely=True))
        if not self.masked and not self.narrower:
            self._one_by_one(stop, end, "remainder: scalar")
        return (before, build.operations, after) if hoisted else ([], [*before, *build.operations], [])

    def _stop(self, begin: Value, count: Value, width: int) -> Value:
        """The end of whole vectors."""
        whole = self.build.make("and", i64, count, Constant(-width, i64))
        return self._after(begin, whole)

    def _after(self, begin: Value, count: Value) -> Value:
        """The bound after so many iterations."""
        return self.build.add(begin, self.build.mul(count, Constant(self.step, i64)))

    def _first(self, begin: Value, count: Value) -> Value:
        """The value of the loop variable in the first lane of so many iterations."""
        return begin if self.step > 0 else self._after(begin, self.build.sub(count, Constant(1, i64)))

    def _iterations(self, begin: Value, end: Value) -> Value:
        """The number of iterations between two bounds, at least 0."""
        distance = self.build.sub(end, begin) if self.step > 0 else self.build.sub(begin, end)
        if self.stride == 1:
            return distance
        rounded = self.build.add(distance, Constant(self.stride - 1, i64))
        return self.build.make("floordiv", i64, rounded, Constant(self.stride, i64))

    def _start(self, each: LoopReduction) -> Value:
        if each.compared:
            return self.build.get(each.local)
        if each.local in self.extremes:
            return Constant(math.inf if each.operation == "min" else -math.inf, each.local.type)
        return identity(each.operation, each.local.type)

    def _begin_sums(self, vectorizer: Vectorizer) -> None:
        for each in self.reductions.values():
            self.build.set(vectorizer.slot(each.local), self._start(each))

    def _combine_hoisted(self) -> None:
        """After enclosing loops: combine the partial results of all registers, and of the remainder."""
        for each in self.reductions.values() if self.rest is not self.vectorizer else ():
            slot, vector = self.rest.slot(each.local), self.build.get(self.vectorizer.slot(each.local))
            self.build.set(slot, self._combined(each, self.build.get(slot), self._narrowed(each, vector, self.rest.width)))
        self._combine_lanes()

    def _in_all_registers(self, begin: Value, stop: Value) -> None:
        self._begin_sums(self.vectorizer)
        self._loop(self.vectorizer, begin, stop, self.note)
        for each in self.reductions.values():
            vector = self.build.get(self.vectorizer.slot(each.local))
            self.build.set(self.rest.slot(each.local), self._narrowed(each, vector, self.rest.width))

    def _loop(self, vectorizer: Vectorizer, begin: Value, stop: Value, note: str, short: bool = False) -> None:
        """Whole vectors from one bound to another."""
        variable = self.loop.variable
        limits = vectorizer.plan.affine.range(variable)
        first = LoopVariable(variable.name, variable.type, limits)
        made = self.build.region(lambda: vectorizer.body(first))
        hints = replace(self.hints, short=short)
        step, lanes = Constant(vectorizer.width * self.step, i64), Constant(vectorizer.width, i64)
        bounds = self._first(begin, lanes), self._first(stop, lanes)
        written = For(first, *bounds, step, made, self.loop.line, hints)
        written.note = note
        self.build.append(written)

    def _in_halves(self, begin: Value, end: Value, count: Value) -> None:
        """The last iterations, without masks."""
        build, stop = self.build, begin
        for narrower in self.narrower:
            whole, stop = stop, self._stop(begin, count, narrower.width)
            self._if(build.compare("ne", whole, stop), partial(self._half, narrower, whole))
        self._one_by_one(stop, end, "remainder: scalar")

    def _half(self, narrower: Vectorizer, begin: Value) -> None:
        """A single vector of fewer lanes; its partial results are combined with those of the remainder."""
        self._begin_sums(narrower)
        neutral = [self.build.get(narrower.slot(local)) for local in self.reductions]
        self._once(narrower, begin)
        lanes = tuple(min(lane, narrower.width) for lane in range(self.rest.width))
        for each, fill in zip(self.reductions.values(), neutral, strict=True):
            slot, vector = self.rest.slot(each.local), self.build.get(narrower.slot(each.local))
            wide = self.build.make("shuffle", each.local.type, vector, fill, payload=lanes, width=len(lanes))
            self.build.set(slot, self._combined(each, self.build.get(slot), wide))

    def _all_masked(self, begin: Value, end: Value) -> None:
        """A loop over all vectors, with some lanes active."""
        build, first = self.build, LoopVariable(self.loop.variable.name, i64)

        def body() -> None:
            left = build.min(self._iterations(first, end), Constant(self.width, i64))
            self._once(self.vectorizer, first, left)

        step = Constant(self.width * self.step, i64)
        made = For(first, begin, end, step, build.region(body), self.loop.line, self.hints)
        made.note = self.note
        build.append(made)

    def _once(self, vectorizer: Vectorizer, begin: Value, count: Value | None = None) -> None:
        """A single vector, with all lanes or so many active."""
        build, variable, mask = self.build, self.loop.variable, None
        if count is not None:
            lanes = build.make("lane_numbers", self.lane_type, width=vectorizer.width)
            mask = build.compare("lt", lanes, build.cast(count, self.lane_type))
        begin = self._first(begin, count or Constant(vectorizer.width, i64))
        first = build.make("cast", variable.type, begin, payload=variable.limits or integer_range(variable.type))
        vectorizer.body(first, mask)

    def _if(self, condition: Value, write: Callable[[], None]) -> None:
        self.build.append(If(condition, self.build.region(write), Region(), self.loop.line))

    def _one_by_one(self, begin: Value, end: Value, note: str, short: bool = True) -> None:
        """The iterations that are not in vectors."""
        clone = Clone()
        copied = clone.operation(self.loop)
        assert isinstance(copied, For)
        copied.operands = (begin, end, Constant(self.step, i64))
        copied.hints = replace(self.hints, short=short)
        copied.note = note
        self.build.append(copied)

    def _narrowed(self, each: LoopReduction, vector: Value, width: int) -> Value:
        """The partial results of a vector, reduced to fewer lanes."""
        while vector.width > width:
            half = vector.width // 2
            low, high = (
                self.build.make("shuffle", each.local.type, vector, payload=tuple(range(lane, lane + half)), width=half)
                for lane in (0, half)
            )
            vector = self._combined(each, low, high)
        return vector

    def _combined(self, each: LoopReduction, one: Value, other: Value) -> Value:
        dtype = each.local.type
        if each.local in self.extremes or each.compared:
            better = self.build.compare("lt" if each.operation == "min" else "gt", one, other)
            return self.build.choose(better, one, other)
        floating = dtype.kind == "float" and each.operation in ("add", "mul")
        payload = next((update.payload for update in each.updates), None) if floating else None
        return self.build.make(each.operation, dtype, one, other, payload=payload)

    def _combine_lanes(self) -> Value | None:
        """Combine the partial results of the lanes into the variables. Return whether the result is uncertain."""
        build, unsure = self.build, None
        for each in self.reductions.values():
            local, dtype = each.local, each.local.type
            vector: Value = build.get(self.rest.slot(local))
            if each.operation in ("min", "max"):
                vector = self._narrowed(each, vector, 2)  # processors have no total order with NaN
            found = build.make("reduce", dtype, vector, payload=each.operation, width=0)
            old = build.get(local)
            if local in self.extremes:
                new: Value = build.make(each.operation, dtype, old, found)
            else:
                new = self._combined(each, old, found)
            if local in self.extremes:
                nothing = build.compare("eq", found, self._start(each))
                new = build.choose(nothing, old, new)
                unsure = nothing if unsure is None else build.make("or", u1, unsure, nothing)
            build.set(local, new)
        return unsure
