"""Arrays as objects: making them, their attributes, their memory and when it goes."""

from __future__ import annotations

import copy
import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import samovar as sv
from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import Ndarray, from_numpy, ndarray

ALL = [dtype for dtype in LONG_NAMES.values() if dtype is not native.bf16]  # which NumPy has not


def address(array: Ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (4, 1, 3), (2,) * 5, (2,) * 12, (1,) * 16])
def test_a_new_array_is_zeroed_and_aligned(dtype: native.DType, shape: tuple[int, ...]) -> None:
    a = ndarray(dtype, shape)
    assert a.shape == shape
    assert a.dtype is dtype
    assert a.ndim == len(shape)
    assert a.size == int(np.prod(shape, dtype=int))
    assert a.nbytes == a.size * dtype.itemsize
    assert address(a) % 64 == 0
    assert not np.asarray(a).any()
    assert a.grad is None
    assert a.needs_grad is False
    assert a.readonly is False


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 2**40)])
def test_extents_of_zero(shape: tuple[int, ...]) -> None:
    a = ndarray(native.f64, shape)
    assert a.shape == shape
    assert a.size == a.nbytes == 0
    assert address(a) % 64 == 0
    a.fill(3)
    assert np.asarray(a).shape == shape
    assert len(a) == shape[0]


def test_a_shape_may_be_an_integer_a_list_or_numpy_integers() -> None:
    assert ndarray(native.i32, 4).shape == (4,)
    assert ndarray(native.i32, [2, 3]).shape == (2, 3)
    assert ndarray(native.i32, np.int64(4)).shape == (4,)
    assert ndarray(native.i32, tuple(np.arange(1, 4))).shape == (1, 2, 3)
    assert ndarray(native.i32, (n for n in (2, 2))).shape == (2, 2)
    assert ndarray(dtype=native.i32, shape=3, needs_grad=False).shape == (3,)


@pytest.mark.parametrize("shape", [1.5, (2, 1.5), "ab", None, (2, None)])
def test_a_shape_of_anything_else_is_refused(shape: object) -> None:
    with pytest.raises(TypeError, match="shape"):
        ndarray(native.i32, shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [-1, (3, -1), -(2**70)])
def test_negative_extents_are_refused(shape: object) -> None:
    with pytest.raises(ValueError, match="negative extent"):
        ndarray(native.i32, shape)  # type: ignore[arg-type]


def test_too_many_axes_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 16 dimensions, not 17"):
        ndarray(native.i32, (1,) * 17)


@pytest.mark.parametrize("shape", [2**61, (2**40, 2**40), (2**62, 2**62, 0), 2**70])
def test_a_size_that_overflows_is_a_memory_error(shape: object) -> None:
    with pytest.raises(MemoryError, match="cannot allocate"):
        ndarray(native.f64, shape)  # type: ignore[arg-type]


def test_a_size_that_cannot_be_had_is_a_memory_error_that_says_how_much() -> None:
    with pytest.raises(MemoryError, match=r"cannot allocate 512\.0 TiB for an array of shape \(70368744177664,\) .* f64"):
        ndarray(native.f64, 2**46)
    with pytest.raises(MemoryError, match="EiB"):
        ndarray(native.u8, 2**63 - 1)


def test_an_exception_of_a_shape_passes_through() -> None:
    class Odd:
        def __index__(self) -> int:
            raise RuntimeError("odd")

    with pytest.raises(RuntimeError, match="odd"):
        ndarray(native.i32, (2, Odd()))


def test_a_large_array_costs_nothing_until_touched() -> None:
    def resident_pages() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1])

    before = resident_pages()
    a = ndarray(native.u8, 2**30)
    assert address(a) % 64 == 0
    a[2**29] = 1
    assert a[2**29] == 1
    assert a[2**30 - 1] == 0
    assert (resident_pages() - before) * 4096 < 2**26


