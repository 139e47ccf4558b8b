"""Memory operations: locals, arrays, and read-modify-write, atomic or plain; scalar, contiguous or strided in vectors, and
gathers and scatters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from samovar._native import DType, i64, u1
from samovar.backends.llvm.indices import address, element_offset
from samovar.backends.llvm.operations import combine
from samovar.backends.llvm.types import is_float, is_signed, literal, local_type, memory_type, register_type, suffix
from samovar.backends.llvm.writer import Writer
from samovar.ir import (
    Array,
    Atomic,
    Constant,
    Function,
    Local,
    LocalArray,
    Operation,
    ReadFlag,
    Value,
    VectorLocal,
    VectorOperation,
    array_of,
    dtype_of,
)

#: A dummy that is read in place of elements that do not exist.
_NOTHING = "nothing"


def read(writer: Writer, place: str, dtype: DType, mark: str = "", width: int = 0) -> str:
    """Load a register from an address; `mark` is the metadata of the access."""
    kind, alignment = memory_type(dtype, width), f", align {dtype.itemsize}" if width else ""
    found = writer.define(f"load {kind}, ptr {place}{alignment}{mark}", "m")
    return _in_register(writer, found, dtype, width)


def _in_register(writer: Writer, loaded: str, dtype: DType, width: int) -> str:
    """A loaded value in a register: a bit for a byte."""
    if dtype.kind != "bool":
        return loaded
    return writer.define(f"icmp ne {memory_type(dtype, width)} {loaded}, {'zeroinitializer' if width else '0'}", "m")


def write(writer: Writer, place: str, dtype: DType, value: str, mark: str = "", width: int = 0) -> None:
    """Store a register at an address."""
    kind, stored = writer.stored(value, dtype, width)
    alignment = f", align {dtype.itemsize}" if width else ""
    writer.emit(f"store {kind} {stored}, ptr {place}{alignment}{mark}")


# --- locals


def _load_local(writer: Writer, operation: Operation) -> str:
    local: Local = operation.payload
    if not isinstance(local, VectorLocal) or local.type.kind != "bool":
        return read(writer, writer.local(local), local.type, "", local.width)
    kept = writer.define(f"load {local_type(local)}, ptr {writer.local(local)}", "m")
    return writer.define(f"icmp slt {local_type(local)} {kept}, zeroinitializer") if local.lane_bits else kept


def _store_local(writer: Writer, operation: Operation) -> None:
    local: Local = operation.payload
    value = writer.value(operation.operands[0], local.width)
    if not isinstance(local, VectorLocal) or local.type.kind != "bool":
        write(writer, writer.local(local), local.type, value, "", local.width)
        return
    if local.lane_bits:
        value = writer.define(f"sext <{local.width} x i1> {value} to {local_type(local)}")
    writer.emit(f"store {local_type(local)} {value}, ptr {writer.local(local)}")


def _reserve(writer: Writer, operation: Operation) -> None:
    """Reserve memory; the place does not matter: all memory of a function is reserved at its top."""
    array: LocalArray = operation.payload
    kind = f"[{math.prod(array.shape)} x {memory_type(array.dtype)}]"
    aligned = ", align 64" if array.dtype.itemsize * array.shape[-1] >= 64 else ""
    writer.parts[array, "pointer", 0] = writer.define_early(f"alloca {kind}{aligned}", array.name)


def _shape(writer: Writer, operation: Operation) -> str:
    array, axis = operation.payload
    dtype = dtype_of(operation)
    extent = writer.extent(array, axis)
    if dtype.bits == 64 or array.extents[axis] is not None:
        return extent
    return writer.define(f"trunc nuw nsw i64 {extent} to {register_type(dtype)}", "n")


# --- elements


def _load(writer: Writer, operation: Operation) -> str:
    array: Array = operation.payload
    if isinstance(operation, VectorOperation):
        return _load_vector(writer, operation, array)
    place = address(writer, array, operation.operands)
    if isinstance(operation, ReadFlag):
        # LLVM must not cache it: another thread may write it.
        return writer.define(f"load atomic {memory_type(array.dtype)}, ptr {place} monotonic, align {array.dtype.itemsize}")
    return read(writer, place, array.dtype, writer.access_of(array))


def _load_vector(writer: Writer, operation: VectorOperation, array: Array) -> str:
    dtype, width, mark = array.dtype, operation.width, writer.access_of(array)
    if not width:
        return read(writer, _guarded(writer, operation, array), dtype, mark)
    if _is_gather(operation):
        return _gathered(writer, operation, array)
    place = address(writer, array, operation.operands, inbounds=False)
    if operation.step == 1:
        if operation.mask is None:
            return read(writer, place, dtype, mark, width)
        return _in_register(writer, _masked_load(writer, place, array, width, _mask(writer, operation)), dtype, width)
    # Everything in between is loaded too, except unused ends.
    span = _span(operation)
    if operation.step < 0:
        place = _moved(writer, place, dtype, 1 - span)
    mask = _spread_mask(writer, operation, _spread(operation, span))
    whole = _masked_load(writer, place, array, span, mask)
    kind = memory_type(dtype, span)
    return _in_register(writer, writer.shuffle(kind, whole, "poison", _places(operation)), dtype, width)


def _store(writer: Writer, operation: Operation) -> None:
    array: Array = operation.payload
    if isinstance(operation, VectorOperation):
        _store_vector(writer, operation, array)
        return
    value = writer.value(operation.operands[-1])
    write(writer, address(writer, array, operation.operands[:-1]), array.dtype, value, writer.access_of(array))


def _store_vector(writer: Writer, operation: VectorOperation, array: Array) -> None:
    dtype, width, mark = array.dtype, operation.width, writer.access_of(array)
    *indices, value = operation.operands
    places = _evenly_spaced(writer, operation, array, indices)
    if places:
        for lane, place in enumerate(places):
            write(writer, place, dtype, writer.value(_one_lane(writer, value, lane)), mark)
        return
    if _is_gather(operation):
        _lane_by_lane(writer, operation)
        return
    place = address(writer, array, indices, inbounds=False)
    kind, stored = writer.stored(writer.value(value, width), dtype, width)
    if operation.step == 1:
        if operation.mask is None:
            writer.emit(f"store {kind} {stored}, ptr {place}, align {dtype.itemsize}{mark}")
        else:
            _masked_store(writer, place, array, width, stored, _mask(writer, operation))
        return
    # Registers begin before the first lane, and so end with the last one: the next load is after it, and need not wait for
    # the masked part of a register.
    before = max(operation.step - 1, 0)
    span = before + _span(operation)
    place = _moved(writer, place, dtype, -before if before else 1 - span)
    lanes = [*[None] * before, *_spread(operation, span - before)]
    spread = writer.shuffle(kind, stored, "poison", lanes)
    _masked_store(writer, place, array, span, spread, _spread_mask(writer, operation, lanes))


def _is_gather(operation: Operation) -> bool:
    """Whether each lane accesses an arbitrary element."""
    return any(index.width for index in operation.operands[: array_of(operation).ndim])


def _mask(writer: Writer, operation: VectorOperation) -> str:
    assert operation.mask is not None
    return writer.value(operation.mask, operation.width)


def _masked_load(writer: Writer, place: str, array: Array, width: int, mask: str) -> str:
    kind, pointer, masks = _masked(writer, place, array, width, mask)
    name = f"llvm.masked.load.{_memory_suffix(array.dtype, width)}.p0"
    # Branch conditions may be computed from it, also in inactive lanes: it must not be poison.
    return writer.intrinsic(kind, name, pointer, masks, (kind, "zeroinitializer"), mark=writer.access_of(array))


def _masked_store(writer: Writer, place: str, array: Array, width: int, value: str, mask: str) -> None:
    kind, pointer, masks = _masked(writer, place, array, width, mask)
    name = f"llvm.masked.store.{_memory_suffix(array.dtype, width)}.p0"
    writer.intrinsic("void", name, (kind, value), pointer, masks, mark=writer.access_of(array))


def _masked(
    writer: Writer, place: str, array: Array, width: int, mask: str
) -> tuple[str, tuple[str, str], tuple[str, str]]:
    """The type of the elements of a masked access, its address, and its mask."""
    aligned = f"align {array.dtype.itemsize} {place}"
    return memory_type(array.dtype, width), ("ptr", aligned), (f"<{width} x i1>", mask)


def _memory_suffix(dtype: DType, width: int) -> str:
    return f"v{width}i8" if dtype.kind == "bool" else suffix(dtype, width)


def _guarded(writer: Writer, operation: VectorOperation, array: Array) -> str:
    """The address of an element that exists only if a condition holds, or else of a dummy."""
    writer.module.declare(_NOTHING, f"@{_NOTHING} = private unnamed_addr constant i64 0")
    place = address(writer, array, operation.operands, inbounds=False)
    return writer.define(f"select i1 {_mask(writer, operation)}, ptr {place}, ptr @{_NOTHING}", "p")


# --- strided elements: as one vector of everything in between


def _span(operation: VectorOperation) -> int:
    return (operation.width - 1) * abs(operation.step) + 1


def _places(operation: VectorOperation) -> list[int]:
    """The positions of the lanes in that vector."""
    places = [lane * abs(operation.step) for lane in range(operation.width)]
    return places if operation.step > 0 else places[::-1]


def _spread(operation: VectorOperation, span: int) -> list[int | None]:
    """For each position in that vector, its lane."""
    lanes: list[int | None] = [None] * span
    for lane, place in enumerate(_places(operation)):
        lanes[place] = lane
    return lanes


def _spread_mask(writer: Writer, operation: VectorOperation, spread: Sequence[int | None]) -> str:
    if operation.mask is None:
        return f"<{', '.join(f'i1 {str(lane is not None).lower()}' for lane in spread)}>"
    kind = f"<{operation.width} x i1>"
    # Lanes of a second vector, of zeros, fill the gaps.
    lanes = [operation.width if lane is None else lane for lane in spread]
    return writer.shuffle(kind, _mask(writer, operation), "zeroinitializer", lanes)


def _moved(writer: Writer, place: str, dtype: DType, distance: int | str) -> str:
    return writer.define(f"getelementptr {memory_type(dtype)}, ptr {place}, i64 {distance}", "p")


# --- gathers and scatters, one lane after the other


def _one_lane(writer: Writer, value: Value, lane: int) -> Value:
    """One lane of a vector as a scalar value."""
    if not value.width:
        return value
    kind = register_type(dtype_of(value), value.width)
    return writer.hold(writer.define(f"extractelement {kind} {writer.value(value)}, i64 {lane}"), dtype_of(value))


def _gathered(writer: Writer, operation: VectorOperation, array: Array) -> str:
    """A gather; each `step` lanes are adjacent elements, which are loaded at once."""
    dtype, run, width = array.dtype, operation.step, operation.width // operation.step
    places = _evenly_spaced(writer, operation, array, operation.operands)
    if places:
        elements = [read(writer, place, dtype, writer.access_of(array)) for place in places]
        return writer.joined(register_type(dtype), elements, 1)
    vector, pointer = register_type(dtype, operation.width), writer.pointer(array)
    starts = range(0, operation.width, run)
    indices = tuple(_some_lanes(writer, index, starts) if run > 1 else index for index in operation.operands)
    several = sum(1 for index in indices if index.width) > 1
    numbered = several and array.contiguous and array.record_stride is None and array.axes() == (*range(array.ndim),)
    if numbered:
        indices = (_numbers(writer, array, indices, width),)
    if operation.mask is not None:
        # Inactive lanes read the first element, which exists if any lane is active.
        mask = _mask(writer, operation)
        first = writer.shuffle(f"<{operation.width} x i1>", mask, "poison", starts) if run > 1 else mask
        some = writer.define(f"icmp ne i{width} {writer.define(f'bitcast <{width} x i1> {first} to i{width}')}, 0")
        writer.module.declare(_NOTHING, f"@{_NOTHING} = private unnamed_addr constant i64 0")
        place = writer.define(f"select i1 {some}, ptr {pointer}, ptr @{_NOTHING}", "p")
        writer.parts[array, "pointer", 0] = place
        indices = tuple(_or_zero(writer, index, first if index.width else some) for index in indices)
    elements = []
    for lane in range(width):
        at = [_one_lane(writer, index, lane) for index in indices]
        if numbered:
            place = _moved(writer, writer.pointer(array), dtype, writer.value(at[0]))
        else:
            place = address(writer, array, at, inbounds=False)
        elements.append(read(writer, place, dtype, writer.access_of(array), run if run > 1 else 0))
    writer.parts[array, "pointer", 0] = pointer
    found = writer.joined(register_type(dtype), elements, run)
    if operation.mask is not None:
        found = writer.define(f"select <{operation.width} x i1> {mask}, {vector} {found}, {vector} zeroinitializer")
    return found


def _evenly_spaced(writer: Writer, operation: VectorOperation, array: Array, indices: Sequence[Value]) -> list[str]:
    """The addresses of elements with the same distance from lane to lane, which a multiple of the lane's number says; empty
    if they have none."""
    firsts, steps = [], []
    for index in indices:
        first, step = index, 0
        if index.width and isinstance(index, Operation) and index.code == "add":
            first, lanes = index.operands
            factor: Value = Constant(1, i64)
            if isinstance(lanes, Operation) and lanes.code == "mul":
                lanes, factor = lanes.operands
            if isinstance(lanes, Operation) and lanes.code == "lane_numbers" and isinstance(factor, Constant):
                step = int(factor.value)
        if first.width or (index.width and (not step or index.type is not i64)):
            return []
        firsts.append(first)
        steps.append(step)
    linear = array.layout is None or all(len(pieces) == 1 for pieces in array.layout)
    if operation.mask is not None or operation.step != 1 or not any(steps) or not linear:
        return []
    start = address(writer, array, firsts, inbounds=False)
    distance = element_offset(writer, array, [Constant(step, i64) for step in steps])
    moved = [writer.define(f"mul i64 {distance}, {lane}", "x") for lane in range(1, operation.width)]
    return [start, *(_moved(writer, start, array.dtype, each) for each in moved)]


def _some_lanes(writer: Writer, value: Value, lanes: Sequence[int]) -> Value:
    """The value in some of its lanes; a scalar is unchanged."""
    if not value.width:
        return value
    chosen = writer.shuffle(register_type(dtype_of(value), value.width), writer.value(value), "poison", lanes)
    return writer.hold(chosen, dtype_of(value), len(lanes))


def _numbers(writer: Writer, array: Array, indices: Sequence[Value], width: int) -> Value:
    """The numbers of the lanes' elements in C order: as vectors, they take fewer instructions than lane by lane."""
    total, kind = "", f"<{width} x i64>"
    for axis, index in enumerate(indices):
        dtype, number = dtype_of(index), writer.value(index, width)
        if dtype.bits < 64:
            extended = "sext" if is_signed(dtype) else "zext"
            number = writer.define(f"{extended} {register_type(dtype, width)} {number} to {kind}")
        if total:
            extent = writer.broadcast("i64", writer.extent(array, axis), width)
            number = writer.define(f"add {kind} {writer.define(f'mul {kind} {total}, {extent}')}, {number}")
        total = number
    return writer.hold(total, i64, width)


