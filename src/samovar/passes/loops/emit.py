"""A loop of vectors in the place of one of single iterations: what comes before, the loop, what is left over, and what comes
after.

Sums and the like are gathered in vectors, one part in each lane, and put together at the end. Minima and maxima of floats
prefer a number to NaN, which takes three instructions for each vector, because what is kept may be NaN. It cannot be if it
begins with infinity: then one comparison that fails for NaN is enough, and processors have an instruction for just that.
Whether there was a number at all is not known any more only if infinity is what comes out; then the loop is run once more,
one iteration at a time. That does no harm, because to see a number twice changes neither extreme; so it is done for loops
that do nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import partial

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
    memory,
    walk,
)
from samovar.language import integer_range
from samovar.passes.loops.dependence import Gathered, Independence
from samovar.passes.loops.divergence import Divergence
from samovar.passes.loops.vectorize import Vectorizer
from samovar.passes.outline import identity

#: What is left over by a loop of no more operations than this is done in a vector of half its registers first.
SHORT = 40
#: What is left over without a mask is halved down to so many lanes.
LEAST = 4


def is_short(body: Region) -> bool:
    """Whether a body may stand several times for what is left over."""
    return all(count < SHORT and not isinstance(each, (For, While)) for count, each in enumerate(walk(body)))


@dataclass(frozen=True)
class Vectors:
    """How a loop runs in lanes: what varies, what iterations have to themselves, and how many run side by side, in the loop
    and in what is left over at its end. What does not fill a vector is done with a mask, or one by one. Of
    `owned` arrays no other thread sees the elements meanwhile."""

    plan: Divergence
    found: Independence
    width: int
    tail: int
    masked: bool
    owned: Container[Array]
    #: Whole vectors have a mask as well, so that the body stands once.
    once: bool = False

    def __str__(self) -> str:
        """A line that says it."""
        kinds = Counter(
            "gather" if operation.code == "load" else "scatter"
            for operation, access in self.plan.accesses.items()
            if access.step is None
        )
        return ", ".join(
            [
                f"{self.width} lanes",
                *(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in sorted(kinds.items())),
                *(f"{each.operation} reduction of {each.local.name}" for each in self.found.gathered.values()),
            ]
        )


def vectorized(loop: For, vectors: Vectors, note: str, machine: Machine, locals: list[Local]) -> list[Operation]:
    """What takes the place of a loop; `note` is that of the loop of whole vectors."""
    return _Emission(loop, vectors, note, machine, locals).write()


class _Emission:
    def __init__(self, loop: For, vectors: Vectors, note: str, machine: Machine, locals: list[Local]) -> None:
        self.loop = loop
        self.note = "; ".join(each for each in (loop.note, note) if each)
        self.width = vectors.width
        self.stride = vectors.plan.stride
        self.gathered = vectors.found.gathered
        self.hints = replace(PLAIN_LOOP, parallel=loop.hints.parallel)
        self.build = Builder(loop.line, loop.origin)
        self.extremes = self._extremes()
        kept: dict[Operation, Value] = {}
        for local in self.extremes:
            kept.update(self.gathered[local].updates)
        lane_bits = 0 if machine.masks else 32
        self.lane_type = u8 if machine.masks else i32
        self.vectorizer = Vectorizer(vectors.plan, self.width, lane_bits, self.build, locals, kept, vectors.owned)
        # What is left over is less than all registers have, and may be all that there is.
        self.rest = self.vectorizer
        if vectors.tail != vectors.width and not vectors.once:
            self.rest = Vectorizer(vectors.plan, vectors.tail, lane_bits, self.build, locals, kept, vectors.owned)
        self.half: Vectorizer | None = None
        if vectors.tail < vectors.width // 2 and not self.gathered and is_short(loop.body):
            half = vectors.width // 2
            self.half = Vectorizer(vectors.plan, half, lane_bits, self.build, locals, kept, vectors.owned)
        self.masked = vectors.masked
        #: What a mask has stored cannot be loaded soon: where that is all there is, and is changed in place, none is used.
        self.narrower: list[Vectorizer] = []
        width = vectors.tail // 2
        while width >= LEAST and not self.gathered and not self.hints.parallel and self._changes() and is_short(loop.body):
            self.narrower.append(Vectorizer(vectors.plan, width, lane_bits, self.build, locals, kept, vectors.owned))
            width //= 2
        self.once = vectors.once

    def _changes(self) -> bool:
        """Whether the loop changes elements in place."""
        touched = {(memory(each), each.code == "store") for each in walk(self.loop.body)}
        return any(
            each.code == "update" or (memory(each), True) in touched
            for each in walk(self.loop.body)
            if each.code in ("load", "update")
        )

    def _extremes(self) -> set[Local]:
        """The minima and maxima of floats that can begin with infinity: the loop does nothing else."""
        found = {
            local for local, each in self.gathered.items() if each.operation in ("min", "max") and local.type.kind == "float"
        }
        effects = any(each.code in ("store", "update", "atomic") for each in walk(self.loop.body))
        return found if len(found) == len(self.gathered) and not effects else set()

    def write(self) -> list[Operation]:
        build, loop = self.build, self.loop
        begin, end = (build.cast(operand, i64) for operand in loop.operands[:2])
        count = build.max(self._iterations(begin, end), Constant(0, i64))
        stop = self._stop(begin, count, self.width)
        if self.once:
            for each in self.gathered.values():
                build.set(self.vectorizer.slot(each.local), self._start(each))
            self._all_masked(begin, end)
            stop = end
        elif self.gathered and self.rest is not self.vectorizer:
            for each in self.gathered.values():
                build.set(self.rest.slot(each.local), self._start(each))
            self._if(build.compare("lt", begin, stop), lambda: self._in_all_registers(begin, stop))
        else:
            for each in self.gathered.values():
                build.set(self.vectorizer.slot(each.local), self._start(each))
            self._loop(self.vectorizer, begin, stop, self.note)
        if self.half is not None:
            half, stop = stop, self._stop(begin, count, self.half.width)
            self._if(build.compare("lt", half, stop), lambda: self._once(self.half, half))  # type: ignore[arg-type]
        if self.rest is not self.vectorizer:
            whole, stop = stop, self._stop(begin, count, self.rest.width)
            self._loop(self.rest, whole, stop, f"remainder: {self.rest.width} lanes", short=True)
        if self.masked and not self.once:
            left = self._iterations(stop, end)
            some = build.compare("gt", left, Constant(0, i64))
            if self.narrower:
                few = build.compare("lt", count, Constant(self.rest.width, i64))
                self._if(few, lambda: self._in_halves(begin, end, count))
                some = build.choose(few, Constant(False, u1), some)
            self._if(some, lambda: self._once(self.rest, stop, left))
        unsure = self._put_together()
        if unsure is not None:
            again = build.region(lambda: self._one_by_one(begin, end, "scalar: again, if there may have been NaN only"))
            build.append(If(unsure, again, Region(), loop.line, unlikely=True))
        if not self.masked:
            self._one_by_one(stop, end, "remainder: scalar")
        return build.operations

    def _stop(self, begin: Value, count: Value, width: int) -> Value:
        """Where whole vectors end."""
        whole = self.build.make("and", i64, count, Constant(-width, i64))
        return self.build.add(begin, self.build.mul(whole, Constant(self.stride, i64)))

    def _iterations(self, begin: Value, end: Value) -> Value:
        """How many iterations there are from one number to another, which may be less."""
        distance = self.build.sub(end, begin)
        if self.stride == 1:
            return distance
        rounded = self.build.add(distance, Constant(self.stride - 1, i64))
        return self.build.make("floordiv", i64, rounded, Constant(self.stride, i64))

    def _start(self, each: Gathered) -> Constant:
        if each.local in self.extremes:
            return Constant(math.inf if each.operation == "min" else -math.inf, each.local.type)
        return Constant(identity(each.operation, each.local.type), each.local.type)

    def _in_all_registers(self, begin: Value, stop: Value) -> None:
        for each in self.gathered.values():
            self.build.set(self.vectorizer.slot(each.local), self._start(each))
        self._loop(self.vectorizer, begin, stop, self.note)
        for each in self.gathered.values():
            vector = self.build.get(self.vectorizer.slot(each.local))
            self.build.set(self.rest.slot(each.local), self._narrowed(each, vector, self.rest.width))

    def _loop(self, vectorizer: Vectorizer, begin: Value, stop: Value, note: str, short: bool = False) -> None:
        """Whole vectors from one bound to another."""
        variable = self.loop.variable
        assert variable.type is not None
        first = LoopVariable(variable.name, variable.type, variable.limits)
        made = self.build.region(lambda: vectorizer.body(first))
        hints = replace(self.hints, short=short)
        step = Constant(vectorizer.width * self.stride, i64)
        written = For(first, begin, stop, step, made, self.loop.line, hints)
        written.note = note
        self.build.append(written)

    def _in_halves(self, begin: Value, end: Value, count: Value) -> None:
        """Fewer iterations than lanes, without a mask."""
        build, stop = self.build, begin
        for narrower in self.narrower:
            whole, stop = stop, self._stop(begin, count, narrower.width)
            self._if(build.compare("lt", whole, stop), partial(self._once, narrower, whole))
        self._one_by_one(stop, end, "remainder: scalar")

    def _all_masked(self, begin: Value, end: Value) -> None:
        """A loop over all vectors, of which some lanes are there."""
        build, first = self.build, LoopVariable(self.loop.variable.name, i64)

        def body() -> None:
            left = build.min(self._iterations(first, end), Constant(self.width, i64))
            self._once(self.vectorizer, first, left)

        step = Constant(self.width * self.stride, i64)
        made = For(first, begin, end, step, build.region(body), self.loop.line, self.hints)
        made.note = self.note
        build.append(made)

    def _once(self, vectorizer: Vectorizer, begin: Value, count: Value | None = None) -> None:
        """A single vector, of which all lanes or so many are there."""
        build, variable, mask = self.build, self.loop.variable, None
        assert variable.type is not None
        if count is not None:
            lanes = build.make("lane_numbers", self.lane_type, width=vectorizer.width)
            mask = build.compare("lt", lanes, build.cast(count, self.lane_type))
        first = build.make("cast", variable.type, begin, payload=variable.limits or integer_range(variable.type))
        vectorizer.body(first, mask)

    def _if(self, condition: Value, write: Callable[[], None]) -> None:
        self.build.append(If(condition, self.build.region(write), Region(), self.loop.line))

    def _one_by_one(self, begin: Value, end: Value, note: str) -> None:
        """The iterations that no vector has."""
        clone = Clone()
        copied = clone.operation(self.loop)
        assert isinstance(copied, For)
        copied.operands = (begin, end, Constant(self.stride, i64))
        copied.hints = self.hints
        copied.note = note
        self.build.append(copied)

    def _narrowed(self, each: Gathered, vector: Value, width: int) -> Value:
        """What the lanes of a vector have gathered, in fewer lanes."""
        while vector.width > width:
            half = vector.width // 2
            low, high = (
                self.build.make("shuffle", each.local.type, vector, payload=tuple(range(lane, lane + half)), width=half)
                for lane in (0, half)
            )
            vector = self._combined(each, low, high)
        return vector

    def _combined(self, each: Gathered, one: Value, other: Value) -> Value:
        dtype = each.local.type
        if each.local in self.extremes:
            better = self.build.compare("lt" if each.operation == "min" else "gt", one, other)
            return self.build.choose(better, one, other)
        floating = dtype.kind == "float" and each.operation in ("add", "mul")
        payload = next((update.payload for update in each.updates), None) if floating else None
        return self.build.make(each.operation, dtype, one, other, payload=payload)

    def _put_together(self) -> Value | None:
        """Add what the lanes have gathered to the variables. Whether it is not certain what that is."""
        build, unsure = self.build, None
        for each in self.gathered.values():
            local, dtype = each.local, each.local.type
            vector: Value = build.get(self.rest.slot(local))
            if each.operation in ("min", "max"):
                vector = self._narrowed(each, vector, 2)  # processors have no order of their own for NaN
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
