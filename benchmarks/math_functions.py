"""The math functions of the language: how each is written in a kernel, its exact value, and where it is sampled."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

SAMPLES = 500_000
PRECISION = 200  # bits of mpmath

Sampler = Callable[[np.dtype, np.random.Generator], tuple[np.ndarray, ...]]


@dataclass(frozen=True)
class MathFunction:
    """`expression` in terms of x (y, z); `wider` is NumPy's version for any format, `exact` that of mpmath.

    `signed_zero` is false where either zero is right, as in the minimum of both.
    """

    name: str
    expression: str
    wider: Callable[..., np.ndarray]
    exact: Callable[..., Any]
    sample: Sampler
    range: str
    signed_zero: bool = True

    @property
    def arity(self) -> int:
        return len({"x", "y", "z"} & set(re.findall(r"\b\w\b", self.expression)))


def specials(dtype: np.dtype) -> np.ndarray:
    """The values where functions go wrong first."""
    format_ = np.finfo(dtype)
    ends = [0.0, 1.0, 2.0, 0.5, np.pi / 2, format_.max, format_.smallest_normal, format_.smallest_subnormal, np.inf]
    positive = np.array(ends, dtype=dtype)
    return np.concatenate([positive, -positive, np.array([np.nan], dtype=dtype)])


def any_bits(dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    """All numbers of the format, or a sample that is uniform over its bit patterns."""
    bits = np.dtype(f"u{dtype.itemsize}")
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=bits).view(dtype)
    return random.integers(0, np.iinfo(bits).max, SAMPLES, dtype=bits, endpoint=True).view(dtype)


def between(low: float, high: float, dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    return random.uniform(low, high, SAMPLES).astype(dtype)


def everywhere(low: float, high: float) -> Sampler:
    """Every magnitude, and more of the interval where the function does most of its work."""

    def sample(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
        return (np.concatenate([specials(dtype), any_bits(dtype, random), between(low, high, dtype, random)]),)

    return sample


def within(low: float, high: float) -> Sampler:
    """An interval only."""

    def sample(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
        tiny = between(low, high, dtype, random) * np.ldexp(1.0, random.integers(-20, 0, SAMPLES)).astype(dtype)
        return (np.concatenate([between(low, high, dtype, random), tiny]),)

    return sample


def pairs(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Two numbers of any magnitude, and two of the same magnitude; all pairs of special values."""
    left, right = (part.ravel() for part in np.meshgrid(specials(dtype), specials(dtype)))
    wide = [random.permutation(any_bits(dtype, random)) for _ in range(2)]
    near = [between(-10, 10, dtype, random) for _ in range(2)]
    return np.concatenate([left, wide[0], near[0]]), np.concatenate([right, wide[1], near[1]])


