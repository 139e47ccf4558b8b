"""Iteration spaces at their ends: empty, of one element, beyond 2^31, at the limits of the index types, up and down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

I32_LEAST, I32_GREATEST = -(2**31), 2**31 - 1
I64_LEAST, I64_GREATEST = -(2**63), 2**63 - 1


@sv.kernel
def count(n: sv.i32, out: sv.types.NDArray[sv.i32, 1]):
    for _ in range(n):
        out[0] += 1


@pytest.mark.parametrize(("n", "times"), [(0, 0), (1, 1), (2, 2), (1000, 1000), (-1, 0), (-1000, 0), (I32_LEAST, 0)])
def test_a_parallel_range_runs_as_often_as_it_says(n, times):
    out = np.zeros(1, np.int32)
    count(n, out)
    assert out[0] == times


@sv.kernel
def fill(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = i + 1


@sv.kernel
def fill_box(a: sv.types.NDArray[sv.i64, 3]):
    for i, j, k in a:
        a[i, j, k] = 1 + (i * a.shape[1] + j) * a.shape[2] + k


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1023])
@pytest.mark.parametrize("make", [np.zeros, lambda n, dtype: sv.ndarray(sv.f32, n)])
def test_arrays_of_any_length(n, make):
    a = make(n, np.float32)
    fill(a)
    assert np.asarray(a).tolist() == list(range(1, n + 1))


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1), (2, 1, 3), (1, 1, 99), (99, 1, 1)])
def test_boxes_with_empty_and_single_axes(shape):
    a = np.zeros(shape, np.int64)
    fill_box(a)
    assert (a == np.arange(1, a.size + 1).reshape(shape)).all()


@sv.kernel
def single(a: sv.types.NDArray[sv.i32, 0]):
    a[None] += 5
    a[()] *= 2


def test_an_array_without_axes_has_one_element():
    a = np.array(1, np.int32)
    single(a)
    assert a == 12


@sv.kernel
def every_point(a: sv.types.NDArray[sv.i32, 0]):
    for _ in sv.grouped(a):
        a[None] += 1


def test_a_loop_over_an_array_without_axes_runs_once():
    a = np.array(0, np.int32)
    every_point(a)
    assert a == 1


# --- steps


@sv.kernel
def parallel_steps(begin: sv.i64, end: sv.i64, step: sv.i64, seen: sv.types.NDArray[sv.i64, 1], first: sv.i64):
    for i in range(begin, end, step):
        slot = (i - first) // step
        if slot < seen.shape[0]:
            seen[slot] = i


@sv.kernel
def serial_steps(begin: sv.i64, end: sv.i64, step: sv.i64, seen: sv.types.NDArray[sv.i64, 1]) -> sv.i64:
    n: sv.i64 = 0
    sv.loop_config(serialize=True)
    for i in range(begin, end, step):
        if n == seen.shape[0]:
            break
        seen[n] = i
        n += 1
    return n


RANGES = [
    (0, 10, 3),
    (10, 0, -3),
    (10, 0, 3),
    (0, 10, -3),
    (5, 5, 1),
    (-7, 8, 5),
    (8, -7, -5),
    (0, 1, 1000),
    (0, -1, -1000),
    (I32_GREATEST - 3, I32_GREATEST, 2),
    (I32_LEAST + 3, I32_LEAST, -2),
    (I32_GREATEST - 3, I32_GREATEST + 20, 5),
    (I64_GREATEST - 7, I64_GREATEST, 2),
    (I64_GREATEST - 7, I64_GREATEST, 100),
    (I64_LEAST + 7, I64_LEAST, -2),
    (I64_LEAST + 7, I64_LEAST, -100),
    (I64_LEAST, I64_LEAST + 5, 2),
    (I64_LEAST, I64_GREATEST, 2**62),
    (I64_LEAST, I64_GREATEST, I64_GREATEST),
    (I64_GREATEST, I64_LEAST, -(2**62)),
    (I64_GREATEST, I64_LEAST, I64_LEAST),
    (-(2**62), 2**62, 2**61 + 1),
    (0, I64_GREATEST, 2**61),
]


@pytest.mark.parametrize(("begin", "end", "step"), RANGES)
def test_ranges_with_run_time_steps(begin, end, step):
    expected = list(range(begin, end, step))
    seen = np.zeros(len(expected) + 1, np.int64)
    assert serial_steps(begin, end, step, seen) == len(expected)
    assert seen[:-1].tolist() == expected
    distances = [(value - begin) // step for value in expected]
    assert distances == list(range(len(expected)))
    if all(abs(value - begin) <= I64_GREATEST for value in expected):
        seen[:] = 0
        parallel_steps(begin, end, step, seen, begin)
        assert seen[:-1].tolist() == expected


small = st.integers(-40, 40)


@examples("compiled")
@given(small, small, small.filter(bool), st.sampled_from([0, I32_GREATEST, I32_LEAST, I64_GREATEST - 40, I64_LEAST + 40]))
def test_ranges_near_the_limits_are_those_of_python(begin, end, step, base):
    test_ranges_with_run_time_steps(base + begin, base + end, step)


@sv.kernel
def constant_steps(n: sv.i32, out: sv.types.NDArray[sv.i32, 2]):
    for i in range(10, n, -3):
        out[0, i] += 1
    for i in range(n, 10, 4):
        out[1, i] += 1
    for k in range(1):
        for i in range(10, n, -3):
            out[2, i] += 1 + k
        for i in range(n, 10, 4):
            out[3, i] += 1 + k
        for i in range(9, -1, -1):
            out[4, i] += 1 + k


@pytest.mark.parametrize("n", [-0, 1, 2, 9, 10, 11])
def test_constant_steps_parallel_and_serial(n):
    out = np.zeros((5, 12), np.int32)
    constant_steps(n, out)
    for row, indices in enumerate((range(10, n, -3), range(n, 10, 4)) * 2):
        expected = np.zeros(12, np.int32)
        expected[list(indices)] = 1
        assert (out[row] == expected).all(), row
    assert out[4].tolist() == [1] * 10 + [0, 0]


@sv.kernel
def steps_of_zero(step: sv.i32, out: sv.types.NDArray[sv.i32, 1]):
    for _ in range(0, 10, step):
        out[0] += 1
    for k in range(1):
        for _ in range(0, 10, step):
            out[1] += 1 + k


def test_a_run_time_step_of_zero_runs_nothing():
    out = np.zeros(2, np.int32)
    steps_of_zero(0, out)
    assert out.tolist() == [0, 0]
    steps_of_zero(5, out)
    assert out.tolist() == [2, 2]


@sv.kernel
def wide_steps(step: sv.i64, out: sv.types.NDArray[sv.i32, 1]):
    for i in range(0, 10, step):
        out[0] += i + 1
    for i in range(9, 0, -0x100000000):
        out[1] += i + 1
    for k in range(1):
        for i in range(0, 10, step):
            out[2] += i + 1 + k
        for i in range(9, 0, -0x100000000):
            out[3] += i + 1 + k
        for i in range(0, 10, 3_000_000_000):
            out[4] += i + 1 + k


def test_a_step_wider_than_the_bounds_is_not_cut():
    out = np.zeros(5, np.int32)
    wide_steps(2**32, out)
    assert out.tolist() == [1, 10, 1, 10, 1]


@sv.kernel
def narrow_limits(out: sv.types.NDArray[sv.i32, 1], least: sv.i32, greatest: sv.i32):
    for i in range(greatest - 3, greatest):
        out[0] += i - greatest + 4
    for i in range(least, least + 3):
        out[1] += i - least + 1
    for k in range(1):
        for i in range(greatest - 3, greatest):
            out[2] += i - greatest + 4 + k
        for i in range(greatest - 5, greatest, 3):
            out[3] += i - greatest + 6 + k
        for i in range(least + 2, least, -1):
            out[4] += i - least + k
        for i in range(least + 4, least, -3):
            out[5] += i - least + k
        for i in range(greatest, least, least):
            out[6] += 1 + k + (i == -1)


def test_32_bit_ranges_end_at_the_limits_of_their_type():
    out = np.zeros(7, np.int32)
    narrow_limits(out, I32_LEAST, I32_GREATEST)
    assert out.tolist() == [6, 6, 6, 1 + 4, 3, 4 + 1, 1 + 2]


# --- the types of bounds


@sv.kernel
def unsigned_bounds(n: sv.u32, m: sv.u64, out: sv.types.NDArray[sv.i64, 1]):
    for i in range(n - 3, n):
        sv.atomic_max(out[0], i)
    for i in range(m - 3, m):
        sv.atomic_max(out[1], i)


def test_unsigned_bounds_keep_their_value():
    out = np.zeros(2, np.int64)
    unsigned_bounds(2**32 - 1, 2**63 - 1, out)
    assert out.tolist() == [2**32 - 2, 2**63 - 2]


@sv.kernel
def byte_bounds(n: sv.u8, out: sv.types.NDArray[sv.i32, 1]):
    for i in range(n):
        out[0] += i


def test_a_narrow_bound_counts_in_32_bits():
    out = np.zeros(1, np.int32)
    byte_bounds(255, out)
    assert out[0] == sum(range(255))


# --- beyond 2^31


@sv.kernel
def strided(begin: sv.i64, end: sv.i64, step: sv.i64) -> sv.i64:
    total: sv.i64 = 0
    for i in range(begin, end, step):
        total += i & 0xFF
    return total


def test_a_parallel_range_beyond_32_bits_in_large_steps():
    begin, end, step = -(2**40) + 5, 2**41, 2**21 + 1
    assert strided(begin, end, step) == sum(i & 0xFF for i in range(begin, end, step))


@sv.kernel
def long_sum(begin: sv.i64, end: sv.i64) -> sv.u64:
    total: sv.u64 = 0
    for i in range(begin, end):
        total += sv.u64(i)
    return total


def test_a_parallel_range_across_the_32_bit_limits():
    for middle in (2**31, 2**32, -(2**31)):
        begin, end = middle - 100_000, middle + 100_000
        assert long_sum(begin, end) == sum(range(begin, end)) % 2**64


def test_a_range_of_more_than_two_to_the_31_iterations():
    begin, end = -5, 2**31 + 1000
    assert long_sum(begin, end) == (begin + end - 1) * (end - begin) // 2


@sv.kernel
def wide_box(n: sv.i32, m: sv.i32) -> sv.u64:
    total: sv.u64 = 0
    for i, j in sv.ndrange(n, m):
        total += sv.u64(i ^ j) & 1
    return total


def test_a_box_of_more_than_two_to_the_31_points():
    assert wide_box(50_000, 50_000) == 1_250_000_000


@sv.kernel
def mark(a: sv.types.NDArray[sv.u8, 1]):
    for i in a:
        if i % 0x10000001 == 3:
            a[i] = i >> 28


@sv.kernel
def mark_rows(a: sv.types.NDArray[sv.u8, 2]):
    for i, j in a:
        if j == a.shape[1] - 1:
            a[i, j] = i + 1


@pytest.mark.stress
def test_an_array_of_more_than_two_to_the_31_elements():
    a = np.zeros(2**31 + 2**29, np.uint8)
    mark(a)
    places = range(3, len(a), 0x10000001)
    assert [int(a[place]) for place in places] == [place >> 28 & 0xFF for place in places]
    assert int(np.count_nonzero(a)) == sum(1 for place in places if place >> 28 & 0xFF)
    rows = a.reshape(5, -1)
    rows[:] = 0
    mark_rows(rows)
    assert rows[:, -1].tolist() == [1, 2, 3, 4, 5]
    assert int(np.count_nonzero(rows)) == 5


@sv.kernel
def last_row(a: sv.types.NDArray[sv.u8, 2]) -> sv.i32:
    total = 0
    for j in range(a.shape[1]):
        total += a[a.shape[0] - 1, j]
    return total


def test_a_view_of_more_than_two_to_the_31_elements_with_little_memory():
    """Rows that lie on top of each other: the extents are large, the memory is not."""
    memory = np.arange(200, dtype=np.uint8)
    rows = np.lib.stride_tricks.as_strided(memory, (2**31 + 9, 200), (0, 1), writeable=False)
    assert last_row(rows) == sum(range(200))


@sv.kernel
def far_offset(a: sv.types.NDArray[sv.u8, 2], out: sv.types.NDArray[sv.i32, 1]):
    for i in range(a.shape[0]):
        out[i] = a[i, 3]


@pytest.mark.stress
def test_strides_whose_products_pass_32_bits():
    memory = np.zeros(3 * 2**30 + 16, np.uint8)
    rows = np.lib.stride_tricks.as_strided(memory, (4, 16), (2**30, 1))
    rows[:, 3] = [5, 6, 7, 8]
    out = np.zeros(4, np.int32)
    far_offset(rows, out)
    assert out.tolist() == [5, 6, 7, 8]
