"""Every operator over every pair of dtypes, against the model: promotion, wrapping, rounding, and the edges of each type."""

import itertools
import math

import numpy as np
import pytest

import samovar as sv

from . import model
from .model import BITWISE, COMPARISONS, DEFAULT_INTEGER, FLOATS, INTEGERS, NAMES, NUMPY, WHOLE

# One kernel serves all pairs of dtypes, and says that it was compiled often.
pytestmark = pytest.mark.filterwarnings("ignore:.*was compiled:samovar.SamovarWarning")

Any1 = sv.types.ndarray(ndim=1)
PAIRS = list(itertools.product(NAMES, NAMES))
FLOAT_PAIRS = [pair for pair in PAIRS if model.promote(*pair) in FLOATS]
WHOLE_PAIRS = [pair for pair in PAIRS if model.promote(*pair) not in FLOATS]

ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "min", "max")
LOGIC = (
    *COMPARISONS,
    *("a < b <= a", "not a == b", "a and b", "a or b"),
)


@sv.kernel
def arithmetic(
    a: Any1,
    b: Any1,
    out: sv.types.ndarray(ndim=2),
    quotient: sv.types.NDArray[sv.f64, 1],
    truth: sv.types.NDArray[sv.u1, 2],
):
    for i in range(a.shape[0]):
        x, y = a[i], b[i]
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * y
        out[3, i] = x // y
        out[4, i] = x % y
        out[5, i] = min(x, y)
        out[6, i] = max(x, y)
        out[7, i] = sv.select(x < y, x, y)
        out[8, i] = x if x > y else y
        out[9, i] = x and y
        out[10, i] = x or y
        quotient[i] = x / y
        truth[0, i] = x < y
        truth[1, i] = x <= y
        truth[2, i] = x > y
        truth[3, i] = x >= y
        truth[4, i] = x == y
        truth[5, i] = x != y
        truth[6, i] = x < y <= x
        truth[7, i] = not x == y  # noqa: SIM201 - the operator is what is tested
        truth[8, i] = x and y
        truth[9, i] = x or y


@sv.kernel
def bitwise(a: Any1, b: Any1, out: sv.types.NDArray[sv.i64, 2]):
    for i in range(a.shape[0]):
        x, y = a[i], b[i]
        out[0, i] = x & y
        out[1, i] = x | y
        out[2, i] = x ^ y
        out[3, i] = x << y
        out[4, i] = x >> y
        out[5, i] = x**y
        # The sign of the result shows in the kind of shift.
        out[6, i] = (x + y) >> 1


def operands(left: str, right: str) -> tuple[list, np.ndarray, np.ndarray]:
    """Every value worth trying with every other, as pairs and as two arrays."""
    pairs = list(itertools.product(model.edge_values(left), model.edge_values(right)))
    return pairs, model.values_array(left, [a for a, _ in pairs]), model.values_array(right, [b for _, b in pairs])


def compare(what: str, pairs: list, actual: np.ndarray, expected: list, zeros: bool = True) -> None:
    wrong = [
        f"{a!r} {what} {b!r} = {value!r}, expected {wanted!r}"
        for (a, b), value, wanted in zip(pairs, actual.tolist(), expected, strict=True)
        if not model.same(value, wanted, zeros)
    ]
    assert not wrong, f"{len(wrong)} of {len(pairs)} differ: " + "; ".join(wrong[:8])


def chosen(condition: bool, left: str, a: object, right: str, b: object) -> object:
    return model.convert(a if condition else b, model.promote(left, right))


