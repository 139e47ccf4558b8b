"""Sums, extrema, products and bits into one place, histograms, and the promise that floats do not depend on threads."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv

from . import model
from .model import FLOATS, INTEGERS, NUMPY

Any1 = sv.types.ndarray(ndim=1)
N = 20_011


@sv.kernel
def into_elements(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] += a[i]
        out[1] -= a[i]
        out[2] *= a[i]
        sv.atomic_min(out[3], a[i])
        sv.atomic_max(out[4], a[i])


@sv.kernel
def bits_into_elements(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] &= a[i]
        out[1] |= a[i]
        out[2] ^= a[i]


def some_values(name: str, n: int = N) -> np.ndarray:
    generator = np.random.default_rng(5)
    if name in FLOATS:
        return generator.uniform(0.5, 1.5, n).astype(NUMPY[name])
    low, high = model.limits(name)
    return generator.integers(low, high, n, NUMPY[name], endpoint=True)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_into_elements(name):
    a = some_values(name) | 1  # odd, so that the product keeps its bits
    out = np.array([3, 3, 3, 100, -100 if name in model.SIGNED else 0], NUMPY[name])
    with np.errstate(over="ignore"):
        expected = [
            out[0] + a.sum(dtype=a.dtype),
            out[1] - a.sum(dtype=a.dtype),
            out[2] * a.prod(dtype=a.dtype),
            min(out[3], a.min()),
            max(out[4], a.max()),
        ]
    into_elements(a, out)
    assert out.tolist() == [int(value) for value in expected]


@pytest.mark.parametrize("name", INTEGERS)
def test_bits_into_elements(name):
    a = some_values(name, 1000) | NUMPY[name].type(5)
    out = np.array([7, 8, 9], NUMPY[name])
    seven, eight, nine = out  # of the type: NumPy 1 makes an i64 of 7, and has no type for that and a u64
    expected = [seven & np.bitwise_and.reduce(a), eight | np.bitwise_or.reduce(a), nine ^ np.bitwise_xor.reduce(a)]
    bits_into_elements(a, out)
    assert out.tolist() == [int(value) for value in expected]


@pytest.mark.parametrize("name", FLOATS)
def test_floats_into_elements(name):
    n = 500 if name == "f16" else N
    a = some_values(name, n)
    a = a if name == "f64" else a.round(1)
    out = np.array([0, 0, 1, 1, 1], NUMPY[name])
    into_elements(a, out)
    exact = math.fsum(a.tolist())
    tolerance = float(np.finfo(NUMPY[name]).eps) * n
    assert abs(float(out[0]) - exact) <= tolerance * exact
    assert abs(float(out[1]) + exact) <= tolerance * exact
    assert out[3] == a.min()
    assert out[4] == a.max()
    product = math.exp(math.fsum(math.log(x) for x in a.tolist()))
    if np.isfinite(NUMPY[name].type(product)) and product > float(np.finfo(NUMPY[name]).tiny):
        assert abs(float(out[2]) - product) <= 4 * tolerance * product


@sv.kernel
def logic_into_elements(a: sv.types.NDArray[sv.u1, 1], out: sv.types.NDArray[sv.u1, 1]):
    for i in range(a.shape[0]):
        out[0] &= a[i]
        out[1] |= a[i]
        out[2] ^= a[i]


def test_truth_values_into_elements():
    for pattern in ([True] * 9, [False] * 9, [True, False] * 400 + [True]):
        a = np.array(pattern)
        out = np.array([True, False, False])
        logic_into_elements(a, out)
        assert out.tolist() == [a.all(), a.any(), bool(a.sum() % 2)]


@sv.kernel
def extrema_with_nan(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        sv.atomic_min(out[0], a[i])
        sv.atomic_max(out[1], a[i])


@pytest.mark.parametrize("name", FLOATS)
def test_extrema_prefer_numbers_to_nan(name):
    a = some_values(name, 1000)
    a[::7] = np.nan
    a[13], a[500] = -np.inf, np.inf
    out = np.array([1, 1], NUMPY[name])
    extrema_with_nan(a, out)
    assert out.tolist() == [-np.inf, np.inf]


@sv.kernel
def sum_of_specials(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] += a[i]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(("special", "expected"), [((np.inf,), np.inf), ((np.inf, -np.inf), np.nan), ((np.nan,), np.nan)])
def test_sums_keep_infinity_and_nan(name, special, expected):
    a = np.ones(1000, NUMPY[name])
    a[[100 * (position + 1) for position in range(len(special))]] = special
    out = np.zeros(1, NUMPY[name])
    sum_of_specials(a, out)
    assert model.same(float(out[0]), expected)


# --- into variables of the kernel


@sv.kernel
def into_locals(a: Any1) -> (sv.f64, sv.f64, sv.f64, sv.i64):
    total: sv.f64 = 10
    least: sv.f64 = 1e9
    largest: sv.f64 = -1e9
    count: sv.i64 = 0
    for i in range(a.shape[0]):
        total += a[i]
        sv.atomic_min(least, a[i])
        sv.atomic_max(largest, a[i])
        if a[i] > 1:
            count += 1
    return total, least, largest, count


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 1000, N])
def test_reductions_into_variables(n):
    a = some_values("f64", n)
    total, least, largest, count = into_locals(a)
    assert math.isclose(total, 10 + math.fsum(a), rel_tol=1e-12)
    assert least == min(1e9, *a) if n else least == 1e9
    assert largest == max(-1e9, *a) if n else largest == -1e9
    assert count == (a > 1).sum()


@sv.kernel
def one_after_the_other(a: Any1) -> sv.i64:
    """A variable that a task reads after another has summed into it, and that serial code changes in between."""
    total: sv.i64 = 0
    for i in range(a.shape[0]):
        total += a[i]
    half = total // 2
    total = 1
    for i in range(a.shape[0]):
        if a[i] > half:
            total += 1000
        total += half
    return total


def test_a_sum_is_complete_when_the_next_task_starts():
    a = np.arange(1000)
    half = a.sum() // 2
    assert one_after_the_other(a) == 1 + 1000 * half


@sv.kernel
def reduction_in_box(a: sv.types.ndarray(ndim=2), rows: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    total: sv.f64 = 0
    for i, j in a:
        rows[i] += a[i, j]
        total += a[i, j]
    return total


@pytest.mark.parametrize("shape", [(1, 5000), (5000, 1), (70, 70), (3, 0)])
def test_sums_of_rows_and_of_all(shape):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    rows = np.zeros(shape[0])
    assert reduction_in_box(a, rows) == a.sum()
    assert (rows == a.sum(axis=1)).all()


@sv.kernel
def nested_sum(a: sv.types.ndarray(ndim=2), out: sv.types.NDArray[sv.f64, 1]):
    for i in range(a.shape[0]):
        total: sv.f64 = 0
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


def test_a_variable_of_the_iteration_belongs_to_it():
    a = np.arange(6000.0).reshape(100, 60)
    out = np.zeros(100)
    nested_sum(a, out)
    assert (out == a.sum(axis=1)).all()


# --- with other accesses of the same array in the same loop


@sv.kernel
def sum_and_write(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] += a[i]
        out[i + 1] = a[i] * 2


def test_a_sum_next_to_writes_of_the_same_array():
    a = np.arange(1000)
    out = np.zeros(1001, np.int64)
    sum_and_write(a, out)
    assert out[0] == a.sum()
    assert (out[1:] == a * 2).all()


@sv.kernel
def sum_and_read(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] += a[i]
        if i == 0:
            out[1] = out[2] + 1


def test_a_sum_next_to_reads_of_other_elements():
    a = np.arange(1000)
    out = np.array([0, 0, 41])
    sum_and_read(a, out)
    assert out.tolist() == [a.sum(), 42, 41]


@sv.kernel
def two_operations_on_one_element(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        out[0] += a[i]
        out[0] -= 1


def test_two_sums_into_one_element():
    a = np.arange(1000)
    out = np.zeros(1, np.int64)
    two_operations_on_one_element(a, out)
    assert out[0] == a.sum() - 1000


@sv.kernel
def largest_of_two(a: Any1, out: Any1):
    for i in range(a.shape[0]):
        sv.atomic_max(out[0], a[i])
        sv.atomic_max(out[0], a[i] * a[i])


def test_two_extrema_into_one_element():
    a = np.arange(-1000, 1000)
    out = np.zeros(1, np.int64)
    largest_of_two(a, out)
    assert out[0] == 1000**2


@sv.kernel
def ticket(out: Any1, order: Any1):
    for _ in range(order.shape[0]):
        mine = sv.atomic_add(out[0], 1)
        order[mine] += 1


def test_the_old_values_of_an_atomic_are_all_different():
    order = np.zeros(5000, np.int64)
    out = np.zeros(1, np.int64)
    ticket(out, order)
    assert out[0] == 5000
    assert (order == 1).all()


# --- histograms


@sv.kernel
def histogram(a: sv.types.NDArray[sv.i32, 1], bins: Any1):
    for i in range(a.shape[0]):
        bins[a[i]] += 1


@pytest.mark.parametrize("name", [*INTEGERS, "f32", "f64"])
@pytest.mark.parametrize("count", [1, 16, 256, 5000])
def test_histograms_count_every_element(name, count):
    a = np.random.default_rng(9).integers(0, count, 30_000).astype(np.int32)
    bins = np.ones(count, NUMPY[name])
    histogram(a, bins)
    expected = (1 + np.bincount(a, minlength=count)).astype(NUMPY[name])
    assert (bins == expected).all()


@sv.kernel
def histogram_of_two(a: sv.types.ndarray(ndim=2), bins: sv.types.ndarray(ndim=2)):
    for i, j in a:
        bins[i % 3, a[i, j]] += 1
        sv.atomic_max(bins[3, a[i, j]], i * 100 + j)


def test_a_histogram_with_two_operations():
    a = np.random.default_rng(9).integers(0, 20, (90, 100))
    bins = np.zeros((4, 20), np.int64)
    histogram_of_two(a, bins)
    expected = np.zeros((4, 20), np.int64)
    for (i, j), value in np.ndenumerate(a):
        expected[i % 3, value] += 1
        expected[3, value] = max(expected[3, value], i * 100 + j)
    assert (bins == expected).all()


@sv.kernel
def histogram_and_total(a: sv.types.NDArray[sv.i32, 1], bins: Any1) -> sv.i64:
    for i in range(a.shape[0]):
        bins[a[i]] += 1
    total: sv.i64 = 0
    for i in range(bins.shape[0]):
        total += bins[i]
    for i in range(a.shape[0]):
        bins[a[i]] -= 1
    return total


def test_a_task_sees_the_whole_histogram():
    a = np.random.default_rng(9).integers(0, 64, 30_000).astype(np.int32)
    bins = np.zeros(64, np.int32)
    assert histogram_and_total(a, bins) == 30_000
    assert (bins == 0).all()


# --- augmented assignments and atomics over the dtypes


@sv.kernel
def augmented(a: Any1, b: Any1, out: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        for row in range(out.shape[0]):
            out[row, i] = a[i]
        out[0, i] += b[i]
        out[1, i] -= b[i]
        out[2, i] *= b[i]
        out[3, i] //= b[i]
        out[4, i] %= b[i]


@sv.kernel
def augmented_bits(a: Any1, b: Any1, out: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        for row in range(out.shape[0]):
            out[row, i] = a[i]
        out[0, i] &= b[i]
        out[1, i] |= b[i]
        out[2, i] ^= b[i]
        out[3, i] <<= b[i]
        out[4, i] >>= b[i]
        out[5, i] **= b[i]


@sv.kernel
def augmented_shared(a: Any1, b: Any1, out: Any1):
    """Every iteration changes an element that the compiler cannot know to be its own."""
    for i in range(a.shape[0]):
        place = (i * 7) % a.shape[0]
        out[place] = a[i]
        out[place] //= b[i]


def operand_arrays(name: str) -> tuple[list, np.ndarray, np.ndarray]:
    values = model.edge_values(name)
    pairs = [(x, y) for x in values for y in values]
    return pairs, *(np.array([pair[side] for pair in pairs], NUMPY[name]) for side in (0, 1))


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_augmented_assignments_of_elements(exact, name):
    pairs, a, b = operand_arrays(name)
    out = np.zeros((5, len(pairs)), NUMPY[name])
    augmented(a, b, out)
    for row, code in enumerate(("add", "sub", "mul", "floordiv", "mod")):
        for (x, y), value in zip(pairs, out[row].tolist(), strict=True):
            assert model.same(value, model.operate(code, name, x, name, y)), (code, x, y, value)
    count = len(pairs) - len(pairs) % 7 - 1 if len(pairs) % 7 == 0 else len(pairs)
    shared = np.zeros(count, NUMPY[name])
    augmented_shared(a[:count], b[:count], shared)
    for i, (x, y) in enumerate(pairs[:count]):
        assert model.same(shared[i * 7 % count].item(), model.operate("floordiv", name, x, name, y)), (x, y)


@pytest.mark.parametrize("name", INTEGERS)
def test_augmented_bits_of_elements(name):
    pairs, a, b = operand_arrays(name)
    out = np.zeros((6, len(pairs)), NUMPY[name])
    augmented_bits(a, b, out)
    for row, code in enumerate(("and", "or", "xor", "shl", "shr", "pow")):
        for (x, y), value in zip(pairs, out[row].tolist(), strict=True):
            assert value == model.operate(code, name, x, name, y), (code, x, y)


@sv.kernel
def every_atomic(a: Any1, b: Any1, out: sv.types.ndarray(ndim=2), old: sv.types.ndarray(ndim=2)):
    for i in range(a.shape[0]):
        for row in range(out.shape[0]):
            out[row, i] = a[i]
        old[0, i] = sv.atomic_add(out[0, i], b[i])
        old[1, i] = sv.atomic_sub(out[1, i], b[i])
        old[2, i] = sv.atomic_mul(out[2, i], b[i])
        old[3, i] = sv.atomic_min(out[3, i], b[i])
        old[4, i] = sv.atomic_max(out[4, i], b[i])
        old[5, i] = sv.atomic_exchange(out[5, i], b[i])
        old[6, i] = sv.atomic_cas(out[6, i], 1, b[i])


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_atomics_change_the_element_and_give_its_old_value(exact, name):
    pairs, a, b = operand_arrays(name)
    out, old = np.zeros((7, len(pairs)), NUMPY[name]), np.zeros((7, len(pairs)), NUMPY[name])
    every_atomic(a, b, out, old)
    for row, code in enumerate(("add", "sub", "mul", "min", "max")):
        for position, (x, y) in enumerate(pairs):
            expected = model.operate(code, name, x, name, y)
            assert model.same(out[row, position].item(), expected, zeros=code not in ("min", "max")), (code, x, y)
    for position, (x, y) in enumerate(pairs):
        assert model.same(out[5, position].item(), y)
        assert model.same(out[6, position].item(), y if x == 1 else x)
    assert all(row.tobytes() == a.tobytes() or np.array_equal(row, a, equal_nan=name in FLOATS) for row in old)


# --- independence of the number of threads

SCRIPT = """
import hashlib, sys
import numpy as np
import samovar as sv

