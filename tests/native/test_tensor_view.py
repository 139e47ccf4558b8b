"""What a kernel sees of arrays of any library: sv_tensor_view_get, through describe_tensor."""

from __future__ import annotations

import array
import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from read_only_arrays import read_only
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import ndarray

ALL = [dtype for dtype in LONG_NAMES.values() if dtype is not native.bf16]  # which NumPy has not


def describe(value: object) -> native.TensorDescription:
    description = native.describe_tensor(value)
    assert description is not None
    return description


def agrees_with_numpy(value: np.ndarray) -> None:
    description = describe(value)
    assert description["shape"] == value.shape
    assert description["address"] == value.ctypes.data or value.size == 0
    assert description["readonly"] is not value.flags.writeable
    assert description["contiguous"] == value.flags.c_contiguous
    assert description["needs_grad"] is False
    for extent, ours, theirs in zip(value.shape, description["strides"], value.strides, strict=True):
        if extent > 1 and value.size:
            assert ours * value.itemsize == theirs


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3), (2,) * 12])
def test_ours_is_described(dtype: native.DType, shape: tuple[int, ...]) -> None:
    a = ndarray(dtype, shape)
    assert describe(a)["dtype"] is dtype
    assert describe(a)["address"] == a.__array_interface__["data"][0]
    if a.size:
        assert [s * dtype.itemsize for s in describe(a)["strides"]] == list(np.asarray(a).strides)
    assert describe(a)["shape"] == shape
    assert describe(a)["contiguous"] is True
    assert describe(a)["readonly"] is False


def test_only_ours_need_grads() -> None:
    assert describe(ndarray(native.f32, 3, needs_grad=True))["needs_grad"] is True
    assert describe(ndarray(native.f32, 3))["needs_grad"] is False


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3), (2,) * 12])
def test_numpy_arrays_of_every_dtype_are_described(dtype: native.DType, shape: tuple[int, ...]) -> None:
    value = np.zeros(shape, dtype.typestr)
    assert describe(value)["dtype"] is dtype
    agrees_with_numpy(value)


@given(st.data())
def test_numpy_views_are_described(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    value = np.zeros(shape, np.float32)
    steps = st.sampled_from([-3, -2, -1, 1, 2, 3])
    value = value[tuple(slice(None, None, data.draw(steps)) for _ in shape)]
    value = value.transpose(data.draw(st.permutations(range(value.ndim))))
    agrees_with_numpy(value)


def test_numpy_aliases_of_long_are_the_same_dtype() -> None:
    assert describe(np.zeros(1, np.longlong))["dtype"] is native.i64
    assert describe(np.zeros(1, np.int_))["dtype"] is native.i64
    assert describe(np.zeros(1, np.ulonglong))["dtype"] is native.u64


def test_broadcast_arrays_have_strides_of_zero() -> None:
    description = describe(np.broadcast_to(np.float32(3), (4, 5)))
    assert description["strides"] == (0, 0)
    assert description["readonly"] is True
    assert description["contiguous"] is False


def test_an_axis_of_two_to_the_31_is_wide() -> None:
    row = np.broadcast_to(np.int8(3), (2**31,))
    assert describe(row)["wide"] is True
    assert describe(row[:-1])["wide"] is False


def test_standard_buffers_are_arrays() -> None:
    assert describe(array.array("d", [1, 2]))["dtype"] is native.f64
    assert describe(bytearray(3))["dtype"] is native.u8
    assert describe(memoryview(bytearray(8)).cast("n"))["dtype"] is native.i64
    assert describe((ctypes.c_int16 * 3 * 2)())["shape"] == (2, 3)


@pytest.mark.parametrize(
    "value", [1, 1.5, True, None, "text", b"bytes", np.float32(3), np.float64(3), np.int64(1), np.bool_(1), ctypes.c_int(3)]
)
def test_values_are_not_arrays(value: object) -> None:
    assert native.describe_tensor(value) is None


@pytest.mark.parametrize("value", [[1, 2], (1, 2), {}, object(), np, np.ndarray, np.dtype("f4"), native.f32, len])
def test_other_objects_are_not_arrays(value: object) -> None:
    assert native.describe_tensor(value) is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.zeros(3, ">i4"), "big-endian byte order"),
        (np.zeros(3, ">f8"), "big-endian byte order"),
        (np.zeros(3, np.clongdouble), "is not supported"),
        (np.zeros(3, np.longdouble), "is not supported"),
        (np.zeros(3, object), "is not supported"),
        (np.zeros(3, "S4"), "is not supported"),
        (np.zeros(3, [("x", "f4"), ("y", "f4")]), "is not supported"),
        (np.zeros(3, "M8[s]"), "buffer"),
        (np.frombuffer(bytearray(9), "f4", offset=1), "not aligned"),
        (np.zeros(3, [("x", "f4"), ("y", "i1")])["x"], "strides are not a multiple"),
        (np.zeros((1,) * 17), "17 dimensions"),
    ],
)
def test_unusable_arrays_are_refused_with_the_reason(value: np.ndarray, why: str) -> None:
    with pytest.raises(TypeError, match=f"a kernel cannot use this numpy.ndarray: .*{why}"):
        native.describe_tensor(value)


