"""The table of pure operations: arithmetic, bits, comparison, choice, conversion → LLVM text."""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, f32
from samovar.backends.llvm import integers, mathematics
from samovar.backends.llvm.extremes import extreme
from samovar.backends.llvm.products import paired_product
from samovar.backends.llvm.sums import fused_sum
from samovar.backends.llvm.truncation import truncate
from samovar.backends.llvm.types import is_float, is_signed, literal, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Operation, Value

Rendering = Callable[[Writer, Operation], str]


def _arithmetic(integer: str, floating: str) -> Rendering:
    def render(writer: Writer, operation: Operation) -> str:
        left, right = operation.operands
        dtype = dtype_of(operation)
        instruction = floating + " " + writer.flags if is_float(dtype) else integer + " "
        return writer.define(f"{instruction}{register_type(dtype)} {writer.value(left)}, {writer.value(right)}")

    return render


def _sum(instruction: str) -> Rendering:
    plain = _arithmetic(instruction, "f" + instruction)

    def render(writer: Writer, operation: Operation) -> str:
        return (fused_sum(writer, operation) if writer.chain else None) or plain(writer, operation)

    return render


_plain_product = _arithmetic("mul", "fmul")


def _product(writer: Writer, operation: Operation) -> str:
    paired = paired_product(writer, operation) if writer.module.fast_math else None
    return paired or _plain_product(writer, operation)


def combine(writer: Writer, operation: str, dtype: DType, a: str, b: Value | str) -> str:
    """One step of an update or a reduction: `a operation b`, where `a` is a register; "exchange" gives b."""
    right = b
    if isinstance(right, str):
        right = Value(dtype)
        writer.values[right] = str(b)
    if operation == "exchange":
        return writer.value(right)
    left = Value(dtype)
    writer.values[left] = a
    return OPERATIONS[operation](writer, Operation(operation, dtype, (left, right)))


def _negate(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    a = writer.value(operation.operands[0])
    if is_float(dtype):
        return writer.define(f"fneg {writer.flags}{register_type(dtype)} {a}")
    return writer.define(f"sub {register_type(dtype)} 0, {a}") if dtype.bits > 1 else a


def _magnitude(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    kind, a = register_type(dtype), writer.value(operation.operands[0])
    if is_float(dtype):
        return mathematics.intrinsic(writer, "fabs", dtype, a)
    if not is_signed(dtype):
        return a
    writer.module.declare(f"llvm.abs.{kind}", f"declare {kind} @llvm.abs.{kind}({kind}, i1)")
    return writer.define(f"call {kind} @llvm.abs.{kind}({kind} {a}, i1 false)")


def _invert(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    return writer.define(f"xor {register_type(dtype)} {writer.value(operation.operands[0])}, {literal(-1, dtype)}")


def _by_kind(integer: Rendering, floating: Rendering) -> Rendering:
    return lambda writer, operation: (floating if is_float(dtype_of(operation)) else integer)(writer, operation)


def _compare(writer: Writer, operation: Operation) -> str:
    left, right = operation.operands
    dtype = dtype_of(left)
    code = operation.code
    if is_float(dtype):
        # No flags: comparisons are how programs find out about NaN.
        predicate = "fcmp une" if code == "ne" else f"fcmp o{code}"
    elif code in ("eq", "ne"):
        predicate = f"icmp {code}"
    else:
        predicate = f"icmp {'s' if is_signed(dtype) else 'u'}{code}"
    return writer.define(f"{predicate} {register_type(dtype)} {writer.value(left)}, {writer.value(right)}")


def _is_nan(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    dtype = dtype_of(operand)
    if not is_float(dtype):
        return "false"
    return writer.define(f"fcmp uno {register_type(dtype)} {writer.value(operand)}, {literal(0.0, dtype)}")


def _is_infinite(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    dtype = dtype_of(operand)
    if not is_float(dtype):
        return "false"
    magnitude = mathematics.intrinsic(writer, "fabs", dtype, writer.value(operand), flags="")
    return writer.define(f"fcmp oeq {register_type(dtype)} {magnitude}, {literal(float('inf'), dtype)}")


def _select(writer: Writer, operation: Operation) -> str:
    condition, left, right = operation.operands
    kind = register_type(dtype_of(operation))
    return writer.define(f"select i1 {writer.value(condition)}, {kind} {writer.value(left)}, {kind} {writer.value(right)}")


def _cast(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    return convert(writer, writer.value(operand), dtype_of(operand), dtype_of(operation), operation.payload)


def convert(writer: Writer, a: str, source: DType, target: DType, mark: str | None = None) -> str:
    """A register of one dtype as another dtype; `mark` is that of a truncation."""
    if source is target:
        return a
    before, after = register_type(source), register_type(target)
    if is_float(target):
        return _to_float(writer, a, source, target)
    if target.kind == "bool":
        if is_float(source):
            return writer.define(f"fcmp une {before} {a}, {literal(0.0, source)}")
        return writer.define(f"icmp ne {before} {a}, 0")
    if is_float(source):
        return truncate(writer, a, source, target, mark)
    if source.bits == target.bits:
        return a
    if source.bits > target.bits:
        return writer.define(f"trunc {before} {a} to {after}")
    return writer.define(f"{'sext' if is_signed(source) else 'zext'} {before} {a} to {after}")


def _to_float(writer: Writer, a: str, source: DType, target: DType) -> str:
    before, after = register_type(source), register_type(target)
    if is_float(source):
        return writer.define(f"{'fptrunc' if source.bits > target.bits else 'fpext'} {before} {a} to {after}")
    if target.bits == 16:
        # Integers that f32 does not hold exactly are beyond f16 anyway.
        return writer.define(f"fptrunc float {_to_float(writer, a, source, f32)} to half")
    return writer.define(f"{'sitofp' if is_signed(source) else 'uitofp'} {before} {a} to {after}")


def _bit_cast(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    before, after = register_type(dtype_of(operand)), register_type(dtype_of(operation))
    a = writer.value(operand)
    if before == after:
        return a
    if before == "i1":
        return writer.define(f"zext i1 {a} to {after}")
    if after == "i1":
        return writer.define(f"trunc {before} {a} to i1")
    return writer.define(f"bitcast {before} {a} to {after}")


OPERATIONS: dict[str, Rendering] = {
    "add": _sum("add"),
    "sub": _sum("sub"),
    "mul": _product,
    "div": _arithmetic("", "fdiv"),
    "floordiv": _by_kind(integers.floor_divide, mathematics.floor_divide),
    "mod": _by_kind(integers.modulo, mathematics.modulo),
    "pow": _by_kind(integers.power, mathematics.power),
    "neg": _negate,
    "abs": _magnitude,
    "min": extreme,
    "max": extreme,
    "and": _arithmetic("and", ""),
    "or": _arithmetic("or", ""),
    "xor": _arithmetic("xor", ""),
    "not": _invert,
    "shl": integers.shift,
    "shr": integers.shift,
    "popcnt": integers.count_bits,
    "clz": integers.count_bits,
    "ffs": integers.count_bits,
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _compare),
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "select": _select,
    "cast": _cast,
    "bitcast": _bit_cast,
    **mathematics.MATHEMATICS,
}
