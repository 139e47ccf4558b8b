"""Every mathematical function over the float types, against mpmath, and at the values where C says what has to come out."""

import math

import mpmath
import numpy as np
import pytest

import samovar as sv

from .model import FLOATS, INTEGERS, NUMPY, rounded

Any1 = sv.types.ndarray(ndim=1)
INF, NAN = math.inf, math.nan

#: Function → (mpmath's, the interval arguments are taken from). Wide where the function is tame.
UNARY = {
    "sqrt": (mpmath.sqrt, (0, 60000)),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (0.001, 60000)),
    "sin": (mpmath.sin, (-100, 100)),
    "cos": (mpmath.cos, (-100, 100)),
    "tan": (mpmath.tan, (-100, 100)),
    "asin": (mpmath.asin, (-1, 1)),
    "acos": (mpmath.acos, (-1, 1)),
    "atan": (mpmath.atan, (-50, 50)),
    "sinh": (mpmath.sinh, (-10, 10)),
    "cosh": (mpmath.cosh, (-10, 10)),
    "tanh": (mpmath.tanh, (-10, 10)),
    "asinh": (mpmath.asinh, (-50, 50)),
    "acosh": (mpmath.acosh, (1, 50)),
    "atanh": (mpmath.atanh, (-0.99, 0.99)),
    "exp": (mpmath.exp, (-10, 10)),
    "exp2": (lambda x: mpmath.power(2, x), (-14, 14)),
    "expm1": (mpmath.expm1, (-10, 10)),
    "log": (mpmath.log, (0.001, 50000)),
    "log2": (lambda x: mpmath.log(x, 2), (0.001, 50000)),
    "log10": (mpmath.log10, (0.001, 50000)),
    "log1p": (mpmath.log1p, (-0.99, 1000)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-1000, 1000)),
    "erf": (mpmath.erf, (-4, 4)),
    "erfc": (mpmath.erfc, (-4, 3)),
    "gamma": (mpmath.gamma, (0.1, 8)),
    "lgamma": (mpmath.loggamma, (3, 50)),
}
BINARY = {
    "atan2": (lambda y, x: mpmath.atan2(y, x), (-20, 20)),
    "hypot": (mpmath.hypot, (-200, 200)),
    "pow": (mpmath.power, (0.1, 5)),
}

