"""Loops that call vector functions, with a stack that is aligned for the vectors that wait there, and without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar.backends.llvm.target import host_target

f32_1 = sv.types.NDArray[sv.f32, 1]

SIZES = (0, 1, 2, 15, 16, 17, 31, 33, 64, 65, 200)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def activated(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        y[i] = x[i] / (1.0 + sv.exp(-x[i])) + 0.5 * y[i]


@sv.kernel
def several(x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        a, b = sv.exp(-x[i]), sv.log(1.0 + x[i] * x[i])
        y[i] = a * sv.sin(b + x[i]) + b * sv.exp(y[i] - a) + x[i]


KERNELS = (activated, several)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize(("fast_math", "threads"), [(False, 1), (False, 2), (False, 8), (True, 1)])
def test_the_same_bits_on_any_stack(kernel: Any, fast_math: bool, threads: int) -> None:
    def run(without: str) -> list[np.ndarray]:
        sv.init(fast_math=fast_math, num_threads=threads, without=without)
        results = []
        for size in SIZES:
            x = np.random.default_rng(size).normal(size=size).astype(np.float32)
            y = np.random.default_rng(size + 1).normal(size=size).astype(np.float32)
            if size > 10 and not fast_math:
                x[3], x[5], y[7] = math.nan, math.inf, -math.inf
            kernel(x, y)
            kernel(x, x)  # the same array twice
            results += [x, y]
        return results

    for found, expected in zip(run(""), run("stack"), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(not host_target().vector_math, reason="the C library has no vector functions")
def test_the_switch() -> None:
    x = np.ones(100, np.float32)
    texts = []
    for without in ("", "stack"):
        sv.init(without=without)
        texts.append(several.inspect("asm", x, x.copy()))
    aligned, plain = (any("and" in line and "%rsp" in line for line in text.splitlines()) for text in texts)
    assert aligned
    assert not plain
