"""Mistakes that people make who come from NumPy, Numba, CUDA or Taichi: what was wrong, where, and what to write."""

import re

import numpy as np
import pytest

import samovar as sv

from .source import define

X, Y, G = sv.ndarray(sv.f32, 4), np.zeros((4, 4), np.float32), sv.field(sv.f32, 4)
SIGNATURE = "x: sv.types.NDArray[sv.f32, 1], n: sv.i32, y: sv.types.NDArray[sv.f32, 2]"

# ruff: noqa: E501
IN_KERNELS = [
    ("sv.atomic_add(x, 1)", "`x` is an array: only its elements can be updated", "write `x[i]` instead of `x`"),
    ("sv.atomic_add(G, 1)", "`G` is an array: only its elements can be updated", "write `G[i]` instead of `G`"),
    ("z = [0.0] * n", "that of `[0.0] * n` is only known at run time", "use an array"),
    ("z = n * (1,)", "that of `n * (1,)` is only known at run time", "use an array"),
    ("z = sorted(x)", "`sorted` cannot be called in a kernel", "`sv.algorithms.parallel_sort(x)`"),
    ("breakpoint()", "`breakpoint` cannot be called in a kernel", "`sv.init(arch=sv.python)`"),
    ("pdb.set_trace()", "`pdb.set_trace` cannot be called in a kernel", "`sv.init(arch=sv.python)`"),
    ("z = open('file')", "`open` cannot be called in a kernel", "read the file before the launch"),
    ("z = sv.math.mat3(1) * sv.math.vec3(1)", "shapes do not match: a matrix of 3×3 and a vector of 3", "`sv.math.mat3(1) @ "),
    ("z = y.shape[2]", "`y` is 2-dimensional and has no `shape[2]`", "`shape[0]` to `shape[1]`"),
    ("z = x.shape[1]", "`x` is 1-dimensional and has no `shape[1]`", "use `shape[0]`"),
    ("z = (1, 2)[5]", "index 5 is out of bounds: a tuple has 2 elements", ""),
    ("z = max(x)", "`max` in a kernel takes numbers, not the array `x`", "`sv.algorithms.max(x)`"),
    ("z = min(x, 1.0)", "`min` in a kernel takes numbers, not the array `x`", "`m = min(m, x[i])`"),
    ("z = x == None", "`==` is not defined between the array `x` and None", "`if sv.static(x is None)`"),
    ("x[0] = 'a'", "expected a number, got the string 'a'", ""),
    ("x[0] = G + 1", "expected a number, got an array expression", "use one element, `a[i]`"),
    ("z = n.foo", "`n` is a number and has no attribute `foo`", ""),
]


@pytest.mark.parametrize(("line", "says", "advice"), IN_KERNELS, ids=[case[0] for case in IN_KERNELS])
def test_in_a_kernel(line, says, advice):
    import pdb

    k = define(f"@sv.kernel\ndef k({SIGNATURE}):\n    for i in range(1):\n        {line}\n", G=G, pdb=pdb)
    with pytest.raises(sv.SamovarError, match=re.escape(says)) as caught:
        k(X, 2, Y)
    message = str(caught.value)
    assert advice in message
    assert ":4, in k\n" in message


@sv.kernel
def add(x: sv.types.NDArray[sv.f32, 1]):
    for i in x:
        x[i] += 1


@sv.kernel
def add_any(x: sv.types.NDArray):
    for i in x:
        x[i] += 1


