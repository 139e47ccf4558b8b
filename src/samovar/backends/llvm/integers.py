"""Integer operations that LLVM leaves undefined somewhere, made total: division, remainder, power, shifts, bit counts.

Constant divisors and shift amounts need no guards and get none.
"""

from __future__ import annotations

from samovar._native import DType
from samovar.backends.llvm.module import PLAIN
from samovar.backends.llvm.types import is_signed, literal, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Constant, Operation


def floor_divide(writer: Writer, operation: Operation) -> str:
    """a // b, rounded down; 0 where b is 0; the least integer by -1 wraps."""
    left, right = operation.operands
    dtype = dtype_of(operation)
    kind, a = register_type(dtype), writer.value(left)
    if isinstance(right, Constant):
        return _floor_divide_constant(writer, dtype, a, int(right.value))
    b = writer.value(right)
    zero = writer.define(f"icmp eq {kind} {b}, 0")
    if not is_signed(dtype):
        safe = writer.define(f"select i1 {zero}, {kind} 1, {kind} {b}")
        quotient = writer.define(f"udiv {kind} {a}, {safe}")
        return writer.define(f"select i1 {zero}, {kind} 0, {kind} {quotient}")
    safe, minus = _guarded(writer, kind, b, zero)
    quotient = _floor(writer, kind, a, safe)
    negated = writer.define(f"sub {kind} 0, {a}")
    quotient = writer.define(f"select i1 {minus}, {kind} {negated}, {kind} {quotient}")
    return writer.define(f"select i1 {zero}, {kind} 0, {kind} {quotient}")


def modulo(writer: Writer, operation: Operation) -> str:
    """a % b with the sign of b; 0 where b is 0."""
    left, right = operation.operands
    dtype = dtype_of(operation)
    kind, a = register_type(dtype), writer.value(left)
    if isinstance(right, Constant):
        return _modulo_constant(writer, dtype, a, int(right.value))
    b = writer.value(right)
    zero = writer.define(f"icmp eq {kind} {b}, 0")
    if not is_signed(dtype):
        safe = writer.define(f"select i1 {zero}, {kind} 1, {kind} {b}")
        return writer.define(f"urem {kind} {a}, {safe}")
    # By 1 instead of 0 and -1, the remainder is the 0 that is wanted.
    safe, _ = _guarded(writer, kind, b, zero)
    return _floor_remainder(writer, kind, a, safe)


def _guarded(writer: Writer, kind: str, b: str, zero: str) -> tuple[str, str]:
    """A divisor that cannot trap (1 instead of 0 and -1), and whether it was -1."""
    minus = writer.define(f"icmp eq {kind} {b}, -1")
    unsafe = writer.define(f"or i1 {zero}, {minus}")
    return writer.define(f"select i1 {unsafe}, {kind} 1, {kind} {b}"), minus


def _floor(writer: Writer, kind: str, a: str, b: str) -> str:
    quotient = writer.define(f"sdiv {kind} {a}, {b}")
    product = writer.define(f"mul {kind} {quotient}, {b}")
    inexact = writer.define(f"icmp ne {kind} {product}, {a}")
    signs = writer.define(f"xor {kind} {a}, {b}")
    negative = writer.define(f"icmp slt {kind} {signs}, 0")
    correct = writer.define(f"and i1 {inexact}, {negative}")
    correction = writer.define(f"sext i1 {correct} to {kind}")
    return writer.define(f"add {kind} {quotient}, {correction}")


def _floor_remainder(writer: Writer, kind: str, a: str, b: str) -> str:
    remainder = writer.define(f"srem {kind} {a}, {b}")
    inexact = writer.define(f"icmp ne {kind} {remainder}, 0")
    signs = writer.define(f"xor {kind} {remainder}, {b}")
    negative = writer.define(f"icmp slt {kind} {signs}, 0")
    correct = writer.define(f"and i1 {inexact}, {negative}")
    correction = writer.define(f"select i1 {correct}, {kind} {b}, {kind} 0")
    return writer.define(f"add {kind} {remainder}, {correction}")


def _floor_divide_constant(writer: Writer, dtype: DType, a: str, divisor: int) -> str:
    kind = register_type(dtype)
    if divisor == 0:
        return "0" if dtype.bits > 1 else "false"
    if not is_signed(dtype):
        return a if divisor == 1 else writer.define(f"udiv {kind} {a}, {literal(divisor, dtype)}")
    if divisor == -1:
        return writer.define(f"sub {kind} 0, {a}")
    if divisor > 0 and divisor & (divisor - 1) == 0:
        return writer.define(f"ashr {kind} {a}, {divisor.bit_length() - 1}")
    return _floor(writer, kind, a, str(divisor))


def _modulo_constant(writer: Writer, dtype: DType, a: str, divisor: int) -> str:
    kind = register_type(dtype)
    if divisor in (0, 1) or (divisor == -1 and is_signed(dtype)):
        return "0" if dtype.bits > 1 else "false"
    if divisor > 0 and divisor & (divisor - 1) == 0:
        return writer.define(f"and {kind} {a}, {divisor - 1}")
    if not is_signed(dtype):
        return writer.define(f"urem {kind} {a}, {literal(divisor, dtype)}")
    return _floor_remainder(writer, kind, a, str(divisor))


