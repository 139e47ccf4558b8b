"""Iterations that are left over when others run in whole vectors: of loops of every length around the widths."""

from __future__ import annotations

import math

import numpy as np
import pytest

import samovar as sv

f32_1, f32_2, f64_1, i32_1 = (
    sv.types.NDArray[sv.f32, 1], sv.types.NDArray[sv.f32, 2], sv.types.NDArray[sv.f64, 1], sv.types.NDArray[sv.i32, 1]
)  # fmt: skip
LENGTHS = [*range(36), 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 160, 161, 191, 192, 193, 255, 256, 257, 390]


@sv.kernel
def columns(x: f32_2, y: f32_2):
    for j in range(x.shape[1]):
        last = 0.0
        for i in range(x.shape[0]):
            last = 0.5 * x[i, j] + 0.5 * last
            y[i, j] = last


@sv.kernel
def steps(x: f64_1, y: i32_1):
    for i in range(x.shape[0]):
        z, n = x[i], 0
        while z < 100.0:
            z = z * 1.5 + 1.0
            n += 1
        y[i] = n


@sv.kernel(serial=True)
def substitution(lower: f32_2, x: f32_1):
    for i in range(x.shape[0]):
        total = x[i]
        for k in range(i):
            total -= lower[i, k] * x[k]
        x[i] = total / lower[i, i]


@sv.kernel
def largest(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        best = x[i, 0]
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        out[i] = best


@pytest.mark.parametrize("n", LENGTHS)
def test_recurrences_along_columns(n: int) -> None:
    x = np.random.default_rng(n).integers(0, 64, (5, n)).astype(np.float32)
    y = np.zeros_like(x)
    columns(x, y)
    last = np.zeros(n, np.float32)
    for i in range(5):
        last = np.float32(0.5) * x[i] + np.float32(0.5) * last
        assert y[i].tolist() == last.tolist()


@pytest.mark.parametrize("n", LENGTHS)
def test_lanes_that_leave_one_by_one(n: int) -> None:
    x, y = np.random.default_rng(n).random(n) * 120, np.full(n, -1, np.int32)
    steps(x, y)
    expected = []
    for z in x:
        count = 0
        while z < 100:
            z, count = z * 1.5 + 1, count + 1
        expected.append(count)
    assert y.tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 32, 33, 70])
def test_sums_of_what_was_just_stored(n: int) -> None:
    """Whole numbers, so that any order of the terms is exact."""
    lower = np.tril(np.random.default_rng(n).integers(-1, 2, (n, n)), -1).astype(np.float32) + np.eye(n, dtype=np.float32)
    lower[:, : max(0, n - 6)] *= np.eye(n, dtype=np.float32)[:, : max(0, n - 6)]
    x = np.arange(n, dtype=np.float32)
    expected = x.astype(np.float64)
    for i in range(n):
        expected[i] -= lower[i, :i].astype(np.float64) @ expected[:i]
    substitution(lower, x)
    assert x.tolist() == expected.tolist()


@pytest.mark.parametrize("place", [1, 15, 63, 64, 90, 98, 99])
def test_an_infinite_extreme_is_found_among_nan_wherever_it_is(place: int) -> None:
    x, out = np.full((1, 100), np.nan, np.float32), np.zeros(1, np.float32)
    x[0, place] = -np.inf
    largest(x, out)
    assert out[0] == -np.inf
    x[0, 5] = 3.0
    largest(x, out)
    assert out[0] == 3.0
    x[...] = np.nan
    largest(x, out)
    assert math.isnan(out[0])


def test_a_task_says_how_many_units_run_side_by_side() -> None:
    """The runtime begins with all lanes: a vector of one unit would take as long."""
    x = np.zeros((4, 300), np.float32)
    assert "units in SIMD lanes" in columns.inspect("ir", x, x.copy())
    assert "units in SIMD lanes" not in substitution.inspect("ir", x[:4, :4].copy(), x[0, :4].copy())
