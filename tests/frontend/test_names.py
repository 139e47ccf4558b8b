"""Names: what a name stands for after branches and loops, and what is refused rather than guessed."""

import numpy as np
import pytest
from test_errors import define, failure

import samovar as sv

shift = 100


@sv.kernel
def compile_time_in_one_branch(c: sv.i32) -> sv.i32:
    x = sv.static(3)
    if c > 0:
        x = 4
        y = x
    else:
        y = x + 10
    return y


def test_a_branch_sees_the_value_from_before_the_if():
    assert compile_time_in_one_branch(1) == 4
    assert compile_time_in_one_branch(-1) == 13


def test_a_compile_time_name_that_a_branch_changes_has_no_value_after():
    text = "@sv.kernel\ndef k(c: sv.i32) -> sv.i32:\n    x = (1, 2)\n    if c > 0:\n        x = (3, 4)\n    return x[0]\n"
    message = failure(text, sv.SamovarNameError, 1)
    assert "`x` is a tuple or another one, depending on a run-time condition, but only numbers, vectors" in message
    assert "help: use it in each branch of an `if`" in message


CHOSEN = {
    "the array `a` or the array `b`": ("w = a", "w = b"),
    "one part of the BufferView `v` or another": ("w = v[0:2]", "w = v[2:4]"),
    "the array `a` or the BufferView `v`": ("w = a", "w = v"),
}


@pytest.mark.parametrize("described", CHOSEN)
@pytest.mark.parametrize("form", ["if n > 3:\n        {}\n    else:\n        {}", "{}\n    if n > 3:\n        {}"])
def test_what_a_run_time_condition_cannot_choose_is_named(described, form):
    array = "sv.types.NDArray[sv.f32, 1]"
    head = f"@sv.kernel\ndef k(n: sv.i32, a: {array}, b: {array}, v: sv.BufferView[sv.f32]):\n    "
    text = head + form.format(*CHOSEN[described]) + "\n    w[0] = 1.0\n"
    arrays = [sv.zeros(8, sv.f32) for _ in range(3)]
    message = failure(text, sv.SamovarNameError, 1, arrays[0], arrays[1], arrays[2][:])
    assert f"`w` is {described}, depending on a run-time condition" in message
    cut = "choose the bounds, and slice once: `begin = 0 if c else 4`, then `v[begin:begin + 4]`"
    assert (cut in message) is described.endswith(("`v`", "another"))


def test_what_the_advice_for_views_says_works():
    @sv.kernel
    def k(v: sv.BufferView[sv.f32], n: sv.i32):
        begin = 0 if n > 3 else 4
        w = v[begin : begin + 4]
        w[1] = 1.0

    a = sv.zeros(8, sv.f32)
    k(a[:], 1)
    assert a.tolist() == [0, 0, 0, 0, 0, 1, 0, 0]


def test_a_compile_time_name_cannot_change_in_a_run_time_loop():
    text = "@sv.kernel\ndef k(c: sv.i32):\n    x = sv.static(0)\n    while c > x:\n        x = x + 1\n"
    assert "`x` holds a compile-time value" in failure(text, sv.SamovarSyntaxError, 1)


@sv.kernel
def tuple_per_iteration(n: sv.i32) -> sv.i32:
    total = 0
    sv.loop_config(serialize=True)
    for i in range(n):
        pair = (i, 1)
        pair = (pair[0] + 1, 2)
        total += pair[0] * pair[1]
    return total


def test_a_tuple_may_be_bound_again_within_an_iteration():
    assert tuple_per_iteration(4) == 2 * (1 + 2 + 3 + 4)


def test_a_name_that_the_function_assigns_is_never_a_global():
    k = "@sv.kernel\ndef k() -> sv.i32:\n    y = shift\n    shift = 3\n    return y\n"
    assert "only assigned later" in failure(k, sv.SamovarNameError, shift=5)
    k = "@sv.kernel\ndef k() -> sv.i32:\n    shift += 3\n    return shift\n"
    assert "only assigned later" in failure(k, sv.SamovarNameError, shift=5)


@sv.kernel
def walrus(a: sv.i32, b: sv.i32) -> sv.i32:
    m = -1
    if (n := a * 2) > 4 and (m := n + b) > 0:
        return m
    return n * 1000 + m


