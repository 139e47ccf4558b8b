"""Formulas for complex numbers: operators and functions, in operations on their real and imaginary parts.

Every formula is free of branches, so that loops with it are vectorized. Functions are computed without fast-math: their
branch cuts depend on the signs of zeros, as in NumPy and `cmath`, and their scaling on the order of operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samovar._native import DType, f64, u1
from samovar.frontend.scalars import constant
from samovar.frontend.stager import Stager
from samovar.ir import Value

#: Operations whose float semantics can be stricter than those of the options.
_STRICT = frozenset(("add", "sub", "mul", "div", "neg", "abs"))
LOG_2, LOG_10, HALF_PI = 0.6931471805599453, 2.302585092994046, 1.5707963267948966


class Part:
    """A float in a formula. Its operators emit operations; Python numbers take its dtype."""

    __slots__ = ("exact", "stager", "value")

    def __init__(self, stager: Stager, value: Value, exact: bool = True) -> None:
        self.stager = stager
        self.value = value
        self.exact = exact

    @property
    def dtype(self) -> DType:
        assert self.value.type is not None
        return self.value.type

    def of(self, number: Part | float) -> Part:
        """An operand as a part."""
        return number if isinstance(number, Part) else self._made(constant(number, self.dtype))

    def _made(self, value: Value) -> Part:
        return Part(self.stager, value, self.exact)

    def apply(self, code: str, *others: Part | float) -> Part:
        """The result of a float operation on it."""
        payload = "exact" if self.exact and code in _STRICT else None
        operands = (self.value, *(self.of(other).value for other in others))
        return self._made(self.stager.emit(code, self.dtype, operands, payload))

    def test(self, code: str, other: Part | float) -> Condition:
        return Condition(self.stager, self.stager.emit(code, u1, (self.value, self.of(other).value)))

    def __add__(self, other: Part | float) -> Part:
        return self.apply("add", other)

    def __sub__(self, other: Part | float) -> Part:
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> Part:
        return self.of(other) - self

    def __mul__(self, other: Part | float) -> Part:
        return self.apply("mul", other)

    def __truediv__(self, other: Part | float) -> Part:
        return self.apply("div", other)

    def __rtruediv__(self, other: float) -> Part:
        return self.of(other) / self

    def __neg__(self) -> Part:
        return self.apply("neg")

    def __abs__(self) -> Part:
        return self.apply("abs")

    def __lt__(self, other: Part | float) -> Condition:
        return self.test("lt", other)

    def __le__(self, other: Part | float) -> Condition:
        return self.test("le", other)

    def __gt__(self, other: Part | float) -> Condition:
        return self.test("gt", other)

    def __ge__(self, other: Part | float) -> Condition:
        return self.test("ge", other)

    def is_(self, other: Part | float) -> Condition:
        """Whether it equals a number."""
        return self.test("eq", other)

    def is_nan(self) -> Condition:
        return Condition(self.stager, self.stager.emit("isnan", u1, (self.value,)))

    def is_infinite(self) -> Condition:
        return abs(self).is_(float("inf"))

    def is_finite(self) -> Condition:
        return abs(self) < float("inf")

    def with_sign(self, other: Part) -> Part:
        """Its magnitude with the sign of another part."""
        return self.apply("copysign", other)


class Condition:
    """A condition in a formula."""

    __slots__ = ("stager", "value")

    def __init__(self, stager: Stager, value: Value) -> None:
        self.stager = stager
        self.value = value

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.stager, self.stager.emit("and", u1, (self.value, other.value)))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.stager, self.stager.emit("or", u1, (self.value, other.value)))

    def __invert__(self) -> Condition:
        return Condition(self.stager, self.stager.emit("not", u1, (self.value,)))

    def choose(self, then: Part, otherwise: Part | float) -> Part:
        """One of two parts."""
        other = then.of(otherwise)
        return Part(self.stager, self.stager.emit("select", then.dtype, (self.value, then.value, other.value)), then.exact)


#: The real and the imaginary part.
Parts = tuple[Part, Part]


def emitted(stager: Stager, formula: Callable[..., Any], *parts: tuple[Value, ...], exact: bool = True) -> Any:
    """The result of a formula of complex numbers, given by their parts; a number that is a tuple of one is real."""
    with stager.unwritten():  # a formula may overflow and divide by zero where the program does not
        numbers = [tuple(Part(stager, each, exact) for each in number) for number in parts]
        return formula(*(number if len(number) > 1 else number[0] for number in numbers))


# --- operators


def add(z: Parts, w: Parts) -> Parts:
    return z[0] + w[0], z[1] + w[1]


def subtract(z: Parts, w: Parts) -> Parts:
    return z[0] - w[0], z[1] - w[1]


def multiply(z: Parts, w: Parts) -> Parts:
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


def scale(z: Parts, factor: Part) -> Parts:
    """The product with a real number: each part is multiplied, as in C."""
    return z[0] * factor, z[1] * factor


def shrink(z: Parts, divisor: Part) -> Parts:
    """The quotient by a real number."""
    return z[0] / divisor, z[1] / divisor


def divide(z: Parts, w: Parts) -> Parts:
    """Smith's algorithm, which scales by the larger part of the divisor: no intermediate result overflows. By zero, each
    part is divided by it."""
    (a, b), (c, d) = z, w
    steep = abs(c) < abs(d)
    large, small = steep.choose(d, c), steep.choose(c, d)
    is_zero = abs(c).is_(0.0) & abs(d).is_(0.0)
    ratio = is_zero.choose(small.of(0.0), small / large)
    divisor = is_zero.choose(small.of(0.0), large + small * ratio)
    first, second = steep.choose(b, a), steep.choose(a, b)
    real = is_zero.choose(a, first + second * ratio)
    imaginary = is_zero.choose(b, steep.choose(b * ratio - a, b - a * ratio))
    return real / divisor, imaginary / divisor


def power(z: Parts, w: Parts) -> Parts:
    """exp(w log z), as two factors where neither over- nor underflows. To the power 0 it is 1; a power of 0 is 0, or NaN
    unless the real part of the exponent is positive, as in NumPy."""
    size, angle = absolute(z), phase(z)
    logarithm = size.apply("log")
    first, second = size.apply("pow", w[0]), (-(w[1] * angle)).apply("exp")
    is_real = w[1].is_(0.0)
    is_plain = (first > 0.0) & first.is_finite() & (second > 0.0) & second.is_finite()
    together = (w[0] * logarithm - w[1] * angle).apply("exp")
    length = is_real.choose(first, is_plain.choose(first * second, together))
    turned = w[0] * angle
    turned = is_real.choose(turned, turned + w[1] * logarithm)
    real, imaginary = polar_to_parts(length, turned)
    is_one = w[0].is_(0.0) & is_real
    is_zero = size.is_(0.0)
    nothing = (w[0] > 0.0).choose(size.of(0.0), float("nan"))
    real = is_one.choose(real.of(1.0), is_zero.choose(nothing, real))
    return real, is_one.choose(real.of(0.0), is_zero.choose(nothing, imaginary))


def power_of_integer(z: Parts, exponent: int) -> Parts:
    """Repeated multiplication, by squaring."""
    result: Parts | None = None
    square, rest = z, abs(exponent)
    while rest:
        if rest & 1:
            result = square if result is None else multiply(result, square)
        rest >>= 1
        if rest:
            square = multiply(square, square)
    one = (z[0].of(1.0), z[0].of(0.0))
    if result is None:
        return one
    return divide(one, result) if exponent < 0 else result


# --- functions


def absolute(z: Parts) -> Part:
    return z[0].apply("hypot", z[1])


def phase(z: Parts) -> Part:
    return z[1].apply("atan2", z[0])


def polar_to_parts(length: Part, angle: Part) -> Parts:
    """The number of a length and an angle; at the angle 0, the imaginary part is that zero."""
    imaginary = length * angle.apply("sin")
    return length * angle.apply("cos"), angle.is_(0.0).choose(angle, imaginary)


def exp(z: Parts) -> Parts:
    x, y = z
    # In two halves: their product with a small cosine may be finite where e**x overflows.
    half = (x * 0.5).apply("exp")
    real, imaginary = (half * y.apply("cos")) * half, (half * y.apply("sin")) * half
    is_flat = y.is_(0.0)
    real, imaginary = is_flat.choose(half * half, real), is_flat.choose(y, imaginary)
    vanishes = x.is_(-float("inf"))
    turns = y.is_finite()
    # e**-inf is 0 in any direction; beyond e**inf a direction that does not exist leaves the length.
    real = vanishes.choose(turns.choose(real, 0.0), real)
    imaginary = vanishes.choose(turns.choose(imaginary, imaginary.of(0.0).with_sign(y)), imaginary)
    return (x.is_(float("inf")) & ~turns).choose(x, real), imaginary


def log(z: Parts) -> Parts:
    x, y = abs(z[0]), abs(z[1])
    swapped = x < y
    large, small = swapped.choose(y, x), swapped.choose(x, y)
    # Scaled to avoid overflow and subnormal numbers; near the unit circle, the difference from 1 is computed exactly.
    limit = 2.0**1021 if x.dtype is f64 else 2.0**125
    tiny = 2.0**-960 if x.dtype is f64 else 2.0**-100
    up = 2.0**54 if x.dtype is f64 else 2.0**30
    scaled_down, scaled_up = large > limit, large < tiny
    factor = scaled_down.choose(x.of(0.25), scaled_up.choose(x.of(up), 1.0))
    size = (x * factor).apply("hypot", y * factor)
    plain = size.apply("log") - factor.apply("log")
    near = (large > 0.5) & (large < 1.5) & (size > 0.7) & (size < 1.5)
    close = ((large - 1.0) * (large + 1.0) + small * small).apply("log1p") * 0.5
    return near.choose(close, plain), phase(z)


def log10(z: Parts) -> Parts:
    real, imaginary = log(z)
    return real / LOG_10, imaginary / LOG_10


def sqrt(z: Parts) -> Parts:
    """As `cmath`: of numbers scaled so that neither the length nor half of it over- or underflows."""
    x, y = z
    ax, ay = abs(x), abs(y)
    large = (ax < ay).choose(ay, ax)
    tiny = 2.0**-1020 if x.dtype is f64 else 2.0**-124
    big = 2.0**1020 if x.dtype is f64 else 2.0**124
    up = 2.0**54 if x.dtype is f64 else 2.0**24
    is_small, is_big = large < tiny, large > big
    factor = is_small.choose(x.of(up), is_big.choose(x.of(2.0**-4), 1.0))
    back = is_small.choose(x.of(up**-0.5), is_big.choose(x.of(4.0), 1.0))
    u, v = ax * factor, ay * factor
    root = ((u + u.apply("hypot", v)) * 0.5).apply("sqrt")
    half = v / (root * 2.0)
    s, d = root * back, half * back
    is_zero = ax.is_(0.0) & ay.is_(0.0)
    right = ~(x < 0.0)
    real, imaginary = right.choose(s, d), right.choose(d, s)
    real, imaginary = is_zero.choose(x.of(0.0), real), is_zero.choose(y, imaginary.with_sign(y))
    # Of infinities: the imaginary part wins, then the sign of the real part decides.
    high, wide = y.is_infinite(), x.is_infinite()
    flat = x.of(0.0)
    is_left = wide & (x < 0.0)
    lost = y.is_nan()
    real = is_left.choose(lost.choose(y, flat), wide.choose(ax, real))
    imaginary = is_left.choose(
        ax.with_sign(y), wide.choose(lost.choose(y, flat.with_sign(y)), imaginary)
    )
    return high.choose(ay, real), high.choose(y, imaginary)


def sinh(z: Parts) -> Parts:
    """sinh x cos y + i cosh x sin y; scaled like `exp` where those overflow."""
    x, y = z
    even, odd = _scaled_hyperbolic(x)
    sine, cosine = y.apply("sin"), y.apply("cos")
    real, imaginary = _product(odd, cosine), _product(even, sine)
    # Without a direction, the real part stays: 0 or infinite.
    stays = ~y.is_finite() & (x.is_(0.0) | x.is_infinite())
    return stays.choose(x, real), y.is_(0.0).choose(y, imaginary)


def cosh(z: Parts) -> Parts:
    """cosh x cos y + i sinh x sin y."""
    x, y = z
    even, odd = _scaled_hyperbolic(x)
    sine, cosine = y.apply("sin"), y.apply("cos")
    real, imaginary = _product(even, cosine), _product(odd, sine)
    flat = (x.is_(0.0) | y.is_(0.0)) & imaginary.is_nan()
    zero = x.of(0.0).with_sign(x.of(1.0).with_sign(x) * y.of(1.0).with_sign(y))
    stays = ~y.is_finite() & x.is_infinite()
    return stays.choose(abs(x), real), flat.choose(zero, imaginary)


def _scaled_hyperbolic(x: Part) -> tuple[tuple[Part, Part], tuple[Part, Part]]:
    """cosh x and sinh x, each as a product of two factors that do not overflow."""
    limit = 350.0 * 2 if x.dtype is f64 else 80.0
    is_large = abs(x) > limit
    half = (abs(x) * 0.5).apply("exp")
    other = half * 0.5
    even = is_large.choose(half, x.apply("cosh")), is_large.choose(other, 1.0)
    odd = is_large.choose(half.with_sign(x), x.apply("sinh")), even[1]
    return even, odd


def _product(factors: tuple[Part, Part], number: Part) -> Part:
    return (factors[0] * number) * factors[1]


def tanh(z: Parts) -> Parts:
    """As `cmath`, by Kahan."""
    x, y = z
    limit = 350.0 if x.dtype is f64 else 40.0
    is_large = abs(x) > limit
    tx = x.apply("tanh")
    ty = y.apply("tan")
    cx = 1.0 / x.apply("cosh")
    ratio = tx * ty
    divisor = ratio * ratio + 1.0
    real = tx * (ty * ty + 1.0) / divisor
    imaginary = ((ty / divisor) * cx) * cx
    # Far out, the real part is ±1, and the imaginary part decays as e**(-2|x|).
    fall = (-abs(x)).apply("exp")
    far = ((y.apply("sin") * y.apply("cos") * 4.0) * fall) * fall
    turns = y.is_finite()
    far = (x.is_infinite() & ~turns).choose(y.of(0.0).with_sign(y), far)
    real = (is_large & (turns | x.is_infinite())).choose(x.of(1.0).with_sign(x), real)
    real = x.is_(0.0).choose(x, real)
    return real, y.is_(0.0).choose(y, is_large.choose(far, imaginary))


def _turned(function: Callable[[Parts], Parts]) -> Callable[[Parts], Parts]:
    """-i f(iz): the trigonometric function of a hyperbolic one."""

    def apply(z: Parts) -> Parts:
        real, imaginary = function((-z[1], z[0]))
        return imaginary, -real

    return apply


sin = _turned(sinh)
tan = _turned(tanh)


def cos(z: Parts) -> Parts:
    return cosh((-z[1], z[0]))


def asinh(z: Parts) -> Parts:
    """By Kahan, from two square roots whose product needs no logarithm near 1. Far out it is log(2 |z|)."""
    x, y = z
    first, second = sqrt((y + 1.0, -x)), sqrt((1.0 - y, x))
    real = (first[0] * second[1] - second[0] * first[1]).apply("asinh")
    imaginary = y.apply("atan2", first[0] * second[0] - first[1] * second[1])
    size, _ = log((x * 0.5, y * 0.5))
    far = (size + 2 * LOG_2).with_sign(x), y.apply("atan2", abs(x))
    real, imaginary = _where_far(z, far, (real, imaginary))
    limit = 1e-9 if x.dtype is f64 else 1e-5
    is_tiny = (abs(x) < limit) & (abs(y) < limit)
    return is_tiny.choose(x, real), (is_tiny | y.is_(0.0)).choose(y, imaginary)


def acos(z: Parts) -> Parts:
    x, y = z
    first, second = sqrt((1.0 - x, -y)), sqrt((x + 1.0, y))
    real = first[0].apply("atan2", second[0]) * 2.0
    imaginary = (second[0] * first[1] - second[1] * first[0]).apply("asinh")
    size, _ = log((x * 0.5, y * 0.5))
    far = abs(y).apply("atan2", x), (size + 2 * LOG_2).with_sign(-y)
    real, imaginary = _where_far(z, far, (real, imaginary))
    return (x.is_(0.0) & y.is_nan()).choose(x.of(HALF_PI), real), imaginary


def asin(z: Parts) -> Parts:
    real, imaginary = asinh((-z[1], z[0]))
    return imaginary, -real


def acosh(z: Parts) -> Parts:
    x, y = z
    first, second = sqrt((x - 1.0, y)), sqrt((x + 1.0, y))
    real = (first[0] * second[0] + first[1] * second[1]).apply("asinh")
    imaginary = first[1].apply("atan2", second[0]) * 2.0
    size, angle = log((x * 0.5, y * 0.5))
    real, imaginary = _where_far(z, (size + 2 * LOG_2, angle), (real, imaginary))
    return real, (x.is_(0.0) & y.is_nan()).choose(x.of(HALF_PI), imaginary)


def atanh(z: Parts) -> Parts:
    """log((1 + z) / (1 - z)) / 2, for each part without cancellation; odd, so only the right half plane is computed."""
    x, y = abs(z[0]), z[1].with_sign(z[1] * z[0].of(1.0).with_sign(z[0]))
    below = x - 1.0
    real = (x * 4.0 / (below * below + y * y)).apply("log1p") * 0.25
    angle = (y * 2.0).apply("atan2", (1.0 - x) * (x + 1.0) - y * y) * 0.5
    is_edge = below.is_(0.0) & (abs(y) < (1e-150 if x.dtype is f64 else 1e-18))  # whose square underflows
    real = is_edge.choose((x.of(LOG_2) - abs(y).apply("log")) * 0.5, real)
    real = x.is_(0.0).choose(x, real)
    size = absolute((x, y))
    far = size > (1e150 if x.dtype is f64 else 1e18)
    right = x.of(HALF_PI).with_sign(y)
    real = far.choose((x / size) / size, real)
    real = size.is_infinite().choose(x.of(0.0), real)
    angle = y.is_nan().choose(y, far.choose(right, angle))
    flip = x.of(1.0).with_sign(z[0])
    return real * flip, angle * flip


def atan(z: Parts) -> Parts:
    real, imaginary = atanh((-z[1], z[0]))
    return imaginary, -real


def _where_far(z: Parts, far: Parts, near: Parts) -> Parts:
    limit = 1e150 if z[0].dtype is f64 else 1e18
    is_far = (abs(z[0]) > limit) | (abs(z[1]) > limit)
    return is_far.choose(far[0], near[0]), is_far.choose(far[1], near[1])
