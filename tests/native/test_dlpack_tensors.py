"""DLPack tensors that are unusual or wrong: described if they can be, refused with a reason if they cannot."""

import ctypes

import numpy as np
import pytest

import samovar as sv
from samovar._native import describe_tensor, disjoint, from_dlpack, i32


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Exchange(ctypes.Structure):
    """The table of a type that describes its tensors in C; the functions that are not used here are left out."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        *((name, ctypes.c_void_p) for name in ("previous", "allocator", "from_object", "to_object")),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Producer:
    """What hands out a capsule over some memory, with whatever is said about it."""

    def __init__(self, shape, strides=None, ndim=None, data=None, offset=0, bits=32):
        self.memory = np.arange(64, dtype=np.int32)
        self.axes = (ctypes.c_int64 * 20)(*shape), (ctypes.c_int64 * 20)(*(strides or ()))
        tensor = Tensor(self.memory.ctypes.data if data is None else data or None, 1, 0)
        tensor.ndim = len(shape) if ndim is None else ndim
        tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset = 0, bits, 1, offset
        tensor.shape = self.axes[0] if shape else None
        tensor.strides = self.axes[1] if strides else None
        self.managed = Managed(tensor, None, None)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
def tensor_from_object(producer, tensor):
    ctypes.pointer(tensor[0])[0] = producer.managed.tensor
    return 0


TABLE = Exchange(1, 3)
TABLE.tensor_from_object = ctypes.cast(tensor_from_object, ctypes.c_void_p).value
NAME = b"dlpack_exchange_api"  # a capsule keeps the address


class Exchanging(Producer):
    """The same by the table of its type."""

    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), NAME, None)


PRODUCERS = [Producer, Exchanging]



@sv.kernel
def total(a: sv.types.NDArray[sv.i32, 2]) -> sv.i32:
    s = 0
    for i, j in sv.ndrange(a.shape[0], a.shape[1]):
        s += a[i, j]
    return s


@pytest.mark.parametrize("producer", PRODUCERS)
def test_no_strides_mean_c_order(producer):
    made = producer((3, 4))
    assert describe_tensor(made)["strides"] == (4, 1)
    assert describe_tensor(made)["contiguous"] is True
    assert from_dlpack(made).to_numpy().tolist() == np.arange(12).reshape(3, 4).tolist()
    for _ in range(2):
        assert total(made) == sum(range(12))


@pytest.mark.parametrize("producer", PRODUCERS)
def test_strides_and_an_offset_count(producer):
    made = producer((3, 2), (4, 2), offset=8)
    expected = [[2, 4], [6, 8], [10, 12]]
    assert from_dlpack(made).to_numpy().tolist() == expected
    assert total(made) == sum(map(sum, expected))


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize(
    ("shape", "more", "message"),
    [
        ((3,), {"ndim": -1}, "it has -1 dimensions, 0 to 16 are supported"),
        ((3,), {"ndim": -(2**31)}, "dimensions, 0 to 16 are supported"),
        ((1,) * 17, {}, "it has 17 dimensions, 0 to 16 are supported"),
        ((), {"ndim": 2}, "its tensor has no shape"),
        ((3, -1), {}, "its dimension 1 has -1 elements"),
        ((-(2**63),), {}, "its dimension 0 has -9223372036854775808 elements"),
        ((2**40, 2**40), {}, "exceed the address space"),
        ((2**62,), {}, "exceed the address space"),
        ((2**40, 2**40), {"strides": (0, 0)}, "exceed the address space"),
        ((2, 3), {"strides": (2**62, 1)}, "exceed the address space"),
        ((3, 3), {"strides": (-(2**62), 1)}, "exceed the address space"),
        ((2, 3), {"strides": (-(2**63), 1)}, "exceed the address space"),
        ((3,), {"data": 0}, "it has no memory"),
        ((3,), {"data": 0, "offset": 64}, "it has no memory"),
        ((3,), {"offset": 2**64 - 8}, "outside the address space"),
        ((3,), {"offset": 2}, "not aligned"),
        ((3,), {"bits": 24}, "its dtype is not supported"),
    ],
)
def test_what_cannot_be_is_refused(producer, shape, more, message):
    made = producer(shape, **more)
    with pytest.raises(TypeError, match=message):
        describe_tensor(made)
    with pytest.raises(TypeError, match=message):
        from_dlpack(made)
    with pytest.raises(sv.SamovarTypeError, match=message):
        total(made)


@pytest.mark.parametrize("producer", PRODUCERS)
def test_an_empty_tensor_needs_neither_memory_nor_room(producer):
    for made in (producer((0, 3), data=0), producer((2**40, 0, 2**40)), producer((2**40, 0, 2**40), (2**62, 2**62, 2**62))):
        description = describe_tensor(made)
        assert 0 in description["shape"]
        assert description["contiguous"] is True
    assert total(producer((0, 3), data=0)) == 0


def test_a_launch_after_a_good_one_sees_that_a_tensor_has_gone_bad():
    made = Producer((3, 4))
    assert total(made) == 66
    made.managed.tensor.ndim = -1
    with pytest.raises(sv.SamovarTypeError, match="-1 dimensions"):
        total(made)
    made.managed.tensor.ndim = 2
    made.axes[0][0] = -3
    with pytest.raises(sv.SamovarTypeError, match="-3 elements"):
        total(made)
    made.axes[0][0] = 2
    assert total(made) == sum(range(8))


def test_strides_of_numpy_that_lead_anywhere_overlap_everything():
    a = np.zeros(4, np.int32)
    wild = [
        np.lib.stride_tricks.as_strided(a, (2**40,), (2**40,)),
        np.lib.stride_tricks.as_strided(a, (2**31, 2), (-(2**40), 4)),
        np.lib.stride_tricks.as_strided(a, (3, 2), (2**62, -(2**62))),
    ]
    for each in wild:
        assert not disjoint((a,), (each,))
        assert not disjoint((each,), ())
        assert describe_tensor(each)["dtype"] is i32
