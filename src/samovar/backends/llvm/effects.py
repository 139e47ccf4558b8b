"""Operations with effects: checks, overflow checks, prints, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.artifact import Site
from samovar.backends.llvm.array_tables import SLOT, Table, all_parts
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.operations import OPERATIONS
from samovar.backends.llvm.types import is_signed, register_type
from samovar.backends.llvm.writer import Writer, parts_taken
from samovar.ir import Array, Operation, Value, dtype_of


def carry(writer: Writer, values: Sequence[tuple[str, str]]) -> str:
    """Store values, each with its LLVM type, in eight-byte slots for the runtime; return their address."""
    if not values:
        return "null"
    writer.carried = max(writer.carried, len(values))
    for position, (kind, name) in enumerate(values):
        place = writer.define(f"getelementptr inbounds i64, ptr %carried, i64 {position}") if position else "%carried"
        writer.emit(f"store {kind} {name}, ptr {place}")
    return "%carried"


def fail_unless(writer: Writer, condition: str, site: Site, values: Sequence[Value]) -> None:
    """Continue if the condition holds; otherwise record the failure and leave the function."""
    bad, good = writer.label("fail"), writer.label("good")
    writer.branch(writer.define(f"xor i1 {condition}, true"), bad, good, UNLIKELY)
    hot, writer.lines = writer.lines, writer.cold
    writer.start(bad)
    carried = carry(writer, [writer.memory_value(value) for value in values])
    writer.runtime("sv_fail", writer.module.site(site), carried)
    writer.emit(writer.leave())
    writer.lines = hot
    writer.start(good)


def _check(writer: Writer, operation: Operation) -> None:
    fail_unless(writer, writer.value(operation.operands[0]), operation.payload, operation.operands[1:])


def _print(writer: Writer, operation: Operation) -> None:
    carried = carry(writer, [writer.memory_value(value) for value in operation.operands])
    writer.runtime("sv_print", writer.module.site(operation.payload), carried)


_OVERFLOW = {"add": "add", "sub": "sub", "mul": "mul", "neg": "sub"}


def checked(writer: Writer, operation: Operation) -> str:
    """add, sub, mul and neg; those with a site fail if the result does not fit."""
    site = operation.payload
    if not isinstance(site, Site):
        return OPERATIONS[operation.code](writer, operation)
    dtype = dtype_of(operation)
    kind = register_type(dtype)
    name = f"llvm.{'s' if is_signed(dtype) else 'u'}{_OVERFLOW[operation.code]}.with.overflow.{kind}"
    left, right = ["0"] * (operation.code == "neg") + [writer.value(operand) for operand in operation.operands]
    both = f"{{ {kind}, i1 }}"
    pair = writer.intrinsic(both, name, (kind, left), (kind, right))
    overflow = writer.define(f"extractvalue {both} {pair}, 1")
    fail_unless(writer, writer.define(f"xor i1 {overflow}, true"), site, operation.operands[: len(site.types)])
    return writer.define(f"extractvalue {both} {pair}, 0")


def array_arguments(writer: Writer, array: Array, parameter: Array, length: bool) -> list[str]:
    """The parts of an array as a parameter takes them."""
    return [
        f"ptr {writer.pointer(array)}" if part == "pointer" else f"i64 {writer.part(array, part, axis)}"
        for part, axis in parts_taken(parameter, length)
    ]


def _table(writer: Writer, call: Operation, table: Table) -> str:
    """The table argument of a call: that of the current function, if the callee is a piece of it."""
    if table.owner is not call.payload:
        return "%arrays"
    arrays = [each for each in call.operands if isinstance(each, Array)]
    key = (table.owner, *arrays)
    place = writer.filled_tables.get(key)
    if place is None:
        place = writer.filled_tables[key] = writer.define_early(f"alloca [{table.size} x i64], align {SLOT}", "arrays")
        taken = (each for each in table.owner.parameters if isinstance(each, Array))
        parts = [(given, *part) for given, parameter in zip(arrays, taken, strict=True) for part in all_parts(parameter)]
        for slot, (array, part, axis) in enumerate(parts):
            known = array.extents[axis] if part == "extent" else None
            value = str(known) if known is not None else writer.early_part(array, part, axis)
            at = writer.define_early(f"getelementptr inbounds i8, ptr {place}, i64 {SLOT * slot}", "at")
            writer.prologue.append(f"  store {'ptr' if part == 'pointer' else 'i64'} {value}, ptr {at}, align {SLOT}")
    return place


def _call(writer: Writer, operation: Operation) -> str | None:
    function = operation.payload
    callee = writer.module.callee(function)
    arguments = [f"ptr {writer.context()}"] if callee.context else []
    table = writer.module.program.tables.of(function)
    if table is not None:
        arguments.append(f"ptr {_table(writer, operation, table)}")
    for position, (operand, parameter) in enumerate(zip(operation.operands, function.parameters, strict=True)):
        if isinstance(operand, Array):
            assert isinstance(parameter, Array)
            if table is not None and table.has(parameter):
                continue
            arguments += array_arguments(writer, operand, parameter, position in callee.lengths)
        else:
            arguments.append(f"{register_type(dtype_of(operand))} {writer.value(operand)}")
    text = f"call {callee.result} @{callee.name}({', '.join(arguments)})"
    if callee.result == "void":
        writer.emit(text)
        return None
    result = writer.define(text, "r")
    if not callee.fails:
        return result
    failed = writer.define(f"extractvalue {callee.result} {result}, 0") if function.returns else result
    writer.leave_if(failed)
    if len(function.returns) == 1:
        return writer.define(f"extractvalue {callee.result} {result}, 1", "r")
    return result if function.returns else None


def _extract(writer: Writer, operation: Operation) -> str:
    call = operation.operands[0]
    assert isinstance(call, Operation)
    callee = writer.module.callee(call.payload)
    place = operation.payload + (1 if callee.fails else 0)
    return writer.define(f"extractvalue {callee.result} {writer.value(call)}, {place}", "r")


def _key(writer: Writer, operation: Operation) -> str:
    return writer.runtime("sv_random")


def _push(writer: Writer, operation: Operation) -> None:
    """Bits of any type, in eight bytes."""
    kind, name = writer.memory_value(operation.operands[0])
    bits = dtype_of(operation.operands[0]).itemsize * 8
    if kind != f"i{bits}":
        name = writer.define(f"bitcast {kind} {name} to i{bits}")
    wide = name if bits == 64 else writer.define(f"zext i{bits} {name} to i64")
    writer.runtime("sv_push", wide)


def _pop(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    bits, kind = dtype.itemsize * 8, register_type(dtype)
    found = writer.runtime("sv_pop")
    if kind == "i1":
        return writer.define(f"trunc i64 {found} to i1")
    narrow = found if bits == 64 else writer.define(f"trunc i64 {found} to i{bits}")
    return narrow if kind == f"i{bits}" else writer.define(f"bitcast i{bits} {narrow} to {kind}")


def _asked(writer: Writer, operation: Operation) -> str:
    """An integer that the runtime has."""
    return writer.runtime(f"sv_{operation.code}")


def _scratch(writer: Writer, operation: Operation) -> None:
    """Memory of the launch, or that of the array itself. A loop reuses the previous memory if it is large enough."""
    memory, array = operation.payload
    elements, wanted = (writer.value(operand) for operand in operation.operands)
    slot, had = (writer.define_early(f"alloca {kind}", "scratch") for kind in ("ptr", "i64"))
    writer.prologue.append(f"  store i64 -1, ptr {had}")
    size = writer.define(f"mul i64 {elements}, {memory.dtype.itemsize}")
    enough = writer.define(f"icmp sle i64 {size}, {writer.define(f'load i64, ptr {had}')}")
    more, ready = writer.label("more"), writer.label("ready")
    unneeded = writer.define(f"or i1 {enough}, {writer.define(f'xor i1 {wanted}, true')}")
    writer.branch(unneeded, ready, more)
    writer.start(more)
    found = writer.runtime("sv_scratch", size)
    writer.leave_if(writer.define(f"icmp eq ptr {found}, null"))
    writer.emit(f"store ptr {found}, ptr {slot}")
    writer.emit(f"store i64 {size}, ptr {had}")
    writer.jump(ready)
    writer.start(ready)
    own = writer.define(f"load ptr, ptr {slot}")
    chosen = writer.define(f"select i1 {wanted}, ptr {own}, ptr {writer.pointer(array)}")
    writer.parts[memory, "pointer", 0] = chosen
    writer.parts[memory, "extent", 0] = elements


EFFECTS: dict[str, Callable[[Writer, Operation], str | None]] = {
    "check": _check,
    "print": _print,
    "call": _call,
    "extract": _extract,
    "key": _key,
    "push": _push,
    "pop": _pop,
    **dict.fromkeys(("clock", "thread", "threads"), _asked),
    "scratch": _scratch,
    **dict.fromkeys(_OVERFLOW, checked),
}
