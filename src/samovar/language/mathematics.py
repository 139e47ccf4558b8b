"""The functions and constants of `sv.math` beyond those of the root: what shader languages and C's mathematics have."""

from __future__ import annotations

import builtins
import math as _math

from samovar.language.functions import REGISTRY as REGISTRY  # it is whole with what is here
from samovar.language.functions import floor, intrinsic, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan

_MODULE = "samovar.math"
asinh = real("asinh", _math.asinh, "The inverse hyperbolic sine.", "0.0 -> 0.0", _MODULE)
acosh = real("acosh", _math.acosh, "The inverse hyperbolic cosine.", "1.0 -> 0.0", _MODULE)
atanh = real("atanh", _math.atanh, "The inverse hyperbolic tangent.", "0.0 -> 0.0", _MODULE)
exp2 = real("exp2", lambda x: 2.0**x, "2 to the power of the argument.", "3.0 -> 8.0", _MODULE)
expm1 = real("expm1", _math.expm1, "exp(x) - 1, exact near 0.", "0.0 -> 0.0", _MODULE)
log2 = real("log2", _math.log2, "The logarithm to base 2.", "8.0 -> 3.0", _MODULE)
log10 = real("log10", _math.log10, "The logarithm to base 10.", "1000.0 -> 3.0", _MODULE)
log1p = real("log1p", _math.log1p, "log(1 + x), exact near 0.", "0.0 -> 0.0", _MODULE)
cbrt = real(
    "cbrt", lambda x: _math.copysign(builtins.abs(x) ** (1 / 3), x), "The cube root.", "0.0 -> 0.0", _MODULE
)
erf = real("erf", _math.erf, "The error function.", "0.0 -> 0.0", _MODULE)
erfc = real("erfc", _math.erfc, "1 - erf(x), exact for large x.", "0.0 -> 1.0", _MODULE)
trunc = real(
    "trunc",
    lambda x: float(_math.trunc(x)) if _math.isfinite(x) else x,
    "The argument without its fraction, as a float.",
    "-1.5 -> -1.0",
    _MODULE,
)
fmod = real("fmod", _math.fmod, "The remainder with the sign of the first argument.", "5.5, 2.0 -> 1.5", _MODULE)
hypot = real("hypot", _math.hypot, "sqrt(x*x + y*y) without overflow.", "3.0, 4.0 -> 5.0", _MODULE)
copysign = real("copysign", _math.copysign, "The magnitude of x with the sign of y.", "2.0, -1.0 -> -2.0", _MODULE)
fma = real("fma", lambda a, b, c: a * b + c, "a * b + c; native code rounds once.", "2.0, 3.0, 1.0 -> 7.0", _MODULE)
radians = real("radians", _math.radians, "Degrees to radians.", "0.0 -> 0.0", _MODULE)
degrees = real("degrees", _math.degrees, "Radians to degrees.", "0.0 -> 0.0", _MODULE)


@intrinsic
def clamp(value: Any, low: Any, high: Any) -> Any:
    """The value, moved into [low, high].

    >>> import samovar as sv
    >>> sv.math.clamp(7, 0, 5)
    5
    """
    return builtins.min(builtins.max(value, low), high)


@intrinsic
def mix(first: Any, second: Any, weight: Any) -> Any:
    """Between two values: the first at weight 0, the second at weight 1.

    >>> import samovar as sv
    >>> sv.math.mix(0.0, 10.0, 0.25)
    2.5
    """
    return first * (1 - weight) + second * weight


@intrinsic
def step(edge: Any, value: Any) -> Any:
    """0 below the edge, 1 from it on.

    >>> import samovar as sv
    >>> sv.math.step(1.0, 2.0)
    1.0
    """
    return type(value)(value >= edge)


@intrinsic
def sign(value: Any) -> Any:
    """-1, 0 or 1.

    >>> import samovar as sv
    >>> sv.math.sign(-2.5)
    -1.0
    """
    return type(value)((value > 0) - (value < 0))


@intrinsic
def fract(value: float) -> float:
    """What is left above the floor.

    >>> import samovar as sv
    >>> sv.math.fract(-0.25)
    0.75
    """
    return value - floor(value)


@intrinsic
def popcnt(value: int) -> int:
    """The number of ones among the bits. In plain Python a negative number has 32 or 64 bits.

    >>> import samovar as sv
    >>> sv.math.popcnt(0b1011)
    3
    """
    return bin(_bits(value)).count("1")


@intrinsic
def clz(value: int) -> int:
    """The number of leading zeros. In plain Python a number has 32 bits if it fits, else 64.

    >>> import samovar as sv
    >>> sv.math.clz(1)
    31
    """
    return _width(value) - _bits(value).bit_length()


@intrinsic
def ffs(value: int) -> int:
    """1 + the index of the lowest one among the bits; 0 if there is none.

    >>> import samovar as sv
    >>> sv.math.ffs(8)
    4
    """
    return (value & -value).bit_length()


def _width(value: int) -> int:
    return 32 if -(1 << 31) <= value < 1 << 32 else 64


def _bits(value: int) -> int:
    return value & ((1 << _width(value)) - 1)
