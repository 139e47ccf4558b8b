"""Tasks: what runs in parallel, what runs once, and in which order they see each other's writes."""

import numpy as np
import pytest

import samovar as sv


@sv.kernel
def two_tasks(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]):
    for i in range(a.shape[0]):
        a[i] = i * 2.0
    scale = a[1] + 1.0
    for i in range(b.shape[0]):
        b[i] = a[b.shape[0] - 1 - i] * scale


def test_a_task_sees_the_writes_of_the_one_before():
    n = 1000
    a, b = sv.ndarray(sv.f32, (n,)), sv.ndarray(sv.f32, (n,))
    two_tasks(a, b)
    assert (b.to_numpy() == np.arange(n, dtype=np.float32)[::-1] * 2 * 3).all()


@sv.kernel
def box(a: sv.types.NDArray[sv.i32, 3]):
    for i, j, k in sv.ndrange(a.shape[0], (1, a.shape[1]), (2, 5)):
        a[i, j, k] = i * 100 + j * 10 + k


def test_ndrange_with_begin_and_end():
    a = np.zeros((4, 5, 6), np.int32)
    box(a)
    expected = np.zeros_like(a)
    for i, j, k in sv.ndrange(4, (1, 5), (2, 5)):
        expected[i, j, k] = i * 100 + j * 10 + k
    assert (a == expected).all()


@sv.kernel
def turned(a: sv.types.NDArray[sv.i32, 2]):
    for i, j in sv.ndrange(a.shape[0], a.shape[1], axes=(1, 0)):
        a[i, j] = i * 10 + j


def test_axes_change_the_order_of_loops_and_not_the_result():
    a = np.zeros((3, 4), np.int32)
    turned(a)
    assert (a == np.arange(3)[:, None] * 10 + np.arange(4)).all()


@sv.kernel
def group(a: sv.types.NDArray[sv.i32, 2], b: sv.types.NDArray[sv.i32, 2]):
    for I in sv.grouped(a):
        b[I] = a[I] + I[0] * 10 + I[1]


def test_grouped_loop_over_an_array():
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    b = np.zeros_like(a)
    group(a, b)
    assert (b == a + np.arange(3)[:, None] * 10 + np.arange(4)).all()


@sv.kernel
def shifted(a: sv.types.NDArray[sv.i32, 2], b: sv.types.NDArray[sv.i32, 2]):
    for I in sv.grouped(sv.ndrange((1, a.shape[0]), (1, a.shape[1]))):
        b[I] = a[I - 1]


def test_arithmetic_on_a_grouped_index():
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    b = np.zeros_like(a)
    shifted(a, b)
    assert (b[1:, 1:] == a[:-1, :-1]).all()


@sv.kernel
def indices(a: sv.types.NDArray[sv.i32, 2]):
    for i, j in a:
        a[i, j] = i - j


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 130), (200, 3)])
def test_loop_over_the_indices_of_an_array(shape):
    a = np.full(shape, 99, np.int32)
    indices(a)
    assert (a == np.arange(shape[0])[:, None] - np.arange(shape[1])).all()


@sv.kernel
def stepped(a: sv.types.NDArray[sv.i32, 1], begin: sv.i32, end: sv.i32, step: sv.i32):
    for i in range(begin, end, step):
        a[i] += 1


@sv.kernel
def stepped_down(a: sv.types.NDArray[sv.i32, 1], begin: sv.i32, end: sv.i32):
    for i in range(begin, end, -3):
        a[i] += 1


@pytest.mark.parametrize(("begin", "end", "step"), [(0, 50, 7), (49, -1, -1), (49, 3, -4), (5, 5, 2), (9, 3, 2), (0, 50, 1)])
def test_parallel_range_with_a_run_time_step(begin, end, step):
    a = np.zeros(50, np.int32)
    stepped(a, begin, end, step)
    expected = np.zeros(50, np.int32)
    for i in range(begin, end, step):
        expected[i] += 1
    assert (a == expected).all()


def test_parallel_range_with_a_negative_step():
    a = np.zeros(50, np.int32)
    stepped_down(a, 49, -1)
    assert [i for i in range(50) if a[i]] == sorted(range(49, -1, -3))


@sv.kernel
def local_sum(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    total = 0
    for i in range(a.shape[0]):
        total += a[i]
    return total


@pytest.mark.parametrize("n", [0, 1, 2, 1023, 100_000])
def test_a_sum_into_a_local_of_the_kernel(n):
    a = np.random.default_rng(n).integers(-1000, 1000, n).astype(np.int32)
    assert local_sum(a) == int(a.sum())


@sv.kernel
def flag(a: sv.types.NDArray[sv.i32, 1], wanted: sv.i32) -> sv.i32:
    found = 0
    for i in range(a.shape[0]):
        if a[i] == wanted:
            found = 1
    return found


def test_an_assignment_to_a_local_of_the_kernel_from_a_task():
    a = np.arange(10_000, dtype=np.int32)
    assert flag(a, 9_999) == 1
    assert flag(a, -1) == 0


@sv.kernel
def under_run_time_if(a: sv.types.NDArray[sv.i32, 1], do: sv.i32):
    if do > 0:
        for i in range(a.shape[0]):
            a[i] = a[i - 1] + 1 if i > 0 else 5


def test_a_loop_under_a_run_time_if_is_serial():
    a = np.zeros(5000, np.int32)
    under_run_time_if(a, 1)
    assert (a == np.arange(5, 5005)).all()
    under_run_time_if(a[:0], 0)


@sv.kernel
def serialized(a: sv.types.NDArray[sv.i32, 1]):
    sv.loop_config(serialize=True)
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] + 1
    for i in range(a.shape[0]):
        a[i] *= 2


def test_loop_config_serializes_the_next_loop_only():
    a = np.zeros(5000, np.int32)
    serialized(a)
    assert (a == np.arange(5000) * 2).all()


@sv.kernel
def scopes(a: sv.types.NDArray[sv.f32, 1]):
    for i in range(a.shape[0]):
        x = 1
        a[i] += x
    for i in range(a.shape[0]):
        x = 0.5
        a[i] += x


def test_locals_of_two_tasks_are_two_variables():
    a = np.zeros(10, np.float32)
    scopes(a)
    assert (a == 1.5).all()


@sv.kernel
def zero_dimensional(a: sv.types.NDArray[sv.f64, 0], b: sv.types.NDArray[sv.f64, 1]):
    for i in range(b.shape[0]):
        a[None] += b[i]
    a[()] = a[None] * 2


def test_arrays_without_axes():
    a, b = sv.ndarray(sv.f64, ()), np.ones(10_000)
    zero_dimensional(a, b)
    assert a[None] == 20_000.0
