"""Long sums in one expression: in the order that is fastest with fast_math, and in the order that is written without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_2 = sv.types.NDArray[sv.f32, 2]


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


def values(size: int) -> np.ndarray:
    return (np.random.default_rng(size).random((size, size)) * 8 - 4).astype(np.float32)



@sv.kernel
def blur(source: f32_2, target: f32_2):
    for i, j in sv.ndrange((2, source.shape[0] - 2), (2, source.shape[1] - 2)):
        total = 0.0
        for di in range(-2, 3):
            for dj in range(-2, 3):
                total += source[i + di, j + dj]
        target[i, j] = total


@sv.kernel
def written_out(source: f32_2, target: f32_2):
    for i in range(source.shape[0]):
        for j in range(4, source.shape[1] - 4):
            before = source[i, j - 4] + source[i, j - 3] + source[i, j - 2] + source[i, j - 1]
            after = source[i, j + 4] + source[i, j + 3] + source[i, j + 2] + source[i, j + 1]
            target[i, j] = before + source[i, j] + after + 2.0 * before


@sv.kernel
def nine_terms(source: f32_2, target: f32_2):
    for i, j in sv.ndrange((1, source.shape[0] - 1), (1, source.shape[1] - 1)):
        above = source[i - 1, j - 1] + source[i - 1, j] + source[i - 1, j + 1]
        around = above + source[i, j - 1] + source[i, j] + source[i, j + 1]
        target[i, j] = around + source[i + 1, j - 1] - source[i + 1, j] + source[i + 1, j + 1]


@sv.kernel
def running(source: f32_2, target: f32_2):
    for i in range(source.shape[0]):
        for j in range(1, source.shape[1]):
            target[i, j] = 0.5 * target[i, j - 1] + source[i, j] + source[i, j - 1]


@pytest.mark.parametrize("kernel", [blur, written_out, nine_terms, running], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_long_sums_are_what_they_are(kernel: Any, threads: int) -> None:
    for size in (0, 1, 5, 9, 10, 16, 20, 21, 36, 40, 70):
        source = values(size)
        if size > 20:
            source[12, 13], source[4, 4] = math.nan, math.inf
        results = []
        for fast_math, without in ((True, ""), (True, "reassociation"), (False, ""), (False, "reassociation")):
            sv.init(num_threads=threads, fast_math=fast_math, without=without)
            target = np.zeros_like(source)
            kernel(source, target)
            results.append(target)
        chains, one, ordered, also_ordered = results
        np.testing.assert_allclose(chains, one, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(ordered, also_ordered)


def test_sums_are_reassociated_if_they_may_be() -> None:
    arguments = values(40), values(40)
    texts = {}
    for fast_math in (False, True):
        for without in ("", "reassociation"):
            sv.init(fast_math=fast_math, without=without)
            texts[fast_math, without] = running.inspect("ir", *arguments), nine_terms.inspect("ir", *arguments)
    assert texts[True, ""][0] != texts[True, "reassociation"][0]
    assert texts[True, ""][1] == texts[True, "reassociation"][1], "without a dependence, nothing is gained"
    assert texts[False, ""] == texts[False, "reassociation"]
