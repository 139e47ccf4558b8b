"""Funcs: arguments, returns, specialization, expansion at task level."""

import numpy as np
import pytest

import samovar as sv


@sv.func
def clamp(x, low=0.0, high=1.0):
    if x < low:
        return low
    if x > high:
        return high
    return x


@sv.kernel
def positional_keyword_default(x: sv.f32) -> sv.f32:
    return clamp(x) + clamp(x, -1.0) * 10 + clamp(x, high=5.0, low=2.0) * 100


def test_positional_keyword_and_default_arguments():
    def expected(x):
        return clamp(x) + clamp(x, -1.0) * 10 + clamp(x, high=5.0, low=2.0) * 100

    for x in (-2.0, -0.5, 0.5, 3.0, 9.0):
        assert positional_keyword_default(x) == pytest.approx(expected(x))


@sv.func
def divide(a: sv.i32, b: sv.i32):
    return a // b, a % b


@sv.kernel
def unpack(a: sv.i32, b: sv.i32) -> sv.i32:
    quotient, remainder = divide(a, b)
    return quotient * 1000 + remainder


def test_several_results():
    assert unpack(47, 5) == 9002
    assert unpack(-47, 5) == -10 * 1000 + 3


@sv.func
def change(x):
    x += 1
    return x


@sv.kernel
def by_value() -> sv.i32:
    x = 5
    y = change(x)
    return x * 10 + y


def test_a_func_gets_numbers_by_value():
    assert by_value() == 56


@sv.func
def increment(x: sv.template()):
    x += 1


@sv.kernel
def by_reference() -> sv.i32:
    x = 5
    increment(x)
    increment(x)
    return x


def test_a_template_parameter_is_a_reference():
    assert by_reference() == 7


@sv.func
def fill(a, value):
    for i in range(a.shape[0]):
        a[i] = value + i


@sv.kernel
def at_task_level(a: sv.types.NDArray[sv.i32, 1], b: sv.types.NDArray[sv.i32, 1]):
    fill(a, 10)
    fill(b, 20)
    for i in range(a.shape[0]):
        a[i] += b[i]


def test_loops_of_a_func_called_at_the_top_are_tasks():
    a, b = sv.ndarray(sv.i32, (1000,)), sv.ndarray(sv.i32, (1000,))
    at_task_level(a, b)
    assert (a.to_numpy() == 30 + 2 * np.arange(1000)).all()
    assert at_task_level.inspect("ir").count("parallel") >= 3


@sv.func
def neighbor_sum(a, i):
    total = 0.0
    for k in range(-1, 2):
        total += a[i + k]
    return total


@sv.kernel
def smooth(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]):
    for i in range(1, a.shape[0] - 1):
        b[i] = neighbor_sum(a, i) / 3


def test_a_func_with_an_array_and_a_loop_inside_a_task():
    a = np.random.default_rng(0).random(1000).astype(np.float32)
    b = np.zeros_like(a)
    smooth(a, b)
    np.testing.assert_allclose(b[1:-1], (a[:-2] + a[1:-1] + a[2:]) / 3, rtol=1e-5)


@sv.func
def twice(x):
    return x + x


@sv.kernel
def many_types(a: sv.types.NDArray[sv.f64, 1]):
    for i in range(a.shape[0]):
        a[i] = twice(i) + twice(0.25) + twice(sv.f64(0.1))


def test_a_func_is_specialized_for_each_argument_type():
    a = np.zeros(4)
    many_types(a)
    np.testing.assert_allclose(a, np.arange(4) * 2 + 0.5 + 0.2, rtol=1e-7)
    assert many_types.inspect("ir").count("func twice") == 3


@sv.func
def outer(x):
    return inner(x) + inner(x * 2)


@sv.func
def inner(x):
    return x * x


@sv.kernel
def chain(x: sv.f32) -> sv.f32:
    return outer(x)


def test_a_func_calls_a_func_defined_later():
    assert chain(3.0) == 9 + 36
    assert chain.inspect("ir").count("func inner") == 1