#: Functions whose results C and IEEE 754 fix at special arguments.
SPECIAL = {
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "rsqrt": [(0.0, INF), (4.0, 0.5), (-1.0, NAN), (INF, 0.0), (NAN, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (NAN, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-1.5, NAN), (INF, NAN), (NAN, NAN)],
    "acos": [(1.0, 0.0), (1.5, NAN), (-1.5, NAN), (INF, NAN), (NAN, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2), (NAN, NAN)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "cosh": [(0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "atanh": [(0.0, 0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN), (NAN, NAN)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN)],
    "exp2": [(0.0, 1.0), (3.0, 8.0), (INF, INF), (-INF, 0.0), (NAN, NAN)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "log2": [(1.0, 0.0), (8.0, 3.0), (0.0, -INF), (-1.0, NAN), (INF, INF), (NAN, NAN)],
    "log10": [(1.0, 0.0), (0.0, -INF), (-1.0, NAN), (INF, INF), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (NAN, NAN)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (8.0, 2.0), (-8.0, -2.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)],
    "erfc": [(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN)],
    "gamma": [(5.0, 24.0), (0.0, INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-1.0, INF), (INF, INF), (-INF, INF), (NAN, NAN)],
}


@sv.kernel
def every_unary(a: Any1, out: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = sv.sqrt(x)
        out[1, i] = sv.rsqrt(x)
        out[2, i] = sv.sin(x)
        out[3, i] = sv.cos(x)
        out[4, i] = sv.tan(x)
        out[5, i] = sv.asin(x)
        out[6, i] = sv.acos(x)
        out[7, i] = sv.math.atan(x)
        out[8, i] = sv.sinh(x)
        out[9, i] = sv.cosh(x)
        out[10, i] = sv.tanh(x)
        out[11, i] = sv.math.asinh(x)
        out[12, i] = sv.math.acosh(x)
        out[13, i] = sv.math.atanh(x)
        out[14, i] = sv.exp(x)
        out[15, i] = sv.math.exp2(x)
        out[16, i] = sv.math.expm1(x)
        out[17, i] = sv.log(x)
        out[18, i] = sv.math.log2(x)
        out[19, i] = sv.math.log10(x)
        out[20, i] = sv.math.log1p(x)
        out[21, i] = sv.math.cbrt(x)
        out[22, i] = sv.math.erf(x)
        out[23, i] = sv.math.erfc(x)
        out[24, i] = sv.math.gamma(x)
        out[25, i] = sv.math.lgamma(x)


@sv.kernel
def every_binary(a: Any1, b: Any1, out: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        out[0, i] = sv.atan2(a[i], b[i])
        out[1, i] = sv.math.hypot(a[i], b[i])
        out[2, i] = sv.pow(a[i], b[i])


def spread(low: float, high: float, count: int, name: str) -> np.ndarray:
    return np.random.default_rng(7).uniform(low, high, count).astype(NUMPY[name])


def worst_error(actual: np.ndarray, expected: list, name: str) -> float:
    """The largest distance in units of the last place of the exact result; below the normal numbers, of the least one."""
    information = np.finfo(NUMPY[name])
    worst = 0.0
    for value, exact in zip(actual.astype(float).tolist(), expected, strict=True):
        size = mpmath.mpf(max(abs(exact), float(information.tiny)))
        place = mpmath.power(2, mpmath.floor(mpmath.log(size, 2)) - information.nmant)
        if not math.isfinite(value):
            return math.inf
        worst = max(worst, float(abs(mpmath.mpf(value) - exact) / place))
    return worst


#: The C library documents more for these.
LIMITS = {"cbrt": 4, "gamma": 10, "lgamma": 4.5}


def measure(name: str, limit: float) -> None:
    with mpmath.workprec(120):
        for row, (function, (reference, interval)) in enumerate(UNARY.items()):
            a = spread(*interval, 200, name)
            out = np.zeros((len(UNARY), len(a)), NUMPY[name])
            every_unary(a, out)
            error = worst_error(out[row], [reference(mpmath.mpf(float(x))) for x in a], name)
            assert error <= LIMITS.get(function, limit), f"{function}: {error:.2f} ULP in {name}"
        for row, (function, (reference, interval)) in enumerate(BINARY.items()):
            a, b = spread(*interval, 200, name), spread(*interval, 200, name)[::-1].copy()
            out = np.zeros((len(BINARY), len(a)), NUMPY[name])
            every_binary(a, b, out)
            expected = [reference(mpmath.mpf(float(x)), mpmath.mpf(float(y))) for x, y in zip(a, b, strict=True)]
            error = worst_error(out[row], expected, name)
            assert error <= limit, f"{function}: {error:.2f} ULP in {name}"


@pytest.mark.parametrize("name", FLOATS)
def test_functions_are_accurate_to_two_places_without_fast_math(exact, name):
    measure(name, 2)


@pytest.mark.parametrize("name", FLOATS)
def test_functions_are_accurate_to_four_places_with_fast_math(name):
    """The vector functions of the C library promise four."""
    measure(name, 4.5)


def check_special(name: str, zeros: bool) -> None:
    rows = list(UNARY)
    wrong = []
    for function, cases in SPECIAL.items():
        # Repeated, so that a vector loop meets each of them, and once alone.
        for repeat in (1, 16):
            a = np.repeat(np.array([x for x, _ in cases], NUMPY[name]), repeat)
            out = np.zeros((len(UNARY), len(a)), NUMPY[name])
            every_unary(a, out)
            for (x, exact), value in zip(cases, out[rows.index(function), ::repeat].tolist(), strict=True):
                wanted = rounded(exact, name)
                same = value != value if wanted != wanted else abs(value - wanted) <= 4e-3 * abs(wanted) or value == wanted
                signs = not zeros or wanted != 0 or math.copysign(1, value) == math.copysign(1, wanted)
                if not (same and signs):
                    wrong.append(f"{function}({x}) = {value}, expected {wanted}, {repeat} at a time")
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("name", FLOATS)
def test_special_values_without_fast_math(exact, name):
    check_special(name, zeros=True)


@pytest.mark.parametrize("name", FLOATS)
def test_special_values_keep_their_meaning_with_fast_math(name):
    check_special(name, zeros=False)


# --- arguments that are not floats, and functions of another form


@sv.kernel
def of_integers(a: Any1, out: sv.types.NDArray[sv.f64, 2]):
    for i in range(a.shape[0]):
        out[0, i] = sv.sqrt(a[i])
        out[1, i] = sv.exp(a[i])
        out[2, i] = sv.atan2(a[i], 2)
        out[3, i] = sv.math.radians(a[i])
        out[4, i] = sv.math.mix(a[i], 4, 0.25)


@pytest.mark.parametrize("name", [*INTEGERS, "u1"])
def test_integer_arguments_become_the_default_float(exact, name):
    values = [0, 1] if name == "u1" else [0, 1, 2, 9, 16]
    out = np.zeros((5, len(values)))
    of_integers(np.array(values, NUMPY[name]), out)
    x = np.array(values, np.float32)
    expected = [np.sqrt(x), np.exp(x), np.arctan2(x, 2), x * np.float32(math.pi / 180), x * 0.75 + 1]
    assert np.allclose(out, expected, rtol=3e-7)
    assert (out == out.astype(np.float32)).all(), "results are of the default float type"


@sv.kernel
def helpers(a: Any1, out: sv.types.NDArray[sv.f64, 2]):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = sv.math.clamp(x, -1, 2)
        out[1, i] = sv.math.mix(x, 10.0, 0.5)
        out[2, i] = sv.math.step(1, x)
        out[3, i] = sv.math.sign(x)
        out[4, i] = sv.math.fract(x)
        out[5, i] = sv.math.radians(x)
        out[6, i] = sv.math.degrees(x)
        out[7, i] = sv.math.fmod(x, 2.0)
        out[8, i] = sv.math.copysign(x, -1.0)
        out[9, i] = sv.math.fma(x, x, 1.0)
        out[10, i] = max(x, 0.5, 3)
        out[11, i] = min(2, x, 0.5)


@pytest.mark.parametrize("name", FLOATS)
def test_helpers_of_shader_languages(exact, name):
    a = np.array([-3.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5, 7.75], NUMPY[name])
    out = np.zeros((12, len(a)))
    helpers(a, out)
    x = a.astype(np.float64)
    rows = [
        *(np.clip(x, -1, 2), x * 0.5 + 5, (x >= 1) * 1.0, np.sign(x), x - np.floor(x), np.radians(x), np.degrees(x)),
        *(np.fmod(x, 2), -np.abs(x), x * x + 1, np.maximum(x, 3), np.minimum(x, 0.5)),
    ]
    assert np.allclose(out, rows, rtol=4 * float(np.finfo(NUMPY[name]).eps))


@sv.kernel
def rounded_once(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[i] = sv.math.fma(a[i], a[i], -1.0)


@pytest.mark.parametrize(("name", "step"), [("f32", 2.0**-12), ("f64", 2.0**-27)])
def test_fma_rounds_once(exact, name, step):
    """The square of 1 + step is just too long: rounded, it loses the square of the step."""
    out = np.zeros(1, NUMPY[name])
    rounded_once(np.array([1 + step], NUMPY[name]), out)
    assert float(out[0]) == 2 * step + step * step


@sv.kernel
def nan_logic(a: Any1, out: sv.types.NDArray[sv.i32, 2]):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = sv.isnan(x)
        out[1, i] = sv.isinf(x)
        out[2, i] = x == x
        out[3, i] = x < sv.math.inf
        out[4, i] = sv.isnan(x - x)


@pytest.mark.parametrize("name", FLOATS)
def test_nan_and_infinity_are_seen_with_fast_math(name):
    a = np.array([0.0, 1.0, INF, -INF, NAN] * 8, NUMPY[name])
    out = np.zeros((5, len(a)), np.int32)
    nan_logic(a, out)
    with np.errstate(invalid="ignore"):
        expected = [np.isnan(a), np.isinf(a), a == a, a < INF, np.isnan(a - a)]
    assert (out == np.array(expected)).all()


@sv.kernel
def of_constants() -> (sv.f64, sv.f64, sv.f64, sv.i32):
    return sv.sqrt(2.0), sv.math.pi, sv.atan2(1.0, 0.0), round(2.5)


def test_functions_of_constants_are_folded_in_double_precision():
    root, pi, right, two = of_constants()
    assert (root, pi, right, two) == (math.sqrt(2), math.pi, math.pi / 2, 2)


# --- random numbers


@sv.kernel
def uniform(a: Any1):
    for i in range(a.shape[0]):
        a[i] = sv.random(a.dtype)


@pytest.mark.parametrize("name", FLOATS)
def test_random_floats_are_uniform_in_the_unit_interval(name):
    a = np.full(40_000, -1, NUMPY[name])
    uniform(a)
    wide = a.astype(np.float64)
    assert (wide >= 0).all()
    assert (wide < 1).all()
    # Seven deviations of the mean and of the variance of this many numbers.
    assert abs(wide.mean() - 1 / 2) < 7 * math.sqrt(1 / 12 / len(a))
    assert abs(wide.var() - 1 / 12) < 7 * math.sqrt(1 / 180 / len(a))


@pytest.mark.parametrize("name", ["u1", "i8", "u16", "i64", "u64"])
def test_random_integers_use_every_bit(name):
    a = np.zeros(4096, NUMPY[name])
    uniform(a)
    bits = np.unpackbits(a.view(np.uint8).reshape(len(a), -1), axis=1)[:, -1:] if name == "u1" else None
    bits = np.unpackbits(a.view(np.uint8).reshape(len(a), -1), axis=1) if bits is None else bits
    assert (abs(bits.mean(axis=0) - 0.5) < 7 * 0.5 / math.sqrt(len(a))).all()


@sv.kernel
def normal(a: Any1):
    for i in range(a.shape[0]):
        a[i] = sv.randn(a.dtype)


def test_randn_has_mean_zero_and_deviation_one():
    a = np.zeros(40_000)
    normal(a)
    assert abs(a.mean()) < 7 / math.sqrt(len(a))
    assert abs(a.var() - 1) < 7 * math.sqrt(2 / len(a))


@pytest.mark.parametrize("dtype", [sv.f16, sv.f32, sv.f64], ids=lambda dtype: dtype.name)
def test_reciprocal_roots_outside_of_loops(dtype):
    """Code that runs once is compiled quickly, and gives the same."""

    @sv.kernel
    def root(x: dtype) -> dtype:
        return sv.rsqrt(x)

    assert [root(x) for x in (0.0, -0.0, 4.0, INF)] == [INF, -INF, 0.5, 0.0]
    assert math.isnan(root(-1.0))
