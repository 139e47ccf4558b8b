"""Race detection: reporting the memory accesses of a task to the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.effects import carry, leave_if
from samovar.backends.llvm.indices import index, widened
from samovar.backends.llvm.memory import place_of
from samovar.backends.llvm.writer import Writer
from samovar.ir import Array, Operation, Touch


def _numbers(writer: Writer, names: Sequence[str]) -> str:
    return carry(writer, [("i64", name) for name in names])


def _begin(writer: Writer, operation: Operation) -> None:
    site, granule = operation.payload
    writer.module.runtime("sv_races_begin")
    bounds = _numbers(writer, [widened(writer, operand) for operand in operation.operands])
    writer.emit(
        f"call void @sv_races_begin(ptr {writer.context()}, i32 {writer.module.site(site)},"
        f" i32 {len(operation.operands) // 4}, ptr {bounds}, i32 {granule})"
    )


def _iteration(writer: Writer, operation: Operation) -> None:
    writer.module.runtime("sv_races_iteration")
    position = _numbers(writer, [widened(writer, operand) for operand in operation.operands])
    writer.emit(f"call void @sv_races_iteration(ptr {writer.context()}, ptr {position})")


def _touch(writer: Writer, operation: Operation) -> None:
    touch: Touch = operation.payload
    target = touch.target
    address, dtype = place_of(writer, target, operation.operands)
    numbers: list[str] = []
    if isinstance(target, Array):
        numbers += [index(writer, target, operand) for operand in operation.operands]
        numbers += [writer.extent(target, axis) for axis in range(target.ndim)]
    writer.module.runtime("sv_races_touch")
    place = _numbers(writer, numbers)
    writer.emit(
        f"call void @sv_races_touch(ptr {writer.context()}, i32 {writer.module.site(touch.site)}, i32 {touch.kind},"
        f" ptr {address}, i32 {dtype.itemsize}, i32 {len(numbers) // 2}, ptr {place}, i64 {touch.constant})"
    )


def _report(writer: Writer, operation: Operation) -> None:
    function = "sv_races_end" if operation.code == "report" else "sv_sections_end"
    writer.module.runtime(function)
    found = writer.define(f"call i32 @{function}(ptr {writer.context()})")
    leave_if(writer, writer.define(f"icmp ne i32 {found}, 0"))


def _begin_sections(writer: Writer, operation: Operation) -> None:
    site, count, granule = operation.payload
    writer.module.runtime("sv_sections_begin")
    number = writer.module.site(site)
    writer.emit(f"call void @sv_sections_begin(ptr {writer.context()}, i32 {number}, i32 {count}, i32 {granule})")


def _section(writer: Writer, operation: Operation) -> None:
    writer.module.runtime("sv_sections_next")
    writer.emit(f"call void @sv_sections_next(ptr {writer.context()}, i32 {operation.payload})")


WATCHING: dict[str, Callable[[Writer, Operation], None]] = {
    "watch": _begin,
    "iteration": _iteration,
    "touch": _touch,
    "report": _report,
    "watch_sections": _begin_sections,
    "section": _section,
    "report_sections": _report,
}
