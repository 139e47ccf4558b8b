"""Running minima and maxima in vectors (`samovar.passes.loops.emit`) are those of one element after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

from .source import define

SIZES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 130, 200, 1000)
f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def of_rows(x: f32_2, out: f32_2, first: sv.f32):
    for i in range(x.shape[0]):
        greatest, least = first, first
        for j in range(x.shape[1]):
            greatest = max(greatest, x[i, j])
            least = min(x[i, j] * 2.0 - 1.0, least)
        out[i, 0] = greatest
        out[i, 1] = least


@sv.kernel
def of_all(x: f32_1, out: f32_1):
    for i in range(x.shape[0]):
        sv.atomic_max(out[0], x[i])
        sv.atomic_min(out[1], x[i])


@sv.kernel
def of_grid(x: f32_2, out: f32_1):
    for i, j in x:
        sv.atomic_max(out[0], abs(x[i, j] - 0.5))


@sv.kernel
def of_doubles(x: f64_1, out: f64_1):
    for i in range(x.shape[0]):
        sv.atomic_min(out[0], x[i])


@sv.kernel
def of_rows_together(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sv.atomic_max(out[0], x[i, j])
            sv.atomic_min(out[1], x[i, j] * 2.0)


@sv.kernel(serial=True)
def compared(x: f32_1, out: f32_1):
    greatest, least = out[0], out[1]
    for i in range(x.shape[0]):
        if x[i] > greatest:
            greatest = x[i]
        if x[i] * 2.0 <= least:
            least = x[i] * 2.0
    out[0], out[1] = greatest, least


def contents(kind: str, shape: Any, dtype: Any = np.float32) -> np.ndarray:
    generator = np.random.default_rng(int(np.prod(shape)))
    x = (generator.random(shape) * 4 - 2).astype(dtype)
    if kind == "some NaN":
        x[generator.random(shape) < 0.3] = math.nan
    elif kind != "numbers":
        x[...] = {"NaN": math.nan, "infinite": math.inf, "minus infinite": -math.inf}.get(kind, math.nan)
        if kind == "NaN and one" and x.size:
            x.flat[x.size // 2] = -math.inf
    return x


KINDS = ("numbers", "some NaN", "NaN", "infinite", "minus infinite", "NaN and one")


def with_and_without(run: Callable[[], list[np.ndarray]], **options: Any) -> None:
    sv.init(**options)
    found = run()
    sv.init(without="vectors", **options)
    for one, other in zip(found, run(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fast_math", [True, False])
def test_extremes_of_rows(kind: str, fast_math: bool) -> None:
    def run() -> list[np.ndarray]:
        results = []
        for size in SIZES:
            for first in (0.25, math.nan, math.inf, -math.inf):
                x, out = contents(kind, (3, size)), np.zeros((3, 2), np.float32)
                of_rows(x, out, first)
                results.append(out)
        return results

    with_and_without(run, fast_math=fast_math)


@pytest.mark.parametrize("kind", KINDS)
def test_extremes_by_comparison(kind: str) -> None:
    """Unlike `max`, a comparison keeps a first value that is NaN."""

    def run() -> list[np.ndarray]:
        results = []
        for size in SIZES:
            for first in (0.25, math.nan, math.inf, -math.inf):
                x, out = contents(kind, size), np.full(2, first, np.float32)
                compared(x, out)
                assert not math.isnan(first) or np.isnan(out).all()
                results.append(out)
        return results

    x = contents(kind, 64)
    assert "max reduction of greatest, min reduction of least" in compared.inspect("loops", x, x)
    with_and_without(run)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_extremes_of_tasks(kind: str, threads: int) -> None:
    def run() -> list[np.ndarray]:
        results = []
        for size in (*SIZES, 50_000):
            for first in (math.nan, 0.5):
                x, out = contents(kind, size), np.full(2, first, np.float32)
                of_all(x, out)
                doubles = np.full(1, first)
                of_doubles(x.astype(np.float64), doubles)
                results += [out, doubles]
        for size in (1, 64, 70, 150):
            out = np.full(1, math.nan, np.float32)
            of_grid(contents(kind, (5, size)), out)
            results.append(out)
        return results

    with_and_without(run, num_threads=threads)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_extremes_of_rows_that_a_task_gathers(kind: str, threads: int) -> None:
    def run() -> list[np.ndarray]:
        results = []
        for size in SIZES:
            for first in (math.nan, 0.5):
                out = np.full(2, first, np.float32)
                of_rows_together(contents(kind, (5, size)), out)
                results.append(out)
        return results

    x = contents(kind, (5, 64))
    assert "max reduction of" in of_rows_together.inspect("loops", x, np.zeros(2, np.float32))
    with_and_without(run, num_threads=threads)


def test_an_array_that_overlaps_another_is_read_as_it_is() -> None:
    def run() -> list[np.ndarray]:
        memory = contents("some NaN", 400)
        out = np.zeros((2, 2), np.float32)
        of_rows(memory[100:300].reshape(2, 100), out, math.nan)
        of_all(memory, memory[7:9])
        return [out, memory]

    with_and_without(run)


def test_nan_is_what_is_left_if_there_is_nothing_else() -> None:
    out = np.zeros((1, 2), np.float32)
    of_rows(np.full((1, 300), math.nan, np.float32), out, math.nan)
    assert np.isnan(out).all()
    of_rows(np.full((1, 300), -math.inf, np.float32), out, math.nan)
    assert out.tolist() == [[-math.inf, -math.inf]]


@sv.kernel
def with_a_sum(x: f32_2, out: f32_2):
    for i in range(x.shape[0]):
        greatest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            greatest = max(greatest, x[i, j])
            total += x[i, j]
        out[i, 0] = greatest
        out[i, 1] = total


@sv.kernel
def followed(x: f32_2, out: f32_2):
    for i in range(x.shape[0]):
        greatest = -math.inf
        for j in range(x.shape[1]):
            greatest = max(greatest, x[i, j])
            out[i, j] = greatest


def test_loops_that_do_something_else_as_well() -> None:
    x, out = contents("numbers", (3, 100)), np.zeros((3, 100), np.float32)
    again = "scalar: again, if there may have been NaN only"
    assert again in of_rows.inspect("loops", x, out, 0.0)
    assert again not in with_a_sum.inspect("loops", x, out)  # which would be added twice
    assert "max reduction of greatest, add reduction of total" in with_a_sum.inspect("loops", x, out)
    assert "max reduction" not in followed.inspect("loops", x, out)
    with_a_sum(x, out)
    assert out[:, 0].tolist() == x.max(axis=1).tolist()
    assert out[:, 1] == pytest.approx(x.sum(axis=1), abs=1e-3)
    followed(x, out)
    assert out.tolist() == np.maximum.accumulate(x, axis=1).tolist()


@pytest.mark.parametrize("dtype", [sv.i32, sv.i64, sv.f32, sv.f64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    "step", ["y += x[i, j]", "y -= x[i, j]", "y *= x[i, j]", "y = max(y, x[i, j])", "sv.atomic_min(y, x[i, j])"]
)
def test_a_task_gathers_what_an_inner_loop_finds(dtype: Any, step: str) -> None:
    text = f"""
