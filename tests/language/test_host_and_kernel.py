"""Each function of the table of operations three times: called in plain Python, folded at compile time, and in a kernel.

A kernel computes in the type of its argument, Python in double precision: the results agree up to that. Where they are
special (an infinity, NaN, a zero with its sign) they are the same.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import samovar as sv
from samovar.language.operations import OPERATIONS

from .model import FLOATS, INTEGERS, NUMPY, limits, wrap

INF, NAN = math.inf, math.nan
Any1, Any2 = sv.types.ndarray(ndim=1), sv.types.ndarray(ndim=2)


def public(name: str):
    return getattr(sv, name, None) or getattr(sv.math, name)


def of(staged: str, arity: int) -> dict[str, object]:
    rows = [row for row in OPERATIONS.values() if row.spellings and row.arity == arity]
    return {row.name: public(row.name) for row in rows if row.staged == staged}


FLOATS_1 = {**of("floats", 1), **of("rounding", 1), "abs": sv.abs, "sign": sv.math.sign, "fract": sv.math.fract}
FLOATS_1 |= {"radians": sv.math.radians, "degrees": sv.math.degrees}
FLOATS_2 = {**of("floats", 2), **of("extremum", 2), "pow": sv.pow, "step": sv.math.step}
FLOATS_3 = {**of("floats", 3), "clamp": sv.math.clamp, "mix": sv.math.mix}
TESTS = of("test", 1)
BITS = of("bits", 1)
FUNCTIONS = {1: tuple(FLOATS_1.values()), 2: tuple(FLOATS_2.values()), 3: tuple(FLOATS_3.values())}
TEST_FUNCTIONS, BIT_FUNCTIONS = tuple(TESTS.values()), tuple(BITS.values())
ONE, TWO, THREE = (tuple(FUNCTIONS[count]) for count in (1, 2, 3))

#: Of these the result is exact: rounded once, or one of the arguments.
EXACT = set("sqrt floor ceil round trunc abs sign copysign fmod min max step clamp".split())
#: Of these the zero may have either sign.
EITHER_ZERO = {"min", "max", "clamp"}


def numbers(name: str) -> list[float]:
    facts = np.finfo(NUMPY[name])
    some = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 8.0, 27.0, 100.0, float(facts.max), float(facts.tiny), INF]
    some += [float(facts.smallest_subnormal)]
    return [*some, *(-each for each in some), NAN]


def test_every_function_is_compared():
    named = {row.name for row in OPERATIONS.values() if row.spellings}
    assert named <= {*FLOATS_1, *FLOATS_2, *FLOATS_3, *TESTS, *BITS}


@sv.kernel
def of_one(a: Any1, out: Any2):
    for i in range(a.shape[0]):
        for k in sv.static(range(len(ONE))):
            out[k, i] = ONE[k](a[i])


@sv.kernel
def of_two(a: Any1, b: Any1, out: Any2):
    for i in range(a.shape[0]):
        for k in sv.static(range(len(TWO))):
            out[k, i] = TWO[k](a[i], b[i])


@sv.kernel
def of_three(a: Any1, b: Any1, c: Any1, out: Any2):
    for i in range(a.shape[0]):
        for k in sv.static(range(len(THREE))):
            out[k, i] = THREE[k](a[i], b[i], c[i])


@sv.kernel
def are_they(a: Any1, out: Any2):
    for i in range(a.shape[0]):
        for k in sv.static(range(len(TEST_FUNCTIONS))):
            out[k, i] = TEST_FUNCTIONS[k](a[i])


@sv.kernel
def bits_of(a: Any1, out: Any2):
    for i in range(a.shape[0]):
        for k in sv.static(range(len(BIT_FUNCTIONS))):
            out[k, i] = BIT_FUNCTIONS[k](a[i])


def check(name: str, arguments: tuple, found: float, host: float, dtype: str, units: float) -> None:
    what = f"{name}{arguments} in {dtype}: {found!r} in a kernel, {host!r} in Python"
    with np.errstate(all="ignore"):
        wanted = float(NUMPY[dtype].type(host))
        size = NUMPY[dtype].type(abs(wanted))
        space = float(size - np.nextafter(size, NUMPY[dtype].type(0))) or float(np.finfo(NUMPY[dtype]).smallest_subnormal)
    if math.isnan(wanted) or math.isnan(found):
        assert math.isnan(wanted) is math.isnan(found), what
    elif wanted == 0 and name not in EITHER_ZERO:
        # What vanishes in f16 and f32 by rounding may be the least number there is.
        assert abs(found) <= (0 if host == 0 else space), what
        assert math.copysign(1, found) == math.copysign(1, wanted), what
    elif math.isinf(wanted) or math.isinf(found):
        # At the end of a type, one unit more is an infinity.
        assert found == wanted or min(abs(found), abs(wanted)) >= 0.99 * float(np.finfo(NUMPY[dtype]).max), what
    else:
        assert abs(found - wanted) <= (0 if name in EXACT else units) * space, what


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_kernel_computes_what_python_does(exact, dtype, count):
    values = numbers(dtype)
    if count == 3:
        values = [0.0, -0.0, 1.0, -3.0, 0.1, values[11], -values[11], values[14], INF, -INF, NAN]
    values = [float(NUMPY[dtype].type(value)) for value in values]
    points = list(itertools.product(values, repeat=count))
    columns = [np.array(column, NUMPY[dtype]) for column in zip(*points, strict=True)]
    named = (FLOATS_1, FLOATS_2, FLOATS_3)[count - 1]
    out = np.zeros((len(named), len(points)), NUMPY[dtype])
    (of_one, of_two, of_three)[count - 1](*columns, out)
    for (name, function), row in zip(named.items(), out, strict=True):
        for point, found in zip(points, row.tolist(), strict=True):
            if name == "mix" or (name == "fma" and dtype != "f64" and not tame(point)):
                continue  # rounded in each step, and once: see below
            # In f64 it is the same function of the C library.
            check(name, point, found, function(*point), dtype, 0.0 if dtype == "f64" else 2.0)


def tame(point: tuple[float, ...]) -> bool:
    """Double precision holds the exact product and sum, or all is special anyway."""
    return all(value in (0, 1, -3) or not math.isfinite(value) for value in point)


def test_mix_is_rounded_in_each_step(exact):
    weights = np.array([0.0, 0.25, 1.0, NAN, INF], np.float64)
    found = np.zeros((len(THREE), 5))
    of_three(np.full(5, 3.0), np.full(5, -2.5), weights, found)
    row = found[list(FLOATS_3).index("mix")]
    for weight, value in zip(weights.tolist(), row.tolist(), strict=True):
        check("mix", (3.0, -2.5, weight), value, sv.math.mix(3.0, -2.5, weight), "f64", 1.0)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_a_fused_product_is_rounded_once_and_does_not_overflow_on_the_way(exact, dtype):
    facts = np.finfo(NUMPY[dtype])
    big, small = float(facts.max), float(facts.eps)
    points = [(big, 2.0, -big), (1 + small, 1 - small, -1.0), (1 + small, 1 + small, -1.0 - 2 * small)]
    columns = [np.array(column, NUMPY[dtype]) for column in zip(*points, strict=True)]
    out = np.zeros((len(THREE), len(points)), NUMPY[dtype])
    of_three(*columns, out)
    found = out[list(FLOATS_3).index("fma")].tolist()
    assert found == [big, -small * small, small * small]
    assert [sv.math.fma(*point) for point in points] == found


def test_f16_is_not_rounded_on_the_way_to_a_fused_product(exact):
    # The exact sum is just below the middle of two halves. In f32 it is that middle, and would go up to the even one.
    point = (2.0**-11 * (1 - 2.0**-10), 1 + 2.0**-10, 1 + 2.0**-10)
    columns = [np.array([value], np.float16) for value in point]
    out = np.zeros((len(THREE), 1), np.float16)
    of_three(*columns, out)
    assert out[list(FLOATS_3).index("fma"), 0] == 1 + 2.0**-10


VALUES = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.5, 1e300, -1e300, 5e-324, INF, -INF, NAN)
PAIRS = tuple((x, y) for x in VALUES for y in (0.0, -0.0, -1.0, 0.5, 1e300, INF, NAN))


@sv.kernel
def folded_one(out: Any2):
    for k in sv.static(range(len(ONE))):
        for i in sv.static(range(len(VALUES))):
            out[k, i] = ONE[k](VALUES[i])


@sv.kernel
def folded_two(out: Any2):
    for k in sv.static(range(len(TWO))):
        for i in sv.static(range(len(PAIRS))):
            out[k, i] = TWO[k](PAIRS[i][0], PAIRS[i][1])


def test_constants_are_folded_to_what_python_computes():
    sv.init(fast_math=False, default_fp=sv.f64)
    try:
        for kernel, named, points in ((folded_one, FLOATS_1, [(x,) for x in VALUES]), (folded_two, FLOATS_2, PAIRS)):
            out = np.zeros((len(named), len(points)))
            kernel(out)
            for (name, function), row in zip(named.items(), out, strict=True):
                for point, found in zip(points, row.tolist(), strict=True):
                    check(name, point, found, function(*point), "f64", 1.0)
    finally:
        sv.reset()


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_tests_have_one_answer(dtype):
    values = numbers(dtype) if dtype in FLOATS else list(limits(dtype))
    out = np.zeros((len(TESTS), len(values)), np.int32)
    are_they(np.array(values, NUMPY[dtype]), out)
    for function, row in zip(TEST_FUNCTIONS, out, strict=True):
        assert row.tolist() == [function(value) for value in values]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_integers_of_a_type_are_counted_as_in_a_kernel(dtype):
    least, greatest = limits(dtype)
    values = np.array([0, 1, 6, greatest, greatest - 1, least, least + 1], NUMPY[dtype])
    out = np.zeros((len(BITS), len(values)), np.int32)
    bits_of(values, out)
    for function, row in zip(BIT_FUNCTIONS, out, strict=True):
        assert row.tolist() == [function(value) for value in values]


INTEGER_LITERALS = (0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**40, -(2**40), 2**63 - 1, -(2**63), 2**63, 2**64 - 1)


@sv.kernel
def bits_of_literals(out: Any2):
    for k in sv.static(range(len(BIT_FUNCTIONS))):
        for i in sv.static(range(len(INTEGER_LITERALS))):
            out[k, i] = BIT_FUNCTIONS[k](INTEGER_LITERALS[i])


def test_a_python_integer_has_the_bits_of_a_literal():
    out = np.zeros((len(BITS), len(INTEGER_LITERALS)), np.int32)
    bits_of_literals(out)
    for function, row in zip(BIT_FUNCTIONS, out, strict=True):
        assert row.tolist() == [function(value) for value in INTEGER_LITERALS]


def test_bits_of_what_is_no_integer_of_64_bits_are_refused():
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        sv.math.clz(2**64)
    with pytest.raises(TypeError):
        sv.math.popcnt(1.5)
    with pytest.raises(TypeError):
        sv.math.ffs(np.float64(1.5))


@sv.kernel
def of_integers(a: Any1, b: Any1, out: Any2):
    for i in range(a.shape[0]):
        out[0, i] = abs(a[i])
        out[1, i] = sv.min(a[i], b[i])
        out[2, i] = sv.max(a[i], b[i])
        out[3, i] = sv.math.clamp(a[i], b[i], 3)
        out[4, i] = sv.math.sign(a[i])
        out[5, i] = sv.floor(a[i])


@pytest.mark.parametrize("dtype", ["i32", "i64", "u32", "u64"])
def test_integers_do_in_a_kernel_what_they_do_in_python_and_wrap(dtype):
    values = [*limits(dtype), 0, 1, 2, 5]
    points = list(itertools.product(values, repeat=2))
    columns = [np.array(column, NUMPY[dtype]) for column in zip(*points, strict=True)]
    out = np.zeros((6, len(points)), NUMPY[dtype])
    of_integers(*columns, out)
    for (a, b), *found in zip(points, *out.tolist(), strict=True):
        wanted = (abs(a), sv.min(a, b), sv.max(a, b), sv.math.clamp(a, b, 3), sv.math.sign(a), sv.floor(a))
        assert found == [wrap(value, dtype) for value in wanted]


def test_rounding_takes_a_dtype_in_python_too():
    assert sv.floor(-0.5, sv.i32) == -1
    assert sv.ceil(INF, sv.i32) == 2**31 - 1
    assert sv.round(NAN, dtype=sv.i64) == 0
    assert sv.math.trunc(7, sv.f32) == 7.0


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: sv.math.atanh(1.0), INF), (lambda: sv.math.atanh(-1.0), -INF), (lambda: sv.log(0.0), -INF),
        (lambda: sv.sqrt(-1.0), NAN), (lambda: sv.exp(1e4), INF), (lambda: sv.sinh(-1e4), -INF),
        (lambda: sv.acos(2.0), NAN), (lambda: sv.math.clamp(NAN, 1.0, 2.0), 1.0), (lambda: sv.math.step(1.0, NAN), 1.0),
        (lambda: sv.ceil(-0.5), -0.0), (lambda: sv.round(-0.5), -0.0), (lambda: sv.floor(INF), INF),
        (lambda: sv.math.trunc(NAN), NAN), (lambda: sv.rsqrt(0.0), INF), (lambda: sv.rsqrt(-0.0), -INF),
        (lambda: sv.math.fmod(1.0, 0.0), NAN), (lambda: sv.math.hypot(INF, NAN), INF), (lambda: sv.pow(0.0, -1.0), INF),
        (lambda: sv.pow(-8.0, 1 / 3), NAN), (lambda: sv.pow(NAN, 0.0), 1.0), (lambda: sv.math.cbrt(-8.0), -2.0),
        (lambda: sv.math.exp2(2000.0), INF), (lambda: sv.math.log1p(-1.0), -INF), (lambda: sv.min(NAN, 2.0), 2.0),
        (lambda: sv.math.fma(1e308, 10.0, -INF), -INF), (lambda: sv.math.sign(NAN), 0.0),
    ],
)  # fmt: skip
def test_no_float_makes_a_function_raise(call, expected):
    found = call()
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert math.isnan(expected) or math.copysign(1, found) == math.copysign(1, expected)
