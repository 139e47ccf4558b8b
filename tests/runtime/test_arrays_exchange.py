"""The protocols by which other libraries see our memory and we see theirs: buffers, the array interface, DLPack."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import read_only_arrays
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import Ndarray, from_dlpack, ndarray

ALL = [dtype for dtype in LONG_NAMES.values() if dtype is not native.bf16]  # which NumPy has not
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (2, 0, 3), (2,) * 5, (2,) * 12]

(SIMPLE, WRITABLE, FORMAT, ND, STRIDES) = (0, 1, 4, 8, 0x10 | 8)
(C_ORDER, F_ORDER, ANY_ORDER, INDIRECT) = (0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES, 0x100 | STRIDES)


class Buffer(ctypes.Structure):
    """Py_buffer, to ask with flags that no Python code can give."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    )


def get_buffer(array: Ndarray, flags: int) -> dict[str, Any]:
    buffer = Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(buffer), flags)
    try:
        return {
            "len": buffer.len,
            "itemsize": buffer.itemsize,
            "readonly": buffer.readonly,
            "ndim": buffer.ndim,
            "format": buffer.format,
            "shape": buffer.shape[: buffer.ndim] if buffer.shape else None,
            "strides": buffer.strides[: buffer.ndim] if buffer.strides else None,
            "suboffsets": bool(buffer.suboffsets),
        }
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))


def read_only(shape: tuple[int, ...] = (3,)) -> Ndarray:
    return read_only_arrays.read_only(np.zeros(shape))


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_memoryview_sees_dtype_and_shape(dtype: native.DType, shape: tuple[int, ...]) -> None:
    view = memoryview(ndarray(dtype, shape))
    assert (view.format, view.shape, view.itemsize, view.readonly) == (dtype.format, shape, dtype.itemsize, False)
    assert view.c_contiguous


@pytest.mark.parametrize("flags", [SIMPLE, WRITABLE, FORMAT, ND, STRIDES, C_ORDER, ANY_ORDER, INDIRECT | FORMAT])
def test_a_buffer_has_what_was_asked_for(flags: int) -> None:
    buffer = get_buffer(ndarray(native.f32, (2, 3)), flags)
    assert (buffer["len"], buffer["itemsize"], buffer["readonly"], buffer["ndim"]) == (24, 4, 0, 2)
    assert buffer["format"] == (b"f" if flags & FORMAT else None)
    assert buffer["shape"] == ([2, 3] if flags & ND else None)
    assert buffer["strides"] == ([12, 4] if flags & STRIDES == STRIDES else None)
    assert buffer["suboffsets"] is False


def test_a_buffer_of_rank_0_has_no_shape() -> None:
    buffer = get_buffer(ndarray(native.f64, ()), INDIRECT | FORMAT)
    assert (buffer["ndim"], buffer["len"], buffer["shape"], buffer["strides"]) == (0, 8, None, None)


def test_fortran_order_is_given_where_it_is_the_same_and_refused_elsewhere() -> None:
    for shape in ((), (5,), (1, 5, 1), (3, 0, 2)):
        get_buffer(ndarray(native.f32, shape), F_ORDER)
    with pytest.raises(BufferError, match="C order"):
        get_buffer(ndarray(native.f32, (2, 3)), F_ORDER)


def test_a_read_only_array_gives_only_read_only_buffers() -> None:
    a = read_only()
    assert get_buffer(a, STRIDES)["readonly"] == 1
    assert memoryview(a).readonly
    with pytest.raises(BufferError, match="read-only"):
        get_buffer(a, STRIDES | WRITABLE)
    assert not np.asarray(a).flags.writeable


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_array_interface_describes_the_memory(dtype: native.DType, shape: tuple[int, ...]) -> None:
    class Only:
        """Offers the interface and no buffer, so that NumPy must use it."""

        def __init__(self, array: Ndarray) -> None:
            self.array = array
            self.__array_interface__ = array.__array_interface__

    a = ndarray(dtype, shape)
    view = np.asarray(Only(a))
    assert (view.shape, view.dtype) == (shape, np.dtype(dtype.typestr))
    view[...] = 1
    assert not a.size or a[(0,) * a.ndim] == 1


def test_the_array_interface_says_that_memory_is_read_only() -> None:
    assert read_only().__array_interface__["data"][1] is True
    assert ndarray(native.f32, 3).__array_interface__["data"][1] is False


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_reads_our_dlpack(dtype: native.DType, shape: tuple[int, ...]) -> None:
    a = ndarray(dtype, shape)
    view = np.from_dlpack(a)
    assert (view.shape, view.dtype) == (shape, np.dtype(dtype.typestr))
    if a.size:
        a[(0,) * a.ndim] = 1
        assert view[(0,) * a.ndim] == 1


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_we_read_the_dlpack_of_numpy(dtype: native.DType, shape: tuple[int, ...]) -> None:
    source = np.ones(shape, dtype.typestr)
    a = from_dlpack(source)
    assert (a.shape, a.dtype) == (shape, dtype)
    if a.size:
        source[(0,) * a.ndim] = 0
        assert a[(0,) * a.ndim] == 0


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3), (2, 0)])
def test_our_capsules_go_both_ways(version: tuple[int, int] | None) -> None:
    a = ndarray(native.i16, (2, 3))
    capsule = a.__dlpack__(max_version=version)
    assert ('"dltensor_versioned"' in repr(capsule)) == (version is not None and version >= (1, 0))
    b = from_dlpack(capsule)
    b[1, 2] = 6
    assert a[1, 2] == 6
    with pytest.raises(BufferError, match="already consumed"):
        from_dlpack(capsule)


