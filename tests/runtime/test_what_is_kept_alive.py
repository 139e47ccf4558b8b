"""Nothing that is compiled, looked up, launched or shown keeps an argument alive, not even until garbage is collected."""

import gc
import weakref

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def no_collector(tmp_path):
    """Nothing is compiled or kept, and no garbage is collected."""
    sv.init(offline_cache_file_path=tmp_path)
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    sv.reset()


@sv.func
def helper(x):
    return x + 1


@sv.kernel
def count(a: sv.types.NDArray[sv.i32, 1], n: sv.i32):
    for i in a:
        a[i] = helper(n) + a.shape[0]


@sv.data_oriented
class Solver:
    def __init__(self, n=3):
        self.x = sv.ndarray(sv.f32, 4)
        self.n = n
        self.pair = (1, 2)
        self.table = {"a": 1}

    @property
    def rate(self):
        return self.n

    @sv.func
    def force(self, i):
        return self.x[i] + self.n

    @sv.kernel
    def step(self):
        for i in self.x:
            self.x[i] = self.force(i) + sv.static(self.pair[1] + len(self.pair)) + sv.static(self.table["a"]) + self.rate


def gone(*references):
    return [reference() is None for reference in references]


@pytest.mark.parametrize("make", [lambda: sv.ndarray(sv.i32, 8), lambda: np.zeros(8, np.int32)])
def test_arrays_of_a_first_launch(make):
    for _ in range(2):
        array = make()
        count(array, 2)
        there = weakref.ref(array)
        del array
        assert gone(there) == [True]


def use(how):
    solver = Solver()
    if how == "launch":
        solver.step()
    elif how == "inspect":
        Solver.step.inspect("ir", solver)
    elif how == "precompile":
        assert sv.precompile([(Solver.step, solver)]) == 1
    elif how == "fail":
        solver.n = "three"
        with pytest.raises(sv.SamovarError):
            solver.step()
    return weakref.ref(solver), weakref.ref(solver.x)


@pytest.mark.parametrize("how", ["launch", "inspect", "precompile", "fail"])
def test_objects_and_their_members(how):
    assert gone(*use(how)) == [True, True]


def test_objects_of_a_warm_launch():
    use("launch")
    Solver.step.forget()
    there = use("launch")
    assert Solver.step.cache_observations.cache_loaded
    assert gone(*there) == [True, True]


def test_what_a_kernel_captures_goes_with_the_kernel():
    def make():
        array = sv.ndarray(sv.f32, 4)

        @sv.kernel
        def captured():
            for i in array:
                array[i] += 1

        captured()
        return weakref.ref(array), weakref.ref(captured)

    assert gone(*make()) == [True, True]


def test_a_kernel_is_shown_after_its_arguments_are_gone():
    use("launch")
    assert "force(i, self.x)" in Solver.step.inspect("ir")


def test_a_loaded_kernel_whose_arguments_are_gone_asks_for_others():
    use("launch")
    Solver.step.forget()
    use("launch")
    with pytest.raises(sv.SamovarTypeError, match=r"one of its arguments no longer exists\n  help: pass arguments"):
        Solver.step.inspect("ir")
    assert "force(i, self.x)" in Solver.step.inspect("ir", Solver())
