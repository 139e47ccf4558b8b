"""Kernels take torch CPU tensors as they are."""

from typing import Any

import numpy as np
import pytest

import samovar as sv

torch: Any = pytest.importorskip("torch")


@sv.kernel
def double(a: sv.types.NDArray[sv.f32, 2]):
    for i, j in a:
        a[i, j] *= 2


@sv.kernel
def copy(a: sv.types.NDArray, b: sv.types.NDArray):
    for i in a:
        b[i] = a[i]


NAMES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"]


@pytest.mark.parametrize("name", NAMES)
def test_tensors_of_every_dtype_are_read_and_written(name: str) -> None:
    a = (torch.arange(40) % 2).to(getattr(torch, name))
    b = torch.zeros_like(a)
    copy(a, b)
    assert torch.equal(a, b)


def test_strides_are_honored() -> None:
    for view in (lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[3:4], lambda x: x[:0]):
        base = torch.arange(130, dtype=torch.float32).reshape(10, 13)
        expected = base.clone()
        view(expected).mul_(2)
        double(view(base))
        assert torch.equal(base, expected)


def test_a_tensor_that_requires_grad_is_written_in_place() -> None:
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    double(parameter)
    assert parameter.detach().tolist() == [[2, 2], [2, 2]]
    assert parameter.grad is None


def test_tensors_and_arrays_mix() -> None:
    tensor, ours, theirs = torch.arange(5.0), sv.ndarray(sv.f32, 5), np.zeros(5, np.float32)
    copy(tensor, ours)
    copy(ours, theirs)
    assert theirs.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        torch.zeros(2, 2, dtype=torch.float64),
        torch.zeros(4),
        torch.zeros(2, 2, dtype=torch.bfloat16),
        torch.zeros(2, 2, device="meta"),
        torch.zeros(2, 2, dtype=torch.complex64).conj().imag,
    ],
)
def test_other_tensors_are_refused(wrong: object) -> None:
    with pytest.raises((sv.SamovarError, TypeError)):
        double(wrong)
