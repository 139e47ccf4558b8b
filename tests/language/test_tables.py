"""Tables that are filled from their own elements, such as edit distances, with and without reassociation."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import samovar as sv
from samovar.backends.llvm.effort import CHOICES_STAY

SIZES = (0, 1, 2, 5, 16, 17, 40)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def distances(a: sv.types.NDArray[sv.i32, 2], b: sv.types.NDArray[sv.i32, 1], d: sv.types.NDArray[sv.i32, 3]):
    for n in range(a.shape[0]):
        for i in range(1, d.shape[1]):
            for j in range(1, d.shape[2]):
                cost = 0 if a[n, i - 1] == b[j - 1] else 1
                d[n, i, j] = min(d[n, i - 1, j] + 1, d[n, i, j - 1] + 1, d[n, i - 1, j - 1] + cost)


@sv.kernel
def warped(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1], d: sv.types.NDArray[sv.f32, 2]):
    for _ in range(1):
        for i in range(1, d.shape[0]):
            for j in range(1, d.shape[1]):
                d[i, j] = abs(a[i - 1] - b[j - 1]) + min(d[i, j - 1], d[i - 1, j], d[i - 1, j - 1])


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_edit_distances(threads: int) -> None:
    for size in SIZES:
        a, b = (np.random.default_rng(size).integers(0, 3, shape).astype(np.int32) for shape in ((3, size), (size + 3,)))
        found = []
        for without in ("", "reassociation"):
            sv.init(num_threads=threads, without=without)
            d = np.zeros((3, size + 1, size + 4), np.int32)
            d[:, 0], d[:, :, 0] = np.arange(size + 4), np.arange(size + 1)
            distances(a, b, d)
            found.append(d)
        np.testing.assert_array_equal(*found)
        for n in range(3):
            assert found[0][n, -1, -1] == by_hand(list(a[n]), list(b))


def by_hand(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, one in enumerate(a):
        following = [i + 1]
        for j, other in enumerate(b):
            following.append(min(following[-1] + 1, row[j + 1] + 1, row[j] + (one != other)))
        row = following
    return row[-1]


@pytest.mark.parametrize("fast_math", [False, True])
def test_warping_of_floats(fast_math: bool) -> None:
    for size in SIZES:
        a, b = (np.random.default_rng(seed).random(size).astype(np.float32) for seed in (size, size + 1))
        if size > 10 and not fast_math:
            a[4], b[7] = math.nan, math.inf
        found = []
        for without in ("", "reassociation"):
            sv.init(fast_math=fast_math, without=without)
            d = np.full((size + 1, size + 1), np.inf, np.float32)
            d[0, 0] = 0
            warped(a, b, d)
            found.append(d)
        np.testing.assert_array_equal(*found)


def test_the_switch() -> None:
    a, b, d = np.zeros((1, 4), np.int32), np.zeros(4, np.int32), np.zeros((1, 5, 5), np.int32)
    texts = []
    for without in ("", "reassociation"):
        sv.init(without=without)
        texts.append(distances.inspect("llvm", a, b, d))
    assert [CHOICES_STAY in text for text in texts] == [True, False]
