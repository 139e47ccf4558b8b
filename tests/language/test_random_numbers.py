"""Random numbers: what a seed repeats, whatever the number of threads; integers in a range; and how random they are."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import samovar as sv

from .random_battery import BATTERY, upper_gamma


@pytest.fixture(autouse=True)
def options():
    yield
    sv.reset()


@sv.func
def drawn_in_a_func(times: sv.i32) -> sv.f64:
    s = sv.f64(0)
    for _ in range(times):
        s += sv.random(sv.f64)
    return s


@sv.kernel
def draw(line: sv.types.NDArray[sv.f32, 1], plane: sv.types.NDArray[sv.f64, 2], box: sv.types.NDArray[sv.i32, 3]) -> sv.u64:
    first = sv.random(sv.u64)
    for i in line:
        line[i] = sv.random()
    for i, j in plane:
        plane[i, j] = sv.random(sv.f64) + 10 * drawn_in_a_func(i % 3)
        if sv.random() < 0.5:
            plane[i, j] += sv.randn(sv.f64)
    for i, j, k in box:
        box[i, j, k] = sv.randint(-5, 6)
    return first ^ sv.random(sv.u64)


def drawn():
    arrays = np.zeros(10_001, np.float32), np.zeros((37, 53)), np.zeros((7, 11, 13), np.int32)
    return (*arrays, draw(*arrays))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_seed_repeats_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 5):
        sv.init(num_threads=threads, random_seed=42)
        found.append((drawn(), drawn()))
        assert not same(*found[-1])  # each launch draws others
        sv.seed(42)
        assert same(drawn(), found[-1][0])
        sv.seed(43)
        assert not same(drawn(), found[-1][0])
    assert same(found[0][0], found[1][0])
    assert same(found[0][0], found[2][0])
    assert same(found[0][1], found[2][1])


def test_debug_mode_draws_the_same():
    sv.init(random_seed=1)
    plain = drawn()
    sv.init(random_seed=1, debug=True)
    checked = drawn()
    np.testing.assert_array_equal(plain[0], checked[0])
    np.testing.assert_array_equal(plain[2], checked[2])


def test_a_seed_before_the_first_launch_counts(monkeypatch):
    monkeypatch.setenv("SAMOVAR_RANDOM_SEED", "9")
    sv.reset()
    first = drawn()
    sv.seed(9)
    assert same(drawn(), first)
    for wrong in (1.5, "one"):
        with pytest.raises(TypeError):
            sv.seed(wrong)


def test_no_two_iterations_draw_the_same():
    sv.seed(3)
    line, plane, _, _ = drawn()
    assert len(np.unique(plane)) == plane.size
    assert len(np.unique(line)) > 0.99 * line.size


@sv.kernel
def whole(a: sv.types.NDArray, low: sv.i64, high: sv.i64):
    for i in a:
        a[i] = sv.randint(low, high, a.dtype)


@pytest.mark.parametrize("dtype", [sv.i8, sv.u16, sv.i32, sv.u32, sv.i64, sv.u64])
def test_integers_in_a_range(dtype):
    a = sv.ndarray(dtype, 60_000)
    signed = dtype.kind == "int"
    for low, high in ((0, 6), (-3, 3) if signed else (2, 8), (0, 1)):
        whole(a, low, high)
        counts = np.bincount(a.to_numpy().astype(np.int64) - low, minlength=high - low)
        assert len(counts) == high - low
        expected = a.size / (high - low)
        if high - low > 1:
            assert upper_gamma((high - low - 1) / 2, ((counts - expected) ** 2 / expected).sum() / 2) > 1e-9
    whole(a, 5, 5)
    assert (a.to_numpy() == 5).all()
    whole(a, 5, 2)
    assert (a.to_numpy() == 5).all()


def test_integers_of_a_large_range():
    a = sv.ndarray(sv.i32, 10_000)
    whole(a, -(1 << 31), (1 << 31) - 1)
    values = a.to_numpy()
    assert abs(values.mean() / 2.0**31) < 7 / math.sqrt(3 * a.size)
    assert values.min() < -1.9e9
    assert values.max() > 1.9e9


def test_integers_in_plain_python():
    assert {sv.randint(2, 4) for _ in range(100)} == {2, 3}
    assert sv.randint(5, 5) == 5


def test_randint_gives_integers():
    @sv.kernel
    def wrong() -> sv.f32:
        return sv.randint(0, 3, sv.f32)

    with pytest.raises(sv.SamovarTypeError, match="returns integers"):
        wrong()


# --- how random they are


@sv.kernel
def of_iterations(a: sv.types.NDArray[sv.u64, 1]):
    for i in a:
        a[i] = sv.random(sv.u64)


@sv.kernel
def of_one_iteration(a: sv.types.NDArray[sv.u64, 1]):
    for _ in range(1):
        for i in range(a.shape[0]):
            a[i] = sv.random(sv.u64)


@sv.kernel
def of_pairs(a: sv.types.NDArray[sv.u64, 1]):
    for i in range(a.shape[0] // 2):
        a[2 * i] = sv.random(sv.u64)
        a[2 * i + 1] = sv.random(sv.u64)


@sv.func
def two_numbers():
    return sv.random(sv.u64), sv.random(sv.u64)


@sv.func
def four_numbers():
    a, b = two_numbers()
    c, d = two_numbers()
    return a, b, c, d


@sv.kernel
def of_calls(a: sv.types.NDArray[sv.u64, 1]):
    for i in range(a.shape[0] // 8):
        for k in range(2):
            at = 8 * i + 4 * k
            a[at], a[at + 1], a[at + 2], a[at + 3] = four_numbers()


@sv.kernel
def of_a_launch() -> sv.u64:
    return sv.random(sv.u64)


def launches(a):
    for i in range(len(a)):
        a[i] = of_a_launch()


SOURCES = {
    "the iterations of a loop": of_iterations,
    "one iteration": of_one_iteration,
    "two numbers in each": of_pairs,
    "calls of funcs": of_calls,
    "one number per launch": launches,
}


def p_values(draw, seed):
    sv.seed(seed)
    numbers = np.zeros(1 << 14, np.uint64)
    draw(numbers)
    bits = np.unpackbits(numbers.view(np.uint8))
    return {name: test(bits) for name, test in BATTERY.items()}


@pytest.mark.parametrize("source", SOURCES)
def test_the_battery_once(source):
    found = p_values(SOURCES[source], 1)
    assert min(found.values()) > 1e-6, found


def test_the_battery_finds_what_is_not_random():
    counter = np.unpackbits(np.arange(1 << 14, dtype=np.uint64).view(np.uint8))
    assert sum(test(counter) < 1e-6 for test in BATTERY.values()) >= 7


@pytest.mark.stress
@pytest.mark.parametrize("source", SOURCES)
def test_the_battery_many_times(source):
    """As the publication judges: how many sequences pass at the level 0.01, and whether the p-values are uniform (4.2)."""
    sequences = 100
    found = [p_values(SOURCES[source], seed) for seed in range(sequences)]
    for name in BATTERY:
        values = np.array([each[name] for each in found])
        passed = (values >= 0.01).mean()
        assert passed > 0.99 - 4 * math.sqrt(0.99 * 0.01 / sequences), (name, passed)
        counts, _ = np.histogram(values, 10, (0, 1))
        uniform = upper_gamma(9 / 2, ((counts - sequences / 10) ** 2 / (sequences / 10)).sum() / 2)
        assert uniform > 1e-4, (name, uniform)


@sv.kernel(serial=True)
def draws_as_numpy_does(a, b, c, d, e):
    for i in range(a.shape[0]):
        a[i] = np.random.rand()
        b[i] = np.random.uniform(2.0, 4.0)
        c[i] = np.random.normal(5.0, 2.0)
        d[i] = np.random.randint(3, 6)
        e[i] = random.randint(3, 6)


def test_functions_of_numpy_and_random_draw_from_the_stream_of_the_kernel():
    arrays = [np.zeros(20000) for _ in range(3)] + [np.zeros(20000, np.int64) for _ in range(2)]
    draws_as_numpy_does(*arrays)
    a, b, c, d, e = arrays
    assert 0 <= a.min() < 0.01 < 0.99 < a.max() < 1
    assert 2 <= b.min() < 2.01 < 3.99 < b.max() < 4
    assert abs(c.mean() - 5) < 0.1
    assert abs(c.std() - 2) < 0.1
    assert np.unique(d).tolist() == [3, 4, 5]
    assert np.unique(e).tolist() == [3, 4, 5, 6]


@sv.kernel(serial=True)
def draws_an_array(a):
    a[:] = np.random.rand(5)


def test_functions_that_draw_arrays_are_errors():
    with pytest.raises(sv.SamovarTypeError, match=r"use `sv.random\(\)`"):
        draws_an_array(np.zeros(5))


@sv.kernel
def default_numbers() -> sv.types.vector(2, sv.f64):
    return sv.Vector([sv.random(), sv.randn()])


@pytest.mark.parametrize("dtype", [sv.f32, sv.f64])
def test_numbers_are_of_the_default_type(dtype):
    sv.init(default_fp=dtype, random_seed=3)
    found = default_numbers()
    assert [float(np.float32(each)) == each for each in found] == [dtype is sv.f32] * 2
