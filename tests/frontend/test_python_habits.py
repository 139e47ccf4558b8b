"""What people write in Python without thinking: each program does in a kernel what the plain function does."""

import math

import numpy as np
import pytest

import samovar as sv

A = sv.types.NDArray[sv.f32, 1]
WEIGHTS = [1.5, 2.5, 3.5]
INT = np.dtype("int32")
OFFSETS = ((-1, 0), (1, 0), (0, 1))


def extremes(a: A):
    a[0] = min(3, 1, 2) + max(a[1], a[2], 5.0, a[3])


def rounded(a: A):
    a[0] = round(a[1] + 1.25, 1) + round(a[1] * 3.14159, 2) + round(a[5] * 7.0, -1)
    a[1] = round(1.23456, 2) + round(2.5)


def backwards(a: A):
    for _ in range(1):
        s = 0.0
        for i in reversed(range(len(a))):
            s = s * 3 + i
        for i in reversed(range(1, len(a), 3)):
            s = s * 3 + i
        for i in reversed(range(7, 0, -2)):
            s = s * 3 + i
        for i in reversed(range(5, 5)):
            s = -i
        for i in reversed((1, 2, 3)):
            s = s * 3 + i
        a[0] = s


def counted(a: A):
    for k, i in enumerate(range(3, 7)):
        a[k] = i
    for k, x in enumerate((1.0, 2.0), 4):
        a[k] = x
    for k, x in enumerate(WEIGHTS):
        a[k] += x


def zipped(a: A):
    for _ in range(1):
        for i, j in zip(range(len(a)), range(len(a), 0, -1), strict=False):
            a[i] = j
        for i, j in zip(range(3), range(10, 100, 2), strict=False):
            a[i] += j
        for i, x in zip((0, 1, 2), (3.0, 4.0, 5.0), strict=True):
            a[i] += x
        for k, i in enumerate(range(2, len(a), 2), 10):
            a[i] = k


def over_tuples(a: A):
    for x in (0, 2, 3):
        a[x] = x * 2
    for x in [4, 5]:
        a[x] = x * 3
    s = 0.0
    for x in WEIGHTS:
        s += x
    a[1] = s


def left_early(a: A):
    for i in range(4):
        for dx, dy in OFFSETS:
            if i + dx < 0:
                continue
            a[i] += dx * 2 + dy
        for x in (1.0, 2.0, 3.0, 4.0):
            if a[i + 4] > x + i:
                a[i] = x
                break
        else:
            a[i] = 100.0


def loops_with_else(a: A):
    for _ in range(1):
        for i in range(4):
            if a[i] > 100:
                break
        else:
            a[0] = 7
        for i in range(4):
            if a[i] == 2:
                break
        else:
            a[1] = 7
    i = 0
    while i < 5:
        if a[i] == 3:
            break
        i += 1
    else:
        i = 77
    a[2] = i
    while i < 6:
        i += 1
        if i == 100:
            break
    else:
        a[3] = i


def starred(a: A):
    x, *y = (1, 2, 3)
    *p, q = y
    a[0] = x + y[0] + y[1] + q + p[0] + len(y)
    for i, *rest in ((1, 2, 3), (2, 3, 4)):
        a[i] = rest[0] + rest[1]
    one, (two, *three) = 1, (2, 3, 4)
    a[3] = one + two + three[1]


def displays(a: A):
    weights = [0.25, 0.5, 0.25]
    pair = (5.0, 6.0)
    for i in range(3):
        a[i] = weights[i] + WEIGHTS[i]
    for i in range(2):
        a[i + 3] = pair[i] * len(weights)


def functions_of_numpy(a: A):
    a[0] = np.sin(a[1]) + np.pi + np.exp(0.5) + np.sqrt(a[2]) + np.arctan2(a[1], 1.0) + np.maximum(a[1], 2.0)
    a[1] = np.abs(-a[2]) + np.floor(a[1]) + np.clip(a[1], 0.0, 0.5) + np.where(a[1] > 0, 1.0, 2.0) + np.power(a[1], 2.0)
    a[2] = np.float32(a[3]) + np.int32(2) + np.square(a[4]) + np.mod(-a[3], 2.0) + np.round(a[5], 1) + np.hypot(a[3], a[4])
    a[3] = np.isfinite(a[3]) + np.isnan(a[3]) + np.rint(2.5) + np.deg2rad(a[4]) + np.fmin(a[4], 1.0) + np.log1p(a[5])


def functions_of_math(a: A):
    a[0] = math.sin(a[1]) + math.pi + math.e + math.tau + math.floor(a[1]) + math.isfinite(a[1])
    a[1] = math.gcd(12, 18) + math.prod((a[2], 2)) + math.log(a[4], 2) + math.ldexp(a[1], 3) + math.factorial(3)


PROGRAMS = [
    extremes, rounded, backwards, counted, zipped, over_tuples, left_early, loops_with_else, starred, displays,
    functions_of_numpy, functions_of_math,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_kernel_does_what_the_function_does(program):
    expected, found = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32)
    program(expected)
    sv.kernel(program)(found)
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-5)


