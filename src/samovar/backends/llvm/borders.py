"""Where clamped and wrapped indices are plain (see `samovar.passes.borders`): the bounds, and the indices between them."""

from __future__ import annotations

from collections.abc import Callable

from samovar.backends.llvm.control import RENDERINGS, operations
from samovar.backends.llvm.indices import widened
from samovar.backends.llvm.types import register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Borders, Operation, PlainIndex

_LEAST, _LIMIT = -(1 << 31), 1 << 31


def plain_range(writer: Writer, borders: Borders, first: str, last: str) -> tuple[str, str, dict[Operation, str]]:
    """Where iterations with plain indices begin and end, between `first` and `last`; and what each index is away from the
    variable, as far as that is known before the loop."""
    operations(writer, borders.before)
    begin, end = first, last
    moved: dict[Operation, str] = {}
    for each in borders.indices:
        distance = str(each.constant)
        for term, factor in each.terms:
            distance = writer.define(f"add i64 {distance}, {_times(writer, widened(writer, term), factor)}", "x")
        moved[each.operation] = distance
        nearest = writer.define(f"add i64 {distance}, {each.inner[0]}", "x")
        farthest = writer.define(f"add i64 {distance}, {each.inner[1]}", "x")
        begin = _extreme(writer, "smax", begin, writer.define(f"sub i64 {_LEAST}, {nearest}"))
        end = _extreme(writer, "smin", end, writer.define(f"sub i64 {_LIMIT}, {farthest}"))
        if each.least is not None:
            begin = _extreme(writer, "smax", begin, writer.define(f"sub i64 {widened(writer, each.least)}, {nearest}"))
        if each.most is not None:
            limit = writer.define(f"add i64 {widened(writer, each.most)}, 1")
            end = _extreme(writer, "smin", end, writer.define(f"sub i64 {limit}, {farthest}"))
        if each.below is not None:
            below = widened(writer, each.below)
            end = _extreme(writer, "smin", end, writer.define(f"sub i64 {below}, {farthest}"))
            # The sum that the remainder is taken of may have been longer by that much, and must not have wrapped.
            limit = writer.define(f"sub i64 {_LIMIT}, {below}")
            end = _extreme(writer, "smin", end, writer.define(f"sub i64 {limit}, {farthest}"))
    # An empty range is one between the two borders.
    begin = _extreme(writer, "smin", begin, last)
    return begin, _extreme(writer, "smax", begin, end), moved


def renderings_between(
    writer: Writer, borders: Borders, counter: str, moved: dict[Operation, str]
) -> dict[str, Callable[[Writer, Operation], str | None]]:
    """Renderings of operations where indices are plain."""
    plain = {each.operation: each for each in borders.indices}

    def rendered(usual: Callable[[Writer, Operation], str | None]) -> Callable[[Writer, Operation], str | None]:
        def render(writer: Writer, operation: Operation) -> str | None:
            index = plain.get(operation)
            if index is None:
                return usual(writer, operation)
            return _plain_index(writer, index, counter, moved[operation])

        return render

    return {**RENDERINGS, **{code: rendered(RENDERINGS[code]) for code in ("min", "max", "add")}}


def _plain_index(writer: Writer, index: PlainIndex, counter: str, distance: str) -> str:
    total = counter if distance == "0" else writer.define(f"add nsw i64 {counter}, {distance}", "x")
    for term, factor in index.loops:
        total = writer.define(f"add nsw i64 {total}, {_times(writer, widened(writer, term), factor)}", "x")
    writer.counters[index.operation] = total
    return writer.define(f"trunc nsw i64 {total} to {register_type(dtype_of(index.operation))}")


def _times(writer: Writer, value: str, factor: int) -> str:
    return value if factor == 1 else writer.define(f"mul nsw i64 {value}, {factor}", "x")


def _extreme(writer: Writer, name: str, a: str, b: str) -> str:
    writer.module.declare(f"llvm.{name}.i64", f"declare i64 @llvm.{name}.i64(i64, i64)")
    return writer.define(f"call i64 @llvm.{name}.i64(i64 {a}, i64 {b})")
