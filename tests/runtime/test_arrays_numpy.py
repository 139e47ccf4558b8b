"""Elements to and from NumPy: sharing, copying, and conversion between every pair of dtypes."""

from __future__ import annotations

import gc
import math
import struct
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import samovar as sv
from read_only_arrays import read_only
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import from_numpy, ndarray

ALL = [dtype for dtype in LONG_NAMES.values() if dtype is not native.bf16]  # which NumPy has not
REAL = [dtype for dtype in ALL if dtype.kind != "complex"]
INTEGERS = [dtype for dtype in REAL if dtype.kind in ("int", "uint")]


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (2,) * 12])
def test_elements_go_to_numpy_and_back(dtype: native.DType, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).integers(0, 2, shape).astype(dtype.typestr)
    a = ndarray(dtype, shape)
    a.from_numpy(values)
    for copied in (True, False, None):
        back = a.to_numpy(copy=copied)
        assert back.dtype == values.dtype
        assert np.array_equal(back, values)
    assert np.array_equal(from_numpy(values).to_numpy(), values)


def test_to_numpy_copies_unless_told_otherwise() -> None:
    a = ndarray(native.f32, 3)
    a.to_numpy()[0] = 1
    a.to_numpy(copy=True)[0] = 1
    assert a[0] == 0
    a.to_numpy(copy=False)[0] = 2
    assert a[0] == 2
    a.to_numpy(copy=None)[1] = 3
    assert a[1] == 3
    assert a.to_numpy(False).flags.writeable


def test_to_numpy_of_a_read_only_array() -> None:
    source = np.arange(3.0)
    a = read_only(source)
    with pytest.raises(ValueError, match="read-only"):
        a.to_numpy(copy=False)
    for copied in (True, None):
        view = a.to_numpy(copy=copied)
        view[0] = 9
    assert source[0] == 0


def test_copy_is_one_of_three() -> None:
    for wrong in (1, 0, "yes"):
        with pytest.raises(TypeError, match="True, False or None"):
            ndarray(native.f32, 3).to_numpy(copy=wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="True, False or None"):
            from_numpy(np.zeros(3), copy=wrong)  # type: ignore[arg-type]


def test_from_numpy_shares_or_copies_as_asked() -> None:
    source = np.zeros(4)
    from_numpy(source)[0] = 1
    from_numpy(source, copy=None)[1] = 2
    from_numpy(source, copy=False)[2] = 3
    from_numpy(source, copy=True)[3] = 4
    assert source.tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (np.arange(12).reshape(3, 4).T, "not in C order"),
        (np.arange(12)[::2], "not in C order"),
        (np.arange(12)[::-1], "not in C order"),
        (np.broadcast_to(np.arange(3), (2, 3)), "not in C order"),
        (np.frombuffer(b"12345678", "i4"), "read-only"),
        (np.arange(3, dtype=">i4"), "byte order"),
        (np.frombuffer(bytearray(9), "f4", offset=1), "aligned"),
        (np.zeros(3, [("x", "f4"), ("y", "i1")])["x"], "strides"),
    ],
)
def test_what_cannot_be_shared_is_copied_or_refused(source: np.ndarray, why: str) -> None:
    with pytest.raises((ValueError, TypeError), match=why):
        from_numpy(source, copy=False)
    for copied in (True, None):
        a = from_numpy(source, copy=copied)
        assert np.array_equal(a.to_numpy(), source)
        assert not a.readonly
        assert a.__array_interface__["data"][0] % 64 == 0 or a.__array_interface__["data"][0] % a.dtype.itemsize == 0
        a.fill(1)


def test_an_array_with_axes_of_one_is_shared_whatever_its_strides() -> None:
    source = np.zeros((4, 1, 6))[:, :, ::6]
    assert source.shape == (4, 1, 1)
    odd = source[:1]
    from_numpy(odd, copy=False)[0, 0, 0] = 1
    assert source[0, 0, 0] == 1


def test_a_shared_array_keeps_the_source_alive_and_in_place() -> None:
    source = np.zeros(3)
    before = sys.getrefcount(source)
    a = from_numpy(source)
    with pytest.raises(ValueError):
        source.resize(100)
    assert sys.getrefcount(source) > before
    alive = weakref.ref(source)
    del source
    assert a[0] == 0
    assert alive() is not None
    del a
    gc.collect()
    assert alive() is None