def test_bytes_have_no_byte_order() -> None:
    assert describe(np.zeros(3, ">i1"))["dtype"] is native.i8


def test_fields_of_records_are_views() -> None:
    records = np.zeros(3, [("x", "f4"), ("y", "f4")])
    assert describe(records["y"])["strides"] == (2,)


def test_a_buffer_is_released() -> None:
    value = bytearray(4)
    describe(value)
    value.extend(b"more")
    with pytest.raises(TypeError):
        native.describe_tensor(memoryview(value).cast("c"))
    gc.collect()
    value.extend(b"more")


def test_a_released_memoryview_is_refused() -> None:
    view = memoryview(bytearray(4))
    view.release()
    with pytest.raises(TypeError, match="released"):
        native.describe_tensor(view)


def test_a_read_only_array_of_ours_is_read_only() -> None:
    assert describe(read_only(np.arange(3)))["readonly"] is True


class Producer:
    """A tensor of a library that offers DLPack and nothing else."""

    def __init__(self, of: np.ndarray) -> None:
        self.of = of

    def __dlpack__(self, **options: object) -> object:
        return self.of.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.of.__dlpack_device__()


def test_other_dlpack_producers_are_arrays() -> None:
    source = np.arange(12.0).reshape(3, 4)[:, ::2]
    before = sys.getrefcount(source)
    description = describe(Producer(source))
    assert description["strides"] == (4, 2)
    assert description["address"] == source.ctypes.data
    assert sys.getrefcount(source) == before


def test_a_class_that_changes_is_looked_at_again() -> None:
    class Changing:
        of = np.arange(3)

    thing = Changing()
    assert native.describe_tensor(thing) is None
    Changing.__dlpack__ = lambda self, **options: self.of.__dlpack__(**options)  # type: ignore[attr-defined]
    Changing.__dlpack_device__ = lambda self: (1, 0)  # type: ignore[attr-defined]
    assert describe(thing)["shape"] == (3,)
    del Changing.__dlpack__  # type: ignore[attr-defined]
    assert native.describe_tensor(thing) is None


def test_classes_that_come_and_go_are_told_apart() -> None:
    for turn in range(300):
        members = {"__dlpack__": Producer.__dlpack__, "__dlpack_device__": Producer.__dlpack_device__}
        kind = type("Kind", (), members if turn % 2 else {})
        thing = kind()
        thing.of = np.arange(2)
        assert (native.describe_tensor(thing) is not None) == bool(turn % 2)


def test_errors_of_a_producer_are_passed_on() -> None:
    class Broken(Producer):
        def __dlpack__(self, **options: object) -> object:
            raise RuntimeError("out of order\nand a long story")

    with pytest.raises(TypeError, match=r"a kernel cannot use this Broken: out of order$"):
        native.describe_tensor(Broken(np.arange(3)))


def test_neither_numpy_nor_torch_is_imported() -> None:
    program = (
        "import sys, array, samovar.runtime.arrays as a, samovar._native as n;"
        "x = a.ndarray(float, 3); x.copy_from(array.array('d', [1, 2, 3])); repr(x); n.describe_tensor(x);"
        "assert x[2] == 3; assert not {'numpy', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_class_tells_whether_its_objects_are_arrays() -> None:
    arrays = [native.Ndarray, np.ndarray, type("Mine", (np.ndarray,), {}), array.array, bytearray, memoryview, Producer]
    assert all(native.is_tensor_type(cls) for cls in arrays)
    hidden = type("Hidden", (Producer,), {"__dlpack__": None})
    others = [int, bytes, str, list, dict, np.float32, np.generic, object, type, hidden]
    assert not any(native.is_tensor_type(cls) for cls in others)
    with pytest.raises(TypeError, match="expected a type"):
        native.is_tensor_type(3)  # type: ignore[arg-type]


def test_code_of_a_class_is_not_run() -> None:
    class Meta(type):
        def __getattr__(cls, name: str) -> object:
            raise AssertionError(name)

    class Guarded(metaclass=Meta):
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

    assert native.describe_tensor(Guarded()) is None
    assert native.is_tensor_type(Guarded) is False
