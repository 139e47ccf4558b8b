"""`stable_members`: a promise to the launcher, kept for objects that are held, and meaning nothing else."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import samovar as sv


@dataclasses.dataclass
class Data:
    y: object
    gain: float = 1.0


@sv.data_oriented(stable_members=True)
class Stable:
    def __init__(self, start=0.0):
        self.x = sv.ndarray(sv.f32, 4)
        self.x.fill(start)
        self.data = Data(np.zeros(4, np.float32))
        self.n = 2

    @sv.kernel
    def step(self, scale: sv.f32):
        for i in range(self.n):
            self.x[i] += scale
            self.data.y[i] += self.data.gain


def test_launches_see_the_contents_of_arrays_and_their_other_arguments():
    stable = Stable()
    for number in range(5):
        stable.step(float(number))
        stable.x[0] += 100.0
    assert stable.x.to_numpy().tolist() == [510, 10, 0, 0]
    assert stable.data.y.tolist() == [5, 5, 0, 0]


def test_members_are_not_read_again():
    stable = Stable()
    stable.step(1.0)
    first, stable.x = stable.x, sv.ndarray(sv.f32, 4)
    stable.n, stable.data.gain = 4, 7.0
    stable.step(1.0)
    assert first.to_numpy().tolist() == [2, 2, 0, 0]  # what was there at the first launch
    assert stable.x.to_numpy().tolist() == [0] * 4
    assert stable.data.y.tolist() == [2, 2, 0, 0]


def test_each_instance_has_its_own():
    instances = [Stable(float(number)) for number in range(7)]
    for _ in range(3):
        for instance in instances:
            instance.step(1.0)
    assert [instance.x[0] for instance in instances] == [number + 3 for number in range(7)]


def test_an_address_that_is_used_again_is_another_object():
    for number in range(30):
        instance = Stable(float(number))
        instance.step(1.0)
        instance.step(1.0)
        assert instance.x[0] == number + 2
        del instance


def test_another_size_or_type_of_another_instance():
    small, large = Stable(), Stable()
    large.x = np.zeros(100, np.float64)
    large.data.y = np.zeros(100, np.float32)
    large.n = 50
    for _ in range(3):
        small.step(1.0)
        large.step(1.0)
    assert (small.x[0], large.x[49]) == (3, 3)


@pytest.mark.parametrize("name", ["_sv_stable_members", "_qd_stable_members"])
def test_the_attribute_on_the_class_and_subclasses(name):
    class Marked:
        locals()[name] = True

        def __init__(self):
            self.x = sv.ndarray(sv.f32, 1)

        @sv.kernel
        def step(self):
            self.x[0] += 1.0

    class Derived(Marked):
        pass

    class Free(Marked):
        locals()[name] = False

    class FreeByOurName(Marked):
        _sv_stable_members = False

    @sv.data_oriented(stable_members=False)
    class Decorated(Marked):
        locals()[name] = True

    for cls, keeps in ((Marked, True), (Derived, True), (Free, False), (FreeByOurName, False), (Decorated, False)):
        thing = cls()
        thing.step()
        old, thing.x = thing.x, sv.ndarray(sv.f32, 1)
        thing.step()
        assert (old[0], thing.x[0]) == ((2, 0) if keeps else (1, 1)), cls


def test_as_a_template_argument_of_a_free_kernel():
    @sv.kernel
    def total(one: sv.Template, other: sv.Template, factor: sv.f32) -> sv.f32:
        return (one.x[0] + other.x[0]) * factor

    one, other = Stable(1.0), Stable(2.0)
    assert [total(one, other, 1.0), total(one, other, 2.0), total(other, other, 1.0)] == [3, 6, 4]


def test_captured_numbers_are_still_guarded():
    global captured
    captured = 1.0
    stable = Counted()
    stable.step()
    captured = 10.0
    stable.step()
    assert stable.x[0] == 11


captured = 1.0


@sv.data_oriented(stable_members=True)
class Counted:
    def __init__(self):
        self.x = sv.ndarray(sv.f32, 1)

    @sv.kernel
    def step(self):
        self.x[0] += captured


def test_objects_and_arrays_are_held_until_the_kernel_forgets():
    stable = Stable()
    stable.step(1.0)
    there, array = weakref.ref(stable), weakref.ref(stable.x)
    del stable
    gc.collect()
    assert there() is not None
    assert array() is not None
    Stable.step.forget()
    gc.collect()
    assert there() is None
    assert array() is None


def test_arrays_of_other_libraries_are_looked_at_each_time():
    stable = Stable()
    stable.x = np.zeros(4, np.float32)
    stable.step(1.0)
    stable.x.resize(1000, refcheck=False)  # the same object, other memory
    stable.step(1.0)
    assert stable.x[:3].tolist() == [2, 2, 0]


def test_overlap_of_a_stable_array_with_an_argument_is_seen():
    @sv.data_oriented(stable_members=True)
    class Held:
        def __init__(self):
            self.x = np.zeros(64, np.float32)

        @sv.kernel
        def shift(self, source: sv.types.NDArray[sv.f32, 1]):
            sv.loop_config(serialize=True)
            for i in range(63):
                self.x[i + 1] = source[i] + 1.0

    held = Held()
    held.shift(np.zeros(64, np.float32))
    assert held.x[63] == 1
    held.shift(held.x)
    assert held.x[63] == held.x[0] + 63


def test_an_error_in_a_launch_leaves_the_snapshot_right():
    stable = Stable()
    stable.step(1.0)
    with pytest.raises(sv.SamovarTypeError):
        stable.step("no number")
    stable.step(1.0)
    assert stable.x[0] == 2


def test_the_promise_is_that_of_the_object_at_hand_whoever_was_compiled_for():
    """Code is shared between classes with and without it: neither makes new code, and each launch does as its class says."""

    class Free:
        def __init__(self):
            self.x = sv.ndarray(sv.f32, 1)

        @sv.kernel
        def step(self):
            self.x[0] += 1.0

    class Promised(Free):
        _sv_stable_members = True

    class FreeAgain(Promised):
        _sv_stable_members = False

    before = sv.compile_count()
    for cls, keeps in ((Free, False), (Promised, True), (FreeAgain, False), (Promised, True)):
        thing = cls()
        thing.step()
        old, thing.x = thing.x, sv.ndarray(sv.f32, 1)
        thing.step()
        assert (old[0], thing.x[0]) == ((2, 0) if keeps else (1, 1)), cls
    assert sv.compile_count() <= before + 1
