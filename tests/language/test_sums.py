"""Sums in loops of a task, under conditions and over few elements, come out as in plain Python, in vectors and without
them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_1, f32_2, f64_2, i32_2, u8_2 = (
    sv.types.NDArray[dtype, n] for dtype, n in ((sv.f32, 1), (sv.f32, 2), (sv.f64, 2), (sv.i32, 2), (sv.u8, 2))
)
LENGTHS = (0, 1, 7, 8, 15, 16, 17, 31, 48, 63, 64, 65, 100, 129)


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def near(x: f32_2, out: f32_1, limit: sv.f32):
    for i in range(x.shape[0]):
        total, others = 0.0, 1.0
        for j in range(x.shape[1]):
            value = x[i, j]
            square = value * value
            if square < limit:
                total += limit - square
                others -= square / (1.0 + square)
        out[i] = total + 100.0 * others


def near_in_python(x: np.ndarray, limit: float) -> list[float]:
    out = []
    for row in x.astype(np.float64):
        kept = row[row * row < limit] ** 2
        out.append(float((limit - kept).sum() + 100.0 * (1.0 - (kept / (1.0 + kept)).sum())))
    return out


def rows(length: int, count: int = 5, dtype: Any = np.float32) -> np.ndarray:
    x = (np.random.default_rng(length).random((count, length)) * 4 - 2).astype(dtype)
    if length > 5 and dtype != np.int32:
        x[1, 3], x[2, 4], x[3, 5] = math.nan, math.inf, -0.0
    return x


@pytest.mark.parametrize("without", ["", "vectors", "reassociation", "vectors reassociation"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_sums_under_a_condition(without: str, threads: int) -> None:
    sv.init(without=without, num_threads=threads)
    for length in LENGTHS:
        x, out = rows(length), np.zeros(5, np.float32)
        near(x, out, 1.5)
        assert out.tolist() == pytest.approx(near_in_python(x, 1.5), rel=1e-4, abs=1e-3)


def test_sums_under_a_condition_are_vectorized_if_they_may_be_reordered() -> None:
    x, out = rows(40), np.zeros(5, np.float32)
    reduction = "add reduction of total, add reduction of others"
    sv.init()
    assert reduction in near.inspect("loops", x, out, 1.5)
    sv.init(fast_math=False)
    assert "reduction of" not in near.inspect("loops", x, out, 1.5)


@sv.kernel
def used_inside(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        total, last = 0.0, 0.0
        for j in range(x.shape[1]):
            value = x[i, j]
            if value > 0.0:
                total += value + last
                last = total
        out[i] = total


def test_a_sum_that_is_used_for_something_else_stays_under_its_condition() -> None:
    x, out = np.abs(rows(12)) - np.float32(0.5), np.zeros(5, np.float32)
    x[np.isnan(x) | np.isinf(x)] = 0.25
    used_inside(x, out)
    for row, found in zip(x.astype(np.float64), out, strict=True):
        total = last = 0.0
        for value in row:
            if value > 0.0:
                total += value + last
                last = total
        assert found == pytest.approx(total, rel=1e-4)


@sv.kernel
def squares_f32(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        out[i] = total


@sv.kernel
def squares_f64(x: f64_2, out: f32_1):
    for i in range(x.shape[0]):
        total = sv.f64(0.0)
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        out[i] = sv.f32(total)


@sv.kernel
def mixed_i32(x: i32_2, out: f32_1):
    for i in range(x.shape[0]):
        total, bits = 0, 0
        for j in range(x.shape[1]):
            total += x[i, j] * j
            bits ^= x[i, j]
        out[i] = total + bits


@sv.kernel
def counted_u8(x: u8_2, out: f32_1):
    for i in range(x.shape[0]):
        total = 0
        for j in range(x.shape[1]):
            total += 1 if x[i, j] > 100 else 0
        out[i] = total


@sv.kernel
def largest_f32(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        best = -math.inf
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        out[i] = best


SHORT: list[tuple[Callable[..., Any], Any]] = [
    (squares_f32, np.float32),
    (squares_f64, np.float64),
    (mixed_i32, np.int32),
    (counted_u8, np.uint8),
    (largest_f32, np.float32),
]


@pytest.mark.parametrize(("kernel", "dtype"), SHORT, ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_short_rows(kernel: Any, dtype: Any, threads: int) -> None:
    def run(**options: Any) -> list[np.ndarray]:
        sv.init(num_threads=threads, **options)
        results = []
        for length in LENGTHS:
            whole = np.random.default_rng(length).integers(0, 200, (5, length)).astype(dtype)
            if length > 5 and dtype is np.float32:
                whole[1, 3], whole[3, 5] = math.nan, -math.inf
            out = np.zeros(5, np.float32)
            kernel(whole, out)
            results.append(out)
        return results

    for found, expected in zip(run(), run(without="vectors"), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    for found, expected in zip(run(fast_math=False), run(fast_math=False, without="vectors"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_is_left_over_of_a_row_is_in_vectors_too() -> None:
    """Several registers at once, one of them, and a part of one."""
    loops = squares_f32.inspect("loops", rows(40), np.zeros(5, np.float32))
    (wide,) = set(re.findall(r"# vectorized: (\d+) lanes, add", loops))
    (narrow,) = set(re.findall(r"# remainder: (\d+) lanes", loops))
    assert int(wide) > int(narrow)
    assert re.search(rf"f32x{narrow} = x\[.*\] where ", loops)