def powers(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Any base with an exponent that keeps the result in range, and negative bases with whole exponents."""
    limit = float(np.log(np.finfo(dtype).max))
    base = np.exp(random.uniform(-limit, limit, SAMPLES) * random.uniform(0, 1, SAMPLES) ** 3).astype(dtype)
    with np.errstate(all="ignore"):
        bound = limit / np.maximum(np.abs(np.log(base.astype(np.float64))), 1e-6)
    exponent = (random.uniform(-1, 1, SAMPLES) * np.minimum(bound, 1000)).astype(dtype)
    negative, whole = between(-3, 0, dtype, random), np.round(between(-8, 8, dtype, random))
    left, right = (part.ravel() for part in np.meshgrid(specials(dtype), specials(dtype)))
    return np.concatenate([left, base, negative]), np.concatenate([right, exponent, whole])


def blends(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return between(1, 10, dtype, random), between(1, 10, dtype, random), between(0, 1, dtype, random)


def near_pairs(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return between(-10, 10, dtype, random), between(-10, 10, dtype, random)


def few(low: float, high: float) -> Sampler:
    """An interval, with few enough points in f64 for mpmath alone."""

    def sample(dtype: np.dtype, random: np.random.Generator) -> tuple[np.ndarray, ...]:
        points = between(low, high, dtype, random)
        return (np.concatenate([specials(dtype), points[:5000] if dtype.itemsize == 8 else points]),)

    return sample


def inside(low: float, high: float) -> Sampler:
    """The same without the special values, for functions that Python refuses some of."""
    return lambda dtype, random: (between(low, high, dtype, random)[:5000],)


def by_scalar(function: Callable[[float], float], exact: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A version for arrays of what NumPy does not have: in f64 by a function of Python, beyond by mpmath."""

    def extended(value: float) -> np.longdouble:
        # Zeros, tails and what is not finite are the same in f64, and mpmath minds some of them.
        if not 0 < abs(value) < 30:
            return np.longdouble(function(value))
        result = exact(mpmath.mpf(value))
        nearest = float(result)
        return np.longdouble(nearest) + np.longdouble(float(result - nearest))

    def wider(x: np.ndarray) -> np.ndarray:
        if x.dtype == np.float64:
            return np.array([function(value) for value in x.tolist()])
        with mpmath.workprec(PRECISION):
            return np.array([extended(float(value)) for value in x])

    return wider


def remainder(x: Any, y: Any) -> Any:
    quotient = x / y
    return x - y * (mpmath.floor(quotient) if quotient >= 0 else mpmath.ceil(quotient))


def truncated(x: Any) -> Any:
    return mpmath.floor(x) if x >= 0 else mpmath.ceil(x)


def with_sign(x: Any, y: Any) -> Any:
    return abs(x) if y >= 0 else -abs(x)


def fraction(x: Any) -> Any:
    return x - mpmath.floor(x)


def nearest_even(x: Any) -> Any:
    return mpmath.nint(x)


def smaller(x: Any, y: Any) -> Any:
    return min(x, y)


def larger(x: Any, y: Any) -> Any:
    return max(x, y)


def unary(
    name: str, wider: Callable[..., Any], exact: Callable[..., Any], sample: Sampler, range_: str
) -> MathFunction:
    return MathFunction(name, f"sv.{name}(x)", wider, exact, sample, range_)


def beyond(
    name: str, wider: Callable[..., Any], exact: Callable[..., Any], sample: Sampler, range_: str
) -> MathFunction:
    """A function of `sv.math`."""
    arity = len(sample(np.dtype(np.float16), np.random.default_rng(0)))
    return MathFunction(name, f"sv.math.{name}({', '.join('xyz'[:arity])})", wider, exact, sample, range_)


def cube_root(x: Any) -> Any:
    return mpmath.cbrt(x) if x >= 0 else -mpmath.cbrt(-x)


ALL = "all numbers"
DEGREE = np.longdouble("3.14159265358979323846264338327950288") / 180

FUNCTIONS: tuple[MathFunction, ...] = (
    MathFunction("1 / x", "1.0 / x", lambda x: 1 / x, lambda x: 1 / x, everywhere(0.1, 10), ALL),
    MathFunction("x / y", "x / y", np.divide, lambda x, y: x / y, pairs, ALL),
    MathFunction(
        "1 / sqrt", "1.0 / sv.sqrt(x)", lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), everywhere(0, 10), ALL
    ),
    unary("sqrt", np.sqrt, mpmath.sqrt, everywhere(0, 10), ALL),
    unary("rsqrt", lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), everywhere(0, 10), ALL),
    unary("sin", np.sin, mpmath.sin, within(-100, 100), "-100 … 100"),
    unary("cos", np.cos, mpmath.cos, within(-100, 100), "-100 … 100"),
    unary("tan", np.tan, mpmath.tan, within(-100, 100), "-100 … 100"),
    MathFunction("sin, any", "sv.sin(x)", np.sin, mpmath.sin, everywhere(-10, 10), ALL),
    MathFunction("cos, any", "sv.cos(x)", np.cos, mpmath.cos, everywhere(-10, 10), ALL),
    MathFunction("tan, any", "sv.tan(x)", np.tan, mpmath.tan, everywhere(-10, 10), ALL),
    unary("asin", np.arcsin, mpmath.asin, everywhere(-1, 1), ALL),
    unary("acos", np.arccos, mpmath.acos, everywhere(-1, 1), ALL),
    MathFunction("atan2", "sv.atan2(x, y)", np.arctan2, mpmath.atan2, pairs, ALL),
    unary("atan", np.arctan, mpmath.atan, everywhere(-10, 10), ALL),
    unary("sinh", np.sinh, mpmath.sinh, everywhere(-10, 10), ALL),
    unary("cosh", np.cosh, mpmath.cosh, everywhere(-10, 10), ALL),
    unary("tanh", np.tanh, mpmath.tanh, everywhere(-10, 10), ALL),
    unary("exp", np.exp, mpmath.exp, everywhere(-20, 20), ALL),
    unary("log", np.log, mpmath.log, everywhere(0.1, 10), ALL),
    beyond("asinh", np.arcsinh, mpmath.asinh, everywhere(-10, 10), ALL),
    beyond("acosh", np.arccosh, mpmath.acosh, everywhere(1, 10), ALL),
    beyond("atanh", np.arctanh, mpmath.atanh, everywhere(-1, 1), ALL),
    beyond("exp2", np.exp2, lambda x: mpmath.power(2, x), everywhere(-20, 20), ALL),
    beyond("expm1", np.expm1, mpmath.expm1, everywhere(-20, 20), ALL),
    beyond("log2", np.log2, lambda x: mpmath.log(x, 2), everywhere(0.1, 10), ALL),
    beyond("log10", np.log10, mpmath.log10, everywhere(0.1, 10), ALL),
    beyond("log1p", np.log1p, mpmath.log1p, everywhere(-1, 10), ALL),
    beyond("cbrt", np.cbrt, cube_root, everywhere(-10, 10), ALL),
    beyond("erf", by_scalar(math.erf, mpmath.erf), mpmath.erf, few(-6, 6), "-6 … 6"),
    beyond("erfc", by_scalar(math.erfc, mpmath.erfc), mpmath.erfc, few(-6, 6), "-6 … 6"),
    beyond("gamma", by_scalar(math.gamma, mpmath.gamma), mpmath.gamma, inside(0.1, 8), "0.1 … 8"),
    beyond("lgamma", by_scalar(math.lgamma, mpmath.loggamma), mpmath.loggamma, inside(3, 50), "3 … 50"),
    beyond("hypot", np.hypot, mpmath.hypot, pairs, ALL),
    beyond("fmod", np.fmod, remainder, near_pairs, "-10 … 10"),
    beyond("fma", lambda x, y, z: x * y + z, lambda x, y, z: x * y + z, blends, "positive"),
    MathFunction("pow", "sv.pow(x, y)", np.power, mpmath.power, powers, "result in range"),
    unary("floor", np.floor, mpmath.floor, everywhere(-100, 100), ALL),
    unary("ceil", np.ceil, mpmath.ceil, everywhere(-100, 100), ALL),
    unary("round", np.rint, nearest_even, everywhere(-100, 100), ALL),
    beyond("trunc", np.trunc, truncated, everywhere(-100, 100), ALL),
    beyond("copysign", np.copysign, with_sign, near_pairs, "-10 … 10"),
    unary("abs", np.abs, abs, everywhere(-1, 1), ALL),
    MathFunction("min", "sv.min(x, y)", np.fmin, smaller, pairs, ALL, signed_zero=False),
    MathFunction("max", "sv.max(x, y)", np.fmax, larger, pairs, ALL, signed_zero=False),
    beyond("fract", lambda x: x - np.floor(x), fraction, within(-100, 100), "-100 … 100"),
    beyond("sign", np.sign, mpmath.sign, within(-100, 100), "-100 … 100"),
    beyond("radians", lambda x: x * DEGREE, mpmath.radians, within(-720, 720), "-720 … 720"),
    beyond("degrees", lambda x: x / DEGREE, mpmath.degrees, within(-720, 720), "-720 … 720"),
    MathFunction(
        "step",
        "sv.math.step(x, y)",
        lambda x, y: np.where(y < x, x * 0, x * 0 + 1),
        lambda x, y: mpmath.mpf(0 if y < x else 1),
        lambda dtype, random: blends(dtype, random)[:2],
        "1 … 10",
    ),
    MathFunction(
        "clamp",
        "sv.math.clamp(x, 2.0, 5.0)",
        lambda x: np.clip(x, 2, 5),
        lambda x: min(max(x, 2), 5),
        within(-100, 100),
        "-100 … 100",
    ),
    MathFunction(
        "mix",
        "sv.math.mix(x, y, z)",
        lambda x, y, z: x * (1 - z) + y * z,
        lambda x, y, z: x * (1 - z) + y * z,
        blends,
        "positive, 0 ≤ t ≤ 1",
    ),
)
