"""Mistakes of the first hour: the name that was probably meant, what to write instead, names as programs spell them."""

import random
import re
import time

import numpy as np
import pytest

import samovar as sv

A = sv.types.NDArray[sv.f32, 2]
SETTINGS = {"rate": 2.0}


class Plain:
    rates = (1.0, 2.0)


@sv.kernel
def another(x: sv.f32) -> sv.f32:
    return x


@sv.func
def weighted(x, weight):
    return x * weight


def misspells_a_function(a, number):
    a[0, 0] = sv.sqr(number)


def misspells_a_function_of_vectors(a, number):
    a[0, 0] = sv.math.lenght(number)


def misspells_a_parameter(a, number):
    a[0, 0] = numbr + 1  # noqa: F821


def misspells_a_local(a, number):
    total = 0.0  # noqa: F841
    a[0, 0] = totl + 1  # noqa: F821


def misspells_a_global(a, number):
    a[0, 0] = wieghted(1.0, 2.0)  # noqa: F821


def misspells_an_attribute(a, number):
    a[0, 0] = sv.static(Plain).ratse[0]


def divides_for_an_index(a, number):
    a[0, int(number) / 2] = 1


def divides_for_an_entry(a, number):
    v = sv.Vector([1.0, 2.0])
    a[0, 0] = v[1 / 2]


def takes_a_float_for_an_index(a, number):
    a[0, number] = 1


def divides_for_a_bound(a, number):
    for i in range(a.shape[0] / 2):
        a[i, 0] = 1


def orders_complex_numbers(a, number):
    a[0, 0] = number + 1j < 1


def sums_a_generator(a, number):
    a[0, 0] = sum(i * 0.5 for i in range(int(number)))


def takes_too_many_indices(a, number):
    a[0, 0, 0] = 1


def fills_a_dict(a, number):
    found = {}
    found[1] = number


def forgets_an_argument(a, number):
    a[0, 0] = weighted(number)


def measures_a_number(a, number):
    a[0, 0] = len(number)


def rolls_dice(a, number):
    a[0, 0] = random.choice((1, 2))


def looks_at_the_clock(a, number):
    a[0, 0] = time.perf_counter()


def calls_a_kernel(a, number):
    a[0, 0] = another(number)


def asks_as_warp_does(a, number):
    a[sv.tid(), 0] = 1


def wants_a_key(a, number):
    a[0, 0] = SETTINGS["speed"]


CASES = [
    (misspells_a_function, "`sv` has no attribute `sqr`", "did you mean `sqrt`?"),
    (misspells_a_function_of_vectors, "`sv.math` has no attribute `lenght`", "did you mean `length`?"),
    (misspells_a_parameter, "name `numbr` is not defined", "did you mean `number`?"),
    (misspells_a_local, "name `totl` is not defined", "did you mean `total`?"),
    (misspells_a_global, "name `wieghted` is not defined", "did you mean `weighted`?"),
    (misspells_an_attribute, "`Plain` has no attribute `ratse`", "did you mean `rates`?"),
    (divides_for_an_index, "an index must be an integer, got f32", "use `//` for integer division: `int(number) // 2`"),
    (divides_for_an_entry, "an index must be an integer, got 0.5", "use `//` for integer division: `1 // 2`"),
    (takes_a_float_for_an_index, "an index must be an integer, got f32", "convert it: `int(x)`"),
    (divides_for_a_bound, "the bounds of a loop must be integers", "`a.shape[0] // 2`"),
    (orders_complex_numbers, "`<` is not defined for complex numbers", "`abs(z)`"),
    (sums_a_generator, "the bounds of an unrolled loop must be known", "write an ordinary loop"),
    (takes_too_many_indices, "`a` is 2-dimensional but was indexed with 3 indices", None),
    (fills_a_dict, "an element of a dict cannot be assigned", "use an array"),
    (forgets_an_argument, "`weighted` is missing the argument `weight`", "its parameters are x, weight"),
    (measures_a_number, "`number` is a number and has no length", None),
    (rolls_dice, "`random.choice` is a Python random-number function", "`sv.randint(...)`"),
    (looks_at_the_clock, "`time.perf_counter` is a built-in function", "before or after the launch"),
    (calls_a_kernel, "the kernel `another` cannot be called", "make it a `@sv.func`"),
    (asks_as_warp_does, "`sv` has no attribute `tid`", "the outermost loop of a kernel is parallel"),
    (wants_a_key, "`SETTINGS` has no key 'speed'", None),
]


@pytest.mark.parametrize(("function", "message", "advice"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_mistake_is_named_as_it_is_written_and_says_what_to_do(function, message, advice):
    called = sv.func(function)

    @sv.kernel
    def program(a: A, number: sv.f32):
        called(a, number)

    with pytest.raises(sv.SamovarError, match=re.escape(message)) as caught:
        program(np.zeros((3, 3), np.float32), 2.0)
    text = str(caught.value)
    assert f"{__file__}:" in text
    assert "^" in text
    assert (re.search("help: (.*)", text) is None) if advice is None else (advice in text), text
    assert "`global" not in text


def test_names_of_others_are_no_names_of_ours():
    from samovar.language import ELSEWHERE

    assert not set(ELSEWHERE) & set(dir(sv))
    with pytest.raises(AttributeError, match=r"no attribute 'launch': call the kernel: `kernel\(a, b\)`"):
        _ = sv.launch


def test_a_captured_name_is_spelled_as_it_is():
    local = object()

    @sv.kernel
    def program(a: A):
        a[0, 0] = local.size

    with pytest.raises(sv.SamovarError, match=r"^`local` "):
        program(np.zeros((3, 3), np.float32))
