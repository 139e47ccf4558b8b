"""Structures of three and more numbers, put together and taken apart in vectors, ours or those of the backend: the same bits
as one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

f32_2 = sv.types.NDArray[sv.f32, 2]
f64_2 = sv.types.NDArray[sv.f64, 2]
i32_2 = sv.types.NDArray[sv.i32, 2]

SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100)

with_permutations = pytest.mark.skipif(
    not sv._native.cpu_features().get("avx512vl", False), reason="permutations of two registers are AVX-512"
)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


def values(rows: int, columns: int, dtype: Any = np.float32, special: bool = True) -> np.ndarray:
    found = np.random.default_rng(rows + columns).random((rows, columns)) * 8 - 4
    found = found.astype(dtype)
    if special and rows > 10 and found.dtype.kind == "f":
        found[3, 1], found[5, 0], found[7, 2], found[9, 1] = math.nan, math.inf, -0.0, -math.inf
    return found


@sv.kernel
def turned(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z
        q[i, 1] = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z
        q[i, 2] = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z


@sv.kernel
def in_other_orders(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = x * m[0, 0] - y
        q[i, 1] = m[1, 1] * y - z
        q[i, 2] = z * m[2, 2] - x


@sv.kernel
def crossed(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 1] * m[0, 2] - p[i, 2] * m[0, 1]
        q[i, 1] = p[i, 2] * m[0, 0] - p[i, 0] * m[0, 2]
        q[i, 2] = p[i, 0] * m[0, 1] - p[i, 1] * m[0, 0]


@sv.kernel
def of_length_one(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        factor = m[0, 0] / sv.sqrt(p[i, 0] * p[i, 0] + p[i, 1] * p[i, 1] + p[i, 2] * p[i, 2] + 1.0)
        q[i, 0], q[i, 1], q[i, 2] = factor * p[i, 0], factor * p[i, 1], factor * p[i, 2]


@sv.kernel
def moved(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] + m[0, 0]
        q[i, 1] = p[i, 1] + m[0, 1] * p[i, 0]
        q[i, 2] = abs(p[i, 2])


@sv.kernel
def sums(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] + p[i, 1] + p[i, 2]


@sv.kernel
def by_numbers_of_its_own(p: f32_2, m: f32_2, q: f32_2):
    x, y, z = 0.0, 0.0, 0.0
    for i in range(3):
        x += m[i, 0]
        y += m[i, 1]
        z += m[i, 2]
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] / x - x / 4.0
        q[i, 1] = p[i, 1] / y - y / 4.0
        q[i, 2] = p[i, 2] / z - z / 4.0


@sv.kernel
def scaled_by_another(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        for _ in range(1):
            q[i, 0] = p[i, 0] + p[i, 0] * m[0, 0]
            q[i, 1] = p[i, 1] + p[i, 1] * m[0, 0]
            q[i, 2] = p[i, 2] + p[i, 2] * m[0, 0]


@sv.kernel
def refined_in_steps(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        for j in range(3):
            refined = p[i, j] * m[0, j]
            for _ in range(4):
                refined += p[i, (j + 1) % 3]
            q[i, j] = refined


@sv.kernel
def of_some(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        if p[i, 0] > m[0, 0] - 8.0:
            q[i, 2] = p[i, 1] * p[i, 2]
        elif p[i, 1] > m[0, 1] - 8.0:
            q[i, 0], q[i, 1] = p[i, 2], p[i, 0]


STRUCTURES = (
    turned, in_other_orders, crossed, of_length_one, moved, sums, by_numbers_of_its_own, scaled_by_another, refined_in_steps,
    of_some,
)  # fmt: skip


def run_structures(kernel: Any, without: str, threads: int) -> list[np.ndarray]:
    sv.init(fast_math=False, num_threads=threads, without=without)
    results = []
    for size in SIZES:
        p, q = values(size, 3), np.zeros((size, 3), np.float32)
        m = np.round(values(3, 3, special=False) * 4) / 4 + 8  # sums are exact in any order
        kernel(p, m, q)
        kernel(p, m, p)  # in place
        results += [q, p]
    return results


@pytest.mark.parametrize("kernel", STRUCTURES, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_structures_have_the_same_bits(kernel: Any, threads: int) -> None:
    found, expected = (run_structures(kernel, without, threads) for without in ("", "vectors"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_structures_under_conditions_are_in_vectors_of_ours() -> None:
    text = of_some.inspect("loops", values(40, 3), values(3, 3), values(40, 3))
    assert "# vectorized" in text
    assert " by 3 where " in text


@sv.kernel
def five(p: f64_2, q: f64_2):
    for i in range(p.shape[0]):
        total = p[i, 0] * p[i, 4] - p[i, 2]
        q[i, 0], q[i, 1], q[i, 2] = p[i, 1] + total, p[i, 2] * total, p[i, 3]
        q[i, 3], q[i, 4] = total - p[i, 4], p[i, 0] / total


@sv.kernel
def seven(p: i32_2, q: i32_2):
    for i in range(p.shape[0]):
        total = p[i, 0] ^ p[i, 6]
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p[i, 1] + total, p[i, 2] * total, p[i, 3], p[i, 5] & total
        q[i, 4], q[i, 5], q[i, 6] = total - p[i, 4], p[i, 0] | total, p[i, 6] - p[i, 5]


@sv.kernel
def nine(p: sv.types.NDArray[sv.math.mat3, 1], q: sv.types.NDArray[sv.math.mat3, 1]):
    for i in range(p.shape[0]):
        a, b, c = p[i][0, :], p[i][1, :], p[i][2, :]
        q[i] = sv.Matrix.rows([b.cross(c), c.cross(a), a.cross(b)]) / a.dot(a)


LONGER = [(five, (5,), np.float64), (seven, (7,), np.int32), (nine, (3, 3), np.float32)]


@pytest.mark.parametrize(("kernel", "shape", "dtype"), LONGER, ids=["five", "seven", "nine"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_longer_structures_have_the_same_bits(
    kernel: Any, shape: tuple[int, ...], dtype: Any, threads: int
) -> None:
    for size in SIZES:
        p = values(size, math.prod(shape), dtype).reshape(size, *shape)
        results = []
        for without in ("", "vectors"):
            sv.init(fast_math=False, num_threads=threads, without=without)
            q = np.zeros_like(p)
            kernel(p, q)
            results.append(q)
        np.testing.assert_array_equal(*results)


@with_permutations
def test_matrices_of_three_rows_are_moved_whole() -> None:
    """LLVM takes eight numbers together unless it is told otherwise, and moves nine one by one."""
    matrices = values(100, 9).reshape(100, 3, 3)
    lines = nine.inspect("asm", matrices, matrices.copy()).splitlines()
    assert not [line for line in lines if "vextractps" in line]
    assert [line for line in lines if "vperm" in line and "%zmm" in line]
