"""Pure operations → LLVM text, after the pass `legalize`: arithmetic, bits, comparison, selection, conversion."""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, u1
from samovar.backends.llvm import mathematics
from samovar.backends.llvm.minmax import extreme
from samovar.backends.llvm.types import is_float, is_signed, register_type, suffix
from samovar.backends.llvm.writer import Writer, narrowed
from samovar.ir import OPCODES, Function, Operation, Value, dtype_of

Rendering = Callable[[Writer, Operation], str]


def _arithmetic(signed: str, unsigned: str, floating: str = "") -> Rendering:
    """An instruction with a variant for each kind of number."""

    def render(writer: Writer, operation: Operation) -> str:
        left, right = writer.operands(operation)
        dtype = dtype_of(operation)
        instruction = f"{signed if is_signed(dtype) else unsigned} "
        if is_float(dtype):
            instruction = f"{floating} {mathematics.flags(writer, operation)}"
        return writer.define(f"{instruction}{register_type(dtype, operation.width)} {left}, {right}")

    return render


def combine(writer: Writer, operation: str | Function, dtype: DType, a: str, b: Value | str) -> str:
    """One step of an update: `a operation b`, where `a` is a register; "exchange" gives b. A function takes both: a
    composite operation (see `samovar.passes.legalize`)."""
    right = writer.hold(b, dtype) if isinstance(b, str) else b
    if operation == "exchange":
        return writer.value(right)
    if isinstance(operation, Function):
        kind, callee = register_type(dtype), writer.module.callee(operation)
        return writer.define(f"call {kind} @{callee.name}({kind} {a}, {kind} {writer.value(right)})")
    return OPERATIONS[operation](writer, Operation(operation, dtype, (writer.hold(a, dtype), right)))


def _negate(writer: Writer, operation: Operation) -> str:
    dtype, width = dtype_of(operation), operation.width
    kind, (a,) = register_type(dtype, width), writer.operands(operation)
    if is_float(dtype):
        return writer.define(f"fneg {mathematics.flags(writer, operation)}{kind} {a}")
    return writer.define(f"sub {kind} {writer.constant(0, dtype, width)}, {a}")


def _magnitude(writer: Writer, operation: Operation) -> str:
    if is_float(dtype_of(operation)):
        return mathematics.function(writer, operation)
    return _integer_intrinsic(writer, operation, "abs", ("i1", "false"))


def _count(*choice: tuple[str, str]) -> Rendering:
    """An intrinsic that counts bits; `choice` is its argument about zero."""
    return lambda writer, operation: _integer_intrinsic(writer, operation, OPCODES[operation.code].intrinsic, *choice)


def _integer_intrinsic(writer: Writer, operation: Operation, name: str, *choice: tuple[str, str]) -> str:
    dtype, (a,) = dtype_of(operation), writer.operands(operation)
    kind = register_type(dtype, operation.width)
    return writer.intrinsic(kind, f"llvm.{name}.{suffix(dtype, operation.width)}", (kind, a), *choice)


def _invert(writer: Writer, operation: Operation) -> str:
    dtype, (a,) = dtype_of(operation), writer.operands(operation)
    ones = writer.constant(-1, dtype, operation.width)
    return writer.define(f"xor {register_type(dtype, operation.width)} {a}, {ones}")


def _compare(writer: Writer, operation: Operation) -> str:
    left, right = writer.operands(operation)
    dtype, code = dtype_of(operation.operands[0]), operation.code
    if is_float(dtype):
        # No flags: programs detect NaN by comparisons.
        predicate = "fcmp une" if code == "ne" else f"fcmp o{code}"
    elif code in ("eq", "ne"):
        predicate = f"icmp {code}"
    else:
        predicate = f"icmp {'s' if is_signed(dtype) else 'u'}{code}"
    return writer.define(f"{predicate} {register_type(dtype, operation.width)} {left}, {right}")


def _is_nan(writer: Writer, operation: Operation) -> str:
    dtype, width, (a,) = dtype_of(operation.operands[0]), operation.width, writer.operands(operation)
    return writer.define(f"fcmp uno {register_type(dtype, width)} {a}, {writer.constant(0.0, dtype, width)}")


def _select(writer: Writer, operation: Operation) -> str:
    condition, *chosen = operation.operands
    width, kind = operation.width, register_type(dtype_of(operation), operation.width)
    left, right = (writer.value(each, width) for each in chosen)
    if width and isinstance(chosen[1], Operation) and chosen[1].code == "load":
        # Or LLVM makes a store of it a masked one, which is slower and does not forward to later loads.
        right = writer.define(f"freeze {kind} {right}")
    return writer.define(
        f"select {register_type(u1, condition.width)} {writer.value(condition)}, {kind} {left}, {kind} {right}"
    )


def _cast(writer: Writer, operation: Operation) -> str:
    (operand,), (a,) = operation.operands, writer.operands(operation)
    if isinstance(operation.payload, tuple):
        return writer.define(narrowed(a, dtype_of(operation), operation.payload[0]), "i")
    return convert(writer, a, dtype_of(operand), dtype_of(operation), operation.width)


