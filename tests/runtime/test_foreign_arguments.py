"""Kernels take the arrays of NumPy, as they are: strides honoured, dtype and rank checked, read-only memory not written."""

import array

import numpy as np
import pytest

import samovar as sv


@sv.kernel
def double(a: sv.types.NDArray[sv.f32, 2]):
    for i, j in a:
        a[i, j] *= 2


@sv.kernel
def copy(a: sv.types.NDArray, b: sv.types.NDArray):
    for i in a:
        b[i] = a[i]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"])
def test_numpy_arrays_of_every_dtype_are_read_and_written(dtype: str) -> None:
    a, b = (np.arange(40) % 2).astype(dtype), np.zeros(40, dtype)
    copy(a, b)
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1, ::-3], lambda x: x[3:4], lambda x: x[:0]]
)
def test_strides_are_honoured(view: object) -> None:
    base = np.arange(130, dtype=np.float32).reshape(10, 13)
    expected = base.copy()
    view(expected)[...] *= 2  # type: ignore[operator]
    double(view(base))  # type: ignore[operator]
    assert np.array_equal(base, expected)


def test_fields_of_records_are_arrays() -> None:
    records = np.zeros(5, [("x", "f4"), ("y", "f4")])
    copy(np.arange(5, dtype=np.float32), records["y"])
    assert records["y"].tolist() == [0, 1, 2, 3, 4]
    assert not records["x"].any()


def test_standard_arrays_are_arrays() -> None:
    sv.reset()  # nothing is compiled that could be taken
    b = array.array("d", [0] * 4)
    copy(array.array("d", [1, 2, 3, 4]), b)
    assert b.tolist() == [1, 2, 3, 4]
    b.append(5)  # no buffer is left open


def test_read_only_memory_is_read_but_not_written() -> None:
    a, b = np.arange(4.0), np.zeros(4)
    a.flags.writeable = False
    copy(a, b)
    assert b.tolist() == [0, 1, 2, 3]
    with pytest.raises((sv.SamovarError, ValueError, TypeError), match="read-only"):
        copy(b, a)
    frozen = sv.from_dlpack(a)
    copy(frozen, b)
    with pytest.raises((sv.SamovarError, ValueError, TypeError), match="read-only"):
        copy(b, frozen)
    assert a.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((2, 2)),
        np.zeros(4, np.float32),
        np.zeros((2, 2), ">f4"),
        np.zeros((2, 2), complex),
        np.float32(3),
        [1.0],
    ],
)
def test_other_arguments_are_refused(wrong: object) -> None:
    with pytest.raises((sv.SamovarError, TypeError)):
        double(wrong)