table = sv.ndarray(sv.i32, (16,))


@sv.func
def look_up(i):
    return table[i & 15]


@sv.func
def look_up_twice(i):
    return look_up(i) + look_up(i + 1)


@sv.kernel
def captured_in_func(a: sv.types.NDArray[sv.i32, 1]):
    for i in range(a.shape[0]):
        a[i] = look_up_twice(i)


def test_an_array_captured_by_a_func_of_a_func():
    for i in range(16):
        table[i] = i * i
    a = np.zeros(100, np.int32)
    captured_in_func(a)
    values = np.arange(16) ** 2
    assert (a == values[np.arange(100) & 15] + values[(np.arange(100) + 1) & 15]).all()


@sv.func
def mixed_returns(x):
    if x > 0:
        return 1
    return 0.5


@sv.kernel
def meet(x: sv.i32) -> sv.f32:
    return mixed_returns(x)


def test_returns_of_different_types_meet_in_one():
    assert (meet(1), meet(-1)) == (1.0, 0.5)


@sv.func
def first_of(pair):
    return pair[0] - pair[1]


@sv.kernel
def tuples(x: sv.i32) -> sv.i32:
    return first_of((x, 2)) + first_of((x * 2, x))


def test_a_tuple_as_argument():
    assert tuples(10) == 8 + 10


def test_a_func_runs_in_plain_python_too():
    assert clamp(3.0) == 1.0


@sv.kernel
def same_func_for_two_arrays(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    total = 0.0
    sv.loop_config(serialize=True)
    for i in range(1, a.shape[0] - 1):
        total += neighbor_sum(a, i) + neighbor_sum(b, i)
    return total


def test_a_func_is_lowered_once_for_arrays_of_one_type():
    sv.init(without="vectors")  # for which the func would be copied into the loop
    a, b = np.ones(10, np.float32), np.ones(10, np.float32)
    assert same_func_for_two_arrays(a, b) == 8 * 6
    assert same_func_for_two_arrays.inspect("ir").count("func neighbor_sum") == 1
    sv.reset()


@sv.func
def use_gradient(a, i):
    return a[i] + a.grad[i] * 10


@sv.kernel
def gradients(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    return use_gradient(a, 1) + use_gradient(b, 1) * 1000


def test_a_func_reaches_the_gradient_of_the_array_it_got():
    a, b = sv.ndarray(sv.f32, 3, needs_grad=True), sv.ndarray(sv.f32, 3, needs_grad=True)
    a[1], a.grad[1], b[1], b.grad[1] = 1, 2, 3, 4
    assert gradients(a, b) == 21 + 43 * 1000


@sv.real_func
def first_above(n: sv.i32, bound: sv.i32) -> sv.i32:
    for i in range(n):
        if i * i > bound:
            return i


@sv.func
def first_above_inlined(n: sv.i32, bound: sv.i32) -> sv.i32:
    for i in range(n):
        if i * i > bound:
            return i


@sv.real_func
def divided(x: sv.f32, y: sv.f32) -> sv.math.vec2:
    if y != 0:
        return sv.Vector([x / y, 1.0])


@sv.kernel
def finds(n: sv.i32) -> sv.i32:
    return first_above(n, 50)


@sv.kernel
def finds_inlined(n: sv.i32) -> sv.i32:
    return first_above_inlined(n, 50)


@sv.kernel
def divides(y: sv.f32) -> sv.math.vec2:
    return divided(3.0, y)


@pytest.mark.parametrize("debug", [False, True])
def test_a_real_func_returns_zero_where_it_does_not_return(debug):
    sv.init(missing_returns="zero", debug=debug)
    assert (finds(100), finds(5)) == (8, 0)
    assert (divides(2.0).to_list(), divides(0.0).to_list()) == ([1.5, 1], [0, 0])
    with pytest.raises(sv.SamovarSyntaxError, match="returns a value on some paths"):
        finds_inlined(100)
    sv.init()
    with pytest.raises(sv.SamovarSyntaxError, match="returns a value on some paths"):
        finds(100)
