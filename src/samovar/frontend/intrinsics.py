"""The functions that the frontend implements itself: one rule per canonical name, looked up in a table."""

from __future__ import annotations

import ast

from samovar.frontend import iteration
from samovar.frontend.atomics import atomic
from samovar.frontend.compile_time import length, loop_config, static, static_assert, static_print
from samovar.frontend.conversions import bit_cast, cast, python_cast
from samovar.frontend.mathematics import (
    absolute,
    bit_function,
    clamp,
    extremum,
    float_function,
    float_power,
    fract,
    mix,
    power,
    randn,
    random,
    rounding,
    scaled,
    select,
    sign,
    step,
    test_function,
)
from samovar.frontend.messages import stage_print
from samovar.frontend.plain_calls import call_plainly, get_attribute, has_attribute, make_super
from samovar.frontend.rules import Rule, SyntaxRule
from samovar.frontend.staged.base import Staged
from samovar.frontend.stager import Stager


def call_intrinsic(stager: Stager, name: str, node: ast.Call) -> Staged:
    rule = INTRINSICS.get(name)
    if rule is not None:
        return rule(stager, node)
    if stager.static_depth:
        return call_plainly(stager, name, node)
    stager.fail(
        node,
        f"`{name.removeprefix('builtins.')}` is not available in kernels",
        "call it inside `sv.static(...)` if its arguments are known at compile time",
    )


FLOAT_FUNCTIONS = (
    "sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt"
    " erf erfc"
).split()
ATOMICS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas")
DEGREE = 0.017453292519943295

INTRINSICS: dict[str, Rule | SyntaxRule] = {
    **{
        name: rule
        for code in FLOAT_FUNCTIONS
        for rule in (float_function(code),)
        for name in (f"samovar.{code}", f"samovar.math.{code}", f"math.{code}")
    },
    **{
        name: rule
        for code in ("atan2", "fmod", "hypot", "copysign")
        for rule in (float_function(code, "x y"),)
        for name in (f"samovar.{code}", f"samovar.math.{code}", f"math.{code}")
    },
    "samovar.math.fma": float_function("fma", "x y z"),
    **{
        name: rule
        for code in ("floor", "ceil", "round", "trunc")
        for rule in (rounding(code),)
        for name in (f"samovar.{code}", f"samovar.math.{code}", f"math.{code}", f"builtins.{code}")
    },
    **{
        name: rule
        for code in ("isnan", "isinf")
        for rule in (test_function(code),)
        for name in (f"samovar.{code}", f"samovar.math.{code}", f"math.{code}")
    },
    **{f"samovar.math.{code}": bit_function(code) for code in ("popcnt", "clz", "ffs")},
    **{f"{home}.{code}": extremum(code) for code in ("min", "max") for home in ("builtins", "samovar", "samovar.math")},
    **{name: Rule(absolute, "x", elementwise=True) for name in ("builtins.abs", "samovar.abs", "math.fabs")},
    "builtins.pow": Rule(power, "base exponent", elementwise=True),
    "samovar.pow": Rule(power, "base exponent", elementwise=True),
    "math.pow": Rule(float_power, "base exponent", elementwise=True),
    "samovar.select": Rule(select, "condition when_true when_false", elementwise=True),
    "samovar.math.clamp": Rule(clamp, "value low high", elementwise=True),
    "samovar.math.mix": Rule(mix, "first second weight", elementwise=True),
    "samovar.math.step": Rule(step, "edge value", elementwise=True),
    "samovar.math.sign": Rule(sign, "value", elementwise=True),
    "samovar.math.fract": Rule(fract, "value", elementwise=True),
    **{
        f"{home}.{name}": scaled(factor)
        for name, factor in (("radians", DEGREE), ("degrees", 1 / DEGREE))
        for home in ("samovar.math", "math")
    },
    "samovar.random": Rule(random, "dtype?"),
    "samovar.randn": Rule(randn, "dtype?"),
    "builtins.int": python_cast("builtins.int", int),
    "builtins.float": python_cast("builtins.float", float),
    "builtins.bool": python_cast("builtins.bool", bool),
    "samovar.cast": Rule(cast, "value dtype", elementwise=True),
    "samovar.bit_cast": Rule(bit_cast, "value dtype", elementwise=True),
    "samovar.static": SyntaxRule(static),
    "samovar.static_print": SyntaxRule(static_print),
    "samovar.static_assert": SyntaxRule(static_assert),
    "builtins.len": Rule(length, "x"),
    "builtins.print": SyntaxRule(stage_print),
    "samovar.loop_config": SyntaxRule(loop_config),
    "builtins.getattr": Rule(get_attribute, "owner name default?"),
    "builtins.hasattr": Rule(has_attribute, "owner name"),
    "builtins.super": SyntaxRule(make_super),
    **{f"samovar.atomic_{code}": atomic(code) for code in ATOMICS},
    **iteration.INTRINSICS,
}
