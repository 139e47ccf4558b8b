"""The primitive dtypes: their facts, and the conversion of single values."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar import _native as native

ALL = [getattr(native, name) for name in "i8 i16 i32 i64 u1 u8 u16 u32 u64 f16 f32 f64".split()]
INTEGERS = [dtype for dtype in ALL if dtype.kind in ("int", "uint")]
FLOATS = [dtype for dtype in ALL if dtype.kind == "float"]


def limits(dtype: native.DType) -> tuple[int, int]:
    if dtype.kind == "uint":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_facts_agree_with_numpy(dtype: native.DType) -> None:
    theirs = np.dtype(dtype.typestr)
    assert theirs.itemsize == dtype.itemsize
    assert theirs.kind == {"int": "i", "uint": "u", "bool": "b", "float": "f"}[dtype.kind]
    assert np.dtype(dtype.format) == theirs
    assert ALL[dtype.code] is dtype


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_name_str_and_repr(dtype: native.DType) -> None:
    assert str(dtype) == dtype.name
    assert repr(dtype) == f"samovar.{dtype.name}"
    assert dtype.bits == int(dtype.name[1:])


def test_dtypes_are_singletons_under_copy() -> None:
    assert copy.copy(native.f32) is native.f32
    assert copy.deepcopy(native.f32) is native.f32


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_dtypes_are_pickled_by_name(protocol: int) -> None:
    assert pickle.loads(pickle.dumps(native.u16, protocol)) is native.u16


def test_dtypes_cannot_be_made_or_subclassed() -> None:
    with pytest.raises(TypeError):
        native.DType()
    with pytest.raises(TypeError):
        type("Mine", (native.DType,), {})


@given(st.sampled_from(INTEGERS), st.integers(-(2**80), 2**80))
def test_calling_an_integer_dtype_wraps(dtype: native.DType, value: int) -> None:
    low, _ = limits(dtype)
    assert dtype(value) == (value - low) % 2**dtype.bits + low


@given(st.sampled_from(INTEGERS), st.floats() | st.integers(-(2**66), 2**66).map(float))
def test_calling_an_integer_dtype_with_a_float_gives_the_nearest_whole_number_towards_zero(
    dtype: native.DType, value: float
) -> None:
    low, high = limits(dtype)
    expected = 0 if math.isnan(value) else low if value <= low else high if value >= high else int(value)
    assert dtype(value) == expected


@given(st.floats())
def test_calling_a_float_dtype_rounds(value: float) -> None:
    with np.errstate(over="ignore"):
        assert np.array_equal(native.f32(value), float(np.float32(value)), equal_nan=True)
        assert np.array_equal(native.f16(value), float(np.float16(value)), equal_nan=True)
        assert np.array_equal(native.f64(value), value, equal_nan=True)


def test_calling_u1_gives_the_truth() -> None:
    assert native.u1(2) is True
    assert native.u1(0.0) is False
    assert native.u1(math.nan) is True


@pytest.mark.parametrize("value", ["3", b"3", bytearray(b"3"), None, [1]])
@pytest.mark.parametrize("dtype", [native.i32, native.f32], ids=str)
def test_calling_refuses_what_is_not_a_number(dtype: native.DType, value: object) -> None:
    with pytest.raises(TypeError):
        dtype(value)


def test_calling_refuses_wrong_argument_counts() -> None:
    with pytest.raises(TypeError, match="f32"):
        native.f32()
    with pytest.raises(TypeError):
        native.f32(1, 2)
    with pytest.raises(TypeError, match="keyword"):
        native.f32(value=1)


def test_every_half_reads_as_numpy_reads_it() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    array = native.Ndarray(native.f16, 2**16)
    memoryview(array).cast("B")[:] = bits.tobytes()
    ours = np.array([array[i] for i in range(2**16)])
    theirs = bits.view(np.float16).astype(np.float64)
    assert np.array_equal(ours, theirs, equal_nan=True)
    assert np.array_equal(np.signbit(ours), np.signbit(theirs))


def test_every_half_survives_a_store() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    halves = bits.view(np.float16)
    array = native.Ndarray(native.f16, 2**16)
    array.copy_from(halves.astype(np.float64))
    stored = array.to_numpy()
    number = ~np.isnan(halves)
    assert np.array_equal(stored.view(np.uint16)[number], bits[number])
    assert np.isnan(stored[~number]).all()


def test_doubles_between_halves_round_as_numpy_rounds() -> None:
    halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float64)
    halves[-1] = 65536.0  # where the next half would be, were it not infinity
    middle = (halves[:-1] + halves[1:]) / 2
    values = np.concatenate([middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf), [1e300, 1e-300, 5e-324]])
    values = np.concatenate([values, -values])
    array = native.Ndarray(native.f16, len(values))
    array.copy_from(values)
    with np.errstate(over="ignore"):
        assert np.array_equal(array.to_numpy().view(np.uint16), values.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_that_do_not_fit_wrap_when_stored(dtype: native.DType) -> None:
    low, high = limits(dtype)
    array = native.Ndarray(dtype, ())
    for value in (low, high):
        array[None] = value
        assert array[None] == value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in (low - 1, high + 1, 2**70, -(2**70)):
            array[None] = value
            assert array[None] == (value - low) % (high - low + 1) + low


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_floats_are_not_stored_as_integers(dtype: native.DType) -> None:
    with pytest.raises(TypeError):
        native.Ndarray(dtype, ())[None] = 1.5


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_numpy_scalars_are_stored(dtype: native.DType) -> None:
    array = native.Ndarray(dtype, ())
    array[None] = np.dtype(dtype.typestr).type(1)
    assert array[None] == 1


def test_too_large_an_integer_for_a_float_is_an_overflow() -> None:
    with pytest.raises(OverflowError):
        native.Ndarray(native.f64, ())[None] = 10**400
