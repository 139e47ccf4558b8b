"""Elements that lanes have loaded before are not loaded again for some of them, unless they may have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX2, check, outlined, vectorize
from samovar.ir import Kernel, walk_kernel

Floats = sv.types.NDArray[sv.f32, 1]
Integers = sv.types.NDArray[sv.i32, 1]


def vector_loads(kernel: Kernel, name: str) -> int:
    """The loads of an array in lanes. They stand twice: for whole vectors and for the remainder."""
    found = sum(each.code == "load" and each.payload.name == name and each.width == 8 for each in walk_kernel(kernel))
    assert found % 2 == 0
    return found // 2


@sv.kernel
def again(a: Floats, b: Floats, k: Integers):
    for i in k:
        x = a[i + 1]
        if b[i] > 0.5:
            b[i] = a[i + 1] + x


@sv.kernel
def changed(a: Floats, b: Floats, k: Integers):
    for i in k:
        x = a[i]
        a[k[i]] = 7.0
        if b[i] > 0.5:
            b[i] = a[i] + x


@sv.kernel
def next_to_it(a: Floats, b: Floats, k: Integers):
    for i in k:
        x = a[i]
        if b[i] > 0.5:
            b[i] = a[i + 1] + x


@sv.kernel
def another_changed(a: Floats, b: Floats, k: Integers):
    for i in k:
        x = a[i]
        b[i] = 2.0
        if x > 0.5:
            b[i] = a[i] + x


def arguments(n: int = 21) -> dict[str, Any]:
    a, b = (np.random.default_rng(seed).random(n + 1).astype(np.float32) for seed in (1, 2))
    return {"a": a, "b": b, "k": np.arange(n, dtype=np.int32)}


@pytest.mark.parametrize(
    ("kernel", "loads"),
    [(again, 1), (changed, 2), (next_to_it, 2), (another_changed, 1)],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_vectors_that_are_loaded(kernel: Any, loads: int) -> None:
    made = check(lambda: outlined(kernel, arguments()), arguments(), vectorize(AVX2, 8))
    assert vector_loads(made, "a") == loads


def test_what_may_share_memory_is_loaded_again() -> None:
    made = outlined(another_changed, arguments(), shared=("a", "b"))
    vectorize(AVX2, 8)(made)
    alone = outlined(another_changed, arguments())
    vectorize(AVX2, 8)(alone)
    assert (vector_loads(alone, "a"), vector_loads(made, "a")) == (1, 2)
