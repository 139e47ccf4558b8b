"""Recorded launches: calls that are kept and replayed in one entry, and what happens when their world changes."""

import gc
import threading
import weakref

import numpy as np
import pytest

import samovar as sv

Numbers = sv.types.NDArray[sv.f32, 1]
FACTOR = 2.0


@sv.kernel
def add(x: Numbers, value: sv.f32):
    for i in x:
        x[i] += value


@sv.kernel
def copy(x: Numbers, y: sv.types.NDArray[None, 1]):
    for i in range(x.shape[0]):
        y[i] = sv.cast(x[i], y.dtype)


@sv.kernel
def scale(x: Numbers):
    for i in x:
        x[i] *= FACTOR


def array(size=4, value=0.0):
    made = sv.ndarray(sv.f32, size)
    made.fill(value)
    return made


def test_calls_are_recorded_and_replayed_in_order():
    x, y = array(), array()
    with sv.graph.record() as step:
        add(x, 1)
        copy(x, y)
        add(x, value=2)
    assert (x[0], len(step)) == (0, 3)
    step()
    assert (x[3], y[3]) == (3, 1)
    step()
    assert (x[3], y[3]) == (6, 4)
    add(x, 1)  # nothing is recorded any more
    assert x[0] == 7


def test_what_is_recorded_is_compiled():
    @sv.kernel
    def fresh(x: Numbers):
        for i in x:
            x[i] = 41

    x = array()
    before = sv.compile_count()
    with sv.graph.record() as step:
        fresh(x)
    assert sv.compile_count() == before + 1
    step()
    assert sv.compile_count() == before + 1
    assert x[0] == 41
    with pytest.raises(sv.SamovarTypeError, match="expected an array"), sv.graph.record():
        fresh(3)


def test_another_array():
    x, y, other = array(), array(), array(8)
    with sv.graph.record() as step:
        add(x, 1)
        copy(x, y)
    step()
    longer = array(8)
    step.replace(x, other)
    step.replace(y, longer)
    step()
    step()
    assert (x[0], y[0], other[7], longer[7]) == (1, 1, 2, 2)
    with pytest.raises(sv.SamovarTypeError, match="no call of the step was recorded with this argument"):
        step.replace(x, other)


def test_an_array_of_another_type_is_looked_up_anew():
    x, y = array(value=2.5), array()
    with sv.graph.record() as step:
        copy(x, y)
    step()
    whole = sv.ndarray(sv.i32, 4)
    step.replace(y, whole)
    step()
    assert (y[0], whole[0]) == (2.5, 2)
    step.replace(whole, 3)
    with pytest.raises(sv.SamovarTypeError, match="expected an array"):
        step()


def test_arrays_of_other_libraries():
    x, y = np.zeros(4, np.float32), array()
    with sv.graph.record() as step:
        add(x, 1)
        copy(x, y)
    step()
    step()
    assert (x[0], y[3]) == (2, 2)


def test_a_captured_value_that_changes():
    global FACTOR
    x = array(value=1)
    with sv.graph.record() as step:
        scale(x)
    step()
    assert x[0] == 2
    FACTOR = 10.0
    try:
        step()
        assert x[0] == 20
    finally:
        FACTOR = 2.0


@sv.data_oriented
class Solver:
    def __init__(self):
        self.x = array()
        self.by = 1.0

    @sv.kernel
    def advance(self, times: sv.i32):
        for i in self.x:
            self.x[i] += self.by * times


@pytest.mark.parametrize("stable", [False, True])
def test_members(stable):
    class Mine(Solver):
        pass

    solver = (sv.data_oriented(stable_members=True) if stable else sv.data_oriented)(Mine)()
    with sv.graph.record() as step:
        solver.advance(2)
    step()
    assert solver.x[0] == 2
    if not stable:
        solver.x, solver.by = array(9), 3.0
        step()
        assert solver.x[8] == 6


def test_options_that_change():
    x = array()
    with sv.graph.record() as step:
        add(x, 1)
    step()
    sv.init(debug=True)
    try:
        step()
        assert x[0] == 2
    finally:
        sv.reset()
    step()
    assert x[0] == 3