def test_a_shared_bytearray_cannot_grow() -> None:
    source = bytearray(8)
    a = native.as_ndarray(source)
    with pytest.raises(BufferError):
        source.extend(b"more")
    a[0] = 7
    assert source[0] == 7
    del a
    source.extend(b"more")


def test_a_shared_array_of_ours_is_the_same_memory() -> None:
    a = ndarray(native.f32, 3)
    b = native.as_ndarray(a)
    assert b is not a
    b[1] = 3
    assert a[1] == 3
    assert native.as_ndarray(a, copy=True)[1] == 3


@pytest.mark.parametrize("source", [[1, 2], 3, None, "abc", ndarray(native.f32, 3)])
def test_from_numpy_takes_numpy_arrays_only(source: object) -> None:
    with pytest.raises(TypeError, match="from_numpy takes a NumPy array"):
        from_numpy(source)  # type: ignore[arg-type]


def test_copy_from_takes_arrays_of_the_same_shape_only() -> None:
    a = ndarray(native.f32, (2, 3))
    with pytest.raises(ValueError, match=r"shape \(3, 2\) into one of shape \(2, 3\)"):
        a.copy_from(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="shape"):
        a.copy_from(ndarray(native.f32, 6))
    with pytest.raises(TypeError, match="not list"):
        a.copy_from([[1, 2, 3]] * 2)
    with pytest.raises(TypeError, match="byte order"):
        a.from_numpy(np.zeros((2, 3), ">f4"))


@given(st.data(), st.sampled_from(ALL))
def test_strided_arrays_are_copied_in_order(data: st.DataObject, dtype: native.DType) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=6))
    source = np.arange(math.prod(shape)).reshape(shape).astype("i4")
    source = source[tuple(slice(None, None, data.draw(st.sampled_from([-2, -1, 1, 2]))) for _ in shape)]
    source = source.transpose(data.draw(st.permutations(range(source.ndim))))
    a = ndarray(dtype, source.shape)
    a.copy_from(source)
    assert np.array_equal(a.to_numpy(), source.astype(dtype.typestr))


def test_overlapping_copies_act_as_if_the_source_was_copied_first() -> None:
    for dtype in (native.i32, native.f32):
        a = ndarray(dtype, 1000)
        view = np.asarray(a)
        view[:] = np.arange(1000)
        a.copy_from(view[::-1])
        assert view.tolist() == list(range(999, -1, -1))
    a = ndarray(native.i32, 1000)
    a.copy_from(np.arange(1000))
    as_float = np.asarray(a).view(np.float32)
    expected = as_float.astype(np.int32)
    a.copy_from(as_float)
    assert np.array_equal(a.to_numpy(), expected)
    square = ndarray(native.i64, (30, 30))
    square.copy_from(np.arange(900).reshape(30, 30))
    square.copy_from(np.asarray(square).T)
    assert np.array_equal(square.to_numpy(), np.arange(900).reshape(30, 30).T)
    square.copy_from(square)
    assert np.array_equal(square.to_numpy(), np.arange(900).reshape(30, 30).T)


