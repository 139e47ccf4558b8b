"""Stores at the end of both sides of a condition are one store after it, unless something may see the difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import check, outlined
from samovar.ir import If, Kernel, inside, walk_kernel
from samovar.passes.loops import sink_stores

Floats = sv.types.NDArray[sv.f32, 1]


def conditional_stores(kernel: Kernel) -> int:
    branches = [each for each in walk_kernel(kernel) if isinstance(each, If)]
    return len({each for branch in branches for each in inside(branch) if each.code == "store"})


@sv.kernel
def both(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for i in range(k.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i]
        else:
            b[i] = 2.0


@sv.kernel
def one(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for i in range(k.shape[0]):
        if a[i] > 0.5:
            b[i] = a[i]
        else:
            a[i] = 2.0


@sv.kernel
def nested(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for i in range(k.shape[0]):
        if a[i] > 0.5:
            if a[i] > 0.75:
                b[i] = 1.0
            else:
                b[i] = 2.0
        else:
            b[i] = 3.0


@sv.kernel
def seen(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for i in range(k.shape[0]):
            x = a[i]
            y = 0.0
            j = i + 1
            if x > 0.5:
                b[j] = x
                y = b[k[i]]
            else:
                b[j] = 2.0
            a[i] = x + y


@sv.kernel
def chosen_inside(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for i in range(k.shape[0]):
            if a[i] > 0.5:
                b[i + 1] = a[i]
            else:
                b[i + 1] = 2.0


@sv.kernel
def twice(a: Floats, b: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for i in range(k.shape[0]):
            if a[i] > 0.5:
                b[i] = a[i]
                b[k[i]] = 4.0
            else:
                b[i] = 2.0
                b[0] = 5.0


def arguments(n: int = 9) -> dict[str, Any]:
    random = np.random.default_rng(n)
    a, b = (random.random(n + 1).astype(np.float32) for _ in range(2))
    return {"a": a, "b": b, "k": random.integers(0, n, n, dtype=np.int32)}


@pytest.mark.parametrize(
    ("kernel", "left"),
    [(both, 0), (one, 2), (nested, 0), (seen, 2), (chosen_inside, 2), (twice, 4)],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_stores_that_stay_in_conditions(kernel: Any, left: int) -> None:
    made = check(lambda: outlined(kernel, arguments()), arguments(), sink_stores)
    assert conditional_stores(made) == left


def test_stores_of_an_array_that_may_share_memory_stay() -> None:
    made = outlined(both, arguments(), shared=("a", "b"))
    sink_stores(made)
    assert conditional_stores(made) == 2