def test_assignment_expressions():
    assert walrus(3, 5) == 11
    assert walrus(3, -50) == 6000 - 44
    assert walrus(1, 5) == 2000 - 1


@sv.kernel
def value_of_and(x: sv.i32, y: sv.i32) -> sv.i32:
    return (x and y) * 100 + (x or y)


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 7), (3, 0), (3, 7)])
def test_and_or_give_an_operand(x, y):
    assert value_of_and(x, y) == (x and y) * 100 + (x or y)


def test_a_long_sum_and_a_long_chain_of_branches_compile():
    terms = " + ".join(["x"] * 600)
    branches = "".join(f"    elif x == {n}:\n        y = {n}\n" for n in range(1, 200))
    k = define(
        f"@sv.kernel\ndef k(x: sv.i64) -> sv.i64:\n    total = {terms}\n    y = 0\n"
        f"    if x == 0:\n        y = -1\n{branches}    return total + y\n"
    )
    assert k(150) == 600 * 150 + 150
    assert k(0) == -1


# --- names that an operand binds


@sv.kernel
def bound_by_and(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
    for i in c:
        if c[i] != 0 and (q := c[i] * 2) > 3:
            o[i] = q
        else:
            o[i] = -1


@sv.kernel
def bound_by_or(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
    for i in c:
        if c[i] == 0 or (q := c[i] * 2) <= 3:
            o[i] = -1
            continue
        o[i] = q


@sv.kernel
def bound_by_a_comparison(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
    for i in c:
        if not (c[i] > 0 and 3 < (q := c[i] * 2) < 1000):
            o[i] = -1
        else:
            o[i] = q


@sv.kernel
def bound_by_a_condition(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
    for i in c:
        o[i] = q if c[i] != 0 and (q := c[i] * 2) > 3 else -1


@sv.kernel
def bound_by_while(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
    for i in c:
        o[i] = -1
        while o[i] < 0 and (q := c[i] * 2) > 3:
            o[i] = q


@pytest.mark.parametrize(
    "kernel",
    [bound_by_and, bound_by_or, bound_by_a_comparison, bound_by_a_condition, bound_by_while],
    ids=lambda kernel: kernel.__name__,
)
def test_a_name_that_an_operand_binds_has_a_value_where_the_operand_was_evaluated(kernel):
    c = np.array([0, 1, 2, 9], np.int32)
    o = np.zeros(4, np.int32)
    kernel(o, c)
    assert o.tolist() == [-1, -1, 4, 18]


def test_a_name_that_an_operand_binds_has_none_elsewhere():
    @sv.kernel
    def other_branch(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
        for i in c:
            if c[i] != 0 and (q := c[i] * 2) > 3:
                o[i] = q
            else:
                o[i] = q

    @sv.kernel
    def afterwards(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
        for i in c:
            x = sv.static(3)
            y = c[i] != 0 and (x := 5) != 7
            o[i] = x + y

    @sv.kernel
    def one_side(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
        for i in c:
            o[i] = (z := 1) if c[i] > 0 else 2
            o[i] += z

    a = np.zeros(2, np.int32)
    for kernel, name in ((other_branch, "q"), (afterwards, "x"), (one_side, "z")):
        with pytest.raises(sv.SamovarNameError, match=f"`{name}` may be unassigned"):
            kernel(a, a)


def test_a_variable_that_an_operand_changes_keeps_its_value_where_it_does_not():
    @sv.kernel
    def k(o: sv.types.NDArray[sv.i32, 1], c: sv.types.NDArray[sv.i32, 1]):
        for i in c:
            x = 3
            y = c[i] != 0 and (x := 5) != 7
            o[i] = x * 10 + y

    o = np.zeros(3, np.int32)
    k(o, np.array([0, 1, 0], np.int32))
    assert o.tolist() == [30, 51, 30]


@sv.func
def three():
    return 1.5, sv.Vector([1.0, 2.0]), 3


@sv.kernel
def ignoring(n: sv.i32) -> sv.i32:
    _, _, last = three()
    _ = sv.Matrix([[1, 2], [3, 4]])
    return last + n


@sv.kernel
def reading(n: sv.i32) -> sv.i32:
    _ = n
    _ = _ + 1
    return _


def test_what_is_ignored_may_be_anything():
    assert ignoring(4) == 7
    assert reading(4) == 5