@sv.kernel
def k(x: sv.types.NDArray[sv.{dtype.name}, 2]) -> sv.{dtype.name}:
    y = x[0, 0]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            {step}
    return y
"""
    x = (np.arange(24).reshape(4, 6) % 3 + 1).astype(dtype.name.replace("f", "float").replace("i", "int"))
    expected = {"y +=": 1 + x.sum(), "y -=": 1 - x.sum(), "y *=": x.prod(), "y = ": x.max(), "sv.a": x.min()}
    assert define(text)(x) == expected[step[:4]]


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16", "u32", "i64"])
def test_indices_that_wrap_are_taken_one_by_one(name: str) -> None:
    narrow = getattr(sv, name)

    @sv.kernel
    def greatest(x: f32_1, out: f32_1, first: sv.i32, last: sv.i32):
        for j in range(first, last):
            sv.atomic_max(out[0], x[sv.cast(j, narrow)])

    bits = min(int(name[1:]), 16)
    places = np.arange((1 << bits) + 100)
    x = places.astype(np.float32)
    first, last = (1 << bits) - (0 if name[0] == "i" else 150), (1 << bits) + 100
    out = np.zeros(1, np.float32)
    greatest(x, out, first, last)
    assert out[0] == x[places[first:last].astype(name.replace("i", "int").replace("u", "uint"))].max()


def test_an_empty_range_may_be_longer_than_64_bits_can_say() -> None:
    @sv.kernel
    def greatest(x: f32_1, out: f32_1, first: sv.i64, last: sv.i64):
        for i in range(out.shape[0]):
            found = 0.0
            for j in range(first, last):
                found = max(found, x[j])
            out[i] = found

    x, out = np.ones(300, np.float32), np.ones(20, np.float32)
    greatest(x, out, 2**62 + 5, -(2**62) - 5)
    assert not out.any()
    greatest(x, out, 3, 300)
    assert out.all()


def test_a_zero_that_was_added_stays_positive():
    """`x + 0.0` is never -0.0, and a minimum of it and a positive number is not either."""

    @sv.kernel
    def run(x: sv.f64, n: sv.u32) -> sv.f64:
        return 1.0 / min(x + 0.0, n + 0.0)

    sv.init(fast_math=False, default_fp=sv.f32)
    assert run(-0.0, 3) == math.inf
    assert "nsz" not in run.inspect("llvm", -0.0, 3)
