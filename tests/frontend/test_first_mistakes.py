"""Mistakes of people who know Python, NumPy, Numba or Taichi: each message says what is wrong, where, and what to write."""

import re

import numpy as np
import pytest

import samovar as sv

A = sv.types.NDArray[sv.f32, 1]


@sv.dataclass
class Particle:
    position: sv.math.vec3
    velocity: sv.math.vec3


PARTICLES = Particle.field(2)


@sv.kernel
def truth(x: A) -> sv.i32:
    if x:
        return 1
    return 0


@sv.kernel
def running_sum(x: A, out: A):
    s = 0.0
    for i in x:
        s += x[i]
        out[i] = s


@sv.kernel
def misspelled_member(x: A):
    for i in PARTICLES:
        PARTICLES[i].velocty = sv.math.vec3(0, 0, 0)


@sv.kernel
def missing_component(x: A):
    for i in x:
        v = sv.math.vec3(0, 0, 0)
        v.w = 1.0
        x[i] = v.x


@sv.kernel
def atomic_of_an_array(x: A):
    sv.atomic_add(x, 1)


@sv.kernel
def list_of_unknown_length(x: A, n: sv.i32):
    for i in x:
        values = [0.0] * n
        x[i] = values[0]


@sv.kernel
def sorts(x: A):
    sorted(x)


@sv.kernel
def stops(x: A):
    for i in x:
        breakpoint()
        x[i] = 1


@sv.kernel
def multiplies(x: A):
    for i in x:
        m, v = sv.Matrix([[1.0, 2.0], [3.0, 4.0]]), sv.Vector([1.0, 2.0])
        x[i] = (m * v)[0]


@sv.kernel
def missing_axis(x: A) -> sv.i32:
    return x.shape[2]


@sv.kernel
def largest(x: A) -> sv.f32:
    return max(x)


@sv.kernel
def compares_with_none(x: A):
    if x == None:  # noqa: E711
        x[0] = 1


