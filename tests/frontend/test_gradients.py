"""Gradients of arrays: whether there is one is known at compile time, and part of the key."""

import dataclasses

import numpy as np
import pytest

import samovar as sv


def made(needs_grad):
    return sv.ndarray(sv.f32, 3, needs_grad=needs_grad)


@sv.func
def write_gradient(x, value):
    if sv.static(x.grad is not None):
        for i in range(3):
            x.grad[i] = value


@sv.kernel
def of_parameter(a: sv.types.NDArray[sv.f32, 1]) -> sv.i32:
    write_gradient(a, 5)
    result = 1
    if sv.static(a.grad is None):
        result = 2
    return result


@dataclasses.dataclass
class State:
    x: sv.types.NDArray[sv.f32, 1]


@sv.kernel
def of_field(state: State) -> sv.i32:
    write_gradient(state.x, 5)
    return 2 if sv.static(state.x.grad is None) else 1


@sv.data_oriented
class Solver:
    def __init__(self, x):
        self.x = x

    @sv.kernel
    def of_member(self) -> sv.i32:
        if sv.static(self.x.grad is not None):
            write_gradient(self.x, 5)
            return 1
        return 2


solver = Solver(None)


def launch_method(array):
    solver.x = array
    return solver.of_member()


LAUNCHES = {
    "parameter": of_parameter,
    "field of a dataclass": lambda array: of_field(State(array)),
    "member of a data_oriented object": launch_method,
}


@pytest.mark.parametrize("way", LAUNCHES)
def test_static_knows_whether_an_array_has_a_gradient(way):
    for needs_grad in (False, True, False, True):
        array = made(needs_grad)
        assert LAUNCHES[way](array) == (1 if needs_grad else 2)
        if needs_grad:
            assert array.grad.to_numpy().tolist() == [5, 5, 5]


def test_arrays_of_other_libraries_have_no_gradient():
    assert of_parameter(np.zeros(3, np.float32)) == 2


def test_a_gradient_that_is_not_there_is_an_error_outside_of_static():
    @sv.kernel
    def run(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a.grad[i] = 1

    with pytest.raises(sv.SamovarTypeError, match=r"`a` has no gradient[\s\S]*test it first"):
        run(made(False))
