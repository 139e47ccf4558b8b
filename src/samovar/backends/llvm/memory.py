"""Operations on memory: locals, arrays, and read-modify-write, atomic or plain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from samovar._native import DType
from samovar.backends.llvm.indices import address, widened
from samovar.backends.llvm.operations import combine
from samovar.backends.llvm.types import is_float, is_signed, memory_type, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Array, Atomic, Function, Local, LocalArray, Operation, ReadAnyway, ReadFlag, Value

#: What is read in the place of elements that are not there.
_NOTHING = "nothing"


def read(writer: Writer, place: str, dtype: DType, mark: str = "") -> str:
    """Load a register from an address; `mark` is what LLVM is told about the access."""
    kind, alignment = writer.memory_kind(dtype), f", align {dtype.itemsize}" if writer.lanes else ""
    if dtype.kind == "bool":
        byte = writer.define(f"load {kind}, ptr {place}{alignment}{mark}", "m")
        return writer.define(f"icmp ne {kind} {byte}, {'zeroinitializer' if writer.lanes else '0'}", "m")
    return writer.define(f"load {kind}, ptr {place}{alignment}{mark}", "m")


def write(writer: Writer, place: str, dtype: DType, value: str, mark: str = "") -> None:
    """Store a register at an address."""
    kind, stored = writer.stored(value, dtype)
    alignment = f", align {dtype.itemsize}" if writer.lanes else ""
    writer.emit(f"store {kind} {stored}, ptr {place}{alignment}{mark}")


def _load_local(writer: Writer, operation: Operation) -> str:
    local: Local = operation.payload
    return read(writer, writer.local(local), local.type)


def _store_local(writer: Writer, operation: Operation) -> None:
    local: Local = operation.payload
    write(writer, writer.local(local), local.type, writer.value(operation.operands[0]))


def _reserve(writer: Writer, operation: Operation) -> None:
    """Where it stands does not matter: all memory of a function is reserved at its top."""
    array: LocalArray = operation.payload
    kind = f"[{math.prod(array.shape)} x {memory_type(array.dtype)}]"
    writer.parts[array, "pointer", 0] = writer.define_early(f"alloca {kind}", array.name)


def _shape(writer: Writer, operation: Operation) -> str:
    array, axis = operation.payload
    dtype = dtype_of(operation)
    extent = writer.extent(array, axis)
    if dtype.bits == 64 or array.extents[axis] is not None:
        return extent
    return writer.define(f"trunc nuw nsw i64 {extent} to {register_type(dtype)}", "n")


def _load(writer: Writer, operation: Operation) -> str:
    if isinstance(operation, ReadAnyway):
        return _read_anyway(writer, operation)
    array: Array = operation.payload
    place = address(writer, array, operation.operands)
    if isinstance(operation, ReadFlag):
        # LLVM must not keep it: it may be another thread that writes it.
        return writer.define(f"load atomic {memory_type(array.dtype)}, ptr {place} monotonic, align {array.dtype.itemsize}")
    return read(writer, place, array.dtype, writer.access_of(array))


def _read_anyway(writer: Writer, operation: ReadAnyway) -> str:
    """An element at a constant place, or something else if it is not there, read before any code runs: in a loop, LLVM would
    move it back to where it is used."""
    array: Array = operation.payload
    writer.module.declarations[_NOTHING] = f"@{_NOTHING} = private unnamed_addr constant i64 0"
    number, inside = "0", "true"
    for axis, index in enumerate(operation.operands):
        known = array.extents[axis]
        extent = str(known) if known is not None else writer.early_part(array, "extent", axis)
        number = writer.define_early(f"mul nsw i64 {number}, {extent}", "x")
        number = writer.define_early(f"add nsw i64 {number}, {widened(writer, index)}", "x")
        there = writer.define_early(f"icmp ult i64 {widened(writer, index)}, {extent}", "there")
        inside = writer.define_early(f"and i1 {inside}, {there}", "there")
    kind = memory_type(array.dtype)
    place = writer.define_early(f"getelementptr {kind}, ptr {writer.early_part(array, 'pointer', 0)}, i64 {number}", "p")
    place = writer.define_early(f"select i1 {inside}, ptr {place}, ptr @{_NOTHING}", "p")
    return writer.define_early(f"load {kind}, ptr {place}", "m")


def _store(writer: Writer, operation: Operation) -> None:
    array: Array = operation.payload
    value = writer.value(operation.operands[-1])
    write(writer, address(writer, array, operation.operands[:-1]), array.dtype, value, writer.access_of(array))


def place_of(writer: Writer, target: Array | Local, indices: Sequence[Value]) -> tuple[str, DType]:
    """Address and dtype of an element of an array, or of a local."""
    if isinstance(target, Local):
        return writer.local(target), target.type
    return address(writer, target, indices), target.dtype


def _split(operation: Operation) -> tuple[Atomic, tuple[Value, ...], tuple[Value, ...]]:
    """Payload, indices and values (one, or expected and new for cas)."""
    atomic: Atomic = operation.payload
    count = 2 if atomic.operation == "cas" else 1
    return atomic, operation.operands[:-count], operation.operands[-count:]


def _update(writer: Writer, operation: Operation) -> str:
    atomic, indices, operands = _split(operation)
    place, dtype = place_of(writer, atomic.target, indices)
    mark = writer.access_of(atomic.target) if isinstance(atomic.target, Array) else ""
    return update(writer, place, dtype, atomic.operation, operands, mark)


def update(
    writer: Writer, place: str, dtype: DType, operation: str, values: Sequence[Value | str], mark: str = ""
) -> str:
    """A plain read-modify-write; gives the old value."""
    old = read(writer, place, dtype, mark)
    if operation == "cas":
        expected, wanted = (_name(writer, value) for value in values)
        bits, now, expected = _as_bits(writer, dtype, old, expected)
        same = writer.define(f"icmp eq {bits} {now}, {expected}")
        kind = register_type(dtype)
        new = writer.define(f"select i1 {same}, {kind} {wanted}, {kind} {old}")
    else:
        new = combine(writer, operation, dtype, old, values[0])
    write(writer, place, dtype, new, mark)
    return old


def _name(writer: Writer, value: Value | str) -> str:
    return value if isinstance(value, str) else writer.value(value)


def _as_bits(writer: Writer, dtype: DType, *values: str) -> list[str]:
    kind = register_type(dtype)
    if not is_float(dtype):
        return [kind, *values]
    return [f"i{dtype.bits}", *(writer.define(f"bitcast {kind} {value} to i{dtype.bits}") for value in values)]


def _atomic(writer: Writer, operation: Operation) -> str:
    atomic, indices, operands = _split(operation)
    target = atomic.target
    place, dtype = place_of(writer, target, indices)
    if isinstance(target, Local) and not target.shared:
        return update(writer, place, dtype, atomic.operation, operands)
    return atomically(writer, place, dtype, atomic.step or atomic.operation, operands)


# Done by one instruction (or a loop that LLVM makes); the others need a loop of ours.
_INSTRUCTIONS = {**{name: name for name in ("add", "sub", "min", "max", "and", "or", "xor")}, "exchange": "xchg"}
_BOOLEAN = {"add": "xor", "sub": "xor", "mul": "and", "min": "and", "max": "or"}


def atomically(writer: Writer, place: str, dtype: DType, operation: str | Function, values: Sequence[Value]) -> str:
    """An atomic read-modify-write, unordered against other addresses; gives the old value."""
    if dtype.kind == "bool" and isinstance(operation, str):
        operation = _BOOLEAN.get(operation, operation)
    if operation == "cas":
        return _compare_and_swap(writer, place, dtype, [writer.value(value) for value in values])
    if isinstance(operation, Function) or operation not in _INSTRUCTIONS:
        return _compare_and_swap_loop(writer, place, dtype, operation, values[0])
    kind, value = writer.stored(writer.value(values[0]), dtype)
    instruction = _INSTRUCTIONS[operation]
    if is_float(dtype) and operation != "exchange":
        instruction = "f" + instruction
    elif operation in ("min", "max") and not is_signed(dtype):
        instruction = "u" + instruction
    old = writer.define(f"atomicrmw {instruction} ptr {place}, {kind} {value} monotonic", "m")
    return writer.define(f"icmp ne i8 {old}, 0", "m") if dtype.kind == "bool" else old


def _compare_and_swap(writer: Writer, place: str, dtype: DType, values: Sequence[str]) -> str:
    (kind, expected), (_, new) = (writer.stored(value, dtype) for value in values)
    if is_float(dtype):
        kind, expected, new = _as_bits(writer, dtype, expected, new)
    pair = writer.define(f"cmpxchg ptr {place}, {kind} {expected}, {kind} {new} monotonic monotonic")
    old = writer.define(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    if dtype.kind == "bool":
        return writer.define(f"icmp ne i8 {old}, 0")
    return writer.define(f"bitcast {kind} {old} to {register_type(dtype)}") if is_float(dtype) else old


def _compare_and_swap_loop(writer: Writer, place: str, dtype: DType, operation: str | Function, value: Value) -> str:
    kind, bits = register_type(dtype), f"i{dtype.itemsize * 8}"
    before, loop, end = writer.block, writer.label("retry"), writer.label("done")
    first = writer.define(f"load atomic {bits}, ptr {place} monotonic, align {dtype.itemsize}")
    writer.jump(loop)
    writer.start(loop)
    seen, again = writer.name("seen"), writer.name("again")
    writer.emit(f"{seen} = phi {bits} [ {first}, %{before} ], [ {again}, %{loop} ]")
    if dtype.kind == "bool":
        old = writer.define(f"icmp ne i8 {seen}, 0")
        new = writer.define(f"zext i1 {combine(writer, operation, dtype, old, value)} to i8")
    else:
        old = writer.define(f"bitcast {bits} {seen} to {kind}")
        new = writer.define(f"bitcast {kind} {combine(writer, operation, dtype, old, value)} to {bits}")
    pair = writer.define(f"cmpxchg weak ptr {place}, {bits} {seen}, {bits} {new} monotonic monotonic")
    writer.emit(f"{again} = extractvalue {{ {bits}, i1 }} {pair}, 0")
    success = writer.define(f"extractvalue {{ {bits}, i1 }} {pair}, 1")
    writer.branch(success, end, loop)
    writer.start(end)
    return old


MEMORY: dict[str, Callable[[Writer, Operation], str | None]] = {
    "load_local": _load_local,
    "store_local": _store_local,
    "reserve": _reserve,
    "shape": _shape,
    "load": _load,
    "store": _store,
    "update": _update,
    "atomic": _atomic,
}