def test_graphs_are_recorded_too():
    @sv.kernel(graph=True)
    def count(x: sv.types.NDArray[sv.i32, 1], more: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(more):
            for _ in range(1):
                x[0] += 1
                more[None] = sv.i32(x[0] % 5 != 0)

    x, more = sv.ndarray(sv.i32, 1), sv.ndarray(sv.i32, ())
    with sv.graph.record() as step:
        count(x, more)
        count(x, more)
    step()
    assert x[0] == 10


def test_large_launches_and_prints(capfd):
    @sv.kernel
    def say(x: Numbers):
        for _ in range(1):
            print("first", x[0])

    x = array(300_000)
    with sv.graph.record() as step:
        for _ in range(20):
            add(x, 1)
        say(x)
    step()
    step()
    assert (x.to_numpy() == 40).all()
    assert capfd.readouterr().out == "first 20.0\nfirst 40.0\n"


def test_large_launches_that_name_nothing():
    """They release the GIL, and nothing but the end of the step takes it back."""

    @sv.kernel
    def count(x: Numbers):
        for i in x:
            x[i] += 1

    x = array(3_000_000)
    with sv.graph.record() as step:
        count(x)
    for _ in range(3):
        step()
    assert (x.to_numpy() == 3).all()


def test_a_failure_ends_the_replay():
    sv.init(debug=True)
    try:

        @sv.kernel
        def check(x: Numbers):
            for i in range(3):
                assert x[i] < 2, "too much"

        x = array()
        with sv.graph.record() as step:
            add(x, 1)
            check(x)
            add(x, 10)
        step()
        assert x[0] == 11
        with pytest.raises(sv.SamovarAssertionError, match="too much"):
            step()
        assert x[0] == 12
    finally:
        sv.reset()


def test_what_cannot_be_recorded():
    @sv.kernel
    def total(x: Numbers) -> sv.f32:
        return x[0]

    @sv.kernel(graph=True, checkpoints=True)
    def yields(x: Numbers, stop: sv.types.NDArray[sv.i32, 0]):
        with sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] += 1

    x, stop = array(), sv.ndarray(sv.i32, ())
    with sv.graph.record() as step:
        with pytest.raises(sv.SamovarTypeError, match="total returns a value and cannot be recorded"):
            total(x)
        with pytest.raises(sv.SamovarTypeError, match="cannot be recorded"):
            yields(x, stop)
        with pytest.raises(RuntimeError, match="cannot be recorded"):
            yields.resume(x, stop, from_checkpoint=1)
        with pytest.raises(sv.SamovarRuntimeError, match="a recording is already in progress"):
            sv.graph.record().__enter__()
        with pytest.raises(sv.SamovarRuntimeError, match="while it is recorded"):
            step()
    assert len(step) == 0
    step()
    with pytest.raises(sv.SamovarTypeError, match="takes no arguments"):
        step(x)


def test_other_threads_launch_meanwhile():
    x, y = array(), array()
    with sv.graph.record() as step:
        add(x, 1)
        thread = threading.Thread(target=lambda: add(y, 1))
        thread.start()
        thread.join()
    assert (len(step), x[0], y[0]) == (1, 0, 1)


def test_an_exception_ends_the_recording():
    x = array()
    with pytest.raises(ZeroDivisionError), sv.graph.record():
        add(x, 1 / 0)
    add(x, 1)
    assert x[0] == 1


def test_a_step_keeps_its_arguments_and_goes_with_them():
    x = array()
    with sv.graph.record() as step:
        add(x, 1)
    gone = weakref.ref(step)
    assert repr(step) == "<samovar step of 1 calls>"
    del x
    step()
    del step
    gc.collect()
    assert gone() is None


def test_options_that_change_are_seen_by_a_step():
    """Setting them clears its kernels: what was prepared for the old ones does not run."""

    @sv.kernel
    def grow(x: sv.types.NDArray[sv.i32, 1], n: sv.i32):
        for i in range(n):
            x[i] += 2_000_000_000

    x = sv.ones(4, sv.i32)
    with sv.graph.record() as step:
        grow(x, 4)
    step()
    assert x.tolist() == [2_000_000_001] * 4
    sv.init(debug=True)
    with pytest.raises(sv.SamovarRuntimeError, match="does not fit in i32"):
        step()
    sv.init()
    x.fill(1)
    step()
    assert x.tolist() == [2_000_000_001] * 4


def test_a_kernel_that_was_cleared_is_looked_up_again():
    @sv.kernel
    def once(x: Numbers):
        for i in x:
            x[i] += 1

    x = array()
    with sv.graph.record() as step:
        once(x)
    step()
    lookups = once.cache_observations.lookups
    once.clear()
    step()
    assert (x[0], once.cache_observations.lookups) == (2, lookups + 1)
