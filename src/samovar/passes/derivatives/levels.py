"""Regions of the primal code as seen by reverse mode, and loop arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import i32, i64
from samovar.ir import (
    Builder,
    Constant,
    For,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    Value,
    While,
)


@dataclass(eq=False)
class Level:
    """A region of the primal code, and the backward code written for it. `sums` are the adjoints of the values defined in
    it, `values` the primal values available to the backward part, `records` what iterations save."""

    region: Region
    parent: Level | None
    owner: Operation | None
    build: Builder = field(default_factory=Builder)
    values: dict[Value, Value] = field(default_factory=dict)
    sums: dict[Value, Value] = field(default_factory=dict)
    records: list[tuple[Operation, Operation]] = field(default_factory=list)
    prologue: list[Operation] = field(default_factory=list)

    @property
    def is_root(self) -> bool:
        return self.owner is None or isinstance(self.owner, ParallelFor)

    @property
    def is_loop(self) -> bool:
        return isinstance(self.owner, (For, While))

    def root(self) -> Level:
        level = self
        while not level.is_root:
            assert level.parent is not None
            level = level.parent
        return level

    def loop(self) -> Level | None:
        """The innermost loop around, or at, the region within its root."""
        level = self
        while not level.is_root:
            if level.is_loop:
                return level
            assert level.parent is not None
            level = level.parent
        return None


def loops_around(level: Level) -> list[For]:
    """The loops around a level within its root, outermost first, including its own: all of them are counted."""
    found: list[For] = []
    inner: Level | None = level
    while inner is not None and not inner.is_root:
        if isinstance(inner.owner, For):
            found.insert(0, inner.owner)
        inner = inner.parent
    return found


def iteration_number(build: Builder, loop: For, variable: Value) -> Value:
    """The number of an iteration of a loop with constant bounds, counting from 0."""
    begin, _, step = loop.operands
    assert isinstance(begin, Constant)
    assert isinstance(step, Constant)
    wide = build.cast(variable, i64)
    if begin.value:
        wide = build.make("sub", i64, wide, Constant(int(begin.value), i64))
    return wide if step.value == 1 else build.make("floordiv", i64, wide, Constant(int(step.value), i64))


def backward_range(build: Builder, begin: Value, end: Value, step: Value) -> list[Value]:
    """The bounds and the step of the reversed loop, in 64 bits, so that nothing wraps."""
    begin, end, step = (build.cast(each, i64) for each in (begin, end, step))
    zero, one = Constant(0, i64), Constant(1, i64)
    if isinstance(step, Constant):
        size = Constant(abs(int(step.value)), i64)
        distance = build.sub(end, begin) if step.value > 0 else build.sub(begin, end)
        if size.value == 1:
            count: Value = distance
        else:
            count = build.make("floordiv", i64, build.add(distance, Constant(int(size.value) - 1, i64)), size)
        back: Value = Constant(-int(step.value), i64)
    else:
        rises = build.compare("gt", step, zero)
        distance = build.choose(rises, build.sub(end, begin), build.sub(begin, end))
        length = build.make("max", i64, build.make("abs", i64, step), one)
        count = build.make("floordiv", i64, build.add(distance, build.sub(length, one)), length)
        back = build.make("neg", i64, step)
    last = build.add(begin, build.mul(build.sub(count, one), step))
    return [last, build.sub(begin, step), back]


def fill_zeros(build: Builder, array: LocalArray) -> None:
    """Set every element to 0."""
    zero = Constant(0.0, array.dtype)

    def fill(axis: int, place: list[Value]) -> None:
        if axis == array.ndim:
            build.make("store", None, *place, zero, payload=array)
            return
        variable = LoopVariable("i", i32)
        bounds = [Constant(each, i32) for each in (0, array.shape[axis], 1)]
        body = build.region(lambda: fill(axis + 1, [*place, variable]))
        build.append(For(variable, bounds[0], bounds[1], bounds[2], body))

    fill(0, [])
