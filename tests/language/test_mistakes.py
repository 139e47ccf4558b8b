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


@pytest.mark.parametrize(
    ("kernel", "shape", "advice"),
    [(last_of_row, (2, 3), "a.shape[1] - 1"), (store_last, (3,), "- 2"), (add_last, (3,), "- 1")],
)
def test_a_constant_negative_index_is_refused_with_what_to_write(kernel, shape, advice):
    with pytest.raises(sv.SamovarTypeError, match="are not supported") as caught:
        kernel(np.zeros(shape, np.int32))
    assert advice in str(caught.value)
    assert "^" in str(caught.value)


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
