"""Functions of NumPy and `operator` that are Python operators (`np.add`, `operator.not_`), and functions of NumPy and `math`
whose source kernels compile (`samovar.values.python_mathematics`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from samovar._native import f64, u1
from samovar.frontend.dispatch import call_value
from samovar.frontend.operators import BINARY, COMPARISONS, UNARY, binary, compare, negate, truth
from samovar.frontend.rules import Call, Rule, SyntaxRule
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.values import load_python_mathematics

OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add, "bitwise_and": ast.BitAnd, "bitwise_or": ast.BitOr, "bitwise_xor": ast.BitXor, "divide": ast.Div,
    "floor_divide": ast.FloorDiv, "left_shift": ast.LShift, "multiply": ast.Mult, "right_shift": ast.RShift,
    "subtract": ast.Sub,
}  # fmt: skip
TESTS: dict[str, type[ast.cmpop]] = {
    "equal": ast.Eq, "greater": ast.Gt, "greater_equal": ast.GtE, "less": ast.Lt, "less_equal": ast.LtE,
    "not_equal": ast.NotEq,
}  # fmt: skip
SIGNS: dict[str, type[ast.unaryop]] = {"invert": ast.Invert, "negative": ast.USub, "positive": ast.UAdd}
LOGIC = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
#: Functions whose source is compiled: those of `math`, and those of NumPy.
OF_MATH = "comb factorial gcd isclose isqrt lcm modf nextafter perm remainder ulp".split()
OF_NUMPY = "bitwise_count gcd heaviside lcm logaddexp logaddexp2 modf nextafter signbit spacing".split()
#: Products of vectors and matrices.
PRODUCTS = "matmul matvec vecmat".split()


def operator(kind: type[ast.operator]) -> Rule:
    return Rule(lambda stager, call: binary(stager, BINARY[kind], call["x"], call["y"], call.node), "x y", elementwise=True)


def comparison(kind: type[ast.cmpop]) -> Rule:
    return Rule(
        lambda stager, call: compare(stager, COMPARISONS[kind], call["x"], call["y"], call.node), "x y", elementwise=True
    )


def sign(kind: type[ast.unaryop]) -> Rule:
    return Rule(lambda stager, call: call["x"].unary(stager, UNARY[kind], call.node), "x", elementwise=True)


def product(stager: Stager, call: Call) -> Staged:
    return binary(stager, BINARY[ast.MatMult], call["x"], call["y"], call.node)


def logic(code: str) -> Rule:
    """A logical operation on the truth of both arguments."""

    def apply(stager: Stager, call: Call) -> Staged:
        sides = tuple(truth(stager, each, call.node) for each in call.values)
        return Scalar(stager.emit(code, u1, sides))

    return Rule(apply, "x y", elementwise=True)


def of_module(table: Mapping[Any, Any], rule: Callable[[Any], Rule]) -> dict[str, Rule]:
    """Rules for the functions of `operator` that a table of operators names."""
    return {f"operator.{each.python.__name__}": rule(kind) for kind, each in table.items()}


def of_truth(stager: Stager, call: Call) -> Staged:
    """`operator.truth(x)`."""
    return negate(stager, negate(stager, call["x"], call.node), call.node)


def logical_not(stager: Stager, call: Call) -> Staged:
    return negate(stager, call["x"], call.node)


def itself(stager: Stager, call: Call) -> Staged:
    """`np.conjugate(x)` of a real number: unchanged."""
    return call["x"]


def power_in_f64(stager: Stager, call: Call) -> Staged:
    """`np.float_power(x, y)`."""
    sides = tuple(each.as_type(stager, f64, call.node) for each in call.values)
    return Scalar(stager.emit("pow", f64, sides))


def reciprocal(quotient: Rule | SyntaxRule) -> Rule:
    """`np.reciprocal(x)`: truncated for integers."""

    def apply(stager: Stager, call: Call) -> Staged:
        assert isinstance(quotient, Rule)
        return quotient.applied(stager, Call(call.node, {"x1": Static(1), "x2": call["x"]}, call.nodes))

    return Rule(apply, "x", elementwise=True)


def text(name: str) -> SyntaxRule:
    """A library function."""

    def apply(stager: Stager, node: ast.Call) -> Staged:
        load_python_mathematics()
        return call_value(Callee(stager.context.lens.library(f"samovar.math.{name}")), stager, node)

    return SyntaxRule(apply)


def rules(known: dict[str, Rule | SyntaxRule]) -> dict[str, Rule | SyntaxRule]:
    """All rules by canonical name; some are aliases of ours."""
    made: dict[str, Callable[..., Staged]] = {
        **{f"numpy.{name}": operator(kind) for name, kind in OPERATORS.items()},
        **{f"numpy.{name}": comparison(kind) for name, kind in TESTS.items()},
        **{f"numpy.{name}": sign(kind) for name, kind in SIGNS.items()},
        **{f"numpy.{name}": logic(code) for name, code in LOGIC.items()},
        **of_module(BINARY, operator),
        **of_module(COMPARISONS, comparison),
        **of_module(UNARY, sign),
        "operator.abs": known["builtins.abs"],
        "operator.inv": sign(ast.Invert),
        "operator.matmul": Rule(product, "x y"),
        "operator.not_": Rule(logical_not, "x"),
        "operator.truth": Rule(of_truth, "x"),
        **{f"numpy.{name}": text(name) for name in OF_NUMPY},
        **{f"numpy.{name}": Rule(product, "x y") for name in PRODUCTS},
        **{f"math.{name}": text(name) for name in OF_MATH},
        "numpy.conjugate": Rule(itself, "x", elementwise=True),
        "numpy.divmod": known["builtins.divmod"],
        "numpy.float_power": Rule(power_in_f64, "x y", elementwise=True),
        "numpy.frexp": known["samovar.frexp"],
        "math.frexp": known["samovar.frexp"],
        "numpy.ldexp": known["math.ldexp"],
        "numpy.logical_not": Rule(logical_not, "x", elementwise=True),
        "numpy.vecdot": text("dot"),
        "numpy.reciprocal": reciprocal(known["samovar.raw_div"]),
    }
    return made  # type: ignore[return-value]