def _or_zero(writer: Writer, value: Value, holds: str) -> Value:
    """A number where a condition holds, and zero elsewhere."""
    dtype, width = dtype_of(value), value.width
    kind, zero = register_type(dtype, width), writer.constant(0, dtype, width)
    chosen = writer.define(f"select {register_type(u1, width)} {holds}, {kind} {writer.value(value)}, {kind} {zero}")
    return writer.hold(chosen, dtype, width)


def _lane_by_lane(writer: Writer, operation: VectorOperation) -> str:
    """Execute the operation for each lane in turn; return its result, if it has one."""
    width, dtype = operation.width, array_of(operation).dtype
    kind, vector, found = register_type(dtype), register_type(dtype, width), "poison"
    for lane in range(width):
        operands = tuple(_one_lane(writer, each, lane) for each in operation.operands)
        single = Operation(operation.code, operation.type, operands, operation.payload)
        if operation.mask is None:
            result = MEMORY[operation.code](writer, single)
        else:
            holds = writer.define(f"extractelement <{width} x i1> {_mask(writer, operation)}, i64 {lane}")
            before, then, after = writer.block, writer.label("lane"), writer.label("after")
            writer.branch(holds, then, after)
            writer.start(then)
            result = MEMORY[operation.code](writer, single)
            end = writer.block
            writer.jump(after)
            writer.start(after)
            if result is not None:
                result = writer.define(f"phi {kind} [ {literal(0, dtype)}, %{before} ], [ {result}, %{end} ]")
        if result is not None:
            found = writer.define(f"insertelement {vector} {found}, {kind} {result}, i64 {lane}")
    return found


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
    if isinstance(operation, VectorOperation):
        return _lane_by_lane(writer, operation)
    place, dtype = place_of(writer, atomic.target, indices)
    mark = writer.access_of(atomic.target) if isinstance(atomic.target, Array) else ""
    if atomic.singly and dtype.kind != "bool" and dtype.bits >= 32 and atomic.operation != "cas":
        return _update_singly(writer, place, dtype, atomic.operation, operands)
    return update(writer, place, dtype, atomic.step or atomic.operation, operands, mark)


