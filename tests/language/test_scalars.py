"""Scalars of every dtype: into a kernel and out of it, alone, in tuples, through funcs, and at the ends of their range."""

import math

import numpy as np
import pytest

import samovar as sv

from . import model
from .model import FLOATS, INTEGERS, NAMES, NUMPY
from .source import define


def returning(name: str):
    return define(f"@sv.kernel\ndef k(x: sv.{name}) -> sv.{name}:\n    return x\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_value_goes_in_and_comes_out(exact, name):
    kernel = returning(name)
    for value in model.edge_values(name):
        result = kernel(value)
        assert model.same(result, value), value
        assert type(result) is (bool if name == "u1" else float if name in FLOATS else int)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_out_of_range_are_refused(name):
    kernel = returning(name)
    low, high = model.limits(name)
    for value in (low - 1, high + 1, 2**70, -(2**70)):
        with pytest.raises(OverflowError, match=f"x.*{name}"):
            kernel(value)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("value", [1.5, math.nan, math.inf, "1", None, [1], 1j])
def test_what_is_no_integer_is_refused(name, value):
    with pytest.raises((TypeError, sv.SamovarTypeError)):
        returning(name)(value)


@pytest.mark.parametrize("name", NAMES)
def test_numpy_scalars_are_numbers(name):
    kernel = returning(name)
    for value in model.edge_values(name):
        assert model.same(kernel(NUMPY[name].type(value)), value)


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_rounded_to_the_parameter(name):
    kernel = returning(name)
    for value in (0.1, 1 / 3, 1e-10, 123456.789, -(2.0**-24), 2**53 + 1, 7, True):
        assert model.same(kernel(value), model.rounded(float(value), name)), value


@pytest.mark.parametrize("name", NAMES)
def test_tuples_of_results_keep_their_types(exact, name):
    text = f"""
@sv.func
def swap(a: sv.{name}, b: sv.f64) -> (sv.f64, sv.{name}):
    return b, a

@sv.kernel
def k(x: sv.{name}, y: sv.f64) -> (sv.{name}, sv.f64, sv.i32, sv.{name}):
    b, a = swap(x, y)
    c, d = swap(b=y, a=x)
    return a, c, 7, d
"""
    kernel = define(text)
    for value in model.edge_values(name):
        first, second, third, fourth = kernel(value, 2.5)
        assert model.same(first, value)
        assert (second, third) == (2.5, 7)
        assert model.same(fourth, value)


def test_many_parameters_do_not_get_mixed_up():
    count = 40
    parameters = ", ".join(f"p{index}: sv.{NAMES[index % len(NAMES)]}" for index in range(count))
    stores = "\n".join(f"    out[{index}] = p{index}" for index in range(count))
    kernel = define(f"@sv.kernel\ndef k(out: sv.types.NDArray[sv.f64, 1], {parameters}):\n{stores}\n")
    values = [index % 2 if NAMES[index % len(NAMES)] == "u1" else index for index in range(count)]
    out = np.zeros(count)
    kernel(out, *values)
    assert out.tolist() == values
    by_name = {f"p{index}": value for index, value in reversed(list(enumerate(values)))}
    out[:] = 0
    kernel(out=out, **by_name)
    assert out.tolist() == values