def convert(writer: Writer, a: str, source: DType, target: DType, width: int = 0) -> str:
    """A register converted to another dtype, where that is one instruction: not from float to integer."""
    if source is target:
        return a
    before, after = register_type(source, width), register_type(target, width)
    if is_float(target):
        if is_float(source):
            return writer.define(f"{'fptrunc' if source.bits > target.bits else 'fpext'} {before} {a} to {after}")
        return writer.define(f"{'sitofp' if is_signed(source) else 'uitofp'} {before} {a} to {after}")
    if source.bits == target.bits:
        return a
    if source.bits > target.bits:
        return writer.define(f"trunc {before} {a} to {after}")
    return writer.define(f"{'sext' if is_signed(source) else 'zext'} {before} {a} to {after}")


def _to_integer(writer: Writer, operation: Operation) -> str:
    dtype, width, (a,) = dtype_of(operation), operation.width, writer.operands(operation)
    before, after = register_type(dtype_of(operation.operands[0]), width), register_type(dtype, width)
    found = writer.define(f"{'fptosi' if is_signed(dtype) else 'fptoui'} {before} {a} to {after}")
    # In inactive lanes it may not fit, and a branch must not depend on poison.
    return writer.define(f"freeze {after} {found}") if width else found


def _bit_cast(writer: Writer, operation: Operation) -> str:
    source, target, width = dtype_of(operation.operands[0]), dtype_of(operation), operation.width
    before, after, (a,) = register_type(source, width), register_type(target, width), writer.operands(operation)
    if before == after:
        return a
    instruction = "zext" if source.bits == 1 else "trunc" if target.bits == 1 else "bitcast"
    return writer.define(f"{instruction} {before} {a} to {after}")


# --- operations on vectors only


def _lane_numbers(writer: Writer, operation: Operation) -> str:
    kind = register_type(dtype_of(operation))
    lanes = ", ".join(f"{kind} {lane}" for lane in range(operation.width))
    return f"<{lanes}>"


def _any(writer: Writer, operation: Operation) -> str:
    (mask,) = operation.operands
    bits = writer.define(f"bitcast <{mask.width} x i1> {writer.value(mask)} to i{mask.width}")
    return writer.define(f"icmp ne i{mask.width} {bits}, 0")


#: LLVM's names of the reductions, for floats, and for signed and unsigned integers.
_REDUCTIONS = {
    "add": ("fadd", "add", "add"), "mul": ("fmul", "mul", "mul"), "min": ("fmin", "smin", "umin"),
    "max": ("fmax", "smax", "umax"), "and": ("", "and", "and"), "or": ("", "or", "or"), "xor": ("", "xor", "xor"),
}  # fmt: skip


def _reduce(writer: Writer, operation: Operation) -> str:
    """Combine all lanes by an operation, in any order."""
    (vector,), dtype = operation.operands, dtype_of(operation)
    floating, signed, unsigned = _REDUCTIONS[operation.payload]
    name = floating if is_float(dtype) else signed if is_signed(dtype) else unsigned
    kind, lanes = register_type(dtype), register_type(dtype, vector.width)
    full = f"llvm.vector.reduce.{name}.{suffix(dtype, vector.width)}"
    value = (lanes, writer.value(vector))
    if not is_float(dtype):
        return writer.intrinsic(kind, full, value)
    start = {"add": "-0.0", "mul": "1.0"}.get(operation.payload)
    if start is None:
        return writer.intrinsic(kind, full, value, flags=writer.flags)
    return writer.intrinsic(kind, full, (kind, start), value, flags=writer.flags or "reassoc ")


def _shuffle(writer: Writer, operation: Operation) -> str:
    """Lanes of one or two vectors, by number."""
    first, *others = operation.operands
    kind = register_type(dtype_of(operation), first.width)
    other = writer.value(others[0]) if others else "poison"
    return writer.shuffle(kind, writer.value(first), other, operation.payload)


OPERATIONS: dict[str, Rendering] = {
    "add": _arithmetic("add", "add", "fadd"),
    "sub": _arithmetic("sub", "sub", "fsub"),
    "mul": _arithmetic("mul", "mul", "fmul"),
    "div": _arithmetic("", "", "fdiv"),
    "quotient": _arithmetic("sdiv", "udiv"),
    "remainder": _arithmetic("srem", "urem"),
    "neg": _negate,
    "abs": _magnitude,
    "min": extreme,
    "max": extreme,
    "and": _arithmetic("and", "and"),
    "or": _arithmetic("or", "or"),
    "xor": _arithmetic("xor", "xor"),
    "not": _invert,
    "shift_left": _arithmetic("shl", "shl"),
    "shift_right": _arithmetic("ashr", "lshr"),
    "popcnt": _count(),
    "clz": _count(("i1", "false")),
    "ctz": _count(("i1", "false")),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _compare),
    "isnan": _is_nan,
    "select": _select,
    "cast": _cast,
    "to_integer": _to_integer,
    "bitcast": _bit_cast,
    "lane_numbers": _lane_numbers,
    "any": _any,
    "reduce": _reduce,
    "shuffle": _shuffle,
    **mathematics.MATHEMATICS,
}
