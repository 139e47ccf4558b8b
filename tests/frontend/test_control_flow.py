"""Control flow: branches, loops and early exits behave as in plain Python."""

import numpy as np
import pytest
from test_errors import define

import samovar as sv


@sv.kernel
def collatz(n: sv.i64) -> sv.i32:
    steps = 0
    value = n
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    return steps


@pytest.mark.parametrize("n", [1, 2, 7, 27, 97, 871])
def test_while_with_branches(n):
    expected, value = 0, n
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        expected += 1
    assert collatz(n) == expected


@sv.kernel
def first_divisor(n: sv.i32) -> sv.i32:
    result = n
    sv.loop_config(serialize=True)
    for d in range(2, n):
        if n % d == 0:
            result = d
            break
    return result


@pytest.mark.parametrize("n", [2, 3, 4, 9, 35, 97])
def test_break_in_a_serial_loop(n):
    assert first_divisor(n) == next((d for d in range(2, n) if n % d == 0), n)


@sv.kernel
def odd_sum(n: sv.i32) -> sv.i32:
    total = 0
    sv.loop_config(serialize=True)
    for i in range(n):
        if i % 2 == 0:
            continue
        total += i
    return total


def test_continue_in_a_serial_loop():
    assert odd_sum(100) == sum(range(1, 100, 2))


@sv.kernel
def skip_even(a: sv.types.NDArray[sv.i32, 1]):
    for i in a:
        if i % 2 == 0:
            continue
        a[i] = 1


def test_continue_in_a_parallel_loop():
    a = np.zeros(101, np.int32)
    skip_even(a)
    assert (a == np.arange(101) % 2).all()


@sv.kernel
def both_branches(x: sv.f32) -> sv.f32:
    if x > 0:
        y = x
    else:
        y = -x * 2
    return y


def test_a_name_given_in_both_branches_is_visible_after():
    assert both_branches(3.0) == 3.0
    assert both_branches(-3.0) == 6.0


@sv.kernel
def early(x: sv.i32) -> sv.i32:
    if x < 0:
        return -1
    if x == 0:
        return 0
    else:
        y = x * 2
    return y


def test_early_returns_of_a_kernel():
    assert [early(-5), early(0), early(4)] == [-1, 0, 8]


@sv.kernel
def nest(a: sv.types.NDArray[sv.i32, 1]):
    for i in range(a.shape[0]):
        count = 0
        for j in range(i):
            for k in range(j, 0, -2):
                if k == 3:
                    break
                count += k
        a[i] = count


def test_nested_serial_loops_with_negative_steps():
    a = np.zeros(20, np.int32)
    nest(a)
    for i in range(20):
        count = 0
        for j in range(i):
            for k in range(j, 0, -2):
                if k == 3:
                    break
                count += k
        assert a[i] == count


@sv.kernel
def short_circuit(a: sv.types.NDArray[sv.i32, 1], n: sv.i32) -> sv.i32:
    hits = 0
    sv.loop_config(serialize=True)
    for i in range(n):
        if i < a.shape[0] and a[i] > 2:
            hits += 1
        if i >= a.shape[0] or a[i] < 0:
            hits += 100
    return hits


def test_and_or_do_not_evaluate_what_they_need_not():
    assert short_circuit(np.array([1, 3, 5, -1], np.int32), 6) == 2 + 300


@sv.kernel
def chained(a: sv.i32, b: sv.i32, c: sv.i32) -> sv.u1:
    return a < b <= c != a


@pytest.mark.parametrize("triple", [(1, 2, 2), (1, 1, 2), (1, 3, 2), (0, 1, 5)])
def test_chained_comparison(triple):
    a, b, c = triple
    assert chained(a, b, c) is (a < b <= c != a)


@sv.kernel
def conditional(x: sv.i32, a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    return a[x] if 0 <= x < a.shape[0] else -1


def test_a_conditional_expression_evaluates_one_branch():
    a = np.arange(5, dtype=np.int32) * 10
    assert [conditional(x, a) for x in (-1, 0, 4, 5, 2**31 - 1)] == [-1, 0, 40, -1, -1]


@sv.kernel
def flattened_break(n: sv.i32, m: sv.i32, stop: sv.i32) -> sv.i32:
    seen = 0
    sv.loop_config(serialize=True)
    for i, j in sv.ndrange(n, (1, m)):
        seen += 1
        if i * j == stop:
            break
    return seen


def test_break_leaves_all_axes_of_a_serial_ndrange():
    seen = 0
    for i, j in sv.ndrange(7, (1, 9)):
        seen += 1
        if i * j == 12:
            break
    assert flattened_break(7, 9, 12) == seen


@sv.kernel
def reassigned_loop_variable(n: sv.i32) -> sv.i32:
    total = 0
    sv.loop_config(serialize=True)
    for i in range(n):
        i *= 2
        total += i
    return total


def test_a_loop_variable_may_be_assigned_in_the_body():
    assert reassigned_loop_variable(10) == 90


@sv.kernel
def endless(limit: sv.i32) -> sv.i32:
    count = 0
    while True:
        count += 3
        if count > limit:
            return count


def test_a_loop_that_only_returns_ends_the_function():
    assert endless(10) == 12


def test_a_long_chain_of_elif():
    count = 600
    chain = "".join(f"        {'el' if n else ''}if a[i] == {n}.0:\n            x = {n}.5\n" for n in range(count))
    kernel = define(
        f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1]):\n    for i in a:\n        x = -1.0\n{chain}        a[i] = x\n"
    )
    a = np.array([0, 7, count - 1, count], np.float32)
    kernel(a)
    assert a.tolist() == [0.5, 7.5, count - 0.5, -1.0]
