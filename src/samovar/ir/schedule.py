"""The schedule of a task: how many units a plan makes of some lengths of axes, and how they are put into groups.

Written once, for whoever computes it: a backend brings an `Arithmetic`, which emits instructions, or counts. Sizes of groups
are powers of two that depend on the number of iterations only, never on the number of threads: a float sum comes out the
same on every machine. No division happens for a loop of one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from samovar.ir.plan import Plan

#: Most groups of a task, as a power of two: so many partial results are there of each reduction.
GROUPS_LOG2 = 7
#: Private copies are for arrays of at most this many elements, visited at least this often on average.
COPY_ELEMENTS = 65536
VISITS_LOG2 = 2
#: Rows of a nest are cut into parts where there are fewer rows than this; a part is a multiple of as many elements.
FEW_ROWS = 64
#: Copies begin at multiples of so many elements, on cache lines of their own.
COPY_PITCH = 64

N = TypeVar("N")


class Arithmetic(Protocol[N]):
    """Arithmetic on integers of 64 bits, and on the outcome of comparisons."""

    def number(self, value: int) -> N:
        """A constant."""

    def known(self, value: N) -> int | None:
        """The number, if it is known beforehand."""

    def add(self, a: N, b: N) -> N: ...
    def subtract(self, a: N, b: N) -> N: ...
    def multiply(self, a: N, b: N) -> N: ...

    def divide(self, a: N, b: N) -> N:
        """Rounded down, without signs."""

    def shift_left(self, a: N, b: N) -> N: ...
    def shift_right(self, a: N, b: N) -> N: ...
    def bits_of_both(self, a: N, b: N) -> N: ...

    def bit_length(self, a: N) -> N:
        """The number of bits up to the highest one."""

    def larger(self, a: N, b: N) -> N:
        """With signs."""

    def compare(self, relation: str, a: N, b: N) -> N:
        """`relation` is eq, ne, or lt, le, gt, ge after an s (with signs) or a u (without)."""

    def both(self, a: N, b: N) -> N:
        """Whether two comparisons hold."""

    def choose(self, condition: N, a: N, b: N) -> N: ...

    def where(self, condition: N, then: Callable[[], Sequence[N]], otherwise: Sequence[N]) -> Sequence[N]:
        """What `then` gives if the condition holds; it is not computed otherwise."""


@dataclass(frozen=True)
class Units(Generic[N]):
    """What there is to do: `count` units of `items` iterations each.

    What a body has to know beside its range of units: of a nest, the `length` of a part of a row; where units are put
    together, their number before that (`total`), and `shift` if 2^shift of them are a group.
    """

    count: N
    items: N
    length: N | None = None
    total: N | None = None
    shift: N | None = None


def length(of: Arithmetic[N], begin: N, end: N) -> N:
    """The number of steps of an axis."""
    low, high = of.known(begin), of.known(end)
    if low is not None and high is not None:
        return of.number(max(0, high - low))
    some = of.compare("slt", begin, end)
    return of.choose(some, end if low == 0 else of.subtract(end, begin), of.number(0))


def units(of: Arithmetic[N], plan: Plan, lengths: Sequence[N]) -> Units[N]:
    """The units of a task whose dealt axes have these lengths, before they are put together."""
    inner = plan.inner_iterations
    if plan.flat:
        return Units(lengths[0], of.number(inner)) if inner else Units(of.number(0), of.number(0))
    rows, *outer, last = lengths
    for each in outer:
        rows = of.multiply(rows, each)
    rows = of.choose(of.compare("eq", last, of.number(0)), of.number(0), rows)
    # Few long rows are cut, so that there is something to deal out. The divisions are off the path of everything else.
    few = of.compare("ult", rows, of.number(FEW_ROWS))
    long = of.compare("ugt", last, of.number(FEW_ROWS))
    any_rows = of.compare("ne", rows, of.number(0))

    def cut() -> Sequence[N]:
        pieces = of.divide(of.number(FEW_ROWS), rows)
        piece = of.divide(last, of.add(pieces, of.number(1)))
        piece = of.bits_of_both(of.add(piece, of.number(FEW_ROWS)), of.number(-FEW_ROWS))
        rounded = of.add(last, of.subtract(piece, of.number(1)))
        return of.divide(rounded, piece), piece

    wanted = of.both(of.both(few, long), any_rows)
    parts, part = of.where(wanted, cut, (of.number(1), last))
    count = of.multiply(rows, parts)
    return Units(count, of.multiply(part, of.number(inner)) if inner != 1 else part, length=part)


def group(of: Arithmetic[N], whole: Units[N], least_items_log2: N) -> Units[N]:
    """At most 2^GROUPS_LOG2 groups, none of much less than 2^least_items_log2 iterations.

    Units are counted as if their iterations were a power of two, the next larger one: a group may have half of them.
    """
    by_count = of.subtract(_log2_at_least(of, of.larger(whole.count, of.number(1))), of.number(GROUPS_LOG2))
    by_items = least_items_log2
    if of.known(whole.items) != 1:
        by_items = of.subtract(least_items_log2, _log2_at_least(of, of.larger(whole.items, of.number(1))))
    shift = of.larger(of.larger(by_count, by_items), of.number(0))
    size = of.shift_left(of.number(1), shift)
    rounded = of.add(whole.count, of.subtract(size, of.number(1)))
    count, items = of.shift_right(rounded, shift), of.multiply(whole.items, size)
    return replace(whole, count=count, items=items, total=whole.count, shift=shift)


def blocks(of: Arithmetic[N], whole: Units[N], block: int) -> Units[N]:
    """Units of `block` iterations."""
    rounded = of.add(whole.count, of.number(block - 1))
    items = of.multiply(whole.items, of.number(block))
    return replace(whole, count=of.divide(rounded, of.number(block)), items=items, total=whole.count)


def worth_copies(of: Arithmetic[N], iterations: N, elements: Sequence[N]) -> N:
    """Whether private copies of arrays with so many elements are worth their memory and the time to put them together."""
    total = _sum(of, elements)
    small = of.compare("ule", total, of.number(COPY_ELEMENTS))
    enough = of.compare("uge", of.shift_right(iterations, of.number(VISITS_LOG2)), total)
    return of.both(small, enough)


def group_for_copies(of: Arithmetic[N], plan: Plan, whole: Units[N], elements: Sequence[N]) -> Units[N]:
    """Groups that are large enough to be worth a copy of the arrays each."""
    total = of.larger(_sum(of, elements), of.number(1))
    visits = of.add(_log2_at_least(of, total), of.number(VISITS_LOG2))
    return group(of, whole, of.larger(visits, of.number(plan.grain_log2)))


def pitch(of: Arithmetic[N], elements: N) -> N:
    """From the beginning of a copy of an array to that of the next one, in elements."""
    return of.bits_of_both(of.add(elements, of.number(COPY_PITCH - 1)), of.number(-COPY_PITCH))


def _sum(of: Arithmetic[N], numbers: Sequence[N]) -> N:
    total, *others = numbers
    for each in others:
        total = of.add(total, each)
    return total


def _log2_at_least(of: Arithmetic[N], value: N) -> N:
    """The least k with 2^k >= value, for value >= 1."""
    return of.bit_length(of.subtract(value, of.number(1)))
