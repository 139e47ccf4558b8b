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
from dataclasses import dataclass, replace

from samovar._native import i8, i32, i64, u1
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
    memory,
    walk,
)
from samovar.passes.loops.dependence import Gathered, Independence
from samovar.passes.loops.divergence import Divergence
from samovar.passes.loops.vectorize import Vectorizer
from samovar.passes.outline import identity


@dataclass(frozen=True)
class Vectors:
    """How a loop runs in lanes: what varies, what iterations have to themselves, and how many run side by side, in the loop
    and in what is left over at its end."""

    plan: Divergence
    found: Independence
    width: int
    tail: int


def vectorized(loop: For, vectors: Vectors, machine: Machine, locals: list[Local]) -> list[Operation]:
    """What takes the place of a loop."""
    return _Emission(loop, vectors, machine, locals).write()


class _Emission:
    def __init__(self, loop: For, vectors: Vectors, machine: Machine, locals: list[Local]) -> None:
        self.loop = loop
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
        self.lane_type = i8 if machine.masks else i32
        self.vectorizer = Vectorizer(vectors.plan, self.width, lane_bits, self.build, locals, kept)
        # What is left over is less than all registers of a sum, and may be all that there is.
        self.rest = self.vectorizer
        if vectors.tail != vectors.width:
            self.rest = Vectorizer(vectors.plan, vectors.tail, lane_bits, self.build, locals, kept)
        self.masked = machine.masks or not any(
            access.step is not None and access.step != 0 and array.dtype.bits < 32
            for operation, access in vectors.plan.accesses.items()
            if isinstance(array := memory(operation), Array)
        )

    def _extremes(self) -> set[Local]:
        """The minima and maxima of floats that can begin with infinity: the loop does nothing else."""
        found = {
            local
            for local, each in self.gathered.items()
            if each.operation in ("min", "max") and local.type.kind == "float"
        }
        effects = any(each.code in ("store", "update", "atomic") for each in walk(self.loop.body))
        return found if len(found) == len(self.gathered) and not effects else set()

    def write(self) -> list[Operation]:
        build, loop = self.build, self.loop
        begin, end = (build.cast(operand, i64) for operand in loop.operands[:2])
        count = build.max(self._iterations(begin, end), Constant(0, i64))
        stop = self._stop(begin, count, self.width)
        for each in self.gathered.values():
            build.set(self.vectorizer.slot(each.local), self._start(each))
        self._loop(self.vectorizer, begin, stop, None)
        if self.masked:
            if self.rest is not self.vectorizer:
                for each in self.gathered.values():
                    build.set(self.rest.slot(each.local), self._narrowed(each))
                begin, stop = stop, self._stop(begin, count, self.rest.width)
                self._loop(self.rest, begin, stop, None, short=True)
            self._loop(self.rest, stop, end, end, short=True)
        unsure = self._put_together()
        if unsure is not None:
            again = build.region(lambda: self._one_by_one(begin, end))
            build.append(If(unsure, again, Region(), loop.line, unlikely=True))
        if not self.masked:
            self._one_by_one(stop, end)
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

    def _loop(
        self, vectorizer: Vectorizer, begin: Value, stop: Value, limit: Value | None, short: bool = False
    ) -> None:
        """Whole vectors from one bound to another; with a limit, only those lanes count that are below it."""
        build, variable = self.build, self.loop.variable
        assert variable.type is not None
        first = LoopVariable(variable.name, variable.type, variable.limits)

        def body() -> None:
            mask = None
            if limit is not None:
                left = build.min(self._iterations(build.cast(first, i64), limit), Constant(vectorizer.width, i64))
                lanes = build.make("lane_numbers", self.lane_type, width=vectorizer.width)
                mask = build.compare("lt", lanes, build.cast(left, self.lane_type))
            vectorizer.body(first, mask)

        made = build.region(body)
        hints = replace(self.hints, short=short)
        step = Constant(vectorizer.width * self.stride, i64)
        build.append(For(first, begin, stop, step, made, self.loop.line, hints))

    def _one_by_one(self, begin: Value, end: Value) -> None:
        """The iterations that no vector has."""
        clone = Clone()
        copied = clone.operation(self.loop)
        assert isinstance(copied, For)
        copied.operands = (begin, end, Constant(self.stride, i64))
        copied.hints = self.hints
        self.build.append(copied)

    def _narrowed(self, each: Gathered) -> Value:
        """What all registers of a sum have gathered, in those of what is left over."""
        build, width = self.build, self.rest.width
        vector = build.get(self.vectorizer.slot(each.local))
        parts: list[Value] = [
            build.make("shuffle", each.local.type, vector, payload=tuple(range(lane, lane + width)), width=width)
            for lane in range(0, self.width, width)
        ]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._combined(each, one, other) for one, other in pairs]
        return parts[0]

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
            vector = build.get((self.rest if self.masked else self.vectorizer).slot(local))
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