class Numbers:
    @sv.kernel
    def count(x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            x[i] += 1


OUTSIDE = {
    "a grid": (lambda: add[32, 4](X), "no launch grid: its outermost loops are parallel", "call it, `add(x)`"),
    "f32[3]": (lambda: sv.f32[3], "sv.f32 is a scalar type", "`sv.Array[sv.f32, 1]`"),
    "i64[:, 3]": (lambda: sv.i64[:, 3], "sv.i64 is a scalar type", "`sv.Array[sv.i64, 2]`"),
    "NDArray(...)": (lambda: sv.types.NDArray(sv.f32, 1), "`sv.Array[sv.f32, 1]`, in square brackets", "sv.ndarray"),
    "a field of 8 / 2": (lambda: sv.field(sv.f32, 8 / 2), "a shape must be an integer or a tuple of integers, not 4.0", "`//`"),
    "a field of (4.0, 2)": (lambda: sv.field(sv.f32, (4.0, 2)), "a shape must be an integer or a tuple of integers, not 4.0", "`//`"),
    "vectors, 8 / 2": (lambda: sv.Vector.field(3, sv.f32, 8 / 2), "a tuple of integers, not 4.0", "`//`"),
    "structs, 8 / 2": (lambda: sv.types.struct(a=sv.f32).ndarray(8 / 2), "a tuple of integers, not 4.0", "`//`"),
    "an array of 8 / 2": (lambda: sv.ndarray(sv.f32, 8 / 2), "a shape is an integer or a tuple of integers", "`//`"),
    "zeros of (8 / 2,)": (lambda: sv.zeros((8 / 2,)), "a shape consists of integers", "`//`"),
    "sv.sin": (lambda: sv.sin(np.zeros(3)), "outside kernels, `sin` takes numbers", "`np.sin`"),
    "sv.sin of ours": (lambda: sv.sin(X), "outside kernels, `sin` takes numbers", "`np.sin`"),
    "sv.atan2": (lambda: sv.atan2(np.zeros(3), 1.0), "outside kernels, `atan2` takes numbers", "`np.arctan2`"),
    "sv.math.clamp": (lambda: sv.math.clamp(np.zeros(3), 0, 1), "outside kernels, `clamp` takes numbers", "`np.clip`"),
    "objects": (lambda: add_any(np.array([1, "a"], object)), "its dtype object", "a.astype(np.float32)"),
    "texts": (lambda: add_any(np.array(["a"])), "its dtype <U1", "a.astype(np.float32)"),
    "None": (lambda: add(None), "None, passed for the array `x`", "`if sv.static(x is not None)`"),
    "no self": (lambda: Numbers().count(X), "takes 1 argument but 2 were given", "the first parameter of a method is `self`"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_kernels(name):
    call, says, advice = OUTSIDE[name]
    with pytest.raises(TypeError, match=re.escape(says)) as caught:
        call()
    assert advice in str(caught.value)


def test_a_number_of_torch_that_kernels_do_not_know():
    torch = pytest.importorskip("torch")
    with pytest.raises(sv.SamovarError, match=r"its dtype torch\.bfloat16.*a\.float\(\)"):
        add_any(torch.zeros(3, dtype=torch.bfloat16))


def test_too_many_arguments_are_no_question_of_self_elsewhere():
    with pytest.raises(sv.SamovarCallError) as caught:
        add(X, X)
    assert "self" not in str(caught.value)


def test_a_captured_array_that_is_read_only_is_called_as_in_the_program():
    def made():
        frozen = np.zeros(4, np.float32)
        frozen.flags.writeable = False

        @sv.kernel
        def writes():
            frozen[0] = 1

        return writes

    with pytest.raises(sv.SamovarArrayError, match="array `frozen`: the array is read-only"):
        made()()


@pytest.mark.parametrize("inner", [False, True])
def test_a_step_of_zero_makes_no_iterations_and_is_an_error_in_debug_mode(inner):
    loop = "for i in range(0, 4, n):\n{0}    x[i] += 1\n"
    body = "    for j in range(1):\n        " + loop.format("        ") if inner else "    " + loop.format("    ")
    k = define(f"@sv.kernel\ndef k(n: sv.i32, x: sv.types.NDArray[sv.f32, 1]):\n{body}")
    x = np.zeros(4, np.float32)
    k(0, x)
    assert not x.any()
    sv.init(debug=True)
    with pytest.raises(sv.SamovarAssertionError, match="the step of a `range` must not be zero") as caught:
        k(0, x)
    assert "range(0, 4, n)" in str(caught.value)
    k(2, x)
    k(-1, x)
    assert x.tolist() == [1, 0, 1, 0]


def test_kernels_have_no_elements_to_loop_over():
    with pytest.raises(TypeError, match="not iterable"):
        list(add)
