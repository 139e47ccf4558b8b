"""Tuples, slices, grouped indices and compile-time iterators: what each kind does with operators, functions and branches."""

import numpy as np
import pytest
from test_errors import failure

import samovar as sv


@sv.kernel
def index_arithmetic(a: sv.types.NDArray[sv.i32, 2], out: sv.types.NDArray[sv.i32, 2]):
    for I in sv.grouped(a):
        J = sv.math.clamp(I + 1, 0, (1, 2))
        K = abs(-I)
        L = max(I, J) if a[K] > 2 else min(I, J)
        out[I] = a[J] * 100 + a[L]


def test_functions_and_conditions_work_on_an_index_component_by_component():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    out = np.zeros_like(a)
    index_arithmetic(a, out)
    for i, j in np.ndindex(2, 3):
        p, q = min(i + 1, 1), min(j + 1, 2)
        larger = (max(i, p), max(j, q)) if a[i, j] > 2 else (min(i, p), min(j, q))
        assert out[i, j] == a[p, q] * 100 + a[larger]


@pytest.mark.parametrize("expression", ["I + J", "max(I, J)", "I if c > 0 else J", "sv.math.clamp(I, 0, J)"])
def test_indices_of_other_lengths_do_not_go_together(expression):
    text = (
        "@sv.kernel\ndef k(c: sv.i32):\n    for I in sv.grouped(sv.ndrange(2, 2)):\n"
        f"        for J in sv.grouped(sv.ndrange(2, 2, 2)):\n            K = {expression}\n"
    )
    assert "shapes do not match: a vector of 2 and a vector of 3" in failure(text, sv.SamovarTypeError, 1)


@sv.kernel
def tuple_of_one_branch(a: sv.types.NDArray[sv.i32, 1], out: sv.types.NDArray[sv.i32, 1]):
    for i in a:
        if a[i] < 0:
            out[i] = -1
            continue
        else:
            pair = (a[i] * 2, (a[i] + 1, 5))
        out[i] = pair[0] * 100 + pair[1][0] * 10 + pair[1][1]


def test_a_tuple_is_carried_out_of_the_branch_that_makes_it():
    out = np.zeros(3, np.int32)
    tuple_of_one_branch(np.array([1, -5, 2], np.int32), out)
    assert out.tolist() == [225, -1, 435]


@sv.kernel
def slices(n: sv.i32) -> sv.i32:
    values = (n, n * 2, 3, 4)
    a, b = values[1:3]
    c, d = values[::-2]
    return a * 1000 + b * 100 + c * 10 + d


def test_slices_of_a_tuple():
    assert slices(1) == 2000 + 300 + 40 + 2


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("(1, 2, 3)[n:]", "the bounds of a slice must be known at compile time"),
        ("captured[:n]", "the bounds of a slice must be known at compile time"),
        ("(1, 2, 3)['a':]", "the bounds of a slice must be known at compile time"),
        ("(1, 2, 3)[::0]", "this expression fails at compile time: slice step cannot be zero"),
        ("captured[::0]", "this expression fails at compile time: slice step cannot be zero"),
        ("a[1:, n]", "`a` is 1-dimensional but was indexed with 2 indices"),
        ("a[::n]", "the step of a slice must be a nonzero integer known at compile time"),
        ("a[3:0:-1]", "of slices with a negative step, kernels support `a[::-1]`"),
    ],
)
def test_slices_that_are_refused(expression, words):
    text = f"@sv.kernel\ndef k(n: sv.i32, a: sv.types.NDArray[sv.i32, 1]):\n    x = {expression}\n"
    assert words in failure(text, sv.SamovarError, 1, np.zeros(3, np.int32), captured=(1, 2, 3))


@sv.kernel
def iterators() -> sv.i32:
    total = 0
    for position, value in sv.static(enumerate((5, 6), start=3)):
        total += position * value
    for position, value in sv.static(enumerate((5, 6), 1)):
        total += position * value * 100
    for x, y in sv.static(zip((1, 2), (3, 4), strict=True)):
        total += x * y * 10000
    return total


def test_compile_time_iterators_take_all_of_their_arguments():
    assert iterators() == (3 * 5 + 4 * 6) + (5 + 12) * 100 + 11 * 10000


@pytest.mark.parametrize(
    ("iterator", "words"),
    [
        ("zip((1, 2), (3,), strict=True)", "got 2, 1 elements"),
        ("zip((1, 2), other=3)", "`zip` has no parameter `other`"),
        ("enumerate((1, 2), 1, 2)", "`enumerate` takes 1 to 2 arguments, got 3"),
        ("reversed()", "`reversed` takes 1 arguments, got 0"),
        ("tuple(1, 2)", "`tuple` takes 0 to 1 arguments, got 2"),
        ("range(1, stop=2)", "`range` takes 1 to 3 arguments, got 2"),
    ],
)
def test_arguments_that_iterators_do_not_have(iterator, words):
    text = f"@sv.kernel\ndef k():\n    for x in sv.static({iterator}):\n        pass\n"
    assert words in failure(text, sv.SamovarTypeError)


@sv.kernel
def unpacked_arguments(n: sv.i32) -> sv.i32:
    pair = (n, 3)
    return min(*pair) * 100 + max(7, *pair)


def test_a_tuple_is_unpacked_into_the_arguments_of_an_intrinsic():
    assert unpacked_arguments(5) == 307


@sv.kernel
def arguments_by_name(a: sv.f32, b: sv.f32) -> sv.f32:
    return sv.math.mix(a=0.25, y=b, x=a) * 100 + sv.math.clamp(a, xmax=b, xmin=2.0)


def test_arguments_by_name_go_to_their_parameters():
    assert arguments_by_name(1, 5) == 202


@sv.func
def noted(out, position, value):
    out[position] = sv.atomic_add(out[3], 1)
    return value


@sv.kernel
def evaluated_in_order(out: sv.types.NDArray[sv.i32, 1]) -> sv.f32:
    return sv.math.mix(a=noted(out, 2, 0.5), x=noted(out, 0, 1.0), y=noted(out, 1, 3.0))


def test_arguments_are_evaluated_as_they_are_written():
    out = np.zeros(4, np.int32)
    assert evaluated_in_order(out) == 2
    assert out.tolist() == [1, 2, 0, 3]