def test_an_axis_of_two_to_the_31_is_wide() -> None:
    narrow, wide = ndarray(native.u8, 2**31 - 1), ndarray(native.u8, 2**31)
    assert native.describe_tensor(narrow)["wide"] is False  # type: ignore[index]
    assert native.describe_tensor(wide)["wide"] is True  # type: ignore[index]
    wide[2**31 - 1] = 9
    assert wide[2**31 - 1] == 9


@pytest.mark.parametrize("dtype", [native.f16, native.f32, native.f64], ids=str)
def test_a_grad_is_a_zeroed_array_of_the_same_shape(dtype: native.DType) -> None:
    a = ndarray(dtype, (2, 3), needs_grad=True)
    assert a.needs_grad is True
    assert a.grad is not None
    assert a.grad is a.grad
    assert (a.grad.shape, a.grad.dtype, a.grad.grad) == ((2, 3), dtype, None)
    a.grad[1, 1] = 2
    assert a[1, 1] == 0


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.kind != "float"], ids=str)
def test_only_floats_have_grads(dtype: native.DType) -> None:
    with pytest.raises(TypeError, match=f"only floats have gradients.*{dtype.name}"):
        ndarray(dtype, 3, needs_grad=True)


def test_python_types_and_long_names_and_foreign_dtypes_are_dtypes() -> None:
    assert ndarray(int, 1).dtype is native.i32
    assert ndarray(float, 1).dtype is native.f32
    assert ndarray(bool, 1).dtype is native.u1
    assert ndarray(np.float64, 1).dtype is native.f64
    assert ndarray(np.dtype("u2"), 1).dtype is native.u16
    assert ndarray(np.bool_, 1).dtype is native.u1


def test_int_and_float_are_the_default_types() -> None:
    sv.init(default_ip=sv.i64, default_fp=sv.f64)
    try:
        assert ndarray(int, 1).dtype is native.i64
        assert ndarray(float, 1).dtype is native.f64
    finally:
        sv.reset()
    assert ndarray(float, 1).dtype is native.f32


@pytest.mark.parametrize("dtype", ["f32", None, str, object(), np.dtype(">i4"), np.clongdouble, np.dtype("M8[s]")])
def test_what_is_not_a_dtype_is_refused(dtype: object) -> None:
    with pytest.raises(TypeError, match="dtype"):
        ndarray(dtype, 1)


def test_attributes_are_read_only() -> None:
    a = ndarray(native.f32, 3)
    for name in ("shape", "dtype", "grad", "ndim", "size", "nbytes"):
        with pytest.raises(AttributeError):
            setattr(a, name, None)


def test_users_keep_things_on_an_array() -> None:
    a = ndarray(native.f32, 3)
    a._view = a.to_numpy(copy=False)
    a._view[1] = 5
    assert a[1] == 5
    assert vars(a).keys() == {"_view"}
    with pytest.raises(AttributeError, match="other"):
        _ = a.other


def test_an_array_that_refers_to_itself_is_collected() -> None:
    a = ndarray(native.f32, 3)
    a.itself = [a]
    gone = weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None


def test_the_type_is_final() -> None:
    with pytest.raises(TypeError):
        type("Mine", (Ndarray,), {})


def test_arrays_hash_by_identity() -> None:
    a, b = ndarray(native.f32, 3), ndarray(native.f32, 3)
    assert {a: 1, b: 2}[a] == 1


def test_memory_goes_with_the_array() -> None:
    def measure() -> int:
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        start = measure()
        a = ndarray(native.f64, 1000, needs_grad=True)
        assert measure() - start >= 16000
        large = ndarray(native.f64, 2**20)
        assert measure() - start >= 16000 + 2**23
        del a, large
        assert measure() - start < 1000
    finally:
        tracemalloc.stop()


