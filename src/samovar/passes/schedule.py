"""The schedule of a parallel loop: the number of units for given extents, and their grouping.

Written as IR, in 64-bit integers, before a task. Sizes of groups are powers of two that depend only on the number of
iterations, never on the number of threads: a float sum is the same on every machine. A 1-D loop needs no division.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from samovar._native import i64, u1, u64
from samovar.ir import Builder, Constant, If, Local, Region, Value

#: The maximum number of groups of a task, as a power of two: each reduction has so many partial results.
GROUPS_LOG2 = 7
#: Private copies are for arrays of at most this many elements, updated at least this often on average.
COPY_ELEMENTS = 65536
VISITS_LOG2 = 2
#: Rows of a nest are split into parts if there are fewer rows than this; a part is a multiple of this many elements.
FEW_ROWS = 64
#: Copies are aligned to so many elements, so that each has its own cache lines.
COPY_PITCH = 64


@dataclass(frozen=True)
class Units:
    """The work of a task: `count` units of `items` iterations each.

    The other fields are for the body: `length` of a part of a row, for a nest; `total`, the number of units before
    grouping, and `shift` if a group has 2^shift of them.
    """

    count: Value
    items: Value
    length: Value | None = None
    total: Value | None = None
    shift: Value | None = None


def number(value: int) -> Constant:
    """A 64-bit integer."""
    return Constant(value, i64)


def length(build: Builder, begin: Value, end: Value) -> Value:
    """The number of iterations of a dimension."""
    low, high = build.cast(begin, i64), build.cast(end, i64)
    if isinstance(low, Constant) and isinstance(high, Constant):
        return number(max(0, int(high.value) - int(low.value)))
    return build.choose(build.compare("lt", low, high), build.sub(high, low), number(0))


def steps(build: Builder, axis: Value, inner: int) -> Units:
    """The units of a 1-D loop: its iterations, each with `inner` iterations inside."""
    return Units(axis, number(inner)) if inner else Units(number(0), number(0))


def rows(build: Builder, lengths: Sequence[Value], inner: int, locals: list[Local]) -> Units:
    """The units of a nest: rows of its last dimension, or parts of them if there are few rows."""
    count, *outer, last = lengths
    for each in outer:
        count = build.mul(count, each)
    count = build.choose(build.compare("eq", last, number(0)), number(0), count)
    # Few long rows are split, so that there is work to distribute. The divisions are off the common path.
    parts, part = Local("parts", i64), Local("part", i64)
    locals += [parts, part]
    few = build.compare("lt", build.cast(count, u64), Constant(FEW_ROWS, u64))
    long = build.compare("gt", last, number(FEW_ROWS))
    some = build.compare("ne", count, number(0))
    wanted = build.make("and", u1, build.make("and", u1, few, long), some)
    build.set(parts, number(1))
    build.set(part, last)

    def cut() -> None:
        pieces = build.make("quotient", i64, number(FEW_ROWS), count)
        piece = build.make("quotient", i64, last, build.add(pieces, number(1)))
        piece = build.make("and", i64, build.add(piece, number(FEW_ROWS)), number(-FEW_ROWS))
        rounded = build.add(last, build.sub(piece, number(1)))
        build.set(parts, build.make("quotient", i64, rounded, piece))
        build.set(part, piece)

    build.append(If(wanted, build.region(cut), Region()))
    size = build.get(part)
    return Units(build.mul(count, build.get(parts)), build.mul(size, number(inner)), length=size)


def groups(build: Builder, whole: Units, least_items_log2: Value) -> Units:
    """At most 2^GROUPS_LOG2 groups, none of much less than 2^least_items_log2 iterations.

    Units are counted as if their number of iterations were rounded up to a power of two: a group may have half of them.
    """
    by_count = build.sub(_log2_at_least(build, build.max(whole.count, number(1))), number(GROUPS_LOG2))
    by_items = build.sub(least_items_log2, _log2_at_least(build, build.max(whole.items, number(1))))
    shift = build.max(build.max(by_count, by_items), number(0))
    size = build.make("shift_left", i64, number(1), shift)
    rounded = build.add(whole.count, build.sub(size, number(1)))
    count, items = build.make("shift_right", i64, rounded, shift), build.mul(whole.items, size)
    return replace(whole, count=count, items=items, total=whole.count, shift=shift)


def blocks(build: Builder, whole: Units, block: int) -> Units:
    """Units of `block` iterations."""
    rounded = build.add(whole.count, number(block - 1))
    count = build.make("quotient", i64, rounded, number(block))
    return replace(whole, count=count, items=build.mul(whole.items, number(block)), total=whole.count)


def worth_copies(build: Builder, whole: Units, elements: Value, visits: int) -> Value:
    """Whether private copies of arrays with so many elements are worth their memory and the time to merge them, if each
    iteration updates so many of them."""
    updates = build.mul(build.mul(whole.count, whole.items), number(visits))
    small = build.compare("le", elements, number(COPY_ELEMENTS))
    visited = build.make("shift_right", i64, updates, number(VISITS_LOG2))
    return build.make("and", u1, small, build.compare("ge", visited, elements))


def groups_for_copies(build: Builder, whole: Units, elements: Value, visits: int, grain_log2: int) -> Units:
    """Groups that are large enough to be worth a private copy of the arrays each."""
    enough = number(VISITS_LOG2 + 1 - visits.bit_length())
    size_log2 = build.add(_log2_at_least(build, build.max(elements, number(1))), enough)
    return groups(build, whole, build.max(size_log2, number(grain_log2)))


def copy_stride(build: Builder, elements: Value) -> Value:
    """The distance between two copies of an array, in elements."""
    return build.make("and", i64, build.add(elements, number(COPY_PITCH - 1)), number(-COPY_PITCH))


def _log2_at_least(build: Builder, value: Value) -> Value:
    """The smallest k with 2^k >= value, for value >= 1."""
    if isinstance(value, Constant):
        return number((int(value.value) - 1).bit_length())
    return build.sub(number(64), build.make("clz", i64, build.sub(value, number(1))))
