"""Carried elements: what the iteration before has stored is kept, in loops where nothing else can have changed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import check, loops_in, outlined, whole_bodies
from samovar.ir import Kernel, walk
from samovar.passes.loops.carry import carry_elements
from samovar.passes.loops.forward_elements import forward_elements
from samovar.passes.loops.sink import sink_stores

Rows = sv.types.NDArray[sv.f32, 2]


def loads(kernel: Kernel) -> int:
    """How many elements of `x` the innermost loops load."""
    innermost = {loop for body, _ in whole_bodies(kernel) for loop in loops_in(body) if not loops_in(loop.body)}
    return sum(each.code == "load" and each.payload.name == "x" for loop in innermost for each in walk(loop.body))


@sv.kernel
def prefix(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n):
            x[m, i] = x[m, i - 1] * 0.5 + a[m, i]


@sv.kernel
def backwards(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(n - 2, -1, -1):
            x[m, i] -= a[m, i] * x[m, i + 1]


@sv.kernel
def of_two(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(2, n):
            x[m, i] = x[m, i - 1] - 0.5 * x[m, i - 2] + a[m, i]


@sv.kernel
def by_two(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(2, n, 2):
            x[m, i] = x[m, i - 2] + x[m, i - 1]


@sv.kernel
def table(x: Rows, a: Rows, n: sv.i32):
    for _ in range(1):
        for i in range(1, x.shape[0]):
            for j in range(1, n):
                x[i, j] = min(x[i - 1, j], x[i, j - 1], x[i - 1, j - 1]) + a[i, 0]


@sv.kernel
def changed_beside(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n):
            x[m, i] = x[m, i - 1] + a[m, i]
            x[m, (i * 3) % n] = 7.0


@sv.kernel
def at_times(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n):
            y = x[m, i - 1]
            if a[m, i] > 0.5:
                x[m, i] = y + 1.0


@sv.kernel
def on_one_side(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n):
            if a[m, i] > 0.5:
                x[m, i] = a[m, i - 1]
            else:
                x[m, i] = x[m, i - 1] + 1.0


@sv.kernel
def of_none_before(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(n):
            if i == 0 or a[m, i] > 0.5:
                x[m, i] = 1.0
            else:
                x[m, i] = x[m, i - 1] + a[m, i]


@sv.kernel
def left_early(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n):
            if a[m, i] > 0.9:
                break
            x[m, i] = x[m, i - 1] + a[m, i]


@sv.kernel
def stencil(x: Rows, a: Rows, n: sv.i32):
    for m in range(x.shape[0]):
        for i in range(1, n - 1):
            a[m, i] = x[m, i - 1] + x[m, i] + x[m, i + 1]


def arguments(n: int) -> dict[str, Any]:
    x, a = (np.random.default_rng(seed).random((3, max(n, 1))).astype(np.float32) for seed in (1, 2))
    return {"x": x, "a": a, "n": n}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9])
@pytest.mark.parametrize(
    ("kernel", "left"),
    [
        (prefix, 0),
        (backwards, 1),
        (of_two, 0),
        (by_two, 1),
        (table, 1),
        (changed_beside, 1),
        (at_times, 1),
        (on_one_side, 0),
        (of_none_before, 0),
        (left_early, 1),
        (stencil, 3),  # carries nothing, and may become one of vectors
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_is_still_loaded(kernel: Any, left: int, n: int) -> None:
    made = check(lambda: outlined(kernel, arguments(n)), arguments(n), sink_stores, forward_elements, carry_elements)
    assert loads(made) == left


def test_an_element_that_is_not_there_is_not_loaded_in_front() -> None:
    made = outlined(of_none_before, arguments(5))
    sink_stores(made)
    carry_elements(made)
    loops = {loop for body, _ in whole_bodies(made) for loop in loops_in(body)}
    assert not any(each.code == "load" for loop in loops for each in loop.body.operations if loops_in(loop.body))
    assert loads(made) == 0


def test_an_array_that_may_share_memory_is_loaded_again() -> None:
    made = outlined(prefix, arguments(5), shared=("x", "a"))
    carry_elements(made)
    assert loads(made) == 1