def run_arithmetic(left: str, right: str) -> tuple[list, np.ndarray, np.ndarray, np.ndarray]:
    pairs, a, b = operands(left, right)
    out = np.zeros((11, len(pairs)), np.float64 if model.promote(left, right) in FLOATS else np.int64)
    quotient, truth = np.zeros(len(pairs)), np.zeros((len(LOGIC), len(pairs)), bool)
    arithmetic(a, b, out, quotient, truth)
    return pairs, out, quotient, truth


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_operators_follow_the_promotion_rules(exact, left, right):
    pairs, out, quotient, truth = run_arithmetic(left, right)

    def stored(values: list) -> list:
        return [model.wrap(int(value), "i64") for value in values] if out.dtype == np.int64 else values

    for row, code in enumerate(ARITHMETIC):
        expected = stored([model.operate(code, left, x, right, y) for x, y in pairs])
        compare(code, pairs, out[row], expected, zeros=code not in ("min", "max"))
    for row, what, condition in (
        (7, "select(a < b, a, b)", lambda x, y: model.operate("lt", left, x, right, y)),
        (8, "a if a > b else b", lambda x, y: model.operate("gt", left, x, right, y)),
        (9, "a and b", lambda x, y: not x),
        (10, "a or b", lambda x, y: bool(x)),
    ):
        compare(what, pairs, out[row], stored([chosen(condition(x, y), left, x, right, y) for x, y in pairs]))
    compare("div", pairs, quotient, [model.operate("div", left, x, right, y) for x, y in pairs])
    check_logic(left, right, pairs, truth)


def check_logic(left: str, right: str, pairs: list, truth: np.ndarray) -> None:
    rows = {code: [model.operate(code, left, x, right, y) for x, y in pairs] for code in COMPARISONS}
    rows["a < b <= a"] = [
        less and model.operate("le", right, y, left, x) for less, (x, y) in zip(rows["lt"], pairs, strict=True)
    ]
    rows["not a == b"] = [not equal for equal in rows["eq"]]
    rows["a and b"] = [bool(chosen(not x, left, x, right, y)) for x, y in pairs]
    rows["a or b"] = [bool(chosen(bool(x), left, x, right, y)) for x, y in pairs]
    for row, what in enumerate(LOGIC):
        compare(what, pairs, truth[row], rows[what])


@pytest.mark.parametrize(("left", "right"), WHOLE_PAIRS)
def test_bits_shifts_and_integer_powers(left, right):
    pairs, a, b = operands(left, right)
    out = np.zeros((7, len(pairs)), np.int64)
    bitwise(a, b, out)
    for row, code in enumerate((*BITWISE, "shl", "shr", "pow")):
        expected = [model.wrap(int(model.operate(code, left, x, right, y)), "i64") for x, y in pairs]
        compare(code, pairs, out[row], expected)
    name = model.result_type("add", left, right)
    sums = [model.operate("add", left, x, right, y) for x, y in pairs]
    halves = [model.wrap(int(model.operate("shr", name, value, DEFAULT_INTEGER, 1)), "i64") for value in sums]
    compare("sum, then >> 1", pairs, out[6], halves)


# --- fast_math: nearly the same numbers, and NaN and infinity keep their meaning


@pytest.mark.parametrize(("left", "right"), [pair for pair in PAIRS if pair[0] in FLOATS])
def test_fast_math_keeps_numbers_close_and_special_values(left, right):
    pairs, out, quotient, truth = run_arithmetic(left, right)
    check_logic(left, right, pairs, truth)
    name = model.promote(left, right)
    for row, code in ((0, "add"), (1, "sub"), (2, "mul"), (5, "min"), (6, "max")):
        close(code, pairs, out[row], [model.operate(code, left, x, right, y) for x, y in pairs], name)
    close("div", pairs, quotient, [model.operate("div", left, x, right, y) for x, y in pairs], name)
    for (x, y), remainder in zip(pairs, out[4].tolist(), strict=True):
        x, y = model.convert(x, name), model.convert(y, name)
        if math.isfinite(x) and math.isfinite(y) and y != 0:
            # As in Python, a remainder just below the divisor may be rounded up to it.
            assert 0 <= remainder <= y or y <= remainder <= 0, f"{x!r} % {y!r} = {remainder!r}"


def close(what: str, pairs: list, actual: np.ndarray, expected: list, name: str) -> None:
    information = np.finfo(NUMPY[name])
    tolerance, least = 4 * float(information.eps), float(information.tiny)
    wrong = [
        f"{a!r} {what} {b!r} = {value!r}, expected {wanted!r}"
        for (a, b), value, wanted in zip(pairs, actual.tolist(), expected, strict=True)
        if not (model.same(value, wanted, zeros=False) or abs(value - wanted) <= tolerance * max(abs(wanted), least))
    ]
    assert not wrong, f"{len(wrong)} of {len(pairs)} differ: " + "; ".join(wrong[:8])


