"""Iterations side by side in vectors (`samovar.passes.lanes`) compute what iterations one by one compute, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

SIZES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100)
f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1 = sv.types.NDArray[sv.i32, 1]
u8_1 = sv.types.NDArray[sv.u8, 1]


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def steps(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        place, speed = x[i], y[i]
        for _ in range(n):
            speed -= 0.01 * (place + 0.1 * place * place * place)
            place += 0.01 * speed
        x[i] = place
        y[i] = speed


@sv.kernel
def series(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(n):
            total = total * x[i] + k
        y[i] = total


@sv.kernel
def escape(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        zx, zy, k = x[i], y[i], 0
        while k < n and zx * zx + zy * zy < 4.0:
            zx, zy = zx * zx - zy * zy - 0.7, 2.0 * zx * zy + 0.27
            k += 1
        x[i] = k
        y[i] = zx


@sv.kernel
def left_early(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        total, last = 0.0, -1
        for k in range(n):
            if x[i] * k > 5.0:
                break
            if (k + i) % 3 == 0:
                continue
            total += x[i] * k
            last = k
        x[i] = total
        y[i] = last


@sv.kernel
def nested(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        total = x[i]
        for k in range(n):
            part = 0.5
            j = 0
            while j < i % 4 + k % 3:
                part = part * total + 0.25
                if part > 3.0:
                    break
                j += 1
            else_part = part if k % 2 == 0 else -part
            total = total * 0.5 + else_part
        y[i] = total


@sv.kernel
def branches(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value = x[i]
        for k in range(n):
            if value > 0.5:
                value = value * value - 0.25
            elif value < -0.5:
                value = -value
                if k > 3:
                    value += 0.125
            else:
                value += 0.375 * k
        y[i] = min(max(value, -2.0), 2.0)


@sv.kernel
def neighbors(x: f32_1, y: f32_1, n: sv.i32):
    for i in range(2, x.shape[0] - 2):
        total = 0.0
        for k in range(n):
            total = 0.5 * total + x[i - 2] * k + x[i + 2] - x[i]
        y[i] = total


KERNELS = (steps, series, escape, left_early, nested, branches, neighbors)


def inputs(size: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(size)
    x = (4 * generator.random(size) - 2).astype(np.float32)
    for place, special in enumerate((math.nan, math.inf, -math.inf, -0.0)):
        if size > 20 + place:
            x[5 * place + 1] = special
    return x, generator.random(size).astype(np.float32)


def outcome(kernel: Callable[..., Any], size: int, *more: Any) -> list[bytes]:
    x, y = inputs(size)
    kernel(x, y, *more)
    # Which of two NaNs an operation gives, processors decide by the order of operands, and LLVM may change that.
    return [np.where(np.isnan(each), np.float32(math.nan), each).tobytes() for each in (x, y)]


def with_and_without(run: Callable[[], Any], **options: Any) -> tuple[Any, Any]:
    sv.init(**options)
    found = run()
    sv.init(without="vectors", **options)
    return found, run()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_same_bits_as_one_by_one(kernel: Any) -> None:
    sv.init(fast_math=False)
    assert "lane_numbers" in kernel.inspect("ir", *inputs(40), 7)
    sv.init(fast_math=False, without="vectors")
    assert "lane_numbers" not in kernel.inspect("ir", *inputs(40), 7)

    def run() -> list[list[bytes]]:
        return [outcome(kernel, size, count) for size in SIZES for count in (0, 1, 9)]

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_number_of_threads_does_not_matter(threads: int) -> None:
    def run() -> list[list[bytes]]:
        return [outcome(kernel, 3000, 20) for kernel in (steps, escape, left_early)]

    found, expected = with_and_without(run, fast_math=False, num_threads=threads)
    assert found == expected


def test_arguments_that_overlap() -> None:
    def run() -> list[bytes]:
        buffer = inputs(80)[0]
        steps(buffer, buffer, 5)
        first = buffer.tobytes()
        even = np.ascontiguousarray(buffer.repeat(2))
        steps(even[::2], even[1::2], 5)
        return [first, even.tobytes()]

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def collatz(start: i32_1, out: i32_1):
    for i in range(start.shape[0]):
        value, count = start[i], 0
        while value > 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            count += 1
        out[i] = count


def test_integers() -> None:
    def run() -> list[int]:
        start, out = np.arange(77, dtype=np.int32), np.zeros(77, np.int32)
        collatz(start, out)
        return out.tolist()

    found, expected = with_and_without(run)
    assert found == expected
    assert found[27] == 111


@sv.kernel
def rows(x: f32_2, out: f32_2):
    for i, j in out:
        last = 0.0
        for k in range(x.shape[0]):
            last = 0.25 * last + x[k, j] * (i + 1)
        out[i, j] = last


@pytest.mark.parametrize("columns", [1, 15, 33, 64, 70, 150])
def test_rows_of_a_nest(columns: int) -> None:
    def run() -> bytes:
        x = np.random.default_rng(1).random((9, columns)).astype(np.float32)
        out = np.zeros((5, columns), np.float32)
        rows(x, out)
        return out.tobytes()

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def walk(x: f32_2, y: f32_1, out: f32_2, n: sv.i32):
    for j in range(x.shape[1]):
        last, weight, scale = y[j], 1.0, y[0]
        twice = 2.0 * y[j]
        for k in range(1, n):
            weight *= 0.5
            last = 0.25 * last + weight * x[k, j] + twice + scale
            out[k, j] = last + out[k - 1, j]
        out[0, j] = last + twice


@pytest.mark.parametrize("columns", [0, 1, 15, 16, 17, 64, 200, 511, 512, 1100])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_walks_over_rows(columns: int, threads: int) -> None:
    def run() -> bytes:
        x = np.random.default_rng(columns).random((9, columns)).astype(np.float32)
        y, out = np.arange(columns, dtype=np.float32), np.zeros((9, columns), np.float32)
        for rows in (0, 1, 9):
            walk(x, y, out, rows)
        return out.tobytes()

    found, expected = with_and_without(run, fast_math=False, num_threads=threads)
    assert found == expected


@sv.kernel
def added_up(x: f32_2, out: f32_2, total: f32_1):
    for j in range(x.shape[1]):
        factor = 1.0
        for k in range(x.shape[0]):
            factor *= 0.5
            out[k, j] += factor * x[k, j]
        total[j] += factor


@sv.kernel
def there_and_back(x: f32_2, out: f32_2, n: sv.i32):
    for j in range(x.shape[1]):
        scale = x[0, j] + 2.0
        rows = x.shape[0] - 1
        last = 0.0
        for k in range(rows):
            last = 0.5 * last + x[k, j] / scale
            out[k, j] = last
        factor = last * scale
        most = min(x.shape[0], n)
        for k in range(1, most):
            i = most - 1 - k
            out[i, j] -= factor * out[i + 1, j]
        out[rows, j] = factor + last


@pytest.mark.parametrize("columns", [0, 1, 16, 17, 530])
@pytest.mark.parametrize("threads", [1, 2])
def test_walks_one_after_the_other(columns: int, threads: int) -> None:
    def run() -> bytes:
        x = np.random.default_rng(columns).random((9, columns)).astype(np.float32)
        out = np.zeros((9, columns), np.float32)
        there_and_back(x, out, 7)
        return out.tobytes()

    found, expected = with_and_without(run, fast_math=False, num_threads=threads)
    assert found == expected


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 530])
def test_elements_that_a_walk_adds_to(columns: int) -> None:
    def run() -> tuple[bytes, bytes]:
        x = np.random.default_rng(columns).random((5, columns)).astype(np.float32)
        out, total = np.ones((5, columns + 3), np.float32), np.ones(columns + 3, np.float32)
        added_up(x, out[:, :columns].copy(), total[:columns])
        return out.tobytes(), total.tobytes()

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@pytest.mark.parametrize("present", [1, 7, 15])
def test_lanes_that_are_not_there_touch_nothing(present: int) -> None:
    memory = np.full(64, 7.0, np.float32)
    x, y = memory[16 : 16 + present], np.zeros(present, np.float32)
    sv.init(fast_math=False)
    assert "lane_numbers" in steps.inspect("ir", x, y, 3)
    steps(x, y, 3)
    assert (memory[:16] == 7.0).all()
    assert (memory[16 + present :] == 7.0).all()
    assert (memory[16 : 16 + present] != 7.0).all()


@sv.kernel
def gathered(x: i32_1, out: i32_1, n: sv.i32):
    out[0] = 0
    out[1] = 1000
    for i in range(x.shape[0]):
        state = x[i]
        for _ in range(n):
            state ^= state << 3
            state ^= state >> 5
        if state % 2 == 0:
            out[0] += state
        sv.atomic_min(out[1], state)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_reductions_at_the_end_of_an_iteration(threads: int) -> None:
    def run() -> list[list[int]]:
        results = []
        for size in SIZES:
            x, out = np.arange(size, dtype=np.int32) * 7919, np.zeros(2, np.int32)
            gathered(x, out, 6)
            results.append(out.tolist())
        return results

    found, expected = with_and_without(run, num_threads=threads)
    assert found == expected


@sv.kernel
def largest(x: f32_1, out: f32_1, n: sv.i32):
    out[0] = -math.inf
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(n):
            value = value * 0.5 + 0.125
        sv.atomic_max(out[0], value)


def test_nan_loses_against_a_number_in_reductions() -> None:
    def run() -> list[bytes]:
        results = []
        for x in (inputs(100)[0], np.full(50, math.nan, np.float32)):
            out = np.zeros(1, np.float32)
            largest(x, out, 3)
            results.append(out.tobytes())
        return results

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def of_structures(p: f32_2, out: f32_2, n: sv.i32):
    for i in range(p.shape[0]):
        a, b = p[i, 0], p[i, 1]
        for _ in range(n):
            a, b = 0.5 * b - a, a + 0.25
        out[i, 1] = a
        out[i, 0] = b


def test_elements_apart_are_fetched_one_by_one() -> None:
    def run() -> bytes:
        p, out = np.random.default_rng(2).random((45, 2)).astype(np.float32), np.zeros((45, 2), np.float32)
        of_structures(p, out, 4)
        return out.tobytes()

    sv.init()
    assert "lane_numbers" in of_structures.inspect("ir", np.zeros((40, 2), np.float32), np.zeros((40, 2), np.float32), 4)
    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def small_types(x: u8_1, out: u8_1, d: f64_1, n: sv.i32):
    for i in range(x.shape[0]):
        value, wide, odd = x[i], d[i], False
        for k in range(n):
            value = sv.u8(value * 3 + k)
            wide = wide * 0.75 + value
            odd = odd != (value % 2 == 1)
        out[i] = value if odd else sv.u8(0)
        d[i] = wide


def test_small_types_and_wide_ones_together() -> None:
    def run() -> list[bytes]:
        x, out, d = np.arange(50, dtype=np.uint8), np.zeros(50, np.uint8), np.linspace(0, 1, 50)
        small_types(x, out, d, 11)
        return [out.tobytes(), d.tobytes()]

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def touched_where_some_are(x: f32_1, out: f32_1, n: sv.i32):
    for i in range(out.shape[0]):
        total, count = 0.0, 0
        for k in range(n):
            if i + k >= x.shape[0]:
                break
            total = 0.5 * total + x[i + k]
            if total > 0.75:
                total -= x[x.shape[0] - 1 - k]
            count += 1
        if count > 2:
            out[i] = total


def test_memory_is_touched_in_the_lanes_that_are_there() -> None:
    def run() -> list[bytes]:
        results = []
        for size in SIZES:
            x, out = inputs(size)
            touched_where_some_are(np.abs(x[: size // 2]), out, 5)
            results.append(out.tobytes())
        return results

    x = np.zeros(40, np.float32)
    sv.init(fast_math=False)
    assert "lane_numbers" in touched_where_some_are.inspect("ir", x, x.copy(), 5)
    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def at_random(x: f32_1, n: sv.i32):
    for i in range(x.shape[0]):
        value = x[i]
        for _ in range(n):
            value = 0.5 * value + sv.random()
        x[i] = value


def test_random_numbers_are_those_of_each_iteration() -> None:
    def run() -> bytes:
        sv.seed(7)
        x = np.zeros(70, np.float32)
        at_random(x, 5)
        return x.tobytes()

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


def test_the_text_is_the_same_each_time() -> None:
    @sv.kernel
    def several(x: sv.types.NDArray[sv.f32, 1], out: sv.types.NDArray[sv.f32, 1]):
        for i in range(x.shape[0]):
            a, b, c, d, e = x[i], 1.0, 2.0, 3.0, 4.0
            for _ in range(20):
                a, b, c, d, e = b * a, c - a, d + b, e * c, a - d
            out[i] = a + b + c + d + e

    x = np.ones(40, np.float32)
    assert len({several.inspect("llvm", x, x.copy()) for _ in range(6)}) == 1


@sv.kernel
def guarded(x: f32_1, place: i32_1, table: f32_2, row: sv.i32, out: f32_1):
    for i in range(x.shape[0]):
        v = x[i]
        if v > 0.0:
            v = sv.sqrt(v) / 3.0 + table[row, place[i]] * v - table[row, place[i] + 1] / (v + 1.0)
        out[i] = v


@pytest.mark.parametrize("size", SIZES)
def test_elements_are_not_read_where_no_iteration_asks_for_them(size: int) -> None:
    x = -np.ones(size, "f4")
    out, far = np.zeros(size, "f4"), np.full(size, 1 << 30, "i4")
    guarded(x, far, np.zeros((0, 0), "f4"), 1 << 29, out)
    np.testing.assert_array_equal(out, x)
    table = np.arange(12, dtype="f4").reshape(2, 6) + 1
    some = np.arange(size) % 3 == 1
    x[some], far[some] = 4.0, np.arange(size)[some] % 5
    guarded(x, far, table, 1, out)
    k = np.where(some, far, 0)
    expected = np.where(some, 2 / 3 + table[1, k] * 4 - table[1, k + 1] / 5, -1)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