def edge_values(dtype: native.DType) -> np.ndarray:
    kind = np.dtype(dtype.typestr)
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.kind == "float":
        limits = np.finfo(kind)
        values = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.5, 255.9, -129.0, 300.0, 2049.0, 6e4]
        values += [float(limits.max), float(limits.min), float(limits.tiny)]
        values += [2.0**31, -(2.0**31), 2.0**32 + 4096, 2.0**62, 2.0**63, -(2.0**63), 2.0**64, -(2.0**64), 1.5 * 2.0**63]
        values += [2.0**70 + 2.0**40, math.inf, -math.inf, math.nan]
        with np.errstate(over="ignore"):
            return np.array(values).astype(kind)
    info = np.iinfo(kind)
    return np.array([0, 1, 2, 100, info.max, info.max - 1, info.min, info.min + 1, info.max // 3], dtype=kind)


#: How many bits of a number a float keeps, and its format in a struct.
FLOATS = {native.f16: (11, "e"), native.f32: (24, "f"), native.f64: (53, "d")}


def converted(value: bool | int | float, target: native.DType) -> bool | int | float:
    """What the rules of conversions say, in whole numbers, and by no code of the package."""
    if target.kind == "bool":
        return value != 0
    if target.kind == "float":
        bits, form = FLOATS[target]
        if not isinstance(value, float):
            value = rounded(int(value), bits)
        try:
            return struct.unpack(form, struct.pack(form, value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    bits = 8 * target.itemsize
    least, most = (0, 2**bits - 1) if target.kind == "uint" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not isinstance(value, float):
        return (int(value) - least) % 2**bits + least
    if math.isnan(value):
        return 0
    return max(least, min(most, int(max(-1e30, min(1e30, value)))))


def rounded(value: int, bits: int) -> float:
    """A whole number with so many bits: the nearest one, of two the even one."""
    shift = max(0, value.bit_length() - bits)
    quotient, rest = divmod(abs(value), 1 << shift)
    half = (1 << shift) >> 1
    quotient += rest > half or (rest == half and half > 0 and quotient % 2 == 1)
    return math.copysign(float(quotient << shift), value)


@sv.kernel
def cast_all(values: sv.types.ndarray(), result: sv.types.ndarray()):
    for i in values:
        result[i] = sv.cast(values[i], result.dtype)


def shown(array: native.Ndarray) -> list[str]:
    """The repr tells 0.0 from -0.0 and finds NaN equal to itself."""
    return [repr(array[i]) for i in range(array.size)]


@pytest.mark.parametrize("target", REAL, ids=str)
@pytest.mark.parametrize("source", REAL, ids=str)
def test_conversion_is_that_of_a_cast_in_a_kernel_and_in_python(source: native.DType, target: native.DType) -> None:
    values = edge_values(source)
    copied, cast = ndarray(target, len(values)), ndarray(target, len(values))
    copied.copy_from(values)
    cast_all(values, cast)
    expected = [repr(converted(value, target)) for value in values.tolist()]
    assert shown(copied) == expected
    assert shown(cast) == expected
    in_python = [target(value) for value in values.tolist()]
    if source.kind not in ("int", "uint") or target is not native.f32:  # Python makes an f64 of it first
        assert list(map(repr, in_python)) == expected


@pytest.mark.parametrize("source", REAL, ids=str)
@pytest.mark.parametrize("target", ALL, ids=str)
def test_conversion_of_many_elements_agrees_with_numpy(source: native.DType, target: native.DType) -> None:
    values = np.random.default_rng(2).integers(0, 100, (7, 131)).astype(source.typestr)
    a = ndarray(target, values.shape)
    a.copy_from(values)
    assert np.array_equal(a.to_numpy(), values.astype(target.typestr))
    b = ndarray(target, values.T.shape)
    b.copy_from(values.T)
    assert np.array_equal(b.to_numpy(), values.T.astype(target.typestr))


def test_bits_of_nan_survive_a_copy_of_the_same_dtype() -> None:
    bits = np.array([0x7F800001, 0xFFC12345], np.uint32)
    a = ndarray(native.f32, 2)
    a.copy_from(bits.view(np.float32))
    assert a.to_numpy().view(np.uint32).tolist() == bits.tolist()


def test_large_copies_release_the_interpreter_and_are_right() -> None:
    values = np.arange(2**20, dtype=np.int64)
    a = ndarray(native.f64, 2**20)
    a.copy_from(values)
    assert np.array_equal(a.to_numpy(), values.astype(float))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_a_shape_is_any_sequence_of_integers(dtype):
    shape = np.array([2, 3], dtype)
    made = [
        sv.field(sv.f32, shape), sv.Vector.field(2, sv.f32, shape), sv.Matrix.field(2, 2, sv.f32, shape=shape),
        sv.types.struct(a=sv.f32).field(shape=shape), sv.ndarray(sv.f32, shape), sv.Vector.ndarray(2, sv.f32, shape),
        sv.tensor(sv.f32, shape), sv.zeros(shape), sv.zeros(list(shape)),
    ]  # fmt: skip
    assert [tuple(each.shape) for each in made] == [(2, 3)] * len(made)
    for one in (shape[0], np.array(2, dtype), np.array([2], dtype)):
        assert tuple(sv.field(sv.f32, one).shape) == tuple(sv.ndarray(sv.f32, one).shape) == (2,)
    for wrong in (np.array([2.0, 3.0]), np.array([[1, 2]])):
        for make in (sv.ndarray, sv.field):
            with pytest.raises(TypeError):
                make(sv.f32, wrong)
