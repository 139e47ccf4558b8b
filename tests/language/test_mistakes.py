"""Programs that Python or NumPy would take another way: refused, or said once, instead of a silently different result."""

import numpy as np
import pytest

import samovar as sv

I1 = sv.types.NDArray[sv.i32, 1]
I2 = sv.types.NDArray[sv.i32, 2]


@sv.kernel
def last_of_row(a: I2) -> sv.i32:
    return a[0, -1]


@sv.kernel
def store_last(a: I1):
    a[-2] = 1


@sv.kernel
def add_last(a: I1):
    a[-1] += 1


def test_a_constant_negative_index_counts_from_the_end():
    assert last_of_row(np.arange(6, dtype=np.int32).reshape(2, 3)) == 2
    values = np.zeros(3, np.int32)
    store_last(values)
    add_last(values)
    assert values.tolist() == [0, 1, 1]


@sv.kernel
def clamped(a: sv.types.ndarray(dtype=sv.i32, ndim=1, boundary="clamp")) -> sv.i32:
    return a[-1]


def test_a_constant_negative_index_clamps_where_that_is_asked_for():
    assert clamped(np.array([4, 5], np.int32)) == 4


@sv.kernel
def halve(a: I1, factor: sv.f32):
    for i in range(a.shape[0]):
        a[i] *= factor


@sv.kernel
def double(a: I1):
    for i in range(a.shape[0]):
        a[i] *= 2.0


def test_an_update_of_an_integer_by_a_float_warns():
    a = np.array([4, 5], np.int32)
    with pytest.warns(sv.SamovarWarning, match="loses its fraction"):
        halve(a, 2.5)
    assert a.tolist() == [8, 10]


def test_a_whole_number_written_as_a_float_does_not_warn():
    a = np.array([4, 5], np.int32)
    double(a)
    assert a.tolist() == [8, 10]
