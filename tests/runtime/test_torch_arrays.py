"""Arrays and torch: the same memory seen from both sides, and tensors as kernels see them."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES, as_dtype
from samovar.language.options import Options
from samovar.runtime.arrays import from_dlpack, from_torch, ndarray

torch: Any = pytest.importorskip("torch")

TYPES = [(dtype, getattr(torch, "bool" if name == "uint1" else name)) for name, dtype in LONG_NAMES.items()]
SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (2, 0, 3), (2,) * 5, (2,) * 12]


class WithoutTable(torch.Tensor):  # type: ignore[misc]
    """A tensor as of a torch that has no C exchange table: it is read attribute by attribute."""

    __dlpack_c_exchange_api__ = None


READERS = [
    pytest.param(lambda tensor: tensor, id="table"),
    pytest.param(lambda tensor: tensor.as_subclass(WithoutTable), id="attributes"),
]


def describe(value: object) -> native.TensorDescription:
    description = native.describe_tensor(value)
    assert description is not None
    return description


@pytest.mark.parametrize(("ours", "theirs"), TYPES, ids=str)
def test_dtypes_of_torch_are_dtypes(ours: native.DType, theirs: Any) -> None:
    assert as_dtype(theirs, Options()) is ours


@pytest.mark.parametrize("theirs", [torch.complex32, torch.float8_e5m2], ids=str)
def test_dtypes_that_only_torch_has_are_refused(theirs: Any) -> None:
    with pytest.raises(TypeError, match=r"unsupported dtype torch\.\w+"):
        as_dtype(theirs, Options())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("ours", "theirs"), TYPES, ids=str)
def test_torch_sees_our_memory(ours: native.DType, theirs: Any, shape: tuple[int, ...]) -> None:
    a = ndarray(ours, shape)
    for tensor in (a.to_torch(copy=False), a.to_torch(copy=None), torch.from_dlpack(a)):
        assert (tuple(tensor.shape), tensor.dtype, tensor.device.type) == (shape, theirs, "cpu")
        tensor.fill_(1)
        assert np.asarray(a).all()
        a.fill(0)
        assert not tensor.any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("ours", "theirs"), TYPES, ids=str)
def test_we_see_the_memory_of_torch(ours: native.DType, theirs: Any, shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape, dtype=theirs)
    for a in (from_torch(tensor), from_torch(tensor, copy=False), from_dlpack(tensor)):
        assert (a.shape, a.dtype, a.readonly) == (shape, ours, False)
        a.fill(1)
        assert tensor.all()
        tensor.fill_(0)
        assert not np.asarray(a).any()


def test_to_torch_copies_unless_told_otherwise() -> None:
    a = ndarray(native.f32, 3)
    a.to_torch()[0] = 1
    a.to_torch(copy=True)[0] = 1
    assert a[0] == 0


def test_to_torch_of_a_read_only_array() -> None:
    source = np.arange(3.0)
    source.flags.writeable = False
    a = from_dlpack(source)
    with pytest.raises(ValueError, match="read-only"):
        a.to_torch(copy=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for copied in (True, None):
            a.to_torch(copy=copied)[0] = 9
    assert source[0] == 0


def test_from_torch_copies_if_told_or_if_it_must() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    from_torch(tensor, copy=True).fill(9)
    assert tensor[0, 1] == 1
    for view in (tensor.T, tensor[:, ::2], tensor[:1].expand(4, 3)):
        assert np.array_equal(from_torch(view).to_numpy(), view.numpy())
        with pytest.raises(ValueError, match="not in C order"):
            from_torch(view, copy=False)


def test_from_torch_detaches() -> None:
    tensor = torch.ones(3, requires_grad=True)
    a = from_torch(tensor, copy=False)
    assert not a.needs_grad
    a[0] = 5
    assert tensor.detach()[0] == 5
    assert from_torch(torch.nn.Parameter(torch.ones(2)))[1] == 1


def test_a_tensor_may_get_other_memory_while_we_share_the_old() -> None:
    tensor = torch.ones(1000)
    a = from_torch(tensor)
    tensor.data = torch.zeros(5)
    gc.collect()
    torch.full((1000,), 7.0)
    assert (np.asarray(a) == 1).all()


def test_memory_lives_as_long_as_the_tensor() -> None:
    a = ndarray(native.f32, 3)
    alive = weakref.ref(a)
    tensor = a.to_torch(copy=False)
    part = tensor[1:]
    del a, tensor
    part[0] = 3
    assert alive() is not None
    del part
    gc.collect()
    assert alive() is None


def test_the_tensor_lives_as_long_as_our_array() -> None:
    tensor = torch.ones(3)
    a = from_torch(tensor)
    del tensor
    gc.collect()
    assert a[2] == 1


def test_elements_are_copied_in_from_any_tensor() -> None:
    a = ndarray(native.i16, (2, 3))
    a.from_torch(torch.tensor([[1.5, 2.5, -3.5], [4, 5, 6]]))
    assert a.to_numpy().tolist() == [[1, 2, -3], [4, 5, 6]]
    a.copy_from(torch.arange(6).reshape(3, 2).T)
    assert a.to_numpy().tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(ValueError, match="shape"):
        a.from_torch(torch.zeros(6))


@pytest.mark.parametrize("thing", [np.zeros(3), [1.0], None])
def test_from_torch_takes_tensors_only(thing: object) -> None:
    with pytest.raises(TypeError, match="from_torch takes a torch tensor"):
        from_torch(thing)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("ours", "theirs"), TYPES, ids=str)
def test_tensors_of_every_dtype_are_described(ours: native.DType, theirs: Any, shape: tuple[int, ...], read: Any) -> None:
    tensor = torch.zeros(shape, dtype=theirs)
    description = describe(read(tensor))
    assert (description["dtype"], description["shape"]) == (ours, shape)
    assert description["address"] == tensor.data_ptr() or tensor.numel() == 0
    assert description["contiguous"] is True
    assert description["readonly"] is description["wide"] is description["needs_grad"] is False


@pytest.mark.parametrize("read", READERS)
def test_strides_of_tensors_are_kept(read: Any) -> None:
    tensor = torch.zeros(4, 6)
    for view in (tensor.T, tensor[1:, ::2], tensor[:, :1].expand(4, 5), tensor[2]):
        description = describe(read(view))
        assert description["shape"] == tuple(view.shape)
        assert description["strides"] == view.stride()
        assert description["address"] == view.data_ptr()
        assert description["contiguous"] == view.is_contiguous()


@pytest.mark.parametrize("read", READERS)
def test_tensors_that_require_grad_are_plain_arrays(read: Any) -> None:
    tensor = torch.zeros(3, requires_grad=True)
    assert describe(read(tensor))["needs_grad"] is False
    assert describe(torch.nn.Parameter(torch.zeros(3)))["address"]


@pytest.mark.parametrize("read", READERS)
def test_a_wide_tensor_is_wide(read: Any) -> None:
    tensor = torch.zeros(1, dtype=torch.int8).expand(2**31)
    assert describe(read(tensor))["wide"] is True


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("tensor", "why"),
    [
        (torch.zeros(3, dtype=torch.float8_e5m2), "dtype"),
        (torch.zeros(3, device="meta"), "meta|not in CPU memory"),
        (torch.tensor([1 + 2j, 3 + 4j]).conj().imag, "negated.*resolve_neg"),
        (torch.tensor(1 + 2j).conj().imag, "negated.*resolve_neg"),
        (torch.zeros((1,) * 17), "too many dimensions|17 dimensions"),
    ],
)
def test_unusable_tensors_are_refused_with_the_reason(tensor: Any, why: str, read: Any) -> None:
    with pytest.raises(TypeError, match=f"a kernel cannot use this .*({why})"):
        native.describe_tensor(read(tensor))


def test_sparse_tensors_are_refused_in_one_line() -> None:
    with pytest.raises(TypeError, match="a kernel cannot use this Tensor") as caught:
        native.describe_tensor(torch.eye(3).to_sparse())
    assert "\n" not in str(caught.value)


def test_negated_tensors_are_not_imported() -> None:
    negated = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    for imported in (from_torch, from_dlpack):
        with pytest.raises(TypeError, match="negated"):
            imported(negated)
    assert from_torch(negated.resolve_neg())[1] == -4


def test_an_even_stride_alone_is_not_refused() -> None:
    assert describe(torch.tensor([1 + 2j, 3 + 4j]).imag)["strides"] == (2,)
    assert describe(torch.zeros(4, 4)[:, ::2])["strides"] == (4, 2)
