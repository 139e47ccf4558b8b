"""Iterations whose loops call funcs run side by side too, and compute what they compute one by one, to the bit."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samovar as sv

from .programs_with_funcs import program

SIZES = (0, 1, 7, 8, 9, 16, 17, 40, 100)
f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
mat3, dmat3 = sv.types.matrix(3, 3, sv.f32), sv.types.matrix(3, 3, sv.f64)


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.func
def squared(x, y):
    return x * x - y * y, 2.0 * x * y


@sv.func
def mapped(x, y):
    a, b = squared(x, y)
    return a - 0.7, b + 0.27


@sv.kernel
def escape(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        zx, zy, k = x[i], y[i], 0
        while k < n and zx * zx + zy * zy < 4.0:
            zx, zy = mapped(zx, zy)
            k += 1
        x[i] = k
        y[i] = zx


@sv.func
def first_above(x, limit, n):
    """Returns from inside of a loop."""
    total = x
    for k in range(n):
        total = total * 1.5 + 0.01 * k
        if total > limit:
            return k
        if total < -limit:
            return -k
    return n + 1


@sv.kernel
def searched(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        y[i] = first_above(x[i], 10.0, n) + first_above(y[i], 5.0, n)


@sv.func
def branching(x, k):
    if x > 0.5:
        return x * x - 0.25
    if x < -0.5:
        return -x + 0.125 * k
    return x + 0.375


@sv.kernel
def called_under_conditions(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(n):
            if (i + k) % 3 != 0:
                value = branching(value, k)
        y[i] = value


@sv.func
def at(a, i):
    return a[i], a[a.shape[0] - 1]


@sv.kernel
def read_in_a_func(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value, last = at(x, i)
        for _ in range(n):
            value = 0.5 * value + last
        y[i] = value


@sv.func
def step(place: sv.template(), speed: sv.template()):
    """Changes what it is given."""
    speed -= 0.01 * (place + 0.1 * place * place * place)
    place += 0.01 * speed


@sv.kernel
def by_reference(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        place, speed = x[i], y[i]
        for _ in range(n):
            step(place, speed)
        x[i], y[i] = place, speed


KERNELS = (escape, searched, called_under_conditions, read_in_a_func, by_reference)


def inputs(size: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(size)
    x = (4 * generator.random(size) - 2).astype(np.float32)
    x[3::11], x[5::13], x[7::17] = np.nan, np.inf, -0.0
    return x, generator.random(size).astype(np.float32)


def without_signs_of_nan(*arrays: np.ndarray) -> list[bytes]:
    return [np.where(np.isnan(each), each.dtype.type(np.nan), each).tobytes() for each in arrays]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_same_bits_as_one_by_one(kernel: Any) -> None:
    outcomes = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without)
        text = kernel.inspect("ir", *inputs(40), 7)
        assert ("lane_numbers" in text, "func " in text) == (not without, bool(without))
        found = []
        for size in SIZES:
            for count in (0, 1, 9):
                x, y = inputs(size)
                kernel(x, y, count)
                found += without_signs_of_nan(x, y)
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.stress) for seed in range(8, 300))])
def test_programs_made_at_random(seed: int, tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(program(seed))
    kernel = runpy.run_path(str(tmp_path / "made.py"))["k"]
    outcomes = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without)
        found = []
        for size in SIZES:
            x, y = inputs(size)
            kernel(x, y, 4)
            found += without_signs_of_nan(x, y)
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


@sv.func
def decomposed(a, i, u, s, v):
    """Loops of constant length, in the library; elements of structures are apart."""
    left, values, right = sv.svd(a[i])
    u[i], s[i], v[i] = left, values, right


@sv.kernel
def singular_values(a: sv.types.NDArray, u: sv.types.NDArray, s: sv.types.NDArray, v: sv.types.NDArray):
    for i in range(a.shape[0]):
        decomposed(a, i, u, s, v)


@sv.kernel
def eigenvalues(a: sv.types.NDArray, u: sv.types.NDArray, s: sv.types.NDArray, v: sv.types.NDArray):
    for i in range(a.shape[0]):
        values, vectors = sv.sym_eig(a[i] + a[i].transpose())
        u[i], s[i], v[i] = vectors, sv.Matrix.diag(values), vectors.transpose()


def matrices(size: int, dtype: Any) -> np.ndarray:
    a = np.random.default_rng(size).standard_normal((size, 3, 3)).astype(dtype)
    a[::5, 2] = a[::5, 1]  # singular
    a[1::5] = np.eye(3)
    a[2::7] *= dtype(1e-20)
    a[3::11] = 0
    a[4::13, 1, 1] = np.nan
    return a


@pytest.mark.parametrize("kernel", [singular_values, eigenvalues], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize(("kind", "dtype"), [(mat3, np.float32), (dmat3, np.float64)], ids=["f32", "f64"])
@pytest.mark.parametrize("threads", [1, 2])
def test_decompositions_have_the_same_bits(kernel: Any, kind: Any, dtype: Any, threads: int) -> None:
    outcomes = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without, num_threads=threads)
        found = []
        for size in (*SIZES, 300):
            given = [sv.ndarray(kind, size) for _ in range(4)]
            given[0].from_numpy(matrices(size, dtype))
            kernel(*given)
            found += without_signs_of_nan(*(each.to_numpy() for each in given))
        if size:
            assert ("lane_numbers" in kernel.inspect("ir")) == (not without)
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


@sv.func
def spoken(x, k):
    print(x, k)
    return x + 1.0


@sv.func
def summed(a, i, n):
    total = 0.0
    for k in range(n):
        total += a[(i * k) % a.shape[0]]
    return total


@sv.kernel
def speaks(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(n):
            value = spoken(value, k)
        y[i] = value


@sv.kernel
def reads_anywhere(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        y[i] = summed(x, i, n)


@sv.func
def once(x):
    return x * 2.0


@sv.kernel
def without_loops(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        y[i] = once(x[i]) * n


@sv.func
def long(x, k):
    for j in sv.static(range(100)):
        x = x * (0.5 + j) - k
    return x


@sv.kernel
def too_long(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(n):
            for _ in sv.static(range(8)):
                value = long(value, k)
        y[i] = value


@pytest.mark.parametrize("kernel", [speaks, without_loops, too_long], ids=lambda kernel: kernel.__name__)
def test_calls_stay_where_lanes_cannot_be(kernel: Any) -> None:
    text = kernel.inspect("ir", *inputs(40), 7)
    assert "func " in text
    assert "lane_numbers" not in text


def test_what_is_read_anywhere_has_its_price() -> None:
    text = reads_anywhere.inspect("loops", *inputs(40), 7)
    assert "func " not in text
    assert "1 gather, price" in text
    assert "lane_numbers" not in text


@pytest.mark.parametrize("option", ["debug", "check_out_of_bound", "check_races"])
def test_calls_stay_where_everything_is_checked(option: str) -> None:
    sv.init(**{option: True})
    assert "func mapped" in escape.inspect("ir", *inputs(40), 7)


@sv.func
def decayed(x):
    return x * (0.9 - 0.3 * x)


@sv.kernel(serial=True)
def in_order(x: f32_1):
    for i in range(x.shape[0]):
        y, n = x[i], 0
        while n < 6 and y > 0.05:
            y = decayed(y)
            n += 1
        x[i] = y + n


@sv.kernel
def at_random(x: f32_1):
    for i in range(x.shape[0]):
        total, n = 0.0, 0
        while total < x[i] and n < 9:
            total += decayed(sv.random())
            n += 1
        x[i] = total


@pytest.mark.parametrize("kernel", [in_order, at_random], ids=lambda kernel: kernel.__name__)
def test_serial_loops_and_random_numbers_are_the_same_in_lanes(kernel: Any) -> None:
    outcomes = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without, random_seed=3)
        x = np.linspace(0.0, 1.0, 100, dtype=np.float32)
        assert ("lane_numbers" in kernel.inspect("ir", x)) == (not without)
        kernel(x)
        outcomes.append(x.tobytes())
    assert outcomes[0] == outcomes[1]


@sv.kernel
def rows_at_random(x: f32_2):
    for i, j in sv.ndrange(x.shape[0], x.shape[1]):
        total, n = 0.0, 0
        while total < 2.0 and n < 9:
            total += decayed(sv.random())
            n += 1
        x[i, j] = total


@pytest.mark.parametrize(("kernel", "shape"), [(at_random, 100), (rows_at_random, (200, 3))])
def test_threads_take_whole_vectors_of_units(kernel: Any, shape: Any) -> None:
    text = kernel.inspect("loops", np.zeros(shape, np.float32))
    lanes = {int(found) for found in re.findall(r"# vectorized: (\d+) lanes", text)}
    units = {int(found) for found in re.findall(r"(\d+) units in SIMD lanes", text)}
    assert lanes
    assert units == lanes