# --- powers of floats


@sv.kernel
def powers(a: Any1, b: Any1, out: sv.types.NDArray[sv.f64, 1]):
    for i in range(a.shape[0]):
        out[i] = a[i] ** b[i]


def float_power(a: float, b: float) -> float:
    """C's pow."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a == 0:  # a pole
            return math.copysign(math.inf, a) if b % 2 == 1 or b % 2 == -1 else math.inf
        return math.nan


@pytest.mark.parametrize(("left", "right"), FLOAT_PAIRS)
def test_float_powers_are_those_of_c(exact, left, right):
    pairs, a, b = operands(left, right)
    out = np.zeros(len(pairs))
    powers(a, b, out)
    name = model.promote(left, right)
    expected = [
        model.rounded(float_power(model.convert(x, name), model.convert(y, name)), name) for x, y in pairs
    ]
    close("**", pairs, out, expected, name)


@sv.kernel
def constant_powers(a: Any1, out: sv.types.ndarray(ndim=2), reciprocal: sv.types.NDArray[sv.f64, 1]):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = x**0
        out[1, i] = x**1
        out[2, i] = x**2
        out[3, i] = x**3
        out[4, i] = sv.pow(x, 10)
        reciprocal[i] = x**-1


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_exponent_is_repeated_multiplication(exact, name):
    values = model.edge_values(name)
    result = model.result_type("pow", name, DEFAULT_INTEGER)
    out = np.zeros((5, len(values)), np.float64 if name in FLOATS else np.int64)
    reciprocal = np.zeros(len(values))
    constant_powers(model.values_array(name, values), out, reciprocal)

    def times(a: object, b: object) -> object:
        return model.operate("mul", result, a, result, b)

    for position, value in enumerate(values):
        one = model.convert(value, result)
        squared = times(one, one)
        fourth = times(squared, squared)
        wanted = [model.convert(1, result), one, squared, times(one, squared), times(squared, times(fourth, fourth))]
        for row, expected in enumerate(wanted):
            stored = model.wrap(int(expected), "i64") if name in WHOLE else expected
            assert model.same(out[row, position].item(), stored), (name, value, row)
        real = result if result in FLOATS else "f32"
        expected = model.operate("div", real, 1.0, real, model.convert(one, real))
        assert model.same(float(reciprocal[position]), expected), (name, value)


# --- constants on one side: other code is made for them


@sv.kernel
def by_constants(a: Any1, out: sv.types.NDArray[sv.i64, 2]):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = x // 1
        out[1, i] = x // 8
        out[2, i] = x // 7
        out[3, i] = x // -1
        out[4, i] = x // -8
        out[5, i] = x // -7
        out[6, i] = x // 0
        out[7, i] = x % 1
        out[8, i] = x % 8
        out[9, i] = x % 7
        out[10, i] = x % -1
        out[11, i] = x % -8
        out[12, i] = x % -7
        out[13, i] = x % 0
        out[14, i] = x << 0
        out[15, i] = x << 5
        out[16, i] = x << 40
        out[17, i] = x << 64
        out[18, i] = x << -1
        out[19, i] = x >> 0
        out[20, i] = x >> 5
        out[21, i] = x >> 40
        out[22, i] = x >> 64
        out[23, i] = x >> -1
        out[24, i] = 100 - x
        out[25, i] = 100 // x
        out[26, i] = 1 << x
        out[27, i] = x * 0x100000001


CONSTANTS = [
    *(("floordiv", value) for value in (1, 8, 7, -1, -8, -7, 0)),
    *(("mod", value) for value in (1, 8, 7, -1, -8, -7, 0)),
    *(("shl", value) for value in (0, 5, 40, 64, -1)),
    *(("shr", value) for value in (0, 5, 40, 64, -1)),
]


@pytest.mark.parametrize("name", WHOLE)
def test_constant_operands_give_what_variables_give(name):
    values = model.edge_values(name)
    out = np.zeros((28, len(values)), np.int64)
    by_constants(model.values_array(name, values), out)
    rows = [(code, name, None, DEFAULT_INTEGER, constant) for code, constant in CONSTANTS]
    rows += [("sub", DEFAULT_INTEGER, 100, name, None), ("floordiv", DEFAULT_INTEGER, 100, name, None)]
    rows += [("shl", DEFAULT_INTEGER, 1, name, None), ("mul", name, None, "i64", 0x100000001)]
    for row, (code, left, a, right, b) in enumerate(rows):
        for position, value in enumerate(values):
            x, y = (value if a is None else a), (value if b is None else b)
            expected = model.wrap(int(model.operate(code, left, x, right, y)), "i64")
            assert out[row, position] == expected, (code, x, y)


# --- one operand


@sv.kernel
def unary(a: Any1, out: sv.types.ndarray(ndim=2), truth: sv.types.NDArray[sv.u1, 2]):
    for i in range(a.shape[0]):
        x = a[i]
        out[0, i] = -x
        out[1, i] = +x
        out[2, i] = abs(x)
        out[3, i] = sv.math.sign(x)
        out[4, i] = sv.floor(x)
        out[5, i] = sv.ceil(x)
        out[6, i] = round(x)
        out[7, i] = sv.math.trunc(x)
        truth[0, i] = not x
        truth[1, i] = sv.isnan(x)
        truth[2, i] = sv.isinf(x)
        truth[3, i] = bool(x)


def whole_number(rounding, a):
    if not isinstance(a, float) or not math.isfinite(a):
        return a
    return math.copysign(float(rounding(a)), a)


def sign(a):
    return (a > 0) - (a < 0)


@pytest.mark.parametrize("name", NAMES)
def test_unary_operators_and_rounding(exact, name):
    values = model.edge_values(name)
    if name in FLOATS:
        values += [0.75, -0.75, 1.5, 2.5, -2.5, -0.5]
    out = np.zeros((8, len(values)), np.float64 if name in FLOATS else np.int64)
    truth = np.zeros((4, len(values)), bool)
    unary(model.values_array(name, values), out, truth)
    for position, a in enumerate(values):
        rows = [
            model.negate(name, a),
            a,
            model.magnitude(name, a),
            sign(a),
            *(whole_number(rounding, a) for rounding in (math.floor, math.ceil, round, math.trunc)),
        ]
        for row, expected in enumerate(rows):
            stored = float(expected) if name in FLOATS else model.wrap(int(expected), "i64")
            assert model.same(out[row, position].item(), stored, zeros=row != 3), (name, a, row)
        assert truth[:, position].tolist() == [not a, a != a, a in (math.inf, -math.inf), bool(a)], (name, a)


@sv.kernel
def bits_of(a: Any1, out: sv.types.NDArray[sv.i64, 2]):
    for i in range(a.shape[0]):
        out[0, i] = ~a[i]
        out[1, i] = sv.math.popcnt(a[i])
        out[2, i] = sv.math.clz(a[i])
        out[3, i] = sv.math.ffs(a[i])


@pytest.mark.parametrize("name", INTEGERS)
def test_bit_functions(name):
    values = model.edge_values(name)
    out = np.zeros((4, len(values)), np.int64)
    bits_of(model.values_array(name, values), out)
    width = model.bits(name)
    for position, a in enumerate(values):
        pattern = a % (1 << width)
        lowest = (pattern & -pattern).bit_length()
        inverted = model.wrap(model.invert(name, a), "i64")
        expected = [inverted, pattern.bit_count(), width - pattern.bit_length(), lowest]
        assert out[:, position].tolist() == expected, (name, a)


@sv.kernel
def inverted_truth(a: sv.types.NDArray[sv.u1, 1], out: sv.types.NDArray[sv.i32, 1]):
    for i in range(a.shape[0]):
        out[i] = ~a[i]


def test_inverting_u1_is_logical():
    out = np.zeros(2, np.int32)
    inverted_truth(np.array([False, True]), out)
    assert out.tolist() == [1, 0]


# --- conversions


@sv.kernel
def converted(a: Any1, out: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        out[0, i] = a[i]
        out[1, i] = sv.cast(a[i], out.dtype)


@pytest.mark.filterwarnings("ignore:.*(fit|precision|fraction):samovar.SamovarWarning")
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_casts_truncate_round_wrap_and_saturate(exact, source, target):
    values = model.edge_values(source)
    if source in FLOATS:
        values += [0.9, -0.9, 1.5, -1.5, 100.7, 300.5, -129.9]
        values = [model.rounded(value, source) for value in values]
    expected = [model.convert(value, target) for value in values]
    pairs = [(value, target) for value in values]
    out = np.zeros((2, len(values)), NUMPY[target])
    converted(model.values_array(source, values), out)
    compare("stored as", pairs, out[0], expected)
    compare("cast to", pairs, out[1], expected)


@sv.kernel
def constant_cast(value: sv.template(), out: sv.types.ndarray(ndim=1)):
    out[0] = sv.cast(value, out.dtype)


@sv.kernel
def run_time_cast(value: sv.f64, out: sv.types.ndarray(ndim=1)):
    out[0] = sv.cast(value, out.dtype)


@pytest.mark.parametrize("target", [*INTEGERS, "u1"])
def test_a_constant_that_does_not_fit_becomes_what_it_is_at_run_time(target):
    edges = [2.0**bits + step for bits in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1.5, -1.0, 0.0, 0.5)]
    for value in [*edges, *(-edge for edge in edges), 1e10, -1e10, 1e300, -1e300, math.nan, math.inf, -math.inf, -0.5, 0.0]:
        found = np.zeros(2, NUMPY[target])
        constant_cast(value, found[:1])
        run_time_cast(value, found[1:])
        assert found[0] == found[1], value


@sv.kernel
def bits_as(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[i] = sv.bit_cast(a[i], out.dtype)


@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in PAIRS if model.bits(pair[0]) == model.bits(pair[1]) and "u1" not in pair],
)
def test_bit_cast_keeps_the_bits(source, target):
    a = model.values_array(source, model.edge_values(source))
    out = np.zeros(len(a), NUMPY[target])
    bits_as(a, out)
    assert out.tobytes() == a.tobytes()


def test_bit_cast_refuses_another_size():
    with pytest.raises(sv.SamovarTypeError, match="size"):
        bits_as(np.zeros(1, np.float32), np.zeros(1, np.int64))


@sv.kernel
def python_casts(a: Any1, whole: sv.types.NDArray[sv.i64, 1], real: sv.types.NDArray[sv.f64, 1]):
    for i in range(a.shape[0]):
        whole[i] = int(a[i])
        real[i] = float(a[i])


@pytest.mark.parametrize("name", NAMES)
def test_int_and_float_give_the_default_types(exact, name):
    values = model.edge_values(name)
    whole, real = np.zeros(len(values), np.int64), np.zeros(len(values))
    python_casts(model.values_array(name, values), whole, real)
    assert whole.tolist() == [model.convert(value, "i32") for value in values]
    compare("float", [(value, "f32") for value in values], real, [model.convert(value, "f32") for value in values])


def test_default_types_are_options():
    sv.init(default_ip=sv.i64, default_fp=sv.f64)
    try:
        values = [2**40, -(2**40), 3]
        whole, real = np.zeros(3, np.int64), np.zeros(3)
        python_casts(np.array(values), whole, real)
        assert whole.tolist() == values
        out, quotient, truth = np.zeros((11, 3), np.int64), np.zeros(3), np.zeros((len(LOGIC), 3), bool)
        arithmetic(np.array(values), np.array([7, 7, 7]), out, quotient, truth)
        assert quotient.tolist() == [value / 7 for value in values]
    finally:
        sv.reset()


@sv.kernel
def typed_constants(o: sv.types.NDArray[sv.i64, 1]):
    y = sv.f32(1e20)
    o[0] = sv.i64(y)
    o[1] = sv.i32(sv.f32(1e10))
    z = sv.i32(-1)
    o[2] = sv.u16(z)


def test_a_typed_constant_is_converted_as_at_run_time():
    """Only a number without a dtype has to fit in the one that is called; what has one is converted, also under a name."""
    results = np.zeros(3, np.int64)
    typed_constants(results)
    assert results.tolist() == [2**63 - 1, 2**31 - 1, 65535]
