"""Debug mode: what is checked, what errors say, what memory looks like afterwards, and that none of it is there when off."""

import numpy as np
import pytest

import samovar as sv

from . import model
from .model import INTEGERS, NUMPY, SIGNED
from .source import define

I1 = sv.types.NDArray[sv.i32, 1]
I2 = sv.types.NDArray[sv.i32, 2]
Any1 = sv.types.ndarray(ndim=1)


@sv.kernel
def write_at(a: I1, i: sv.i32):
    a[i] = 7


@sv.kernel
def read_at(a: I1, i: sv.i32) -> sv.i32:
    return a[i]


@sv.kernel
def add_at(a: I1, i: sv.i32):
    a[i] += 7


@sv.kernel
def exchange_at(a: I1, i: sv.i32) -> sv.i32:
    return sv.atomic_exchange(a[i], 7)


def line_of(kernel, text: str) -> int:
    """The line of the kernel's file that has a text, counted from the kernel's own first line."""
    import inspect

    lines, first = inspect.getsourcelines(kernel.__wrapped__)
    return next(first + offset for offset, line in enumerate(lines) if text in line)


OUTSIDE = [-1, 5, 6, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("kernel", [write_at, read_at, add_at, exchange_at])
@pytest.mark.parametrize("index", OUTSIDE)
def test_an_index_out_of_bounds_is_an_error_and_memory_is_untouched(debug, kernel, index):
    memory = np.arange(20, dtype=np.int32)
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        kernel(memory[5:10], index)
    message = str(caught.value)
    for part in (kernel.__name__, f"index {index}", "'a'", "(5,)", __file__, f":{line_of(kernel, 'a[i]')}"):
        assert part in message, part
    assert (memory == np.arange(20)).all()
    kernel(memory[5:10], 4)


@pytest.mark.parametrize("index", [-1, 5])
def test_bounds_can_be_checked_without_debug(index):
    sv.init(check_out_of_bound=True)
    try:
        with pytest.raises(sv.SamovarRuntimeError, match="out of bounds"):
            write_at(np.zeros(5, np.int32), index)
        assert overflow(np.array([2**31 - 1], np.int32), 1) == -(2**31)
    finally:
        sv.reset()


@sv.kernel
def at_two(a: I2, i: sv.i32, j: sv.i32) -> sv.i32:
    return a[i, j]


@pytest.mark.parametrize("place", [(0, 4), (3, 0), (-1, 0), (0, -1), (3, 4), (2, -4)])
def test_each_axis_is_checked(debug, place):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        at_two(a, *place)
    assert f"({place[0]}, {place[1]})" in str(caught.value)
    assert "(3, 4)" in str(caught.value)
    assert at_two(a, 2, 3) == 11


@sv.kernel
def wide_indices(a: I1, i: sv.i64, u: sv.u64, b: sv.u32) -> sv.i32:
    return a[i] + a[u] + a[b]


@pytest.mark.parametrize(
    "indices", [(2**32, 0, 0), (-(2**32), 0, 0), (2**63 - 1, 0, 0), (0, 2**63, 0), (0, 2**64 - 1, 0), (0, 0, 2**31)]
)
def test_wide_indices_are_checked_in_their_own_type(debug, indices):
    a = np.ones(3, np.int32)
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        wide_indices(a, *indices)
    assert f"index {next(index for index in indices if index)}" in str(caught.value)
    assert wide_indices(a, 1, 1, 1) == 3


@sv.kernel
def parallel_store(a: I1, n: sv.i32):
    for i in range(n):
        a[i] = i + 1


def test_a_parallel_loop_stops_with_the_error_of_an_iteration(debug):
    memory = np.zeros(3000, np.int32)
    with pytest.raises(sv.SamovarRuntimeError, match="out of bounds"):
        parallel_store(memory[:1000], 100_000)
    assert (memory[1000:] == 0).all()
    parallel_store(memory, 3000)
    assert (memory == np.arange(1, 3001)).all()


@sv.kernel
def histogram(a: I1, bins: I1):
    for i in range(a.shape[0]):
        bins[a[i]] += 1


def test_a_histogram_is_checked(debug):
    a = np.array([0, 1, 2, 3] * 100, np.int32)
    bins = np.zeros(6, np.int32)
    with pytest.raises(sv.SamovarRuntimeError, match="index 3"):
        histogram(a, bins[:3])
    assert (bins[3:] == 0).all()


@sv.kernel
def empty(a: I1) -> sv.i32:
    return a[0]


def test_an_empty_array_has_no_elements(debug):
    with pytest.raises(sv.SamovarRuntimeError, match=r"\(0,\)"):
        empty(np.zeros(0, np.int32))


@sv.kernel
def clamped(a: sv.types.ndarray(dtype=sv.i32, ndim=1, boundary="clamp"), i: sv.i32) -> sv.i32:
    return a[i]


@pytest.mark.parametrize("index", [-(2**31), -1, 0, 3, 4, 2**31 - 1])
@pytest.mark.parametrize("mode", [True, False])
def test_clamp_moves_an_index_to_the_nearest_edge_also_in_debug_mode(index, mode):
    sv.init(debug=mode)
    try:
        assert clamped(np.array([10, 11, 12, 13], np.int32), index) == 10 + min(max(index, 0), 3)
    finally:
        sv.reset()


# --- asserts


@sv.kernel
def asserting(a: I1, n: sv.i32):
    for i in range(n):
        assert a[i] < 100, f"a[{i}] is {a[i]:+d} of {n}"
        a[i] += 1


@sv.kernel
def plain_assert(x: sv.f32, y: sv.i32):
    assert x * 2 > y


@sv.kernel
def static_message(x: sv.f32):
    assert x > 0, "x has to be positive"


def test_an_assert_says_its_message_with_values(debug):
    a = np.arange(50, dtype=np.int32)
    asserting(a, 50)
    a[17] = 100
    with pytest.raises(sv.SamovarAssertionError) as caught:
        asserting(a, 50)
    message = str(caught.value)
    assert "a[17] is +100 of 50" in message
    assert f":{line_of(asserting, 'assert ')}" in message
    assert "asserting" in message
    assert a[17] == 100
    assert isinstance(caught.value, AssertionError)


def test_an_assert_without_a_message_shows_its_condition(debug):
    plain_assert(3.0, 5)
    with pytest.raises(sv.SamovarAssertionError, match=r"x \* 2 > y"):
        plain_assert(2.0, 5)
    with pytest.raises(sv.SamovarAssertionError, match="x has to be positive"):
        static_message(-1.0)


# --- arithmetic


@sv.kernel
def overflow(a: Any1, b: sv.i32) -> sv.i64:
    return a[0] + b


def overflow_cases():
    for name in INTEGERS:
        low, high = model.limits(name)
        yield name, "+", high, 1
        yield name, "-", low, 1
        yield name, "*", high, 2
        yield name, "<<", high, 1
        if name in SIGNED:
            yield name, "*", low, -1
            yield name, "//", low, -1


@pytest.mark.parametrize(("name", "sign", "left", "right"), list(overflow_cases()))
def test_integer_overflow_is_an_error(debug, name, sign, left, right):
    kernel = define(
        f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.{name}, 1]) -> sv.i64:\n    return a[0] {sign} a[1]\n",
    )
    assert kernel(np.array([7, 1], NUMPY[name])) == {"+": 8, "-": 6, "*": 7, "<<": 14, "//": 7}[sign]
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        kernel(np.array([left, right], NUMPY[name]))
    message = str(caught.value)
    assert f"{left} {sign} {right}" in message
    assert f"does not fit in {name}" in message
    assert ":3" in message


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("text", ["-a[0]", "abs(a[0])"])
def test_the_least_integer_has_no_opposite(debug, name, text):
    kernel = define(f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.{name}, 1]) -> sv.i64:\n    return {text}\n")
    assert abs(kernel(np.array([-5], NUMPY[name]))) == 5
    with pytest.raises(sv.SamovarRuntimeError, match="does not fit"):
        kernel(np.array([model.limits(name)[0]], NUMPY[name]))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("sign", ["//", "%"])
