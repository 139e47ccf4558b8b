"""The rules of mathematical functions of scalars; they apply element-wise to values with components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samovar._native import DType, i32, i64, u1, u64
from samovar.frontend.operators import POWER, as_float, binary, common_type, known_truth, truth
from samovar.frontend.rules import Call, Rule, dtype_argument, folded
from samovar.frontend.scalars import constant, convert, float_type, operation_type
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import OPCODES, Value
from samovar.language import is_float, is_integer


def host_function(code: str) -> Callable[..., Any]:
    """The Python implementation of an operation, which folds compile-time numbers."""
    python = OPCODES[code].host
    assert python is not None
    return python


def float_function(code: str, parameters: str = "x") -> Rule:
    """A float function; integers are converted to the default float type."""
    python = host_function(code)

    def apply(stager: Stager, call: Call) -> Staged:
        values, node = call.values, call.node
        known = folded(values, python)
        if known is not None:
            return known
        dtype = float_type(stager, common_type(stager, values, node))
        return Scalar(stager.emit(code, dtype, tuple([value.as_type(stager, dtype, node) for value in values])))

    return Rule(apply, parameters, elementwise=True)


def rounding(code: str) -> Rule:
    """floor, ceil, round, trunc: integers are unchanged; an optional dtype converts the result."""

    def apply(stager: Stager, call: Call) -> Staged:
        value = call["x"].scalar(stager, call.node)
        assert value.type is not None
        if is_float(value.type):
            if code == "round" and not isinstance(call["x"], Static) and halves_go_away(stager):
                value = halves_away(stager, value)
            else:
                value = stager.emit(code, value.type, (value,))
        wanted = call.get("dtype")
        return Scalar(value if wanted is None else convert(stager, value, dtype_argument(stager, wanted, call.node)))

    return Rule(apply, "x dtype?", elementwise=True)


def halves_go_away(stager: Stager) -> bool:
    """Whether `round` takes halves away from zero."""
    return bool(stager.context.lens.options.rounded_halves == "away")


def halves_away(stager: Stager, value: Value) -> Value:
    """The nearest integer; halves are rounded away from zero."""
    dtype = value.type
    assert dtype is not None
    whole = stager.emit("trunc", dtype, (value,))
    part = stager.emit("abs", dtype, (stager.emit("sub", dtype, (value, whole)),))
    is_far = stager.emit("ge", u1, (part, constant(0.5, dtype)))
    step = stager.emit("copysign", dtype, (constant(1.0, dtype), value))
    return stager.emit("select", dtype, (is_far, stager.emit("add", dtype, (whole, step)), whole))


def test_function(code: str) -> Rule:
    """isnan, isinf: False for integers."""

    def apply(stager: Stager, call: Call) -> Staged:
        if not is_float(call["x"].type(stager, call.node)):
            return Static(False)
        return Scalar(stager.emit(code, u1, (call["x"].scalar(stager, call.node),)))

    return Rule(apply, "x", elementwise=True)


def bit_function(code: str) -> Rule:
    """popcnt, clz, ffs: functions of the bits of an integer."""

    def apply(stager: Stager, call: Call) -> Staged:
        dtype = call["x"].type(stager, call.node)
        if not is_integer(dtype):
            stager.fail_type(call.node, f"`{code}` requires an integer, got {dtype.name}")
        return Scalar(convert(stager, stager.emit(code, dtype, (call["x"].scalar(stager, call.node),)), i32))

    return Rule(apply, "x", elementwise=True)


def extremum(code: str) -> Rule:
    """min, max: of several values, or of the items of one."""
    python = host_function(code)

    def smallest(stager: Stager, call: Call) -> Staged:
        values, node = call.values, call.node
        known = folded(values, python)
        if known is not None:
            return known
        dtype = common_type(stager, values, node)
        result = values[0].as_type(stager, dtype, node)
        for value in values[1:]:
            result = stager.emit(code, dtype, (result, value.as_type(stager, dtype, node)))
        return Scalar(result)

    of_several = Rule(smallest, "*values", elementwise=True)

    def apply(stager: Stager, call: Call) -> Staged:
        values = call.values
        if len(values) == 1 and isinstance(values[0], Items):
            values = values[0].items
        if not values:
            stager.fail_type(call.node, f"`{code}` requires at least one value")
        array = next((value for value in values if value.is_array() and not value.is_number()), None)
        if array is not None and array.known_array(stager) is None:
            name = array.describe().split("`")[1]
            stager.fail_type(
                call.node,
                f"`{code}` in a kernel takes numbers, not {array.describe()}",
                f"write a loop, `m = {code}(m, {name}[i])`, or call `sv.algorithms.{code}({name})` from Python",
            )
        named = {f"*values{position}": value for position, value in enumerate(values)}
        return of_several.applied(stager, Call(call.node, named, call.nodes))

    return Rule(apply, "*values", refusal=f"`{code}` takes no keyword arguments in a kernel")


def absolute(stager: Stager, call: Call) -> Staged:
    known = folded(call.values, abs)
    if known is not None:
        return known
    dtype = operation_type(stager, "abs", call["x"].type(stager, call.node))
    operand = call["x"].as_type(stager, dtype, call.node)
    return Scalar(operand if dtype.kind == "uint" else stager.emit("abs", dtype, (operand,)))


def power(stager: Stager, call: Call) -> Staged:
    known = folded(call.values, host_function("pow"))
    return known if known is not None else binary(stager, POWER, call["base"], call["exponent"], call.node)


def float_power(stager: Stager, call: Call) -> Staged:
    """`math.pow`: always in floats."""
    base = Scalar(as_float(stager, call["base"], call.node))
    return binary(stager, POWER, base, call["exponent"], call.node)


def select(stager: Stager, call: Call) -> Staged:
    first, second, node = call["x1"], call["x2"], call.node
    known = known_truth(stager, call["cond"], node)
    if known is not None:
        return first if known else second
    dtype = common_type(stager, [first, second], node)
    condition = truth(stager, call["cond"], node)
    operands = (condition, first.as_type(stager, dtype, node), second.as_type(stager, dtype, node))
    return Scalar(stager.emit("select", dtype, operands))


def clamp(stager: Stager, call: Call) -> Staged:
    dtype = common_type(stager, call.values, call.node)
    value, low, high = (each.as_type(stager, dtype, call.node) for each in call.values)
    # In this order, the derivative is 1 at both ends: of equal operands, the second has it.
    return Scalar(stager.emit("min", dtype, (high, stager.emit("max", dtype, (low, value)))))


def mix(stager: Stager, call: Call) -> Staged:
    dtype = float_type(stager, common_type(stager, call.values, call.node))
    first, second, weight = (each.as_type(stager, dtype, call.node) for each in call.values)
    left = stager.emit("mul", dtype, (first, stager.emit("sub", dtype, (constant(1, dtype), weight))))
    return Scalar(stager.emit("add", dtype, (left, stager.emit("mul", dtype, (second, weight)))))


def step(stager: Stager, call: Call) -> Staged:
    dtype = common_type(stager, call.values, call.node)
    value, edge = (call[name].as_type(stager, dtype, call.node) for name in ("x", "edge"))
    below = stager.emit("lt", u1, (value, edge))
    dtype = float_type(stager, dtype)
    return Scalar(stager.emit("select", dtype, (below, constant(0, dtype), constant(1, dtype))))


def sign(stager: Stager, call: Call) -> Staged:
    dtype = operation_type(stager, "neg", call["x"].type(stager, call.node))
    operand, zero = call["x"].as_type(stager, dtype, call.node), constant(0, dtype)
    above = convert(stager, stager.emit("gt", u1, (operand, zero)), dtype)
    if dtype.kind == "uint":
        return Scalar(above)
    below = convert(stager, stager.emit("lt", u1, (operand, zero)), dtype)
    return Scalar(stager.emit("sub", dtype, (above, below)))


def fract(stager: Stager, call: Call) -> Staged:
    operand = as_float(stager, call["x"], call.node)
    return Scalar(stager.emit("sub", operand.type, (operand, stager.emit("floor", operand.type, (operand,)))))


def scaled(factor: float) -> Rule:
    """`degrees` and `radians`."""

    def apply(stager: Stager, call: Call) -> Staged:
        known = call["x"].number()
        if known is not None:
            return Static(known * factor)
        operand = as_float(stager, call["x"], call.node)
        assert operand.type is not None
        return Scalar(stager.emit("mul", operand.type, (operand, constant(factor, operand.type))))

    return Rule(apply, "x", elementwise=True)


def random(stager: Stager, call: Call) -> Staged:
    return Scalar(stager.emit("random", random_type(stager, call.get("dtype"), call)))


def runtime_number(code: str, dtype: DType) -> Rule:
    """An integer that the runtime has, converted."""

    def ask(stager: Stager, call: Call) -> Staged:
        return Scalar(convert(stager, stager.emit(code, i64), dtype))

    return Rule(ask, "")


def randint(stager: Stager, call: Call) -> Staged:
    """low + bits * (high - low) / 2^64, rounded down. For ranges below 2^32 the product is computed in two halves, which
    vectorizes; otherwise it is the remainder of the bits. The bias of either is less than 2^-32."""
    wanted = call.get("dtype")
    dtype = i32 if wanted is None else dtype_argument(stager, wanted, call.node)
    if dtype.kind not in ("int", "uint"):
        stager.fail_type(call.node, f"`randint` returns integers, not {dtype.name}")
    first, last = (call[name].as_type(stager, dtype, call.node) for name in ("low", "high"))
    with stager.unwritten():
        low, high = convert(stager, first, u64), convert(stager, last, u64)
        span = stager.emit("sub", u64, (high, low))
        span = stager.emit("select", u64, (stager.emit("lt", u1, (first, last)), span, constant(0, u64)))
        bits = stager.emit("random", u64)
        if dtype.bits <= 32:
            half = constant(32, u64)
            lower = stager.emit("mul", u64, (stager.emit("and", u64, (bits, constant(0xFFFFFFFF, u64))), span))
            upper = stager.emit("mul", u64, (stager.emit("shr", u64, (bits, half)), span))
            whole = stager.emit("add", u64, (upper, stager.emit("shr", u64, (lower, half))))
            offset = stager.emit("shr", u64, (whole, half))
        else:
            offset = stager.emit("mod", u64, (bits, stager.emit("max", u64, (span, constant(1, u64)))))
        return Scalar(convert(stager, stager.emit("add", u64, (low, offset)), dtype))


def randn(stager: Stager, call: Call) -> Staged:
    """The Box-Muller transform: 1 - u is in (0, 1], where the logarithm is finite."""
    dtype = random_type(stager, call.get("dt"), call)
    if not is_float(dtype):
        stager.fail_type(call.node, f"`randn` returns floats, not {dtype.name}")
    uniform = stager.emit("sub", dtype, (constant(1, dtype), stager.emit("random", dtype)))
    logarithm = stager.emit("mul", dtype, (constant(-2, dtype), stager.emit("log", dtype, (uniform,))))
    angle = stager.emit("mul", dtype, (constant(6.283185307179586, dtype), stager.emit("random", dtype)))
    radius = stager.emit("sqrt", dtype, (logarithm,))
    return Scalar(stager.emit("mul", dtype, (radius, stager.emit("cos", dtype, (angle,)))))


def random_type(stager: Stager, wanted: Staged | None, call: Call) -> DType:
    return stager.context.default_fp if wanted is None else dtype_argument(stager, wanted, call.node)
