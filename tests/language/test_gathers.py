"""Gathers from arrays of several dimensions, with and without a condition: every lane reads its own element."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv
from samovar._native import DType


@pytest.mark.parametrize("dtype", [sv.f32, sv.f64, sv.i32], ids=str)
@pytest.mark.parametrize("shape", [(5, 7), (1, 9), (3, 4, 5)], ids=str)
def test_lanes_read_their_own_elements(dtype: DType, shape: tuple[int, ...]) -> None:
    name = {"f32": "f4", "f64": "f8", "i32": "i4"}[str(dtype)]
    random = np.random.default_rng(3)
    source = random.integers(0, 3, shape).astype(name)

    @sv.kernel
    def planes(x: sv.types.ndarray(dtype, len(shape)), at: sv.types.ndarray(sv.i32, 2), y: sv.types.ndarray(dtype, 1)):
        for i in y:
            a, b = at[0, i], at[1, i]
            if a >= 0:
                v = x[a, b] if sv.static(len(shape) == 2) else x[a, 1, b]
                for _ in sv.static(range(9)):  # so much that vectors are profitable
                    v = v * v - v - 1
                y[i] = v

    for n in (0, 1, 15, 16, 17, 40, 131):
        at = np.stack([random.integers(-1, shape[0], n), random.integers(0, shape[-1], n)]).astype("i4")
        y = np.full(n, 7, name)
        expected = y.copy()
        flat = source if len(shape) == 2 else source[:, 1]
        a, b = at[:, at[0] >= 0]
        v = flat[a, b]
        for _ in range(9):
            v = v * v - v - 1
        expected[at[0] >= 0] = v
        planes(source, at, y)
        assert " gather" in planes.inspect("loops", source, at, y)
        np.testing.assert_array_equal(y, expected)


def sources() -> dict[str, tuple[np.ndarray, object]]:
    """A matrix of 66 × 40 in different places in memory: the numbers, and what a kernel takes."""
    numbers = np.random.default_rng(4).integers(-9, 9, (66, 40)).astype("i4")
    wide = np.zeros((66, 130), "i4")
    wide[:, 1::3][:, :40] = numbers
    found: dict[str, tuple[np.ndarray, object]] = {
        "rows": (numbers, numbers),
        "columns": (numbers, np.asfortranarray(numbers)),
        "apart": (numbers, wide[:, 1::3][:, :40]),
    }
    for name, options in {"field": {}, "by columns": {"order": "ji"}, "from -3": {"offset": (-3, 0)}}.items():
        field = sv.field(sv.i32, numbers.shape, **options)
        field.from_numpy(numbers)
        found[name] = numbers, field
    return found


@pytest.mark.parametrize("name", ["rows", "columns", "apart", "field", "by columns", "from -3"])
@pytest.mark.parametrize(("step", "begin"), [(1, 0), (2, 0), (-1, 40), (-2, 65)])
def test_lanes_walk_along_rows(name: str, step: int, begin: int) -> None:
    """The elements of adjacent lanes are equally far apart, which is only known at launch."""
    numbers, source = sources()[name]
    low = -3 if name == "from -3" else 0

    @sv.kernel
    def walk(x: sv.template(), y: sv.types.ndarray(sv.i32, 2), n: sv.i32):
        for i in range(n):
            total = 1
            for j in range(y.shape[1]):
                total = total * 3 + (x[i * step + begin + low, j] ^ total)
                y[i, j] = total

    for n in (0, 1, 15, 16, 17, 33):
        found, expected = np.zeros((n + 1, 40), "i4"), np.zeros((n + 1, 40), "i8")
        for i in range(n):
            total = 1
            for j in range(40):
                total = total * 3 + int(numbers[i * step + begin, j] ^ total)
                total = (total + 2**31) % 2**32 - 2**31
                expected[i, j] = total
        walk(source, found, n)
        np.testing.assert_array_equal(found, expected)