def test_integer_division_by_zero_is_an_error(debug, name, sign):
    kernel = define(f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.{name}, 1]) -> sv.i64:\n    return a[0] {sign} a[1]\n")
    assert kernel(np.array([7, 2], NUMPY[name])) == {"//": 3, "%": 1}[sign]
    with pytest.raises(sv.SamovarRuntimeError, match="division by zero"):
        kernel(np.array([7, 0], NUMPY[name]))


@pytest.mark.parametrize("sign", ["<<", ">>"])
@pytest.mark.parametrize("amount", [-1, 32, 1000])
def test_a_shift_by_the_width_is_an_error(debug, sign, amount):
    kernel = define(f"@sv.kernel\ndef k(a: sv.i32, b: sv.i32) -> sv.i32:\n    return a {sign} b\n")
    assert kernel(4, 1) == {"<<": 8, ">>": 2}[sign]
    with pytest.raises(sv.SamovarRuntimeError, match="amount"):
        kernel(4, amount)


@sv.kernel
def unsigned_bits(a: sv.u32, b: sv.u8) -> (sv.u32, sv.u32):
    return a & -a, sv.u8(b * 3)


def test_bits_of_unsigned_numbers_are_no_overflow(debug):
    assert unsigned_bits(12, 200) == (4, 600 % 256)


