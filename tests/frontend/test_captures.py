"""Captured constants and arrays: baked where they are constants, and never stale."""

import enum
import math

import numpy as np

import samovar as sv

scale = 3
weights = (1, 2, 4)
settings = {"gain": 2.5, "mode": "fast"}


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


mode = Mode.FAST
buffer = sv.ndarray(sv.f32, (8,))


@sv.kernel
def scaled(x: sv.i32) -> sv.i32:
    return int(x * scale)


def test_a_changed_constant_is_seen_by_the_next_launch():
    global scale
    scale = 3
    assert scaled(5) == 15
    scale = 7
    assert scaled(5) == 35
    scale = 2.5
    assert scaled(4) == 10
    scale = 3
    assert scaled(5) == 15


@sv.kernel
def weighted(x: sv.i32) -> sv.i32:
    total = 0
    for k in sv.static(range(len(weights))):
        total += weights[k] * (x + k)
    return total


def test_a_changed_tuple_is_seen():
    global weights
    weights = (1, 2, 4)
    assert weighted(1) == 1 + 4 + 12
    weights = (5,)
    assert weighted(1) == 5


@sv.kernel
def from_settings(x: sv.f32) -> sv.f32:
    result = x * settings["gain"]
    if sv.static(settings["mode"] == "fast"):
        result += 1
    return result


def test_a_dict_is_read_key_by_key():
    settings.update(gain=2.5, mode="fast")
    assert from_settings(2.0) == 6.0
    settings["mode"] = "slow"
    assert from_settings(2.0) == 5.0
    settings["gain"] = 4.0
    assert from_settings(2.0) == 8.0


@sv.kernel
def by_mode() -> sv.i32:
    if mode == Mode.FAST:
        return mode * 10
    return -1


def test_enum_members():
    global mode
    mode = Mode.FAST
    assert by_mode() == 20
    mode = Mode.SLOW
    assert by_mode() == -1


@sv.kernel
def into_buffer(x: sv.f32):
    for i in range(buffer.shape[0]):
        buffer[i] = x + i


def test_a_captured_array_is_bound_at_each_launch():
    global buffer
    first = buffer = sv.ndarray(sv.f32, (8,))
    into_buffer(1.0)
    second = buffer = sv.ndarray(sv.f32, (3,))
    into_buffer(5.0)
    assert (first.to_numpy() == np.arange(8) + 1).all()
    assert (second.to_numpy() == np.arange(3) + 5).all()


def make(factor, array):
    @sv.kernel
    def closure(x: sv.i32) -> sv.i32:
        array[0] = array[0] + 1
        return x * factor

    def set_factor(value):
        nonlocal factor
        factor = value

    return closure, set_factor


def test_closures_have_their_own_constants():
    counter = sv.ndarray(sv.i32, (1,))
    double, _ = make(2, counter)
    triple, set_factor = make(3, counter)
    assert (double(5), triple(5)) == (10, 15)
    set_factor(4)
    assert triple(5) == 20
    assert counter[0] == 3


@sv.func
def helper(x):
    return x + 1


@sv.kernel
def uses_helper(x: sv.i32) -> sv.i32:
    return helper(x)


def test_a_replaced_func_is_seen():
    global helper
    original = helper
    assert uses_helper(1) == 2

    @sv.func
    def helper(x):
        return x + 100

    assert uses_helper(1) == 101
    helper = original
    assert uses_helper(1) == 2


@sv.kernel
def smaller(x: sv.i32) -> sv.i32:
    return min(x, 10)


def test_a_shadowed_builtin_is_seen():
    assert smaller(20) == 10

    @sv.func
    def largest(a, b):
        return max(a, b)

    globals()["min"] = largest
    try:
        assert smaller(20) == 20
    finally:
        del globals()["min"]
    assert smaller(20) == 10


@sv.kernel
def module_constant(x: sv.f64) -> sv.f64:
    return x * math.pi + math.sin(0.0)


def test_constants_and_functions_of_the_math_module():
    assert module_constant(2.0) == 2 * math.pi


@sv.kernel
def template(n: sv.Template, x: sv.i32) -> sv.i32:
    total = 0
    for k in sv.static(range(n)):
        total += x + k
    return total


def test_template_values_are_specialized():
    assert template(3, 10) == 33
    assert template(5, 10) == 60
    assert template(0, 10) == 0
    assert len(template.specializations) == 3


@sv.kernel
def optional(a: sv.types.NDArray[sv.f32, 1], b: sv.Template):
    for i in range(a.shape[0]):
        if sv.static(b is None):
            a[i] += 1
        else:
            a[i] += b[i]


def test_an_absent_optional_argument():
    a, b = np.zeros(4, np.float32), np.full(4, 5, np.float32)
    optional(a, None)
    optional(a, b)
    assert (a == 6).all()
