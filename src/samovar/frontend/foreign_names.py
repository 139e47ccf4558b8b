"""The functions of NumPy and Python's `math` that kernels support beyond the table of operations: one rule per name.

A NumPy function means in a kernel what it means for one number; its arguments are positional.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from samovar._native import DType, f64, u1
from samovar.frontend.mathematics import extremum, rounding
from samovar.frontend.operators import BINARY, as_float, binary, common_type
from samovar.frontend.rules import Call, Rule, SyntaxRule, folded
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import cast_to as to_dtype
from samovar.frontend.staged.intrinsic import python_type
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import Value
from samovar.language import LONG_NAMES, is_float

#: NumPy's name → ours, where they differ.
OURS = {
    "absolute": "samovar.abs", "arccos": "samovar.acos", "arccosh": "samovar.math.acosh", "arcsin": "samovar.asin",
    "arcsinh": "samovar.math.asinh", "arctan": "samovar.atan", "arctan2": "samovar.atan2", "arctanh": "samovar.math.atanh",
    "clip": "samovar.math.clamp", "deg2rad": "samovar.math.radians", "fabs": "samovar.abs", "fmax": "samovar.max",
    "fmin": "samovar.min", "power": "samovar.pow", "rad2deg": "samovar.math.degrees", "rint": "samovar.round",
    "where": "samovar.select",
}  # fmt: skip
TYPES = (*(name for name in LONG_NAMES if name != "uint1"), "bool", "bool_")
SAME = (
    "cbrt ceil copysign cos cosh degrees exp exp2 expm1 floor fmod hypot isinf isnan log log10 log1p log2 radians sign sin"
    " sinh sqrt tan tanh trunc"
).split()


def of_numpy(known: dict[str, Rule | SyntaxRule]) -> dict[str, Rule | SyntaxRule]:
    """Rules for NumPy functions, by the rules of ours."""
    same = {f"numpy.{name}": known.get(f"samovar.{name}") or known[f"samovar.math.{name}"] for name in SAME}
    casts = {f"numpy.{name}": Rule(cast_to(f"numpy.{name}"), "x", elementwise=True) for name in TYPES}
    casts["math.log"] = logarithm(known["math.log"])
    return {**same, **{f"numpy.{name}": known[ours] for name, ours in OURS.items()}, **casts}


def cast_to(name: str) -> Callable[[Stager, Call], Staged]:
    """`np.float32(x)`."""

    def apply(stager: Stager, call: Call) -> Staged:
        dtype = python_type(stager, name)
        assert dtype is not None
        return to_dtype(stager, call["x"], dtype, call.node)

    return apply


def round_digits(stager: Stager, call: Call) -> Staged:
    """`round(x, digits)`: through the nearest integer number of units, exactly as Python where that has 53 bits."""
    digits = call.get("digits")
    if digits is None or digits.as_dtype(stager) is not None:
        arguments = {"x": call["x"]} | ({} if digits is None else {"dtype": digits})
        return NEAREST.applied(stager, Call(call.node, arguments, call.nodes))
    count = digits.number()
    if not isinstance(count, int):
        stager.fail_type(call.node, "the number of digits must be known at compile time", "as in `round(x, 2)`")
    known = folded((call["x"],), lambda x: round(x, count))
    if known is not None:
        return known
    value = call["x"].scalar(stager, call.node)
    assert value.type is not None
    if not is_float(value.type) and count >= 0:
        return Scalar(value)
    with stager.unwritten():
        return Scalar(convert(stager, nearest_units(stager, convert(stager, value, f64), count), value.type))


def nearest_units(stager: Stager, value: Value, digits: int) -> Value:
    """An f64 number rounded to this many digits after the decimal point (before it, if negative)."""
    unit = constant(10.0 ** abs(digits), f64)

    def emit(code: str, *operands: Value, type: DType = f64) -> Value:
        return stager.emit(code, type, operands, "exact" if code in ("mul", "div", "round", "abs") else None)

    first, second = ("mul", "div") if digits >= 0 else ("div", "mul")
    wide = emit(first, value, unit)
    # The rounding error of that: `wide` may lie halfway between two numbers of units although the value does not.
    lost = emit("fma", value, unit, emit("neg", wide)) if digits >= 0 else emit("fma", emit("neg", wide), unit, value)
    whole = emit("round", wide)
    away = emit("sub", wide, whole)
    half = emit("eq", emit("abs", away), constant(0.5, f64), type=u1)
    # Correct toward the value, on the side that the rounding left.
    wrong = emit("gt", emit("mul", away, lost), constant(0.0, f64), type=u1)
    other = emit("add", whole, emit("copysign", constant(1.0, f64), away))
    whole = emit("select", emit("and", half, wrong, type=u1), other, whole)
    # Beyond 2**53 there are no fractions of units.
    small = emit("lt", emit("abs", wide), constant(2.0**53, f64), type=u1)
    return emit("select", small, emit(second, whole, unit), value)


NEAREST = rounding("round")


def is_finite(stager: Stager, call: Call) -> Staged:
    if not is_float(call["x"].type(stager, call.node)):
        return Static(True)
    value = call["x"].scalar(stager, call.node)
    either = stager.emit("or", u1, tuple(stager.emit(code, u1, (value,)) for code in ("isnan", "isinf")))
    return Scalar(stager.emit("not", u1, (either,)))


def propagating(code: str) -> Rule:
    """`np.maximum`, `np.minimum`: NaN if either argument is."""
    of_numbers = extremum(code)

    def apply(stager: Stager, call: Call) -> Staged:
        dtype = common_type(stager, call.values, call.node)
        if not is_float(dtype):
            return of_numbers.applied(stager, call)
        first, second = (value.as_type(stager, dtype, call.node) for value in call.values)
        result: Value = stager.emit(code, dtype, (first, second))
        for each in (second, first):
            result = stager.emit("select", dtype, (stager.emit("isnan", u1, (each,)), each, result))
        return Scalar(result)

    return Rule(apply, "*values", elementwise=True)


def square(stager: Stager, call: Call) -> Staged:
    return binary(stager, BINARY[ast.Mult], call["x"], call["x"], call.node)


def modulo(stager: Stager, call: Call) -> Staged:
    return binary(stager, BINARY[ast.Mod], call["x"], call["y"], call.node)


def logarithm(natural: Rule | SyntaxRule) -> Rule:
    """`math.log(x, base)`."""

    def apply(stager: Stager, call: Call) -> Staged:
        assert isinstance(natural, Rule)
        of = [natural.applied(stager, Call(call.node, {"x": each}, call.nodes)) for each in call.values]
        return of[0] if len(of) == 1 else binary(stager, BINARY[ast.Div], of[0], of[1], call.node)

    return Rule(apply, "x base?", elementwise=True)


def scaled_by_power(stager: Stager, call: Call) -> Staged:
    """`math.ldexp(x, i)`: x * 2**i."""
    value = as_float(stager, call["x"], call.node)
    assert value.type is not None
    factor = stager.emit("exp2", value.type, (call["i"].as_type(stager, value.type, call.node),))
    return Scalar(stager.emit("mul", value.type, (value, factor)))


def product(stager: Stager, call: Call) -> Staged:
    """`math.prod(values)`, from left to right."""
    result: Staged = call.get("start") or Static(1)
    for item in call["values"].as_operand(stager, call.node).sequence(stager, call.nodes["values"]):
        result = binary(stager, BINARY[ast.Mult], result, item.unforced(), call.node)
    return result


INTRINSICS: dict[str, Rule | SyntaxRule] = {
    "builtins.round": Rule(round_digits, "x digits?", elementwise=True),
    "numpy.round": Rule(round_digits, "x digits?", elementwise=True),
    "numpy.isfinite": Rule(is_finite, "x", elementwise=True),
    "math.isfinite": Rule(is_finite, "x", elementwise=True),
    "numpy.maximum": propagating("max"),
    "numpy.minimum": propagating("min"),
    "numpy.square": Rule(square, "x", elementwise=True),
    "numpy.remainder": Rule(modulo, "x y", elementwise=True),
    "math.ldexp": Rule(scaled_by_power, "x i", elementwise=True),
    "math.prod": Rule(product, "values start?"),
}