@pytest.mark.parametrize("text", ["a[0] ** b", "pow(a[0], b)", "power(a[0], b)"])
def test_a_negative_exponent_of_an_integer_is_an_error(debug, text):
    kernel = define(
        "@sv.func\ndef power(x, y):\n    return x ** y\n"
        f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.i32, 1], b: sv.i32) -> sv.i32:\n    return {text}\n"
    )
    a = np.array([3], np.int32)
    assert kernel(a, 4) == 81
    with pytest.raises(sv.SamovarRuntimeError, match=r"3 \*\* -1: .*negative power"):
        kernel(a, -1)


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("text", ["a ** -1", "pow(a, -3)", "a ** b", "a ** -100"])
def test_a_negative_exponent_that_is_known_is_an_error_too(debug, text, dtype):
    kernel = define(f"@sv.kernel\ndef k(a: sv.{dtype}, b: sv.template()) -> sv.f32:\n    return {text}\n")
    with pytest.raises(sv.SamovarRuntimeError, match=r"3 \*\* -[0-9]+: .*negative power"):
        kernel(3, -2)


def test_floats_have_negative_powers(debug):
    kernel = define("@sv.kernel\ndef k(a: sv.f32) -> sv.f32:\n    return a ** -2\n")
    assert kernel(2.0) == 0.25


@pytest.mark.parametrize(("sign", "left", "right"), [("**", 3, -1), ("<<", 2**30, 1), ("<<", -3, 30)])
def test_an_update_of_an_element_is_checked(debug, sign, left, right):
    kernel = define(
        f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.i32, 1], b: sv.i32):\n    for i in a:\n        a[i] {sign}= b\n"
    )
    kernel(np.array([2], np.int32), 1)
    with pytest.raises(sv.SamovarRuntimeError, match="negative power" if sign == "**" else "does not fit in i32"):
        kernel(np.array([left], np.int32), right)


@sv.kernel
def local_overflow(n: sv.i32) -> sv.i32:
    total = 1
    for k in range(1):
        for _ in range(n):
            total *= 3
        total += k
    return total


def test_overflow_of_a_variable_that_iterations_share(debug):
    with pytest.raises(sv.SamovarRuntimeError, match="does not fit in i32"):
        local_overflow(21)


@sv.kernel
def element_overflow(a: Any1, n: sv.i32):
    for i in range(n):
        a[i] += 100
        a[i] -= 1


@pytest.mark.parametrize("name", INTEGERS)
def test_overflow_of_an_element(debug, name):
    high = model.limits(name)[1]
    a = np.zeros(9, NUMPY[name])
    element_overflow(a, 9)
    assert (a == 99).all()
    a[:] = 0
    a[5] = high - 7
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        element_overflow(a, 9)
    assert f"{high - 7} + 100 does not fit in {name}" in str(caught.value)
    assert f":{line_of(element_overflow, '+=')}" in str(caught.value)


@sv.func
def power_of_three(n: sv.i32) -> sv.i32:
    total = 1
    for _ in range(n):
        total *= 3
    return total


@sv.kernel
def overflow_in_func(n: sv.i32, out: I1):
    for i in range(n):
        out[i] = power_of_three(i)


def test_overflow_of_a_variable_in_a_func(debug):
    with pytest.raises(sv.SamovarRuntimeError, match=r"\d+ \* 3 does not fit in i32"):
        overflow_in_func(22, np.zeros(22, np.int32))


@sv.kernel
def loop_at_the_limit(greatest: sv.i32) -> sv.i64:
    total: sv.i64 = 0
    for i in range(greatest - 2, greatest):
        total += i
    for i in range(greatest - 5, greatest, 3):
        total += i
    return total


