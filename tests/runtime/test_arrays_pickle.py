"""Pickled arrays: every protocol, in band and out of band, with their grads."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

from read_only_arrays import read_only
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import Ndarray, from_numpy, ndarray

ALL = list(LONG_NAMES.values())
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def counting(dtype: native.DType, shape: tuple[int, ...], needs_grad: bool = False) -> Ndarray:
    a = ndarray(dtype, shape, needs_grad)
    a.copy_from(np.arange(a.size).reshape(shape))
    return a


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4), (2,) * 6])
def test_arrays_survive_every_protocol(protocol: int, dtype: native.DType, shape: tuple[int, ...]) -> None:
    a = counting(dtype, shape)
    b = pickle.loads(pickle.dumps(a, protocol))
    assert (type(b), b.dtype, b.shape, b.grad) == (Ndarray, dtype, shape, None)
    assert np.array_equal(b.to_numpy(), a.to_numpy())
    b.fill(1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_grad_is_kept(protocol: int) -> None:
    a = counting(native.f32, (2, 3), needs_grad=True)
    assert a.grad is not None
    a.grad.fill(2)
    b, grad = pickle.loads(pickle.dumps((a, a.grad), protocol))
    assert b.needs_grad
    assert b.grad is grad
    assert np.array_equal(grad.to_numpy(), a.grad.to_numpy())
    assert native.describe_tensor(b)["needs_grad"] is True  # type: ignore[index]


def test_elements_out_of_band_are_not_copied() -> None:
    a = counting(native.f64, (50, 50), needs_grad=True)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    assert len(buffers) == 2
    assert len(data) < 300
    b = pickle.loads(data, buffers=buffers)
    b[0, 0] = 9
    assert a[0, 0] == 9
    alive = weakref.ref(a)
    del a, buffers
    assert b[49, 49] == 2499
    assert alive() is not None
    del b
    assert alive() is None


def test_read_only_or_misaligned_buffers_are_copied() -> None:
    a = counting(native.f64, (5,))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    raw = buffers[0].raw().tobytes()
    for received in (raw, memoryview(bytearray(b"x" + raw))[1:]):
        b = pickle.loads(data, buffers=[received])
        assert not b.readonly
        b[0] = 5
        assert b.to_numpy().tolist() == [5, 1, 2, 3, 4]
        assert b.__array_interface__["data"][0] % 8 == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_shared_and_read_only_arrays_come_back_writable(protocol: int) -> None:
    source = np.arange(3.0)
    shared = from_numpy(source)
    for a in (shared, read_only(source)):
        b = pickle.loads(pickle.dumps(a, protocol))
        assert not b.readonly
        b[0] = 5
    assert source[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("f32", (2,), b"1234", None),
        ("f32", (2,), b"12345678", ndarray(native.f32, 3)),
        ("f32", (2,), b"12345678", ndarray(native.f64, 2)),
        ("f32", (2,), b"12345678", 3),
        ("i32", (2,), b"12345678", ndarray(native.i32, 2)),
        ("f99", (2,), b"12345678", None),
        ("f32", (-2,), b"12345678", None),
        ("u8", (4,), memoryview(bytearray(8))[::2], None),
    ],
)
def test_damaged_pickles_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ValueError):
        native.rebuild_array(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [("f32", (2,), 3, None), ("f32", "ab", b"", None), (3, (2,), b"", None), ()])
def test_pickles_of_the_wrong_types_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        native.rebuild_array(*arguments)  # type: ignore[arg-type]
