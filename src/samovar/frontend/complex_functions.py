"""Functions of complex numbers: `complex(…)`, `abs`, NumPy's, those of `cmath`, and ours. One rule per name.

A function of NumPy, Python or ours that is defined for real numbers too gets a rule that asks which it is given; those of
`cmath` take real numbers for complex ones. Compile-time numbers are folded by `cmath`.
"""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable
from typing import Any

from samovar.frontend import complex_arithmetic as formulas
from samovar.frontend.dispatch import call_value
from samovar.frontend.operators import BINARY, binary
from samovar.frontend.rules import Call, Rule, SyntaxRule, bind
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import (
    Complex,
    Conjugate,
    as_complex,
    common_part_type,
    from_parts,
    known_of,
    made,
    static,
)
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager

Formula = Callable[[formulas.Parts], Any]

#: Name in `cmath` → formula, and the function itself. All are NumPy functions too, some by another name.
FUNCTIONS: dict[str, tuple[Formula, Callable[[complex], complex]]] = {
    "exp": (formulas.exp, cmath.exp), "log": (formulas.log, cmath.log), "log10": (formulas.log10, cmath.log10),
    "sqrt": (formulas.sqrt, cmath.sqrt), "sin": (formulas.sin, cmath.sin), "cos": (formulas.cos, cmath.cos),
    "tan": (formulas.tan, cmath.tan), "sinh": (formulas.sinh, cmath.sinh), "cosh": (formulas.cosh, cmath.cosh),
    "tanh": (formulas.tanh, cmath.tanh), "asin": (formulas.asin, cmath.asin), "acos": (formulas.acos, cmath.acos),
    "atan": (formulas.atan, cmath.atan), "asinh": (formulas.asinh, cmath.asinh), "acosh": (formulas.acosh, cmath.acosh),
    "atanh": (formulas.atanh, cmath.atanh),
}  # fmt: skip
NUMPY_NAMES = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def is_complex(call: Call) -> bool:
    return any(isinstance(value.unforced(), Complex) for value in call.values)


def evaluated(
    stager: Stager, formula: Formula, value: Staged, node: ast.AST, host: Callable[[complex], Any] | None
) -> Staged:
    """A function of a complex number, or of a real one taken for complex."""
    number = as_complex(value.as_operand(stager, node))
    if number is None:
        value.fail_as_number(stager, node)
    known = known_of((number,))
    if known is not None and host is not None:
        try:
            return static(host(complex(known[0])))
        except (ArithmeticError, ValueError):  # at run time, the result is infinite or NaN
            pass
    dtype = common_part_type(stager, (number,), node)
    result = formulas.emitted(stager, formula, number.values(stager, dtype, node))
    if isinstance(result, formulas.Condition):
        return Scalar(result.value)
    return Scalar(result.value) if isinstance(result, formulas.Part) else from_parts(result)


def function(formula: Formula, host: Callable[[complex], Any] | None = None) -> Rule:
    """A function that takes real numbers for complex ones."""
    return Rule(lambda stager, call: evaluated(stager, formula, call["x"], call.node, host), "x")


def or_else(real: Rule | SyntaxRule, rule: Rule) -> Rule:
    """The rule of a function of real and complex numbers."""
    assert isinstance(real, Rule)

    def apply(stager: Stager, call: Call) -> Staged:
        taken = call.of(tuple(value.as_operand(stager, call.node) for value in call.values))
        if not is_complex(taken):
            return real.applied(stager, call)
        return rule.apply(stager, taken)

    return Rule(apply, real.parameters, refusal=real.refusal)


def make(stager: Stager, call: Call) -> Staged:
    """`complex(re, im)`, `complex(z)`, `complex("1+2j")`, `complex()`."""
    given = [value.as_operand(stager, call.node) for value in call.values] or [Static(0.0)]
    return made(stager, given[0], given[1] if len(given) > 1 else None, call.node)


def polar(stager: Stager, call: Call) -> Staged:
    """`cmath.polar(z)`: the length and the angle."""
    parts = (absolute, angle)
    return Items(tuple(rule.apply(stager, call) for rule in parts))