def test_the_device_is_the_cpu() -> None:
    assert ndarray(native.f32, 3).__dlpack_device__() == (1, 0)
    ndarray(native.f32, 3).__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        ndarray(native.f32, 3).__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("options", [{"stream": 1}, {"stream": -1}])
def test_streams_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BufferError, match="stream"):
        ndarray(native.f32, 3).__dlpack__(**options)


@pytest.mark.parametrize("options", [{"max_version": 1}, {"max_version": (1,)}, {"dl_device": "cpu"}, {"copy": 1}, {"x": 1}])
def test_odd_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        ndarray(native.f32, 3).__dlpack__(**options)


def test_a_capsule_may_hold_a_copy() -> None:
    a = ndarray(native.f32, 3)
    b = from_dlpack(a.__dlpack__(copy=True))
    b[0] = 5
    assert a[0] == 0
    assert not b.readonly


def test_a_read_only_array_is_exported_as_such_or_not_at_all() -> None:
    a = read_only()
    assert from_dlpack(a.__dlpack__(max_version=(1, 0))).readonly
    with pytest.raises(BufferError, match="read-only"):
        a.__dlpack__()
    assert not from_dlpack(a.__dlpack__(copy=True)).readonly


def test_memory_lives_as_long_as_any_import_of_it() -> None:
    a = ndarray(native.f32, 3)
    alive = weakref.ref(a)
    b = from_dlpack(a)
    c = from_dlpack(b)
    del a, b
    c[1] = 4
    assert alive() is not None
    assert c[1] == 4
    del c
    assert alive() is None


def test_a_source_lives_as_long_as_its_import() -> None:
    source = np.arange(5)
    before = sys.getrefcount(source)
    for legacy in (False, True):
        a = from_dlpack(source.__dlpack__() if legacy else source)
        assert sys.getrefcount(source) == before + 1
        del a
        gc.collect()
        assert sys.getrefcount(source) == before


def test_strided_memory_is_copied_where_that_is_allowed() -> None:
    source = np.arange(12).reshape(3, 4)
    for view in (source.T, source[:, ::2], source[::-1], source[1:, 1:]):
        a = from_dlpack(view)
        assert np.array_equal(a.to_numpy(), view)
        with pytest.raises(ValueError, match="not in C order"):
            from_dlpack(view, copy=False)


def test_from_dlpack_shares_or_copies_as_asked() -> None:
    source = np.zeros(3)
    from_dlpack(source, copy=False)[0] = 1
    from_dlpack(source, copy=None)[1] = 2
    from_dlpack(source, copy=True)[2] = 3
    assert source.tolist() == [1, 2, 0]


@pytest.mark.parametrize("dtype", ["c32", "M8[s]", np.longdouble])
def test_elements_we_do_not_know_are_refused(dtype: Any) -> None:
    with pytest.raises((TypeError, BufferError)):
        from_dlpack(np.zeros(3, dtype))


def test_producers_from_before_version_1_are_understood() -> None:
    class Old:
        def __init__(self) -> None:
            self.of = np.arange(3)

        def __dlpack__(self, stream: None = None) -> object:
            return self.of.__dlpack__(stream=stream)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    assert from_dlpack(Old())[2] == 2


@pytest.mark.parametrize("device", [(2, 0), (8, 0), "cpu", (1,)])
def test_other_devices_are_refused_before_they_are_asked(device: object) -> None:
    class Elsewhere:
        def __dlpack__(self, **options: object) -> object:
            raise AssertionError("asked")

        def __dlpack_device__(self) -> object:
            return device

    with pytest.raises((BufferError, TypeError), match="device"):
        from_dlpack(Elsewhere())


def test_what_is_no_producer_is_refused() -> None:
    for thing in (3, [1, 2], None):
        with pytest.raises(AttributeError, match="__dlpack"):
            from_dlpack(thing)

    class Wrong:
        def __dlpack__(self, **options: object) -> object:
            return 3

        def __dlpack_device__(self) -> object:
            return (1, 0)

    with pytest.raises(TypeError, match="not a capsule"):
        from_dlpack(Wrong())


def test_foreign_capsules_are_refused() -> None:
    import datetime

    capsule = datetime.datetime_CAPI  # type: ignore[attr-defined]
    with pytest.raises(BufferError, match="dltensor"):
        from_dlpack(capsule)


def test_a_capsule_of_a_later_major_version_is_refused_and_freed() -> None:
    source = ndarray(native.f32, 3)
    alive = weakref.ref(source)
    capsule = source.__dlpack__(max_version=(1, 0))
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    ctypes.c_uint32.from_address(get_pointer(capsule, b"dltensor_versioned")).value = 2
    del source
    with pytest.raises(BufferError, match="version 2"):
        from_dlpack(capsule)
    del capsule
    assert alive() is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes made in Python have buffers since 3.12")
def test_memory_that_is_another_one_each_time_is_not_shared() -> None:
    class Elusive:
        def __buffer__(self, flags: int) -> memoryview:
            self.given = bytearray(64)
            return memoryview(self.given)

        def __setitem__(self, key: object, value: object) -> None:
            raise AssertionError

    with pytest.raises(BufferError, match="different memory than a moment before"):
        native.as_ndarray(Elusive(), copy=False)
    assert native.as_ndarray(Elusive(), copy=True).shape == (64,)