def test_nan_is_what_numpy_makes_of_it():
    @sv.kernel
    def extremes_of_nan(a: sv.types.NDArray[sv.f64, 1]):
        a[1], a[2] = np.maximum(a[0], 1.0), np.minimum(1.0, a[0])
        a[3] = np.fmax(a[0], 1.0)

    a = np.array([math.nan, 0, 0, 0])
    extremes_of_nan(a)
    assert np.isnan(a[1:3]).all()
    assert a[3] == 1


def test_a_reversed_loop_at_the_top_is_parallel():
    @sv.kernel
    def reversed_task(a: A):
        for i in reversed(range(a.shape[0])):
            a[i] = i

    a = np.zeros(5, np.float32)
    reversed_task(a)
    assert a.tolist() == [0, 1, 2, 3, 4]
    assert "parallel" in reversed_task.inspect("ir", a)


def test_dtypes_of_numpy_are_annotations():
    @sv.kernel
    def added(x: np.float64, y: sv.types.NDArray[np.int16, 1]) -> np.float64:
        z: np.float64 = x
        w: INT = y[0]
        return z + sv.cast(w, np.float64)

    assert added(0.1, np.array([2], np.int16)) == 0.1 + 2


def test_a_function_that_is_exchanged_is_compiled_anew():
    class Functions:
        chosen = np.sin

    functions = Functions

    @sv.kernel
    def applied(x: sv.f64) -> sv.f64:
        return functions.chosen(x)

    assert applied(0.5) == pytest.approx(math.sin(0.5))
    Functions.chosen = np.cos
    assert applied(0.5) == pytest.approx(math.cos(0.5))
    Functions.chosen = math.tan
    assert applied(0.5) == pytest.approx(math.tan(0.5))


def test_a_list_that_changes_is_seen():
    values = [1.0, 2.0]

    @sv.kernel
    def total(n: sv.i32) -> sv.f32:
        s = 0.0
        for x in values:
            s += x
        for i in range(n):
            s += values[i] * 10
        return s

    assert total(2) == 33
    values[1] = 4.0
    assert total(2) == 55
    values.append(1.0)
    assert total(3) == 66


def test_a_large_literal_beside_u32_stays_u32():
    @sv.kernel
    def hashed(x: sv.u32) -> sv.u64:
        h = x
        h *= 2246822519
        h ^= h >> 13
        return h * 3266489917

    h = 7 * 2246822519 % 2**32
    h ^= h >> 13
    assert hashed(7) == h * 3266489917 % 2**32


def calls_a_kernel(a):
    other(a)


def makes_an_array(a):
    np.arange(3)


def makes_one_of_ours(a):
    sv.zeros(3)


def makes_an_object(a):
    Plain()


def changes_a_list(a):
    WEIGHTS.append(1)


def sums_an_array(a):
    sum(a)


def takes_a_method_of_an_array(a):
    a.tolist()


def takes_a_function_of_arrays(a):
    np.percentile(a, 5)


def asks_for_what_is_known_at_run_time(a):
    math.dist(a[0], a[1])


REFUSED = [
    (calls_a_kernel, "make it a `@sv.func`"),
    (makes_an_array, "allocates an array"),
    (makes_one_of_ours, "allocates an array"),
    (makes_an_object, "creates an object"),
    (changes_a_list, "modifies a list"),
    (sums_an_array, "write a loop"),
    (takes_a_method_of_an_array, "call it outside the kernel"),
    (takes_a_function_of_arrays, "kernels do not support"),
    (asks_for_what_is_known_at_run_time, "compile-time arguments"),
]


class Plain:
    pass


@sv.kernel
def other(a: A):
    a[0] = 1


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_cannot_be_done_says_what_to_do(function, message):
    called = sv.func(function)

    @sv.kernel
    def program(a: A):
        called(a)

    with pytest.raises(sv.SamovarError, match=message):
        program(np.zeros(3, np.float32))


def test_a_sum_that_begins_with_an_integer_becomes_a_float_or_says_where():
    @sv.kernel
    def trap(a: A):
        s = 0
        for _ in range(4):
            s += 0.5
        a[0] = s

    a = np.zeros(1, np.float32)
    trap(a)
    assert a[0] == 2
    sv.init(literal_locals="first")
    message = r"`s` is i32 since line \d+: .* loses its fraction(?s:.*)\n  help: .*`s = 0.0`"
    with pytest.warns(sv.SamovarWarning, match=message):
        trap(a)
    sv.reset()
    assert a[0] == 0


@pytest.mark.parametrize(
    ("array", "hint"),
    [
        (np.zeros(2), r"`x.astype\(np.float32\)`"),
        (sv.zeros(2, sv.i32), r"`x.astype\(sv.f32\)`"),
        ([1.0], r"`sv.array\(x, dtype\)`"),
    ],
)
def test_an_argument_that_could_be_converted_says_how(array, hint):
    @sv.kernel
    def takes(x: A):
        x[0] = 1

    with pytest.raises(sv.SamovarTypeError, match=hint):
        takes(array)


@pytest.fixture
def debug():
    sv.init(debug=True)
    yield
    sv.reset()


@pytest.mark.usefixtures("debug")
def test_a_range_that_overflows_is_found_in_debug_mode():
    @sv.kernel
    def squares(n: sv.i32) -> sv.i32:
        s = 0
        for i in range(n * n):
            s += i
        return s

    with pytest.raises(sv.SamovarError, match="does not fit in i32"):
        squares(65536)