def rectangular(stager: Stager, call: Call) -> Staged:
    """`cmath.rect(r, phi)`."""
    known = known_of((call["r"], call["phi"]))
    if known is not None:
        return static(cmath.rect(*known))  # type: ignore[arg-type]
    dtype = common_part_type(stager, call.values, call.node)
    pair = tuple(value.as_type(stager, dtype, call.node) for value in call.values)
    return from_parts(formulas.emitted(stager, lambda z: formulas.polar_to_parts(*z), pair))


def logarithm(stager: Stager, call: Call) -> Staged:
    """`cmath.log(z, base)`."""
    of = [evaluated(stager, formulas.log, each, call.node, cmath.log) for each in call.values]
    return of[0] if len(of) == 1 else binary(stager, BINARY[ast.Div], of[0], of[1], call.node)


def part(name: str) -> Rule:
    """`np.real(x)`, `np.imag(x)`."""

    def apply(stager: Stager, call: Call) -> Staged:
        number = as_complex(call["x"].as_operand(stager, call.node))
        if number is None:
            call["x"].fail_as_number(stager, call.node)
        return number.real if name == "real" else number.imag

    return Rule(apply, "x")


def conjugated(stager: Stager, call: Call) -> Staged:
    value = call["x"]
    assert isinstance(value, Complex)
    return value.conjugate(stager, call.node)


def raised(stager: Stager, call: Call) -> Staged:
    first, second = call.values
    return binary(stager, BINARY[ast.Pow], first, second, call.node)


def squared(stager: Stager, call: Call) -> Staged:
    return binary(stager, BINARY[ast.Mult], call["x"], call["x"], call.node)


def either(name: str) -> Formula:
    """Whether a test holds for one of the parts."""
    tests: dict[str, Callable[[formulas.Part], formulas.Condition]] = {
        "isnan": formulas.Part.is_nan,
        "isinf": formulas.Part.is_infinite,
    }
    return lambda z: tests[name](z[0]) | tests[name](z[1])


def is_finite(z: formulas.Parts) -> formulas.Condition:
    return z[0].is_finite() & z[1].is_finite()


@call_value.register(Conjugate)
def call_conjugate(value: Conjugate, stager: Stager, node: ast.Call) -> Staged:
    bind(stager, node, "")
    return value.owner.conjugate(stager, node)


absolute = function(formulas.absolute, abs)
angle = function(formulas.phase, cmath.phase)
TESTS: dict[str, Formula] = {"isnan": either("isnan"), "isinf": either("isinf"), "isfinite": is_finite}


def rules(known: dict[str, Rule | SyntaxRule]) -> dict[str, Rule | SyntaxRule]:
    """All rules by canonical name. `known` has those of real numbers."""
    of_cmath = {f"cmath.{name}": function(formula, host) for name, (formula, host) in FUNCTIONS.items()}
    of_both: dict[str, Rule] = {}
    for name, (formula, host) in FUNCTIONS.items():
        rule = function(formula, host)
        for spelling in (f"numpy.{NUMPY_NAMES.get(name, name)}", f"samovar.{name}", f"samovar.math.{name}"):
            if spelling in known:
                of_both[spelling] = or_else(known[spelling], rule)
    lengths = ("builtins.abs", "samovar.abs", "numpy.absolute", "operator.abs")
    powers = ("builtins.pow", "samovar.pow", "numpy.power", "numpy.float_power")
    tests = {name: function(formula) for name, formula in TESTS.items()}
    return {
        **of_cmath,
        **of_both,
        **{name: or_else(known[name], absolute) for name in lengths},
        **{name: or_else(known[name], Rule(raised, "x y")) for name in powers},
        **{f"numpy.{name}": or_else(known[f"numpy.{name}"], rule) for name, rule in tests.items()},
        **{f"cmath.{name}": rule for name, rule in tests.items()},
        "samovar.isnan": or_else(known["samovar.isnan"], tests["isnan"]),
        "samovar.isinf": or_else(known["samovar.isinf"], tests["isinf"]),
        "builtins.complex": Rule(make, "real? imag?"),
        "numpy.conjugate": or_else(known["numpy.conjugate"], Rule(conjugated, "x")),
        "numpy.square": or_else(known["numpy.square"], Rule(squared, "x")),
        "numpy.real": part("real"),
        "numpy.imag": part("imag"),
        "numpy.angle": angle,
        "cmath.phase": angle,
        "cmath.polar": Rule(polar, "x"),
        "cmath.rect": Rule(rectangular, "r phi"),
        "cmath.log": Rule(logarithm, "z base?"),
    }
