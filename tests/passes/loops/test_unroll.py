"""Unrolling: short nests are written out with constants for their variables, and small arrays become variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX512, check, loops_in, lowered
from samovar.ir import Kernel, tasks, walk
from samovar.passes.loops.unroll import LARGEST, unroll_loops

Rows = sv.types.NDArray[sv.f32, 2]
Floats = sv.types.NDArray[sv.f32, 1]


def unroll(kernel: Kernel) -> None:
    unroll_loops(kernel, AVX512)


def left(kernel: Kernel) -> list[str]:
    """The variables of the loops that are left inside of tasks."""
    return [loop.variable.name for task in tasks(kernel) for loop in loops_in(task.body)]


def reserved(kernel: Kernel) -> int:
    return sum(each.code == "reserve" for task in tasks(kernel) for each in walk(task.body))


@sv.kernel
def triangle(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        l = sv.Matrix.zero(sv.f32, 4, 4)
        for i in range(4):
            for j in range(i + 1):
                total = a[m, i * 4 + j]
                for k in range(j):
                    total -= l[i, k] * l[j, k]
                if i == j:
                    l[i, i] = total
                else:
                    l[i, j] = total / (l[j, j] + 1.5)
        for i in range(3, -1, -1):
            q[m] += l[3, i]


@sv.kernel
def by_data(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        l = sv.Matrix.zero(sv.f32, 4, 4)
        for i in range(4):
            for j in range(4):
                l[i, j] = a[m, i] - a[m, j]
        at = sv.i32(a[m, 5] * 16)
        for i in range(4):
            q[m] += l[at & 3, i]


@sv.kernel
def left_early(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        for i in range(4):
            if a[m, i] > 0.5:
                break
            q[m] += i * a[m, i]


@sv.kernel
def skipped(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        for i in range(4):
            if a[m, i] > 0.5:
                continue
            q[m] += i * a[m, i]


@sv.kernel
def large_array(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        l = sv.Matrix.zero(sv.f32, 9, 9)
        for i in range(4):
            l[i, 8] = a[m, i] * i
        for i in range(4):
            q[m] += l[i, 8]


@sv.kernel
def unused(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        x = a[m, 0]
        for _ in range(5):
            x = x * x - 0.25
        q[m] = x


@sv.kernel
def long_rows(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        for k in range(16):
            q[m] += a[m, k]


@sv.kernel
def too_long(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        for i in range(15):
            for j in range(15):
                for k in range(3):
                    q[m] += a[m, i] * a[m, j] - k


@sv.kernel
def of_any_length(a: Rows, q: Floats):
    for m in range(q.shape[0]):
        for i in range(3):
            for j in range(a.shape[1] - i):
                q[m] += a[m, j] * i


def arguments() -> dict[str, Any]:
    return {"a": np.random.default_rng(1).random((5, 16)).astype(np.float32), "q": np.zeros(5, np.float32)}


@pytest.mark.parametrize(
    ("kernel", "loops", "arrays"),
    [
        (triangle, [], 0),
        (by_data, [], 1),  # an index that nobody knows
        (left_early, ["i"], 0),
        (skipped, ["i"], 0),
        (large_array, [], 1),
        (unused, ["_"], 0),
        (long_rows, ["k"], 0),  # fills a vector by itself
        (too_long, ["i"], 0),  # what is inside is not
        (of_any_length, ["i", "j"], 0),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_is_written_out(kernel: Any, loops: list[str], arrays: int) -> None:
    made = check(lambda: lowered(kernel, arguments()), arguments(), unroll)
    assert left(made) == loops
    assert reserved(made) == arrays


def test_a_nest_is_as_long_as_its_budget_at_most() -> None:
    made = lowered(too_long, arguments())
    unroll(made)
    assert 100 < sum(1 for task in tasks(made) for _ in walk(task.body)) <= LARGEST


def test_arrays_are_in_memory_before() -> None:
    assert reserved(lowered(triangle, arguments())) == reserved(lowered(by_data, arguments())) == 1
