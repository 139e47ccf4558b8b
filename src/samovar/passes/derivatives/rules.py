"""Derivative rules: one row per operation, for reverse and forward mode.

A row has one function for each operand. It maps a weight across the operation: the adjoint of the result to that of the
operand, or the tangent of the operand to that of the result. Both are the weight times the partial derivative, because
everything here works on single numbers. None stands for zero: rounding, the sign of `copysign`, a condition. Operands and
results are requested when a rule uses them, so nothing is saved or recomputed that no rule needs.

At kinks: `abs` has 0 at 0, ties of `min` and `max` go to the second operand, `sqrt` has infinity at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from samovar._native import DType, u1
from samovar.ir import Builder, Constant, Value


class Chain:
    """One operation while its rule is applied: its operands and result, and arithmetic in its type."""

    __slots__ = ("_operand", "_result", "build", "source", "type")

    def __init__(
        self,
        build: Callable[[], Builder],
        type: DType,
        source: DType,
        operand: Callable[[int], Value],
        result: Callable[[], Value],
    ) -> None:
        self.build = build
        self.type = type
        self.source = source  # the type of the first operand
        self._operand = operand
        self._result = result

    def __getitem__(self, position: int) -> Value:
        return self._operand(position)

    @property
    def result(self) -> Value:
        """The result of the operation."""
        return self._result()

    def number(self, value: float) -> Constant:
        return Constant(value, self.type)

    def make(self, code: str, *operands: Value) -> Value:
        return self.build().make(code, self.type, *operands)

    def mul(self, left: Value, right: Value) -> Value:
        return self.make("mul", left, right)

    def div(self, left: Value, right: Value) -> Value:
        return self.make("div", left, right)

    def neg(self, value: Value) -> Value:
        return self.make("neg", value)

    def scaled(self, factor: float, value: Value) -> Value:
        return self.make("mul", self.number(factor), value)

    def square(self, value: Value) -> Value:
        return self.make("mul", value, value)

    def less(self, value: Value) -> Value:
        """1 - value."""
        return self.make("sub", self.number(1.0), value)

    def more(self, value: Value) -> Value:
        """1 + value."""
        return self.make("add", self.number(1.0), value)

    def where(self, code: str, left: Value, right: Value, then: Value, otherwise: Value) -> Value:
        condition = self.build().make(code, u1, left, right)
        return self.build().make("select", self.type, condition, then, otherwise)

    def chosen(self, then: Value, otherwise: Value) -> Value:
        """A `select` by the condition of the operation itself."""
        return self.build().make("select", self.type, self[0], then, otherwise)


Pull = Callable[[Chain, Value], Value]
Row = tuple[Pull | None, ...]


def _same(c: Chain, w: Value) -> Value:
    return w


def _negated(c: Chain, w: Value) -> Value:
    return c.neg(w)


def _base(c: Chain, w: Value) -> Value:
    """The derivative of `a ** b` by a: b · a^(b-1), and 0 where b is 0."""
    exponent = c[1]
    if isinstance(exponent, Constant):
        power = float(exponent.value)
        if power == 0.0:
            return c.number(0.0)
        if power == 2.0:
            return c.mul(w, c.scaled(2.0, c[0]))
        return c.mul(w, c.scaled(power, c.make("pow", c[0], c.number(power - 1.0))))
    partial = c.mul(exponent, c.make("pow", c[0], c.make("sub", exponent, c.number(1.0))))
    return c.mul(w, c.where("eq", exponent, c.number(0.0), c.number(0.0), partial))


def _exponent(c: Chain, w: Value) -> Value:
    """The derivative of `a ** b` by b: a^b · log a, and 0 where a is 0."""
    logarithm = c.where("eq", c[0], c.number(0.0), c.number(0.0), c.make("log", c[0]))
    return c.mul(w, c.mul(c.result, logarithm))


def _extreme(code: str) -> Row:
    """The chosen operand gets the whole weight; of equal ones, the second."""
    return (
        lambda c, w: c.where(code, c[0], c[1], w, c.number(0.0)),
        lambda c, w: c.where(code, c[0], c[1], c.number(0.0), w),
    )


def _signum(c: Chain, w: Value) -> Value:
    zero = c.number(0.0)
    below = c.where("lt", c[0], zero, c.neg(w), zero)
    return c.where("gt", c[0], zero, w, below)


def _signs(c: Chain, w: Value) -> Value:
    one = c.number(1.0)
    return c.mul(w, c.mul(c.make("copysign", one, c[0]), c.make("copysign", one, c[1])))


def _converted(c: Chain, w: Value) -> Value:
    """A weight in the type of the other side. Reverse mode pulls to the operand's type, forward mode pushes to the result's:
    the weight gets whichever type it does not have."""
    target = c.source if w.type is c.type else c.type
    return c.build().cast(w, target)


def _squares(c: Chain) -> Value:
    return c.make("add", c.square(c[0]), c.square(c[1]))


def _bell(factor: float) -> Pull:
    """factor · 2/√π · exp(-x²)."""
    return lambda c, w: c.mul(w, c.scaled(factor * 2 / math.sqrt(math.pi), c.make("exp", c.neg(c.square(c[0])))))


#: The coefficients of 1/x², 1/x⁴, … in the asymptotic series of the digamma function: B(2k) / 2k.
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
#: By how much its argument is shifted up first.
_SHIFT = 10


def _digamma(c: Chain) -> Value:
    """The derivative of log Γ(x): by reflection for x < 0, recurrence up to 10 + x, and the asymptotic series there."""
    pi, zero = c.number(math.pi), c.number(0.0)
    x = c.where("lt", c[0], zero, c.less(c[0]), c[0])
    reflected = c.where("lt", c[0], zero, c.div(pi, c.make("tan", c.mul(pi, c[0]))), zero)
    y = c.make("add", x, c.number(float(_SHIFT)))
    inverse = c.div(c.number(1.0), c.square(y))
    series: Value = c.number(_DIGAMMA[-1])
    for coefficient in reversed(_DIGAMMA[:-1]):
        series = c.make("add", c.mul(series, inverse), c.number(coefficient))
    total = c.make("sub", c.make("log", y), c.div(c.number(0.5), y))
    total = c.make("sub", c.make("sub", total, c.mul(series, inverse)), reflected)
    for shift in range(_SHIFT):
        total = c.make("sub", total, c.div(c.number(1.0), c.make("add", x, c.number(float(shift)))))
    return total


_NONE: Row = (None,)
#: Operation → for each operand, the mapping of a weight. Float operations that are missing cannot be differentiated.
RULES: dict[str, Row] = {
    "add": (_same, _same),
    "sub": (_same, _negated),
    "mul": (lambda c, w: c.mul(w, c[1]), lambda c, w: c.mul(w, c[0])),
    "div": (lambda c, w: c.div(w, c[1]), lambda c, w: c.neg(c.mul(w, c.div(c.result, c[1])))),
    "floordiv": (None, None),
    "mod": (_same, lambda c, w: c.neg(c.mul(w, c.make("floor", c.div(c[0], c[1]))))),
    "fmod": (_same, lambda c, w: c.neg(c.mul(w, c.make("trunc", c.div(c[0], c[1]))))),
    "pow": (_base, _exponent),
    "neg": (_negated,),
    "detach": _NONE,
    "surrogate": (None, _same),
    "abs": (_signum,),
    "min": _extreme("lt"),
    "max": _extreme("gt"),
    "select": (None, lambda c, w: c.chosen(w, c.number(0.0)), lambda c, w: c.chosen(c.number(0.0), w)),
    "cast": (_converted,),
    "sqrt": (lambda c, w: c.div(c.scaled(0.5, w), c.result),),
    "rsqrt": (lambda c, w: c.mul(c.scaled(-0.5, w), c.mul(c.result, c.square(c.result))),),
    "sin": (lambda c, w: c.mul(w, c.make("cos", c[0])),),
    "cos": (lambda c, w: c.neg(c.mul(w, c.make("sin", c[0]))),),
    "tan": (lambda c, w: c.mul(w, c.more(c.square(c.result))),),
    "asin": (lambda c, w: c.div(w, c.make("sqrt", c.less(c.square(c[0])))),),
    "acos": (lambda c, w: c.neg(c.div(w, c.make("sqrt", c.less(c.square(c[0]))))),),
    "atan": (lambda c, w: c.div(w, c.more(c.square(c[0]))),),
    "sinh": (lambda c, w: c.mul(w, c.make("cosh", c[0])),),
    "cosh": (lambda c, w: c.mul(w, c.make("sinh", c[0])),),
    "tanh": (lambda c, w: c.mul(w, c.less(c.square(c.result))),),
    "asinh": (lambda c, w: c.div(w, c.make("sqrt", c.more(c.square(c[0])))),),
    "acosh": (lambda c, w: c.div(w, c.make("sqrt", c.make("sub", c.square(c[0]), c.number(1.0)))),),
    "atanh": (lambda c, w: c.div(w, c.less(c.square(c[0]))),),
    "exp": (lambda c, w: c.mul(w, c.result),),
    "exp2": (lambda c, w: c.mul(w, c.scaled(math.log(2.0), c.result)),),
    "expm1": (lambda c, w: c.mul(w, c.more(c.result)),),
    "log": (lambda c, w: c.div(w, c[0]),),
    "log2": (lambda c, w: c.div(c.scaled(1 / math.log(2.0), w), c[0]),),
    "log10": (lambda c, w: c.div(c.scaled(1 / math.log(10.0), w), c[0]),),
    "log1p": (lambda c, w: c.div(w, c.more(c[0])),),
    "cbrt": (lambda c, w: c.div(w, c.scaled(3.0, c.square(c.result))),),
    "erf": (_bell(1.0),),
    "erfc": (_bell(-1.0),),
    "gamma": (lambda c, w: c.mul(w, c.mul(c.result, _digamma(c))),),
    "lgamma": (lambda c, w: c.mul(w, _digamma(c)),),
    "floor": _NONE,
    "ceil": _NONE,
    "round": _NONE,
    "trunc": _NONE,
    "atan2": (lambda c, w: c.div(c.mul(w, c[1]), _squares(c)), lambda c, w: c.neg(c.div(c.mul(w, c[0]), _squares(c)))),
    "hypot": (lambda c, w: c.div(c.mul(w, c[0]), c.result), lambda c, w: c.div(c.mul(w, c[1]), c.result)),
    "copysign": (_signs, None),
    "fma": (lambda c, w: c.mul(w, c[1]), lambda c, w: c.mul(w, c[0]), _same),
}
