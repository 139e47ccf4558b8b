"""Compiling ahead: many kernels at once, without launching."""

import numpy as np
import pytest

import samovar as sv


def bound(number):
    @sv.kernel
    def add(a: sv.types.NDArray[sv.f32, 1], by: sv.f32 = 1.0):
        for i in range(a.shape[0]):
            a[i] += by * number

    return add


def test_what_is_precompiled_is_not_compiled_at_the_launch():
    kernels = [bound(number) for number in range(6)]
    a = sv.ndarray(sv.f32, 8)
    assert sv.precompile([(kernel, a) for kernel in kernels]) == 6
    assert a.to_numpy().sum() == 0
    before = [kernel.specialisations[0] for kernel in kernels]
    for kernel in kernels:
        kernel(a)
    assert [kernel.specialisations[0] for kernel in kernels] == before
    assert (a.to_numpy() == sum(range(6))).all()


def test_what_is_compiled_already_is_left_alone():
    kernel = bound(2)
    a = np.zeros(4, np.float32)
    kernel(a)
    assert sv.precompile([(kernel, a), (kernel, a, 3.0)]) == 0


def test_something_else_than_a_kernel_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="kernel and its arguments"):
        sv.precompile([(len, [])])


def test_a_wrong_argument_is_refused_as_at_a_launch():
    with pytest.raises(TypeError, match="f32"):
        sv.precompile([(bound(1), np.zeros(3))])
