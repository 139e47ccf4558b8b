"""Operations on the cells of sparse fields: tests of masks and lengths inline, everything else in the runtime.

A mask, the lengths of lists and the list of active cells are at constant distances from the field (`samovar.ir.Cells`). They
are read atomically: other threads may activate cells at the same time.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import i32, i64
from samovar.backends.llvm.indices import widened
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.types import register_type
from samovar.backends.llvm.writer import Writer
from samovar.ir import Array, Cells, Operation, dtype_of


def _cells(operation: Operation) -> Cells:
    cells: Cells | None = operation.payload.cells
    assert cells is not None
    return cells


def _beside(writer: Writer, array: Array, distance: int) -> str:
    """The address at a distance from an array."""
    pointer = writer.pointer(array)
    return writer.define(f"getelementptr i8, ptr {pointer}, i64 {distance}", "p") if distance else pointer


def _mask(writer: Writer, operation: Operation) -> str:
    return _beside(writer, operation.payload, _cells(operation).mask)


def _active(writer: Writer, operation: Operation) -> str:
    """Whether a cell is active: a byte of the mask."""
    number = widened(writer, operation.operands[0])
    place = writer.define(f"getelementptr i8, ptr {_mask(writer, operation)}, i64 {number}", "p")
    return writer.define(f"icmp ne i8 {writer.define(f'load atomic i8, ptr {place} monotonic, align 1', 'm')}, 0")


def _length_at(writer: Writer, operation: Operation) -> str:
    """The address of the length of a list."""
    number = widened(writer, operation.operands[0])
    return writer.define(f"getelementptr i32, ptr {_mask(writer, operation)}, i64 {number}", "p")


def _length(writer: Writer, operation: Operation) -> str:
    return writer.define(f"load atomic i32, ptr {_length_at(writer, operation)} monotonic, align 4", "m")


def _activate(writer: Writer, operation: Operation) -> None:
    numbers = [widened(writer, operand) for operand in operation.operands]
    if _cells(operation).is_list:
        length = writer.define(f"zext i32 {_length(writer, operation)} to i64")
        is_there, call = writer.define(f"icmp slt i64 {numbers[1]}, {length}"), "sv_sparse_reach"
    else:
        is_there, call = _active(writer, operation), "sv_sparse_activate"
    mask, new, ready = _mask(writer, operation), writer.label("new"), writer.label("ready")
    writer.branch(writer.define(f"xor i1 {is_there}, true"), new, ready, UNLIKELY)
    writer.module.runtime(call)
    operands = ", ".join(f"i64 {number}" for number in numbers)
    writer.cold += [f"{new}:", f"  call void @{call}(ptr {mask}, {operands})", f"  br label %{ready}"]
    writer.start(ready)


def _deactivate(writer: Writer, operation: Operation) -> None:
    writer.module.runtime("sv_sparse_deactivate")
    number = widened(writer, operation.operands[0])
    writer.emit(f"call void @sv_sparse_deactivate(ptr {_mask(writer, operation)}, i64 {number})")


def _list(writer: Writer, operation: Operation) -> str:
    writer.module.runtime("sv_sparse_list")
    return writer.define(f"call i64 @sv_sparse_list(ptr {_mask(writer, operation)})", "n")


def _listed(writer: Writer, operation: Operation) -> str:
    """The number of a cell in the list, which does not change while a loop runs over it."""
    cells, place = _cells(operation), _beside(writer, operation.payload, _cells(operation).listed)
    dtype, (position,) = i64 if cells.is_wide else i32, operation.operands
    kind, width = register_type(dtype), position.width

    def one(number: str) -> str:
        at = writer.define(f"getelementptr {kind}, ptr {place}, i64 {number}", "p")
        found = writer.define(f"load {kind}, ptr {at}, align {dtype.itemsize}, !invariant.load !{{}}", "m")
        return found if cells.is_wide else writer.define(f"zext i32 {found} to i64")

    if not width:
        return one(widened(writer, position))
    vector = f"{register_type(dtype_of(position), width)} {writer.value(position)}"
    numbers = (writer.define(f"extractelement {vector}, i64 {lane}") for lane in range(width))
    return writer.joined("i64", [one(number) for number in numbers], 1)


def _append(writer: Writer, operation: Operation) -> str:
    """Take the next place of a list; if it was full, its length stays. The first element activates the cells above."""
    capacity, place, mask = _cells(operation).capacity, _length_at(writer, operation), _mask(writer, operation)
    number = widened(writer, operation.operands[0])
    old = writer.define(f"atomicrmw add ptr {place}, i32 1 monotonic", "m")
    first, full, some, more = (writer.label(name) for name in ("first", "full", "some", "more"))
    writer.branch(writer.define(f"icmp eq i32 {old}, 0"), first, some)
    writer.module.runtime("sv_sparse_activate")
    writer.cold += [
        f"{first}:",
        f"  call void @sv_sparse_activate(ptr {mask}, i64 {number})",
        f"  br label %{some}",
        f"{full}:",
        f"  {writer.name('old')} = atomicrmw sub ptr {place}, i32 1 monotonic",
        f"  br label %{more}",
    ]
    writer.start(some)
    writer.branch(writer.define(f"icmp uge i32 {old}, {capacity}"), full, more, UNLIKELY)
    writer.start(more)
    return old


CELLS: dict[str, Callable[[Writer, Operation], str | None]] = {
    "cell_active": _active,
    "activate": _activate,
    "deactivate": _deactivate,
    "list_cells": _list,
    "listed": _listed,
    "list_length": _length,
    "list_append": _append,
}
