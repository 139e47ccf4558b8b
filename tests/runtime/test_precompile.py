"""Compiling ahead: many kernels at once, without launching."""

import os
import subprocess
import sys

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
    before = [kernel.specializations[0] for kernel in kernels]
    for kernel in kernels:
        kernel(a)
    assert [kernel.specializations[0] for kernel in kernels] == before
    assert (a.to_numpy() == sum(range(6))).all()


def test_what_is_compiled_already_is_left_alone():
    kernel = bound(2)
    a = np.zeros(4, np.float32)
    kernel(a)
    assert sv.precompile([(kernel, a), (kernel, a, 3.0)]) == 0


def test_something_else_than_a_kernel_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="kernel and its arguments"):
        sv.precompile([(len, [])])


@sv.kernel
def nothing():
    pass


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([nothing], "item 0 is not a tuple: <samovar kernel .*>"),
        (nothing, "takes a list of calls, not <samovar kernel"),
        (None, "takes a list of calls, not None"),
        ([(nothing,), ()], "item 1 is empty"),
        ([5], "item 0 is not a tuple: 5"),
        (["nothing"], "item 0 is not a tuple: 'nothing'"),
        ([(5, nothing)], "item 0 does not start with a kernel: 5"),
    ],
)
def test_what_is_no_list_of_calls_is_refused_with_an_example(calls, said):
    with pytest.raises(sv.SamovarTypeError, match=f"^precompile:? {said}") as caught:
        sv.precompile(calls)
    assert "help: each item is a tuple of a kernel and its arguments: sv.precompile([(kernel, a, 2.0)" in str(caught.value)


def test_too_many_arguments_are_refused_by_the_name_of_the_kernel():
    with pytest.raises(sv.SamovarTypeError, match=r"nothing\(\) cannot be compiled .*: too many"):
        sv.precompile([(nothing, 1)])


def test_a_method_brings_its_object():
    @sv.data_oriented
    class Solver:
        def __init__(self):
            self.x = np.zeros(3, np.float32)

        @sv.kernel
        def fill(self, value: sv.f32):
            for i in self.x:
                self.x[i] = value

    assert sv.precompile([(Solver().fill, 1.0)]) == 1
    assert sv.precompile([(Solver.fill, Solver(), 1.0)]) == 0


def test_a_wrong_argument_is_refused_as_at_a_launch():
    with pytest.raises(TypeError, match="f32"):
        sv.precompile([(bound(1), np.zeros(3))])


def test_types_will_do_instead_of_arguments():
    kernel = bound(31)
    assert sv.precompile([(kernel, sv.types.NDArray[sv.f32, 1], sv.f32)]) == 1
    before = kernel.specializations
    a = sv.ndarray(sv.f32, 4)
    kernel(a, 2.0)
    assert kernel.specializations == before
    assert a[3] == 62.0


def test_a_kernel_compiles_itself_ahead():
    kernel = bound(41)
    assert kernel.precompile(by=1.5, a=sv.types.ndarray(dtype=sv.f32, ndim=1)) == 1
    assert kernel.precompile(np.zeros(2, np.float32)) == 0


def test_a_type_that_leaves_the_rank_open_is_refused():
    @sv.kernel
    def anything(a: sv.types.NDArray):
        for _ in range(a.shape[0]):
            pass

    with pytest.raises(sv.SamovarTypeError, match="does not determine what to compile"):
        anything.precompile(sv.types.NDArray[sv.f32])


def test_strided_and_overlapping_arguments_are_compiled_for_at_the_launch():
    kernel = bound(5)
    kernel.precompile(sv.types.NDArray[sv.f32, 1])
    a = np.zeros(8, np.float32)
    kernel(a[::2])
    assert a.tolist() == [5, 0] * 4
    assert len(kernel.specializations) == 2


def test_a_bar_shows_the_progress(capfd):
    assert sv.precompile([(bound(number), sv.types.NDArray[sv.f32, 1]) for number in range(60, 63)], progress=True) == 3
    assert "compiling kernels" in capfd.readouterr().err


PROGRAM = """
import samovar as sv

@sv.kernel
def first(a: sv.types.NDArray[sv.f32, 1], x: sv.f32):
    for i in a:
        a[i] += x

@sv.kernel
def second(a: sv.types.NDArray[sv.f64, 2], n: sv.Template):
    for i, j in a:
        a[i, j] += n

if {ahead}:
    assert first.precompile(sv.types.NDArray[sv.f32, 1], sv.f32) == 1
    assert sv.precompile([(second, sv.types.NDArray[sv.f64, 2], 3)]) == 1
    assert sv.compile_count() == 2
else:
    a, b = sv.ndarray(sv.f32, 4), sv.ndarray(sv.f64, (2, 2))
    first(a, 2.0)
    second(b, 3)
    assert (a[1], b[1, 1]) == (2.0, 3.0)
    assert sv.compile_count() == 0, sv.compile_count()
    assert first.cache_observations.cache_loaded
    assert sv.precompile([(second, b, 3)]) == 0
"""


def test_another_process_then_compiles_nothing(tmp_path):
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    for ahead in (True, False):
        (tmp_path / "program.py").write_text(PROGRAM.format(ahead=ahead))
        subprocess.run([sys.executable, str(tmp_path / "program.py")], env=environment, check=True)