F = sv.types.NDArray[sv.f32, 1]
D = sv.types.NDArray[sv.f64, 1]

@sv.kernel
def element(a: F, out: F):
    for i in range(a.shape[0]):
        out[0] += a[i]
        out[1] += a[i] * a[i]

@sv.kernel
def variable(a: D) -> sv.f64:
    total: sv.f64 = 0
    for i in range(a.shape[0]):
        total += sv.sin(a[i])
    return total

@sv.kernel
def box(a: sv.types.NDArray[sv.f64, 2]) -> sv.f64:
    total: sv.f64 = 0
    for i, j in a:
        total += a[i, j]
    return total

@sv.kernel
def product(a: D, out: D):
    for i in range(a.shape[0]):
        out[0] *= a[i]

@sv.kernel
def histogram(k: sv.types.NDArray[sv.i32, 1], a: F, bins: F):
    for i in range(k.shape[0]):
        bins[k[i]] += a[i]

digest = hashlib.sha256()
for n in (1, 1000, 100_003, 2_000_003):
    random = np.random.default_rng(n)
    a = random.normal(size=n)
    f = a.astype(np.float32)
    for _ in range(2):  # the second launch knows what the first one cost
        out = np.zeros(2, np.float32)
        element(f, out)
        digest.update(out.tobytes())
        digest.update(np.float64(variable(a)).tobytes())
        digest.update(np.float64(box(a[: n // 7 * 7].reshape(-1, 7))).tobytes())
        digest.update(np.float64(box(a[: n // 7 * 7].reshape(7, -1))).tobytes())
        one = np.ones(1)
        product(1 + a / 1e4, one)
        digest.update(one.tobytes())
        bins = np.zeros(64, np.float32)
        histogram(random.integers(0, 64, n).astype(np.int32), f, bins)
        digest.update(bins.tobytes())
    print(n, digest.hexdigest())
"""


@pytest.mark.parametrize("fast", ["1", "0"])
def test_float_results_are_the_same_bits_for_any_number_of_threads(fast):
    printed = {}
    for threads in ("1", "2", "3", "4"):
        environment = {**os.environ, "SAMOVAR_NUM_THREADS": threads, "SAMOVAR_FAST_MATH": fast}
        printed[threads] = subprocess.run(
            [sys.executable, "-c", RUNNER, SCRIPT], env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    assert printed["2"] == printed["1"]
    assert printed["3"] == printed["1"]
    assert printed["4"] == printed["1"]


#: Runs a text as a file that can be read again.
RUNNER = """
import linecache, sys
text = sys.argv[1]
linecache.cache["<script>"] = (len(text), None, text.splitlines(True), "<script>")
exec(compile(text, "<script>", "exec"), {"__name__": "script"})
"""
