"""The table of pure operations → LLVM text, after the pass `legalise`: arithmetic, bits, comparison, choice, conversion."""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, u1
from samovar.backends.llvm import mathematics
from samovar.backends.llvm.extremes import extreme
from samovar.backends.llvm.products import paired_product
from samovar.backends.llvm.sums import fused_sum
from samovar.backends.llvm.types import is_float, is_signed
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import OPCODES, Function, Operation, Value

Rendering = Callable[[Writer, Operation], str]


def _arithmetic(integer: str, floating: str) -> Rendering:
    def render(writer: Writer, operation: Operation) -> str:
        left, right = operation.operands
        dtype = dtype_of(operation)
        instruction = floating + " " + mathematics.flags(writer, operation) if is_float(dtype) else integer + " "
        return writer.define(f"{instruction}{writer.kind(dtype)} {writer.value(left)}, {writer.value(right)}")

    return render


def _by_sign(signed: str, unsigned: str) -> Rendering:
    """An instruction on integers that has a form for each kind."""

    def render(writer: Writer, operation: Operation) -> str:
        left, right = operation.operands
        dtype = dtype_of(operation)
        instruction = signed if is_signed(dtype) else unsigned
        return writer.define(f"{instruction} {writer.kind(dtype)} {writer.value(left)}, {writer.value(right)}")

    return render


def _sum(instruction: str) -> Rendering:
    plain = _arithmetic(instruction, "f" + instruction)

    def render(writer: Writer, operation: Operation) -> str:
        fused = fused_sum(writer, operation) if writer.chain and operation.payload is None else None
        return fused or plain(writer, operation)

    return render


_plain_product = _arithmetic("mul", "fmul")


def _product(writer: Writer, operation: Operation) -> str:
    pairs = writer.module.fast_math and operation.payload is None and "paired" not in writer.module.program.without
    paired = paired_product(writer, operation) if pairs else None
    return paired or _plain_product(writer, operation)


def combine(writer: Writer, operation: str | Function, dtype: DType, a: str, b: Value | str) -> str:
    """One step of an update or a reduction: `a operation b`, where `a` is a register; "exchange" gives b. A function takes
    both: what no operation does (see `samovar.passes.legalise`)."""
    right = b
    if isinstance(right, str):
        right = Value(dtype)
        writer.hold(right, str(b))
    if operation == "exchange":
        return writer.value(right)
    if isinstance(operation, Function):
        kind, callee = writer.kind(dtype), writer.module.callee(operation)
        return writer.define(f"call {kind} @{callee.name}({kind} {a}, {kind} {writer.value(right)})")
    left = Value(dtype)
    writer.hold(left, a)
    return OPERATIONS[operation](writer, Operation(operation, dtype, (left, right)))


def _negate(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    a = writer.value(operation.operands[0])
    if is_float(dtype):
        return writer.define(f"fneg {mathematics.flags(writer, operation)}{writer.kind(dtype)} {a}")
    return writer.define(f"sub {writer.kind(dtype)} {writer.constant(0, dtype)}, {a}")


def _magnitude(writer: Writer, operation: Operation) -> str:
    if is_float(dtype_of(operation)):
        return mathematics.function(writer, operation)
    return _integer_intrinsic(writer, operation, "abs", ", i1 false")


def _count(choice: str) -> Rendering:
    """An intrinsic that counts bits; `choice` is what it is told about zero."""
    return lambda writer, operation: _integer_intrinsic(writer, operation, OPCODES[operation.code].intrinsic, choice)


def _integer_intrinsic(writer: Writer, operation: Operation, name: str, choice: str) -> str:
    kind, a = writer.kind(dtype_of(operation)), writer.value(operation.operands[0])
    parameters = f"{kind}, i1" if choice else kind
    full = f"llvm.{name}.{writer.suffix(dtype_of(operation))}"
    writer.module.declare(full, f"declare {kind} @{full}({parameters})")
    return writer.define(f"call {kind} @{full}({kind} {a}{choice})")


def _invert(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    return writer.define(f"xor {writer.kind(dtype)} {writer.value(operation.operands[0])}, {writer.constant(-1, dtype)}")


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
    return writer.define(f"{predicate} {writer.kind(dtype)} {writer.value(left)}, {writer.value(right)}")


def _is_nan(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    dtype = dtype_of(operand)
    return writer.define(f"fcmp uno {writer.kind(dtype)} {writer.value(operand)}, {writer.constant(0.0, dtype)}")


def _select(writer: Writer, operation: Operation) -> str:
    condition, left, right = operation.operands
    kind = writer.kind(dtype_of(operation))
    chosen = f"{kind} {writer.value(left)}, {kind} {writer.value(right)}"
    return writer.define(f"select {writer.kind(u1)} {writer.value(condition)}, {chosen}")


def _cast(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    return convert(writer, writer.value(operand), dtype_of(operand), dtype_of(operation))


def convert(writer: Writer, a: str, source: DType, target: DType) -> str:
    """A register of one dtype as another dtype, where that is one instruction: no float as an integer."""
    if source is target:
        return a
    before, after = writer.kind(source), writer.kind(target)
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
    operand, dtype = operation.operands[0], dtype_of(operation)
    instruction = "fptosi" if is_signed(dtype) else "fptoui"
    before, after = writer.kind(dtype_of(operand)), writer.kind(dtype)
    return writer.define(f"{instruction} {before} {writer.value(operand)} to {after}")


def _bit_cast(writer: Writer, operation: Operation) -> str:
    operand = operation.operands[0]
    before, after = writer.kind(dtype_of(operand)), writer.kind(dtype_of(operation))
    a = writer.value(operand)
    if before == after:
        return a
    if dtype_of(operand).bits == 1:
        return writer.define(f"zext {before} {a} to {after}")
    if dtype_of(operation).bits == 1:
        return writer.define(f"trunc {before} {a} to {after}")
    return writer.define(f"bitcast {before} {a} to {after}")


OPERATIONS: dict[str, Rendering] = {
    "add": _sum("add"),
    "sub": _sum("sub"),
    "mul": _product,
    "div": _arithmetic("", "fdiv"),
    "quotient": _by_sign("sdiv", "udiv"),
    "remainder": _by_sign("srem", "urem"),
    "neg": _negate,
    "abs": _magnitude,
    "min": extreme,
    "max": extreme,
    "and": _arithmetic("and", ""),
    "or": _arithmetic("or", ""),
    "xor": _arithmetic("xor", ""),
    "not": _invert,
    "shift_left": _by_sign("shl", "shl"),
    "shift_right": _by_sign("ashr", "lshr"),
    "popcnt": _count(""),
    "clz": _count(", i1 false"),
    "ctz": _count(", i1 false"),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _compare),
    "isnan": _is_nan,
    "select": _select,
    "cast": _cast,
    "to_integer": _to_integer,
    "bitcast": _bit_cast,
    **mathematics.MATHEMATICS,
}