def shift(writer: Writer, operation: Operation) -> str:
    """a << b or a >> b. By the width or more, or by a negative amount: 0, or the sign for a signed shift to the right."""
    left, right = operation.operands
    dtype = dtype_of(operation)
    kind, a = register_type(dtype), writer.value(left)
    signed_right = operation.code == "shr" and is_signed(dtype)
    instruction = "shl" if operation.code == "shl" else "ashr" if signed_right else "lshr"
    last = dtype.bits - 1
    if isinstance(right, Constant):
        amount = int(right.value)
        if 0 <= amount <= last:
            return writer.define(f"{instruction} {kind} {a}, {amount}") if amount else a
        if signed_right:
            return writer.define(f"ashr {kind} {a}, {last}")
        return "0" if dtype.bits > 1 else "false"
    b = writer.value(right)
    if dtype.bits == 1:
        unshifted = writer.define(f"xor i1 {b}, true")
        return writer.define(f"and i1 {a}, {unshifted}")
    inside = writer.define(f"icmp ult {kind} {b}, {dtype.bits}")
    amount_name = writer.define(f"select i1 {inside}, {kind} {b}, {kind} {last if signed_right else 0}")
    shifted = writer.define(f"{instruction} {kind} {a}, {amount_name}")
    return shifted if signed_right else writer.define(f"select i1 {inside}, {kind} {shifted}, {kind} 0")


def count_bits(writer: Writer, operation: Operation) -> str:
    """popcnt, clz and ffs."""
    dtype = dtype_of(operation)
    kind, a = register_type(dtype), writer.value(operation.operands[0])
    if dtype.bits == 1:
        return writer.define(f"xor i1 {a}, true") if operation.code == "clz" else a
    if operation.code == "popcnt":
        writer.module.declare(f"llvm.ctpop.{kind}", f"declare {kind} @llvm.ctpop.{kind}({kind})")
        return writer.define(f"call {kind} @llvm.ctpop.{kind}({kind} {a})")
    intrinsic = "ctlz" if operation.code == "clz" else "cttz"
    writer.module.declare(f"llvm.{intrinsic}.{kind}", f"declare {kind} @llvm.{intrinsic}.{kind}({kind}, i1)")
    zeros = writer.define(f"call {kind} @llvm.{intrinsic}.{kind}({kind} {a}, i1 false)")
    if operation.code == "clz":
        return zeros
    none = writer.define(f"icmp eq {kind} {a}, 0")
    position = writer.define(f"add {kind} {zeros}, 1")
    return writer.define(f"select i1 {none}, {kind} 0, {kind} {position}")


def power(writer: Writer, operation: Operation) -> str:
    """a ** b by squaring; a negative exponent gives the truncated reciprocal."""
    dtype = dtype_of(operation)
    kind = register_type(dtype)
    a, b = (writer.value(operand) for operand in operation.operands)
    if dtype.bits == 1:
        inverted = writer.define(f"xor i1 {b}, true")
        return writer.define(f"or i1 {a}, {inverted}")
    name = f"samovar.power.{dtype.name}"
    writer.module.helper(name, lambda: _power_text(name, kind, is_signed(dtype)))
    return writer.define(f"call {kind} @{name}({kind} {a}, {kind} {b})")


def _power_text(name: str, kind: str, signed: bool) -> str:
    lines = [f"define internal {kind} @{name}({kind} %base, {kind} %exponent) {PLAIN} {{", "entry:"]
    if signed:
        # The reciprocal of anything but 1 and -1 truncates to 0.
        lines += [
            f"  %negative = icmp slt {kind} %exponent, 0",
            "  br i1 %negative, label %reciprocal, label %loop",
            "reciprocal:",
            f"  %odd = and {kind} %exponent, 1",
            f"  %even = icmp eq {kind} %odd, 0",
            f"  %sign = select i1 %even, {kind} 1, {kind} -1",
            f"  %one = icmp eq {kind} %base, 1",
            f"  %minus = icmp eq {kind} %base, -1",
            f"  %other = select i1 %minus, {kind} %sign, {kind} 0",
            f"  %result.reciprocal = select i1 %one, {kind} 1, {kind} %other",
            f"  ret {kind} %result.reciprocal",
        ]
    else:
        lines.append("  br label %loop")
    lines += [
        "loop:",
        f"  %left = phi {kind} [ %exponent, %entry ], [ %left.next, %step ]",
        f"  %square = phi {kind} [ %base, %entry ], [ %square.next, %step ]",
        f"  %result = phi {kind} [ 1, %entry ], [ %result.next, %step ]",
        f"  %done = icmp eq {kind} %left, 0",
        "  br i1 %done, label %end, label %step",
        "step:",
        f"  %bit = and {kind} %left, 1",
        f"  %set = icmp ne {kind} %bit, 0",
        f"  %product = mul {kind} %result, %square",
        f"  %result.next = select i1 %set, {kind} %product, {kind} %result",
        f"  %square.next = mul {kind} %square, %square",
        f"  %left.next = lshr {kind} %left, 1",
        "  br label %loop",
        "end:",
        f"  ret {kind} %result",
        "}\n",
    ]
    return "\n".join(lines)
