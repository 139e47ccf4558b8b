"""Speculation: elements that stay the same are loaded in front of a nest, if they exist, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import check, loops_in, outlined, whole_bodies
from samovar.ir import Kernel, walk
from samovar.passes.loops.speculate import speculate_loads

Floats = sv.types.NDArray[sv.f32, 1]


def loads(kernel: Kernel) -> int:
    """How many elements of `b` are loaded in loops."""
    found = {each for body, _ in whole_bodies(kernel) for loop in loops_in(body) for each in walk(loop.body)}
    return sum(each.code == "load" and each.payload.name == "b" for each in found)


@sv.kernel
def guarded(a: Floats, b: Floats, at: sv.i32):
    for i in range(a.shape[0]):
        if a[i] > 0.5 and at < b.shape[0] and at >= 0:
            a[i] += b[at]


@sv.kernel
def changed(a: Floats, b: Floats, at: sv.i32):
    for _ in range(1):
        for i in range(a.shape[0]):
            if a[i] > 0.5 and at < b.shape[0] and at >= 0:
                a[i] = b[at]
                b[at] = 2.0


@sv.kernel
def moving(a: Floats, b: Floats, at: sv.i32):
    for i in range(a.shape[0]):
        if i < b.shape[0]:
            a[i] += b[i]


@pytest.mark.parametrize("at", [0, 2, 3, 100, -1])
@pytest.mark.parametrize(("kernel", "left"), [(guarded, 0), (changed, 1), (moving, 1)])
def test_what_is_loaded_in_loops(kernel: Any, left: int, at: int) -> None:
    arguments = {"a": np.linspace(0, 1, 6, dtype=np.float32), "b": np.arange(3, dtype=np.float32), "at": at}
    made = check(lambda: outlined(kernel, arguments), arguments, speculate_loads)
    assert loads(made) == left


def test_an_array_that_a_change_may_reach_is_loaded_each_time() -> None:
    arguments = {"a": np.ones(6, np.float32), "b": np.ones(3, np.float32), "at": 1}
    made = outlined(guarded, arguments, shared=("a", "b"))
    speculate_loads(made)
    assert loads(made) == 1