@pytest.mark.parametrize(
    ("kernel", "arguments", "what", "where", "help"),
    [
        (truth, 1, "the truth value of the array `x` is ambiguous", "    if x:", "`x is not None`"),
        (running_sum, 2, "`s` is read in the parallel loop that accumulates it", "out[i] = s", "`sv.algorithms.prefix_sum`"),
        (
            misspelled_member,
            1,
            "no member `velocty`: did you mean 'velocity'?",
            "PARTICLES[i].velocty",
            "position, velocity",
        ),
        (missing_component, 1, "a vector of 3 has no member `w`", "v.w = 1.0", "x, y, z"),
        (atomic_of_an_array, 1, "only its elements can be updated", "sv.atomic_add(x, 1)", "`x[i]`"),
        (list_of_unknown_length, "n", "must be known at compile time", "[0.0] * n", "`sv.Template`"),
        (sorts, 1, "`sorted` cannot be called", "sorted(x)", "`sv.algorithms.parallel_sort(x)`"),
        (stops, 1, "`breakpoint` cannot be called", "breakpoint()", "`sv.init(arch=sv.python)`"),
        (multiplies, 1, "a matrix of 2×2 and a vector of 2", "(m * v)[0]", "`m @ v`"),
        (missing_axis, 1, "`x` is 1-dimensional", "x.shape[2]", "`shape[0]`"),
        (largest, 1, "`max` in a kernel takes numbers, not the array `x`", "max(x)", "`m = max(m, x[i])`"),
        (compares_with_none, 1, "`==` is not defined", "x == None", "x is None"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_mistakes_in_kernels(kernel, arguments, what, where, help):
    given = [sv.ones(4), 3] if arguments == "n" else [sv.ones(4) for _ in range(arguments)]
    with pytest.raises(sv.SamovarError) as caught:
        kernel(*given)
    text, _, advice = str(caught.value).partition("help: ")
    assert what in text
    assert f"--> {__file__}:" in text
    assert where in text
    assert "^" in text
    assert help in advice


@sv.kernel
def fills(x: A):
    for i in x:
        x[i] = 1


def method_without_self():
    @sv.data_oriented
    class Solver:
        @sv.kernel
        def step():
            pass

    Solver().step()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bool(sv.ones(4)), "truth value of an array is ambiguous: use a.all() or a.any()"),
        (lambda: bool(sv.field(sv.f32, 3)), "truth value of an array is ambiguous: use a.all() or a.any()"),
        (lambda: fills[32, 4](sv.ones(4)), "no launch grid: its outermost loops are parallel\n  help: call it, `fills(x)`"),
        (lambda: sv.f32[0], "sv.f32 is a scalar type and cannot be indexed\n  help: .*`sv.Array[sv.f32, 1]`"),
        (lambda: sv.f32[:, 0], "`sv.Array[sv.f32, 2]`"),
        (lambda: sv.types.NDArray(sv.f32, 1), "write `sv.Array[sv.f32, 1]`, in square brackets"),
        (lambda: sv.kernel(fastmath=False), "fastmath=False: .*`sv.init(fast_math=False)`"),
        (lambda: sv.kernel(boundscheck=True), "boundscheck=True: .*check_out_of_bound"),
        (lambda: sv.field(sv.f32, 8 / 2), "not 4.0\n  help: use `//`"),
        (lambda: sv.ndarray(sv.f32, 8 / 2), "`//` divides integers"),
        (lambda: sv.sin(np.ones(3)), "takes numbers, vectors and matrices, not arrays\n  help: .*`np.sin`"),
        (lambda: sv.sin(sv.ones(3)), "takes numbers, vectors and matrices, not arrays\n  help: .*`np.sin`"),
        (lambda: sv.Matrix([[1, 2], [3, 4]]) * sv.Vector([1, 2]), "got 2×2 and 2\n  help: `@` is the matrix product"),
        (lambda: fills(None), "cannot loop over None, passed for the array `x`"),
        (lambda: fills("abc"), "argument `x`: expected an array .*, got a str"),
        (lambda: fills(np.array([object()])), "its dtype object is not supported; convert it, as in a.astype"),
        (method_without_self, "the first parameter of a method is `self`"),
    ],
)
def test_mistakes_outside_kernels(call, says):
    pattern = re.escape(says).replace(r"\.\*", ".*")
    with pytest.raises((sv.SamovarError, TypeError, ValueError), match=f"(?s){pattern}"):
        call()


@sv.kernel
def loses_its_fraction(n: sv.i32) -> sv.i32:
    return n / 2


@sv.kernel
def sums_in_f32(x: sv.types.NDArray[sv.f64, 1]) -> sv.f32:
    total = sv.f32(0)
    for i in x:
        total += x[i]
    return total


@pytest.mark.parametrize(
    ("kernel", "argument", "says"),
    [
        (loses_its_fraction, 5, r"returning f32 loses its fraction\n.*return n / 2\n(?s:.*)help: .*`//`"),
        (sums_in_f32, np.ones(3), r"`total` is f32 .*`\+=` of f64 may lose precision\n(?s:.*)help: .*`total: sv.f64 = 0`"),
    ],
)
def test_what_is_lost_is_a_warning(kernel, argument, says):
    with pytest.warns(sv.SamovarWarning, match=says):
        kernel(argument)


@sv.kernel
def does_not_step(x: A, step: sv.i32):
    for i in range(0, 4, step):
        x[i] = 2


def test_a_step_of_zero_is_an_error_in_debug_mode():
    x = sv.ones(4)
    does_not_step(x, 0)
    assert x.tolist() == [1, 1, 1, 1]
    sv.init(debug=True)
    with pytest.raises(sv.SamovarAssertionError, match=r"the step of a `range` must not be zero\n.*test_first_mistakes"):
        does_not_step(x, 0)