def test_memory_goes_when_the_last_view_dies() -> None:
    a = ndarray(native.f32, (2, 3))
    alive = weakref.ref(a)
    view = np.asarray(a)
    window = memoryview(a)
    capsule = a.__dlpack__()
    del a
    view[1, 2] = 5
    assert window[1, 2] == 5
    del view
    assert alive() is not None
    window.release()
    del window
    assert alive() is not None
    del capsule
    assert alive() is None


def test_a_grad_outlives_its_array() -> None:
    a = ndarray(native.f32, 3, needs_grad=True)
    grad = a.grad
    assert grad is not None
    del a
    grad.fill(2)
    assert grad[2] == 2


def test_weak_references_are_called() -> None:
    a = ndarray(native.f32, 3)
    called: list[int] = []
    weakref.finalize(a, called.append, 1)
    del a
    assert called == [1]


def test_an_array_takes_part_in_garbage_collection() -> None:
    class Holder(np.ndarray):
        pass

    base = np.zeros(4).view(Holder)
    shared = from_numpy(base, copy=False)
    base.mine = shared  # type: ignore[attr-defined]
    alive = weakref.ref(shared)
    del base, shared
    assert alive() is not None
    gc.collect()
    assert alive() is None


def test_references_are_balanced() -> None:
    a = ndarray(native.f32, (2, 3), needs_grad=True)
    before = sys.getrefcount(a), sys.getrefcount(a.grad)
    for _ in range(100):
        np.asarray(a)
        memoryview(a).release()
        a.__dlpack__()
        a.__dlpack__(max_version=(1, 0))
        np.from_dlpack(a)
        native.from_dlpack(a)
        native.describe_tensor(a)
        copy.copy(a)
        copy.deepcopy(a)
        a.copy_from(a)
        repr(a)
        _ = a.grad, a.shape, a.__array_interface__, a.to_numpy(copy=False), a[1, 1]
        del _
        for bad in ((5, 5), (0,), (0, slice(None))):
            with pytest.raises((IndexError, TypeError)):
                a[bad]  # type: ignore[index]
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(a.grad)) == before


def test_copies_own_their_memory() -> None:
    a = ndarray(native.f32, (2, 3), needs_grad=True)
    assert a.grad is not None
    a.fill(3)
    a.grad.fill(4)
    for b in (copy.copy(a), copy.deepcopy(a)):
        assert b.grad is not None
        b[0, 0] = 7
        b.grad[0, 0] = 8
        assert (a[0, 0], a.grad[0, 0]) == (3, 4)
        assert (b[1, 2], b.grad[1, 2]) == (3, 4)


def test_deepcopy_keeps_who_is_whose_grad() -> None:
    a = ndarray(native.f32, 2, needs_grad=True)
    for pair in ((a, a.grad), (a.grad, a)):
        first, second = copy.deepcopy(pair)
        owner, grad = (first, second) if first.needs_grad else (second, first)
        assert owner.grad is grad


def test_a_shape_that_changes_while_it_is_read():
    class Extent:
        def __index__(self):
            shape.clear()
            return 3

    shape = [Extent(), 5, 6, 7]
    assert sv.ndarray(sv.i8, shape).shape == (3, 5, 6, 7)
    assert shape == []


@pytest.mark.parametrize("shape", [None, 2.5, object()])
def test_what_is_no_shape(shape):
    with pytest.raises(TypeError, match=f"a tuple of integers, not {type(shape).__name__}"):
        sv.ndarray(sv.f32, shape)


@pytest.mark.parametrize("other", [lambda: ndarray(sv.f32, 1), lambda: ndarray(sv.f64, 8), lambda: None, lambda: [0.0] * 8])
def test_a_deep_copy_refuses_a_grad_that_does_not_fit(other):
    array = ndarray(sv.f32, 8, needs_grad=True)
    with pytest.raises(ValueError, match="the grad of an array does not match"):
        array.__deepcopy__({id(array.grad): other()})
    grad = ndarray(sv.f32, 8)
    assert array.__deepcopy__({id(array.grad): grad}).grad is grad
