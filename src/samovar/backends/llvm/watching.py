"""Operations that watch for races: what a task does to memory is told to the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.indices import index, widened
from samovar.backends.llvm.memory import place_of
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.writer import Writer
from samovar.ir import Array, Operation, Touch


def _numbers(writer: Writer, names: Sequence[str]) -> str:
    """Store integers for the runtime; gives their address."""
    if not names:
        return "null"
    writer.carried = max(writer.carried, len(names))
    for position, name in enumerate(names):
        place = writer.define(f"getelementptr inbounds i64, ptr %carried, i64 {position}")
        writer.emit(f"store i64 {name}, ptr {place}")
    return "%carried"


def _watch(writer: Writer, operation: Operation) -> None:
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
    writer.module.runtime("sv_races_end")
    found = writer.define(f"call i32 @sv_races_end(ptr {writer.context()})")
    bad, good = writer.label("races"), writer.label("good")
    writer.branch(writer.define(f"icmp ne i32 {found}, 0"), bad, good, UNLIKELY)
    writer.cold += [f"{bad}:", "  " + writer.leave()]
    writer.start(good)


WATCHING: dict[str, Callable[[Writer, Operation], None]] = {
    "watch": _watch,
    "iteration": _iteration,
    "touch": _touch,
    "report": _report,
}
