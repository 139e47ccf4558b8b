"""Bound kernels: what `obj.step` is, and what it offers for its object."""

import gc
import inspect
import pickle
import weakref

import pytest

import samovar as sv


@sv.data_oriented
class Solver:
    def __init__(self, size=4):
        self.x = sv.ndarray(sv.f32, size)

    @sv.kernel
    def advance(self, by: sv.f32 = 1):
        """Add something."""
        for i in self.x:
            self.x[i] += by

    @sv.kernel
    def clear(self):
        for i in self.x:
            self.x[i] = 0


def test_it_is_called_like_a_method():
    solver = Solver()
    step = solver.advance
    step(2)
    step(by=3)
    step()
    assert solver.x[3] == 6
    assert list(map(step, [1.0, 2.0])) == [None, None]
    assert solver.x[0] == 9
    step(*[1])
    assert solver.x[0] == 10


def test_arguments_that_do_not_fit():
    with pytest.raises(sv.SamovarTypeError, match="takes 2 arguments but 3 were given"):
        Solver().advance(1, 2)
    with pytest.raises(sv.SamovarTypeError, match="unexpected keyword argument 'bye'"):
        Solver().advance(bye=2)


def test_what_it_offers_is_for_its_object():
    @sv.data_oriented
    class Own:
        def __init__(self, dtype):
            self.x = sv.ndarray(dtype, 3)

        @sv.kernel
        def fill(self, value: sv.i32):
            for i in self.x:
                self.x[i] = value

        @sv.kernel
        def clear(self):
            for i in self.x:
                self.x[i] = 0

    single, double = Own(sv.f32), Own(sv.f64)
    assert single.fill.precompile(sv.i32) == 1
    assert single.fill.precompile(3) == 0
    assert double.fill.precompile(value=3) == 1
    assert "f64" in double.fill.inspect("arguments", 3)
    assert "f32" in single.fill.inspect("arguments", value=3)
    assert "f64" in double.clear.inspect("arguments")
    assert "f32" in single.clear.inspect("arguments")
    single.fill(1)
    assert "f32" in double.fill.inspect("arguments")  # what was launched last: there is no value to inspect it for
    assert single.fill.cache_observations is Own.fill.cache_observations
    assert "was compiled" in single.fill.explain()
    with pytest.raises(TypeError, match="needs a stage"):
        single.fill.inspect()
    with pytest.raises(sv.SamovarTypeError, match="no checkpoints"):
        single.fill.resume(1, from_checkpoint=2)


def test_sv_precompile_takes_it():
    @sv.data_oriented
    class Own:
        def __init__(self):
            self.x = sv.ndarray(sv.f32, 3)

        @sv.kernel
        def fill(self, value: sv.i32):
            for i in self.x:
                self.x[i] = value * 17 + 3

    assert sv.precompile([(Own().fill, 3)]) == 1


def test_as_an_object():
    solver = Solver()
    step = solver.advance
    assert step.__self__ is solver
    assert step.__func__ is Solver.advance
    assert step.__name__ == "advance"
    assert step.__doc__ == "Add something."
    assert step.__qualname__ == "Solver.advance"
    assert step.__wrapped__ is Solver.advance.__wrapped__
    assert list(inspect.signature(step).parameters) == ["by"]
    assert "Solver.advance of <" in repr(step)
    assert callable(step)
    assert not hasattr(step, "nothing")
    with pytest.raises(AttributeError):
        step.nothing = 1


def test_two_of_one_object_are_equal():
    solver, other = Solver(), Solver()
    assert solver.advance == solver.advance
    assert hash(solver.advance) == hash(solver.advance)
    assert solver.advance != solver.clear
    assert solver.advance != other.advance
    assert solver.advance != 3


class Plain:
    @sv.kernel
    def nothing(self):
        pass


def test_it_is_pickled_as_an_attribute():
    assert pickle.loads(pickle.dumps(Plain().nothing)).__func__ is Plain.nothing


def test_a_cycle_through_it_is_collected():
    solver = Solver()
    solver.kept = solver.advance
    gone = weakref.ref(solver)
    assert weakref.ref(solver.kept)() is solver.kept
    del solver
    gc.collect()
    assert gone() is None
