"""C arithmetic, the parts of a float, and values that depend only on a type."""

from __future__ import annotations

from samovar._native import DType, f16, f32, i32, u1, u8, u16, u32, u64
from samovar.frontend.mathematics import select
from samovar.frontend.operators import as_float, common_type
from samovar.frontend.rules import Call, Rule
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.ir import Value
from samovar.language import is_float

#: Bits of a float → bits of its mantissa, exponent bias, and a power of two that makes it normal.
FLOATS = {32: (23, 126, 25), 64: (52, 1022, 54)}


def numbers(stager: Stager, call: Call) -> tuple[DType, Value, Value]:
    """Both arguments in the type they promote to."""
    dtype = common_type(stager, call.values, call.node)
    if dtype is u1:
        dtype = stager.context.default_ip
    first, second = (each.as_type(stager, dtype, call.node) for each in call.values)
    return dtype, first, second


def raw_quotient(stager: Stager, dtype: DType, dividend: Value, divisor: Value) -> Value:
    """The truncated quotient of integers: one more than the floor if that is negative and not exact."""
    floor = stager.emit("floordiv", dtype, (dividend, divisor))
    if dtype.kind == "uint":
        return floor
    zero = constant(0, dtype)
    rest = stager.emit("ne", u1, (stager.emit("mod", dtype, (dividend, divisor)), zero))
    signs = [stager.emit("lt", u1, (each, zero)) for each in (dividend, divisor)]
    below = stager.emit("and", u1, (rest, stager.emit("xor", u1, tuple(signs))))
    return stager.emit("add", dtype, (floor, convert(stager, below, dtype)))


def raw_div(stager: Stager, call: Call) -> Staged:
    dtype, dividend, divisor = numbers(stager, call)
    if is_float(dtype):
        return Scalar(stager.emit("div", dtype, (dividend, divisor)))
    with stager.unwritten():
        return Scalar(raw_quotient(stager, dtype, dividend, divisor))


def raw_mod(stager: Stager, call: Call) -> Staged:
    dtype, dividend, divisor = numbers(stager, call)
    if is_float(dtype):
        return Scalar(stager.emit("fmod", dtype, (dividend, divisor)))
    with stager.unwritten():
        whole = stager.emit("mul", dtype, (raw_quotient(stager, dtype, dividend, divisor), divisor))
        rest = stager.emit("sub", dtype, (dividend, whole))
        is_zero = stager.emit("eq", u1, (divisor, constant(0, dtype)))
        return Scalar(stager.emit("select", dtype, (is_zero, constant(0, dtype), rest)))


def bit_shr(stager: Stager, call: Call) -> Staged:
    dtype, value, count = numbers(stager, call)
    if is_float(dtype):
        stager.fail_type(call.node, f"`bit_shr` requires integers, got {dtype.name}", "convert first: `int(x)`")
    bits = unsigned(dtype)
    moved = stager.emit("shr", bits, (convert(stager, value, bits), convert(stager, count, bits)))
    return Scalar(convert(stager, moved, dtype))


def unsigned(dtype: DType) -> DType:
    return {8: u8, 16: u16, 32: u32, 64: u64}[dtype.bits]


def frexp(stager: Stager, call: Call) -> Staged:
    """`frexp` from the bits. A denormal is scaled up first."""
    value = as_float(stager, call["x"], call.node)
    if value.type is f16:
        value = convert(stager, value, f32)
    dtype = value.type
    assert dtype is not None
    fraction, bias, power = FLOATS[dtype.bits]
    bits = unsigned(dtype)
    low, mask = (1 << fraction) - 1, (1 << (dtype.bits - 1 - fraction)) - 1
    least = constant(2.0**-bias, dtype)
    size = stager.emit("abs", dtype, (value,))
    tiny = stager.emit("lt", u1, (size, least))
    larger = stager.emit("mul", dtype, (value, constant(2.0**power, dtype)))
    raw = stager.emit("bitcast", bits, (stager.emit("select", dtype, (tiny, larger, value)),))
    exponent = stager.emit("and", bits, (stager.emit("shr", bits, (raw, constant(fraction, bits))), constant(mask, bits)))
    sign = 1 << (dtype.bits - 1)
    kept = stager.emit("and", bits, (raw, constant(sign | low, bits)))
    mantissa = stager.emit("bitcast", dtype, (stager.emit("or", bits, (kept, constant(bias << fraction, bits))),))
    is_zero = stager.emit("eq", u1, (size, constant(0, dtype)))
    special = stager.emit("or", u1, (is_zero, stager.emit("eq", u1, (exponent, constant(mask, bits)))))
    counted = stager.emit("sub", i32, (convert(stager, exponent, i32), constant(bias, i32)))
    moved = stager.emit("select", i32, (tiny, constant(power, i32), constant(0, i32)))
    whole = stager.emit("sub", i32, (counted, moved))
    return Items(
        (
            Scalar(stager.emit("select", dtype, (special, value, mantissa))),
            Scalar(stager.emit("select", i32, (special, constant(0, i32), whole))),
        )
    )


def alike(number: int) -> Rule:
    """`zero(x)`, `one(x)`: of the type of the argument."""

    def apply(stager: Stager, call: Call) -> Staged:
        return Scalar(constant(number, call["x"].type(stager, call.node)))

    return Rule(apply, "x", elementwise=True)


def exponent_parts(stager: Stager, call: Call) -> Staged:
    with stager.unwritten():
        return frexp(stager, call)


INTRINSICS: dict[str, Rule] = {
    "samovar.raw_div": Rule(raw_div, "x1 x2", elementwise=True),
    "samovar.raw_mod": Rule(raw_mod, "x1 x2", elementwise=True),
    "samovar.bit_shr": Rule(bit_shr, "x1 x2", elementwise=True),
    "samovar.frexp": Rule(exponent_parts, "x"),
    "samovar.zero": alike(0),
    "samovar.one": alike(1),
    "samovar.ifte": Rule(select, "cond x1 x2", elementwise=True),
}
