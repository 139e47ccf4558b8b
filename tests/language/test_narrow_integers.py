"""Bytes that are computed with in i32 and become bytes again: the same with and without the rule that takes 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

u8_1 = sv.types.NDArray[sv.u8, 1]
u8_2 = sv.types.NDArray[sv.u8, 2]
i16_1 = sv.types.NDArray[sv.i16, 1]

SIZES = (0, 1, 2, 15, 31, 32, 33, 63, 64, 65, 127, 129, 300)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def luma(a: u8_2, o: u8_2):
    for i in range(a.shape[0]):
        r, g, b = sv.i32(a[i, 0]), sv.i32(a[i, 1]), sv.i32(a[i, 2])
        o[i, 0] = sv.u8((66 * r + 129 * g + 25 * b + 4224) >> 8)
        o[i, 1] = sv.u8((-38 * r - 74 * g + 112 * b + 32896) >> 8)
        o[i, 2] = sv.u8((112 * r - 94 * g - 18 * b + 32896) >> 8)


@sv.kernel
def saturated(a: u8_2, o: u8_2):
    for i, j in a:
        o[i, j] = sv.u8(min(a[i, j] + a[i, 0] + sv.i32(a[i, 2]), 255))


@sv.kernel
def apart(a: u8_2, o: u8_2):
    for i, j in a:
        difference = sv.i32(a[i, j]) - sv.i32(a[i, 1])
        o[i, j] = sv.u8(abs(difference) * 3 >> 2) if difference > -100 else sv.u8(255 - (difference & 15))


@sv.kernel
def too_large(a: u8_2, o: u8_2):
    for i, j in a:
        o[i, j] = sv.u8((sv.i32(a[i, j]) * a[i, 0] + a[i, 1] * (255 - a[i, 0]) + 128) >> 8)


@sv.kernel
def in_a_loop(a: u8_2, o: u8_2):
    for i, j in a:
        total = 0
        for k in range(a.shape[1]):
            total += sv.u8(min(a[i, k] + 2 * sv.i32(a[i, j]), 200))
        o[i, j] = sv.u8(total & 127)


KERNELS = (luma, saturated, apart, too_large, in_a_loop)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_bytes_are_the_same(kernel: Any, threads: int) -> None:
    def run(without: str) -> list[np.ndarray]:
        sv.init(num_threads=threads, without=without)
        results = []
        for size in SIZES:
            a = np.random.default_rng(size).integers(0, 256, (size, 3)).astype(np.uint8)
            a[: min(size, 3)] = 255
            o = np.zeros_like(a)
            kernel(a, o)
            if kernel is not in_a_loop:  # where one iteration reads what others write
                kernel(a, a)  # in place
            results += [o, a]
        return results

    for found, expected in zip(run(""), run("narrow"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_numpy_computes() -> None:
    a = np.random.default_rng(1).integers(0, 256, (300, 3)).astype(np.uint8)
    o = np.zeros_like(a)
    luma(a, o)
    r, g, b = a.astype(np.int32).T
    expected = [66 * r + 129 * g + 25 * b + 4224, -38 * r - 74 * g + 112 * b + 32896, 112 * r - 94 * g - 18 * b + 32896]
    np.testing.assert_array_equal(o, (np.stack(expected, axis=1) >> 8).astype(np.uint8))


def test_the_switch() -> None:
    a = np.zeros((9, 3), np.uint8)
    sv.init()
    assert "u16" in luma.inspect("ir", a, a.copy())
    sv.init(without="narrow")
    assert "u16" not in luma.inspect("ir", a, a.copy())


def test_overflow_of_what_was_written_is_found() -> None:
    @sv.kernel
    def large(a: i16_1, o: i16_1):
        for i in range(a.shape[0]):
            o[i] = sv.i16(a[i] * sv.i32(100_000))

    sv.init(debug=True)
    with pytest.raises(sv.SamovarRuntimeError, match="does not fit in i32"):
        large(np.full(4, 30_000, np.int16), np.zeros(4, np.int16))
