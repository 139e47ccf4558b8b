"""Single elements from Python: get and set with bounds checks, fill, length, truth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from read_only_arrays import read_only
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import ndarray

ALL = [dtype for dtype in LONG_NAMES.values() if dtype is not native.bf16]  # which NumPy has not


@given(st.lists(st.integers(1, 4), max_size=5).flatmap(lambda shape: st.tuples(st.just(shape), st.data())))
def test_an_index_names_the_element_numpy_names(case: tuple[list[int], st.DataObject]) -> None:
    shape, data = case
    a = ndarray(native.i32, shape)
    view = np.asarray(a)
    view[...] = np.arange(a.size).reshape(shape)
    index = tuple(data.draw(st.integers(0, extent - 1)) for extent in shape)
    assert a[index] == view[index]
    a[index] = -1
    assert view[index] == -1
    assert (view == -1).sum() == 1


@pytest.mark.parametrize(
    ("dtype", "value", "type_"),
    [(native.u1, True, bool), (native.u8, 3, int), (native.i64, -3, int), (native.f16, 1.5, float)],
)
def test_elements_are_plain_python_values(dtype: native.DType, value: object, type_: type) -> None:
    a = ndarray(dtype, 2)
    a[1] = value
    assert a[1] == value
    assert type(a[1]) is type_


def test_rank_0_is_indexed_with_none_or_nothing() -> None:
    a = ndarray(native.f32, ())
    a[None] = 2
    assert a[()] == 2
    a[()] = 3
    assert a[None] == 3
    with pytest.raises(IndexError, match=r"a\[None\]"):
        a[0]


def test_any_integer_is_an_index() -> None:
    a = ndarray(native.i32, (2, 3))
    a[np.int8(1), np.uint64(2)] = 4
    assert a[1, True + 1] == 4
    one = ndarray(native.i32, 3)
    one[(1,)] = 5
    assert one[1] == 5


@pytest.mark.parametrize("index", [(2, 0), (0, 3), (-1, 0), (0, -3), (2**31, 0), (0, 2**63), (0, -(2**70))])
def test_an_index_out_of_bounds_is_refused(index: tuple[int, int]) -> None:
    a = ndarray(native.i32, (2, 3))
    wrong = next(i for i, extent in zip(index, a.shape, strict=True) if not 0 <= i < extent)
    axis = index.index(wrong)
    expected = f"index {wrong} is out of bounds for axis {axis} of an array of shape \\(2, 3\\)"
    with pytest.raises(IndexError, match=expected):
        a[index]
    with pytest.raises(IndexError, match=expected):
        a[index] = 1
    assert not np.asarray(a).any()


def test_a_negative_index_is_said_to_be_out_of_bounds() -> None:
    with pytest.raises(IndexError, match="negative indices do not count from the end"):
        ndarray(native.i32, 3)[-1]


@pytest.mark.parametrize("index", [(), None, (0,), 0, (0, 0, 0)])
def test_the_wrong_number_of_indices_is_refused(index: object) -> None:
    with pytest.raises(IndexError, match="for an array of rank 2"):
        ndarray(native.i32, (2, 3))[index]  # type: ignore[index]


@pytest.mark.parametrize("index", [(slice(None),), ..., "0", 1.0, [0]])
def test_other_indices_are_refused_with_advice(index: object) -> None:
    with pytest.raises(TypeError, match=r"one integer per dimension.*to_numpy\(copy=False\)"):
        ndarray(native.i32, 3)[index]  # type: ignore[index]


def test_elements_cannot_be_deleted() -> None:
    with pytest.raises(TypeError, match="deleted"):
        del ndarray(native.i32, 3)[0]  # type: ignore[attr-defined]


def test_an_exception_of_an_index_passes_through() -> None:
    class Odd:
        def __index__(self) -> int:
            raise RuntimeError("odd")

    with pytest.raises(RuntimeError, match="odd"):
        ndarray(native.i32, 3)[Odd()]


def test_a_failed_store_changes_nothing() -> None:
    a = ndarray(native.u8, 2)
    a.fill(7)
    for bad in (1.5, "x", None):
        with pytest.raises(TypeError):
            a[0] = bad
        with pytest.raises(TypeError):
            a.fill(bad)
    assert np.asarray(a).tolist() == [7, 7]


def test_an_integer_that_does_not_fit_wraps_and_a_warning_says_so_once(monkeypatch) -> None:
    monkeypatch.setattr("samovar.errors._warned", set())
    a, v = ndarray(native.u8, 3), sv.Vector.ndarray(2, sv.i8, 1)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for place, value in enumerate((300, -1, 2**80 + 7)):
            a[place] = value
    assert [str(each.message) for each in given] == ["300 does not fit in u8 and becomes 44"]
    assert given[0].filename == __file__
    assert np.asarray(a).tolist() == [44, 255, 7]
    with pytest.warns(sv.SamovarWarning, match="128 does not fit in i8 and becomes -128"):
        v[0] = [128, -129]
    assert np.asarray(v).tolist() == [[-128, 127]]
    a.fill(257)
    assert np.asarray(a).tolist() == [1, 1, 1]


def test_a_warning_about_wrapping_that_is_an_error_changes_nothing(monkeypatch) -> None:
    monkeypatch.setattr("samovar.errors._warned", set())
    a = ndarray(native.u8, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sv.SamovarWarning):
            a[0] = 256 + 9
    assert a[0] == 0


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 1000, 100_003])
@pytest.mark.parametrize("value", [0, 1, 113])
def test_fill_sets_every_element(dtype: native.DType, size: int, value: int) -> None:
    a = ndarray(dtype, size)
    a.fill(55)
    a.fill(value)
    assert (np.asarray(a) == np.array(value).astype(dtype.typestr)).all()


def test_fill_of_minus_zero_keeps_the_sign() -> None:
    a = ndarray(native.f32, 3)
    a.fill(-0.0)
    assert np.signbit(np.asarray(a)).all()


def test_length_is_the_first_extent() -> None:
    assert len(ndarray(native.f32, (4, 2))) == 4
    with pytest.raises(TypeError, match="rank 0"):
        len(ndarray(native.f32, ()))


def test_truth_is_only_that_of_a_single_element() -> None:
    a = ndarray(native.f32, ())
    assert not a
    a[None] = 0.5
    assert a
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ndarray(native.f32, 1))


def test_a_read_only_array_is_not_written() -> None:
    source = np.arange(3.0)
    a = read_only(source)
    assert a.readonly
    assert a[1] == 1
    with pytest.raises(ValueError, match="read-only"):
        a[1] = 5
    with pytest.raises(ValueError, match="read-only"):
        a.fill(5)
    with pytest.raises(ValueError, match="read-only"):
        a.copy_from(np.zeros(3))
    assert source[1] == 1


# --- iteration and small questions


@pytest.mark.parametrize("make", [sv.ndarray, sv.field], ids=["array", "field"])
def test_a_single_axis_gives_its_elements(make):
    a = make(sv.i16, 5)
    a.from_numpy(np.arange(5))
    assert list(a) == [0, 1, 2, 3, 4]
    assert [type(each) for each in a] == [int] * 5
    assert sum(a) == 10
    assert list(make(sv.f32, 0)) == []


@pytest.mark.parametrize("make", [sv.ndarray, sv.field], ids=["array", "field"])
def test_more_axes_give_rows_that_share_the_memory(make):
    a = make(sv.f32, (2, 3))
    for number, row in enumerate(a):
        row[:] = number
    assert a.to_numpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(TypeError, match="cannot iterate over a 0-D array"):
        iter(make(sv.f32, ()))


def test_small_questions():
    a, x = sv.ndarray(sv.f32, 3), sv.ndarray(sv.f64, 2, needs_grad=True)
    assert (a.has_grad(), x.has_grad(), x.has_dual()) == (False, True, False)
    assert (sv.f32.to_string(), sv.u1.to_string()) == ("f32", "u1")
    capsule = a.to_dlpack()
    a[1] = 5
    assert sv.from_dlpack(capsule)[1] == 5
    assert a.to_numpy(dtype=np.int8).tolist() == [0, 5, 0]
    assert a.to_numpy(dtype=sv.f64, copy=None).dtype == np.float64
