"""Loops that work in each second or fourth iteration count in such steps; those that do more do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX512, check, loops_in, outlined, whole_bodies
from samovar.ir import Kernel, constant_integer
from samovar.passes.loops.index_sets import split_index_sets

Rows = sv.types.NDArray[sv.f32, 2]


def split(kernel: Kernel) -> None:
    split_index_sets(kernel, AVX512)


def steps(kernel: Kernel) -> set[int | None]:
    return {constant_integer(loop.operands[2]) for body, _ in whole_bodies(kernel) for loop in loops_in(body)}


@sv.kernel
def red_black(u: Rows, begin: sv.i32):
    for i in range(1, u.shape[0] - 1):
        for j in range(begin, u.shape[1] - 1):
            if (i + j) % 2 == 0:
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@sv.kernel
def downwards(u: Rows, begin: sv.i32):
    for i in range(u.shape[0]):
        for j in range(begin, u.shape[1]):
            if (i - j) % 4 == 3:
                u[i, j] = 2.0


@sv.kernel
def unlike(u: Rows, begin: sv.i32):
    for i in range(u.shape[0]):
        for j in range(begin, u.shape[1]):
            if (i + j) % 2 != 0:
                u[i, j] = 2.0


@sv.kernel
def otherwise(u: Rows, begin: sv.i32):
    for i in range(u.shape[0]):
        for j in range(begin, u.shape[1]):
            if (i + j) % 2 == 0:
                u[i, j] = 2.0
            else:
                u[i, j] += 1.0


@sv.kernel
def by_three(u: Rows, begin: sv.i32):
    for i in range(u.shape[0]):
        for j in range(begin, u.shape[1]):
            if (i + j) % 3 == 0:
                u[i, j] = 2.0


@sv.kernel
def doubled(u: Rows, begin: sv.i32):
    for i in range(u.shape[0]):
        for j in range(begin, u.shape[1]):
            if (i + 2 * j) % 4 == 0:
                u[i, j] = 2.0


@pytest.mark.parametrize("begin", [1, 2, 5])
@pytest.mark.parametrize("columns", [1, 2, 3, 9, 40])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [(red_black, {1, 2}), (downwards, {1, 4}), (unlike, {1, 2}), (otherwise, {1}), (by_three, {1}), (doubled, {1})],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_steps(kernel: Any, wanted: set[int], columns: int, begin: int) -> None:
    arguments = {"u": np.random.default_rng(1).random((6, columns)).astype(np.float32), "begin": begin}
    made = check(lambda: outlined(kernel, arguments), arguments, split)
    assert steps(made) == wanted
