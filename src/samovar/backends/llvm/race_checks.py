"""Race detection: reporting the memory accesses of a task to the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.effects import carry
from samovar.backends.llvm.indices import index, widened
from samovar.backends.llvm.memory import place_of
from samovar.backends.llvm.writer import Writer
from samovar.ir import Array, Operation, Touch, Value


def _numbers(writer: Writer, values: Sequence[Value]) -> str:
    return carry(writer, [("i64", widened(writer, value)) for value in values])


def _begin(writer: Writer, operation: Operation) -> None:
    site, granule = operation.payload
    bounds = _numbers(writer, operation.operands)
    axes = len(operation.operands) // 4
    writer.runtime("sv_races_begin", writer.module.site(site), str(axes), bounds, str(granule))


def _touch(writer: Writer, operation: Operation) -> None:
    touch: Touch = operation.payload
    target = touch.target
    address, dtype = place_of(writer, target, operation.operands)
    numbers: list[str] = []
    if isinstance(target, Array):
        numbers += [index(writer, target, operand) for operand in operation.operands]
        numbers += [writer.extent(target, axis) for axis in range(target.ndim)]
    place = carry(writer, [("i64", number) for number in numbers])
    given = touch.kind, address, dtype.itemsize, len(numbers) // 2, place, touch.constant
    writer.runtime("sv_races_touch", writer.module.site(touch.site), *map(str, given))


def _report(writer: Writer, operation: Operation) -> None:
    found = writer.runtime("sv_races_end" if operation.code == "report" else "sv_sections_end")
    writer.leave_if(writer.define(f"icmp ne i32 {found}, 0"))


def _begin_sections(writer: Writer, operation: Operation) -> None:
    site, count, granule = operation.payload
    writer.runtime("sv_sections_begin", writer.module.site(site), str(count), str(granule))


WATCHING: dict[str, Callable[[Writer, Operation], str | None]] = {
    "watch": _begin,
    "iteration": lambda writer, operation: writer.runtime("sv_races_iteration", _numbers(writer, operation.operands)),
    "touch": _touch,
    "report": _report,
    "watch_sections": _begin_sections,
    "section": lambda writer, operation: writer.runtime("sv_sections_next", str(operation.payload)),
    "report_sections": _report,
}
