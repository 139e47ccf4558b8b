"""Elements that conditions decide about are read under a mask, in the lanes that want them, and none that are not there."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

from .loop_text import loop_of_vectors

u8_2 = sv.types.NDArray[sv.u8, 2]
f32_1 = sv.types.NDArray[sv.f32, 1]


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def life(cells: u8_2, following: u8_2):
    for i, j in sv.ndrange((1, cells.shape[0] - 1), (1, cells.shape[1] - 1)):
        count = cells[i, j - 1] + cells[i, j + 1] + cells[i - 1, j] + cells[i + 1, j]
        following[i, j] = sv.u8(count == 3 or (count == 2 and cells[i, j] == 1))


@sv.kernel
def guarded(x: f32_1, out: f32_1):
    for i in range(out.shape[0]):
        total = x[i]
        if i + 1 < x.shape[0]:
            total += x[i + 1]
        if i > 0:
            total -= x[i - 1]
        out[i] = total


@sv.kernel
def in_place(x: f32_1, y: f32_1):
    for i in range(1, x.shape[0] - 1):
        total = y[i - 1] + y[i + 1]
        if total > 1.0:
            x[i] = 0.25
            total += y[i]
        x[i] += total


@sv.kernel
def around_a_byte(x: f32_1, at: sv.types.NDArray[sv.u8, 1], out: f32_1):
    for i in range(out.shape[0]):
        first = at[i]
        between = first + sv.u8(100)
        total = x[first] + x[first + sv.u8(200)]
        if between < x.shape[0]:
            total += x[between]
        out[i] = total


def vector_loads(kernel: Any, array: str, *arguments: Any) -> list[bool]:
    """Of each load of an array in the loop of whole vectors, whether it has a mask."""
    loop = loop_of_vectors(kernel.inspect("loops", *arguments))
    return [" where " in line for line in loop if f"= {array}[" in line]


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("columns", [0, 1, 3, 31, 32, 33, 100])
def test_same_as_one_by_one(columns: int, threads: int) -> None:
    results = []
    for without in ("", "vectors"):
        sv.init(without=without, num_threads=threads)
        cells = np.random.default_rng(columns).integers(0, 2, (40, columns), dtype=np.uint8)
        following = np.zeros_like(cells)
        life(cells, following)
        results.append(following.tobytes())
    assert results[0] == results[1]


def test_what_a_condition_decides_about_has_a_mask() -> None:
    cells = np.zeros((5, 5), np.uint8)
    sv.init()
    assert vector_loads(life, "cells", cells, cells.copy()) == [False, False, False, False, True]


def test_what_may_be_out_of_bounds_waits_for_its_condition() -> None:
    """`x[i - 1]` is there between the ends of the loop, which are peeled off."""
    x = np.arange(9, dtype=np.float32)
    sv.init()
    assert vector_loads(guarded, "x", x, x.copy()) == [False, True, False]


@pytest.mark.parametrize("length", [1, 2, 16, 31, 32, 33, 70])
def test_elements_are_read_at_the_end_of_memory(length: int) -> None:
    """A whole page of elements: the one after the last cannot be read at all."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    ctypes.CDLL(None, use_errno=True).mprotect(
        ctypes.c_void_p(np.frombuffer(pages, np.uint8).ctypes.data + mmap.PAGESIZE), mmap.PAGESIZE, 0
    )
    x = np.frombuffer(pages, np.float32, count=mmap.PAGESIZE // 4)[-length:]
    x[:] = np.arange(length)
    out = np.zeros(length, np.float32)
    guarded(x, out)
    expected = x + np.append(x[1:], 0) - np.append(0, x[:-1])
    np.testing.assert_array_equal(out, expected)


def test_what_wraps_is_not_between_two_that_are_read() -> None:
    """In eight bits, 100 + 100 is neither between 100 and 100 + 200, which is 44, nor in the array."""
    x, at, out = np.arange(150, dtype=np.float32), np.full(300, 100, np.uint8), np.zeros(300, np.float32)
    around_a_byte(x, at, out)
    assert set(out.tolist()) == {144}


def test_arrays_that_overlap_are_read_when_it_is_their_turn() -> None:
    results = []
    for without in ("", "vectors"):
        sv.init(without=without, fast_math=False)
        x = np.linspace(0, 1, 30, dtype=np.float32)
        in_place(x, x.copy())
        single = np.full(3, 0.75, np.float32)
        in_place(single, single)
        results.append(x.tobytes() + single.tobytes())
    assert results[0] == results[1]


def test_arrays_without_axes_have_no_rows():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.f32, 1], limit: sv.types.NDArray[sv.f32, 0], more: sv.types.NDArray[sv.f32, 0]):
        for i in a:
            if a[i] > limit[None]:
                a[i] = limit[None] + more[None]

    a = np.arange(20, dtype=np.float32)
    k(a, np.array(7, np.float32), np.array(1, np.float32))
    assert a.tolist() == [min(each, 8) if each > 7 else each for each in range(20)]
