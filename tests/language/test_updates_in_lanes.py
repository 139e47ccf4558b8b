"""Read-modify-writes in vectors, by operations that have no vectors of their own, or are written out in others: under a
mask, one lane after the other where lanes are anywhere, and with the same results as one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

i32_1, i32_2 = (sv.types.NDArray[sv.i32, n] for n in (1, 2))
f32_1 = sv.types.NDArray[sv.f32, 1]
SIZES = (0, 1, 7, 16, 33, 101)


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.func
def converged(x: sv.f32, count: sv.i32) -> sv.f32:
    """A loop that is worth vectors."""
    for _ in range(count):
        x = sv.sqrt(x * x + 1.0) * 0.5 + sv.sqrt(x * x + 0.25) / (x + 2.0)
    return x


@sv.kernel
def divided_anywhere(x: f32_1, n: i32_1, at: i32_1, a: i32_2):
    for i in range(x.shape[0]):
        if converged(x[i], n[i]) > 1.0:
            a[i, at[i]] //= n[i] - 3


@sv.kernel
def remainders(x: f32_1, n: i32_1, at: i32_1, a: i32_2):
    for i in range(x.shape[0]):
        if converged(x[i], n[i]) > 1.0:
            a[i, 1] %= 7
            a[i, 2] <<= at[i]


@sv.kernel
def powers(x: f32_1, n: i32_1, at: i32_1, a: i32_2):
    for i in range(x.shape[0]):
        if converged(x[i], n[i]) > 1.0:
            a[i, 3] **= at[i]
            a[i, at[i]] **= 3
            n[i] **= 2


@sv.kernel
def exchanged(x: f32_1, n: i32_1, at: i32_1, a: i32_2):
    for i in range(x.shape[0]):
        if converged(x[i], n[i]) > 1.0:
            a[i, 0] = sv.atomic_exchange(a[i, 1], at[i])
            a[i, 2] = sv.atomic_cas(a[i, 3], 5, at[i])


KERNELS = (divided_anywhere, remainders, powers, exchanged)


def arguments(size: int) -> list[np.ndarray]:
    generator = np.random.default_rng(size)
    return [
        generator.random(size).astype(np.float32),
        generator.integers(0, 7, size).astype(np.int32),
        generator.integers(0, 4, size).astype(np.int32),
        generator.integers(-9, 9, (size, 4)).astype(np.int32),
    ]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_same_as_one_by_one(kernel: Any) -> None:
    outcomes = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without)
        assert ("# vectorized" in kernel.inspect("loops", *arguments(40))) == (not without)
        found = []
        for size in SIZES:
            given = arguments(size)
            kernel(*given)
            found.append([given[1].tolist(), given[-1].tolist()])
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


def test_what_python_computes() -> None:
    x, n, at, a = arguments(101)
    before = a.copy()
    x[:] = np.where(np.arange(101) % 3 == 0, 50.0, 0.0)
    n[:] = 1
    powers(x, n, at, a)
    for i in range(101):
        row = before[i].astype(object)
        if i % 3 == 0:
            row[3] = row[3] ** at[i]
            row[at[i]] = row[at[i]] ** 3
        assert a[i].tolist() == [(int(each) + 2**31) % 2**32 - 2**31 for each in row]