@sv.kernel
def huge_steps(out: sv.types.NDArray[sv.i64, 1], begin: sv.i64, end: sv.i64, step: sv.i64):
    for i in range(begin, end, step):
        sv.atomic_max(out[0], i)


def test_loops_at_the_limits_are_no_overflow(debug):
    greatest = 2**31 - 1
    assert loop_at_the_limit(greatest) == sum([greatest - 2, greatest - 1, greatest - 5, greatest - 2])
    out = np.full(1, -(2**63))
    huge_steps(out, -(2**63), 2**63 - 1, 2**62)
    assert out[0] == 2**62


@sv.kernel
def guarded(x: sv.i32, n: sv.i32) -> (sv.i32, sv.i32, sv.i32):
    return x + 1 if x < 2147483647 else x, n < 32 and x << n, n >= 32 or x >> n


def test_an_operator_that_is_not_evaluated_does_not_fail(debug):
    assert guarded(2**31 - 1, 32) == (2**31 - 1, 0, 1)
    assert guarded(8, 1) == (9, 16, 4)


# --- inside funcs


@sv.func
def innermost(a: I1, i: sv.i32) -> sv.i32:
    return a[i] * 2


@sv.func
def middle(a: I1, i: sv.i32) -> sv.i32:
    assert i < 100, f"i is {i}"
    return innermost(a, i + 1)


@sv.kernel
def outermost(a: I1, out: I1, n: sv.i32):
    for i in range(n):
        out[0] += middle(a, i)


@sv.kernel
def outermost_serial(a: I1, i: sv.i32) -> sv.i32:
    if i > 0:
        return middle(a, i)
    return innermost(a, i)


def test_a_failure_in_a_func_shows_the_calls_that_led_there(debug):
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        outermost(np.ones(5, np.int32), np.zeros(1, np.int32), 5)
    message = str(caught.value)
    places = [
        f"{__file__}:{line_of(innermost, 'a[i]')}",
        f"{__file__}:{line_of(middle, 'return')}",
        f"{__file__}:{line_of(outermost, 'middle')}",
    ]
    positions = [message.index(place) for place in places]
    assert positions == sorted(positions)
    for name in ("innermost", "middle", "outermost"):
        assert name in message


def test_each_call_of_a_func_names_its_own_caller(debug):
    a = np.ones(5, np.int32)
    with pytest.raises(sv.SamovarRuntimeError) as through_middle:
        outermost_serial(a, 50)
    with pytest.raises(sv.SamovarRuntimeError) as direct:
        outermost_serial(a, -3)
    assert f":{line_of(middle, 'return')}" in str(through_middle.value)
    assert f":{line_of(middle, 'return')}" not in str(direct.value)
    with pytest.raises(sv.SamovarAssertionError, match="i is 100"):
        outermost_serial(a, 100)


def test_nothing_after_a_failure_in_a_func_is_done(debug):
    kernel = define(
        """
@sv.func
def f(a: sv.types.NDArray[sv.i32, 1], i: sv.i32) -> sv.i32:
    return a[i]

@sv.kernel
def k(a: sv.types.NDArray[sv.i32, 1], i: sv.i32):
    x = f(a, i)
    a[0] = x + 1
    for j in range(3):
        a[j] = 9
"""
    )
    a = np.zeros(3, np.int32)
    with pytest.raises(sv.SamovarRuntimeError):
        kernel(a, 3)
    assert a.tolist() == [0, 0, 0]
    kernel(a, 0)
    assert a.tolist() == [9, 9, 9]


# --- when it is off


@pytest.mark.parametrize(
    ("kernel", "arguments", "result"),
    [
        (static_message, (-1.0,), None),
        (plain_assert, (0.0, 5), None),
        (local_overflow, (21,), model.wrap(3**21, "i32")),
    ],
)
def test_without_debug_nothing_is_checked(kernel, arguments, result):
    assert kernel(*arguments) == result


def test_changed_options_never_run_old_code():
    a = np.full(10, 100, np.int32)
    asserting(a, 10)
    sv.init(debug=True)
    try:
        with pytest.raises(sv.SamovarAssertionError):
            asserting(a, 10)
    finally:
        sv.reset()
    asserting(a, 10)
    assert (a == 102).all()


def test_without_debug_the_code_has_no_checks():
    text = asserting.inspect("llvm")
    assert "sv_fail" not in text


def test_with_debug_the_code_has_checks(debug):
    asserting(np.zeros(1, np.int32), 1)
    assert "sv_fail" in asserting.inspect("llvm")