def _update_singly(writer: Writer, place: str, dtype: DType, operation: str, values: Sequence[Value]) -> str:
    """A plain read-modify-write that LLVM does not combine with others: an unordered atomic is left alone, and compiles to
    the same instructions otherwise."""
    kind, order = memory_type(dtype), f"unordered, align {dtype.itemsize}"
    old = writer.define(f"load atomic {kind}, ptr {place} {order}", "m")
    new = combine(writer, operation, dtype, old, values[0])
    writer.emit(f"store atomic {kind} {new}, ptr {place} {order}")
    return old


def update(
    writer: Writer, place: str, dtype: DType, operation: str | Function, values: Sequence[Value], mark: str = ""
) -> str:
    """A plain read-modify-write; returns the old value."""
    old = read(writer, place, dtype, mark)
    if operation == "cas":
        expected, wanted = map(writer.value, values)
        bits, now, expected = _as_bits(writer, dtype, old, expected)
        same = writer.define(f"icmp eq {bits} {now}, {expected}")
        kind = register_type(dtype)
        new = writer.define(f"select i1 {same}, {kind} {wanted}, {kind} {old}")
    else:
        new = combine(writer, operation, dtype, old, values[0])
    write(writer, place, dtype, new, mark)
    return old


def _as_bits(writer: Writer, dtype: DType, *values: str) -> list[str]:
    kind = register_type(dtype)
    if not is_float(dtype):
        return [kind, *values]
    return [f"i{dtype.bits}", *(writer.define(f"bitcast {kind} {value} to i{dtype.bits}") for value in values)]


def _atomic(writer: Writer, operation: Operation) -> str:
    atomic, indices, operands = _split(operation)
    target = atomic.target
    if isinstance(operation, VectorOperation):
        return _lane_by_lane(writer, operation)
    place, dtype = place_of(writer, target, indices)
    if isinstance(target, Local) and not target.shared:
        return update(writer, place, dtype, atomic.operation, operands)
    return atomically(writer, place, dtype, atomic.step or atomic.operation, operands)


# A single instruction (or a loop that LLVM makes); all others need a compare-and-swap loop of our own.
_INSTRUCTIONS = {**{name: name for name in ("add", "sub", "min", "max", "and", "or", "xor")}, "exchange": "xchg"}
_BOOLEAN = {"add": "xor", "sub": "xor", "mul": "and", "min": "and", "max": "or"}


def atomically(writer: Writer, place: str, dtype: DType, operation: str | Function, values: Sequence[Value]) -> str:
    """An atomic read-modify-write with monotonic ordering; returns the old value."""
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
