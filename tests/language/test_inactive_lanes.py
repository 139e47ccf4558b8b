"""Lanes that are not there (`samovar.backends.llvm.lanes`): after `break` and `continue`, on the other side of an `if`, or
beyond the end of a range. What is computed for them decides nothing, and leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import samovar as sv

from .source import define

SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 100, 300)
f32_1, i32_1 = sv.types.NDArray[sv.f32, 1], sv.types.NDArray[sv.i32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def bound_after_continue(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 10.0:
                continue
            for _ in range(few[p]):
                x = x * 0.5 + 3.0
        out[i] = x


@sv.kernel
def bound_after_break(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 10.0:
                break
            for q in range(few[p], few[p] * few[p] + 2, 2):
                x = x * 0.5 + q
        out[i] = x


@sv.kernel
def condition_after_continue(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 10.0:
                continue
            if few[p] > 1:
                x += 1.5
            elif few[p & 3] > 1 and x < 3.0:
                x += 4.0
            else:
                x *= 1.25
        out[i] = x


@sv.kernel
def loop_that_only_memory_ends(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 10.0:
                continue
            while few[p] == 0:  # never, where there is a lane
                x = 0.0
            x += few[p]
        out[i] = x


@sv.kernel
def element_of_some(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(200):
            if p >= 1 or x > 10.0:
                continue
            x += few[p * 10000000]  # there is only the first
        out[i] = x


@sv.kernel
def converted_after_continue(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 10.0:
                continue
            place = sv.i32(8.0 / few[p])
            x += few[place & 7]
            if place > 3:
                x -= 0.5
            for _ in range(place):
                x *= 0.75
        out[i] = x


@sv.kernel
def side_after_side(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if few[p] > 1:
                if x > 5.0:
                    continue
                x = x + 1.0
            else:
                x = x * 1.5 + 0.25
        out[i] = x


@sv.kernel
def elif_of_each_lane(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if few[p] > 2:
                x = x + 1.0
            elif x > 2.0:
                x = x * 0.5
            elif few[p] > 1:
                x = x - 3.0
            else:
                x = x * 1.5 + 0.25
        out[i] = x


@sv.func
def early(x: sv.f32, some: sv.i32, most: sv.i32) -> sv.f32:
    if x > 9.0:
        return x * 0.25
    for p in range(most):
        if x > 6.0:
            return x - 1.0
        for _ in range(some + p):
            x = x * 0.5 + 3.5
    return x


@sv.kernel
def returned_early(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = a[i]
        for p in range(few.shape[0]):
            if x > 30.0:
                continue
            x = early(x, few[p], few.shape[0] - p)
        out[i] = x


@sv.kernel
def first_lane_before_the_array(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = 0.0
        for p in range(few.shape[0]):
            if i >= few[p]:
                x = x * 0.5 + a[i - few[p]]
            if i >= 3:
                x = x * 0.5 + a[sv.u32(i - 3)]
                x = x * 0.5 + a[sv.u32(i) + sv.u32(4294967293)]
                x = x * 0.5 + a[sv.i64(sv.u32(i) - sv.u32(3))]
                x = x * 0.5 + a[sv.u64(sv.i64(i) - 3)]
        out[i] = x


@sv.kernel
def first_lane_in_u32(a: f32_1, few: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        x = 0.0
        for _ in range(few.shape[0]):
            if i >= 3:
                x = x * 0.5 + a[sv.u32(i - 3)]
        out[i] = x


KERNELS = (
    bound_after_continue,
    bound_after_break,
    condition_after_continue,
    loop_that_only_memory_ends,
    element_of_some,
    converted_after_continue,
    side_after_side,
    elif_of_each_lane,
    returned_early,
    first_lane_before_the_array,
    first_lane_in_u32,
)


def with_and_without(run: Callable[[], Any], **options: Any) -> tuple[Any, Any]:
    sv.init(**options)
    found = run()
    sv.init(without="vectors", **options)
    return found, run()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.timeout(60)
def test_they_decide_nothing(kernel: Any, threads: int) -> None:
    few = np.array([2, 1, 3, 1, 2, 4, 1, 2], np.int32)

    def run() -> list[bytes]:
        results = []
        for size in SIZES:
            for a in (np.linspace(-20, 20, size), np.full(size, 50), np.where(np.arange(size) % 16 == 3, 1, 50)):
                out = np.zeros(size, np.float32)
                kernel(a.astype(np.float32), few, out)
                results.append(out.tobytes())
        return results

    found, expected = with_and_without(run, fast_math=False, num_threads=threads)
    assert found == expected


@pytest.mark.parametrize("kernel", KERNELS[:-2], ids=str)
def test_the_kernels_here_run_in_lanes(kernel: Any) -> None:
    sv.init(fast_math=False)
    assert "lane_numbers" in kernel.inspect("ir", np.ones(40, np.float32), np.ones(8, np.int32), np.ones(40, np.float32))


NARROW = ("i8", "i16", "u8", "u16")


@pytest.mark.parametrize("name", NARROW)
def test_indices_that_wrap_are_not_side_by_side(name: str) -> None:
    narrow = getattr(sv, name)

    @sv.kernel
    def through_a_cast(a: f32_1, out: f32_1, first: sv.i32, n: sv.i32):
        for i in range(first, out.shape[0]):
            x = 0.0
            for _ in range(n):
                if sv.cast(i, narrow) >= 0:
                    x = x * 0.5 + a[sv.cast(i, narrow)]
            out[i] = x

    @sv.kernel
    def through_two(a: f32_1, out: f32_1, first: sv.i32, n: sv.i32):
        for i in range(first, out.shape[0]):
            x = 0.0
            for _ in range(n):
                if sv.cast(i, narrow) >= 0:
                    x = x * 0.5 + a[sv.cast(sv.cast(i, narrow), sv.i32)]
            out[i] = x

    @sv.kernel
    def of_a_sum(a: f32_1, out: f32_1, first: sv.i32, n: sv.i32):
        for i in range(first, out.shape[0]):
            x = 0.0
            for _ in range(n):
                if sv.cast(i, narrow) + sv.cast(100, narrow) >= 0:
                    x = x * 0.5 + a[sv.cast(i, narrow) + sv.cast(100, narrow)]
            out[i] = x

    sv.init(fast_math=False)
    bits = int(name[1:])
    # Around where indices wrap, with as few elements as that takes.
    first, last = (1 << bits) - 150, (1 << bits) + 250
    a = np.arange(last, dtype=np.float32)
    at = np.arange(first, last)
    for kernel, moved in ((through_a_cast, 0), (through_two, 0), (of_a_sum, 100)):
        places = (at + moved).astype(f"{'u' if name[0] == 'u' else ''}int{bits}").astype(int)
        out = np.zeros(last, np.float32)
        kernel(a, out, first, 1)
        assert np.array_equal(out[first:], np.where(places >= 0, a[np.maximum(places, 0)], 0)), kernel


def test_sums_of_32_bits_that_wrap_before_they_are_extended_are_not_side_by_side() -> None:
    @sv.kernel
    def extended(a: f32_1, out: f32_1, far: sv.i32, n: sv.i32):
        for i in range(out.shape[0]):
            x = 0.0
            for _ in range(n):
                place = sv.i64(i + far) + 2147483648
                if place >= 0 and place < a.shape[0]:
                    x = x * 0.5 + a[place]
            out[i] = x

    sv.init(fast_math=False)
    a, out = np.arange(1, 301, dtype=np.float32), np.zeros(300, np.float32)
    far = 2**31 - 5  # after five iterations the sum is the least i32
    extended(a, out, far, 1)
    assert out.tolist() == [0] * 5 + a[:295].tolist()


def test_what_divides_by_something_of_each_lane_runs_one_by_one() -> None:
    """Where a lane is not, its divisor is no number for certain, and a division by that may do anything."""

    @sv.kernel
    def divided(a: f32_1, few: i32_1, out: f32_1):
        for i in range(out.shape[0]):
            left, x = sv.i32(a[i]), 0.0
            for p in range(few.shape[0]):
                if left > 0:
                    x += few[p] // left
                left -= 1
            out[i] = x

    sv.init(fast_math=False)
    a, few, out = np.arange(40, dtype=np.float32), np.arange(100, 108, dtype=np.int32), np.zeros(40, np.float32)
    assert "lane_numbers" not in divided.inspect("ir", a, few, out)
    divided(a, few, out)
    assert out.tolist() == [sum((100 + p) // (i - p) for p in range(8) if i > p) for i in range(40)]


def test_sums_of_sums_of_sums_take_no_time() -> None:
    lines = ["N = sv.types.NDArray", "@sv.kernel", "def k(a: N[sv.f32, 1], out: N[sv.f32, 1], n: sv.i32):"]
    lines += ["    for i in out:", "        k, c, x = i, sv.u16(i), 0.0", *["        k = k + k", "        c = c - c"] * 40]
    lines += ["        for p in range(n):", "            x = x * 0.5 + a[k - k + i] + a[sv.i32(c) + i]"]
    lines += ["        out[i] = x", ""]
    kernel = define("\n".join(lines))
    a, out = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    kernel(a, out, 1)
    assert out.tolist() == (2 * a).tolist()


def test_many_conditions_one_after_the_other() -> None:
    lines = ["N = sv.types.NDArray", "@sv.kernel", "def k(a: N[sv.f32, 1], out: N[sv.f32, 1], n: sv.i32):"]
    lines += ["    for i in out:", "        x = a[i]", "        for p in range(n):"]
    lines += ["            if p > 900:", "                x = 0.0"]
    for number in range(100):
        condition = f"x > {900 - 8 * number}.0" if number % 3 else f"p == {900 - number}"
        lines += [f"            elif {condition}:", f"                x = x * 0.5 + {number}.0"]
    kernel = define("\n".join([*lines, "        out[i] = x", ""]))

    def run() -> bytes:
        out = np.zeros(300, np.float32)
        kernel(np.arange(0, 900, 3, dtype=np.float32), out, 5)
        return out.tobytes()

    found, expected = with_and_without(run, fast_math=False)
    assert found == expected


@sv.kernel
def skipped_by_all(a: f32_2, few: i32_1, out: f32_1, skip: sv.i32):
    for _ in range(1):
        for row in range(few.shape[0]):
            for i in range(a.shape[1]):
                x = a[row, i]
                if few[row] == skip:
                    a[row, i] = -x
                    continue
                for _ in range(few[row]):
                    x = x * 0.5 + sv.sqrt(x + 1.0)
                a[row, i] = x
            out[row] += 1.0


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 40, 100])
def test_what_is_left_over_goes_on_after_the_loop(columns: int) -> None:
    """A `continue` that all lanes come to ends the iterations that are left over, and not one of the loop around them."""
    few = np.array([2, 3, 0, 3, 1], np.int32)
    results = []
    for without in ("", "vectors"):
        sv.init(fast_math=False, without=without)
        a, out = np.ones((5, columns), np.float32), np.zeros(5, np.float32)
        skipped_by_all(a, few, out, 3)
        assert out.tolist() == [1.0] * 5
        results.append(a.tobytes())
    assert results[0] == results[1]
    sv.init()
    assert "# vectorized" in skipped_by_all.inspect("loops", a, few, out, 3)
