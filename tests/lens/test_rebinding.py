"""Members that are bound to other objects between launches: the next launch sees it, at any depth."""

import dataclasses
import gc
import os
import weakref

import numpy as np
import pytest

import samovar as sv


@dataclasses.dataclass
class Inner:
    a: object


@dataclasses.dataclass
class Middle:
    inner: Inner


@sv.data_oriented
class World:
    def __init__(self):
        self.middle = Middle(Inner(np.zeros(4, np.float32)))
        self.parts = [Inner(np.zeros(4, np.float32))]

    @sv.kernel
    def step(self):
        for i in self.middle.inner.a:
            self.middle.inner.a[i] += 1
        for i in self.parts[0].a:
            self.parts[0].a[i] += 2


ARRAYS = {
    "same shape": lambda: np.zeros(4, np.float32),
    "other size": lambda: np.zeros(7, np.float32),
    "other dtype": lambda: np.zeros(4, np.int64),
    "strided": lambda: np.zeros(8, np.float32)[::2],
    "of our own": lambda: sv.ndarray(sv.f32, 4),
}


def total(array):
    return float(np.asarray(array if isinstance(array, np.ndarray) else array.to_numpy()).sum())


@pytest.mark.parametrize("what", ARRAYS)
def test_an_array_at_any_depth(what):
    world = World()
    world.step()
    world.middle.inner.a = first = ARRAYS[what]()
    world.parts[0].a = second = ARRAYS[what]()
    world.step()
    assert (total(first), total(second)) == (len(first), 2 * len(first))
    world.middle.inner = Inner(ARRAYS[what]())
    world.parts = [Inner(ARRAYS[what]())]
    world.step()
    assert (total(world.middle.inner.a), total(world.parts[0].a)) == (len(first), 2 * len(first))
    assert (total(first), total(second)) == (len(first), 2 * len(first))


def test_another_rank():
    @sv.kernel
    def fill(m: Middle):
        for index in sv.grouped(m.inner.a):
            m.inner.a[index] += 1.0

    m = Middle(Inner(np.zeros(4, np.float32)))
    fill(m)
    m.inner.a = np.zeros((2, 3), np.float32)
    fill(m)
    assert total(m.inner.a) == 6
    m.inner.a = np.zeros((), np.float32)
    fill(m)
    assert total(m.inner.a) == 1


def test_the_old_array_freed_first_so_that_the_new_one_may_be_at_its_address():
    world = World()
    world.step()
    addresses = set()
    for number in range(50):
        world.middle.inner.a = None
        world.middle.inner.a = sv.ndarray(sv.f32 if number % 2 else sv.f64, 4)
        addresses.add(id(world.middle.inner.a))
        world.step()
        assert total(world.middle.inner.a) == 4
    assert len(addresses) < 50 or "PYTHONMALLOC" in os.environ  # a debugging allocator gives no address twice


def test_no_array_is_kept_alive():
    @dataclasses.dataclass(slots=True)
    class Slots:
        a: object

    @sv.kernel
    def fill(s: Slots):
        s.a[0] = 1.0

    array = sv.ndarray(sv.f32, 4)
    there = weakref.ref(array)
    fill(Slots(array))
    del array
    gc.collect()
    assert there() is None


def test_no_object_is_kept_alive():
    world = World()
    world.step()
    there = weakref.ref(world)
    del world
    gc.collect()
    assert there() is None


def test_an_array_with_a_gradient_after_one_without():
    @sv.kernel
    def read(m: Middle) -> sv.f32:
        return m.inner.a[0]

    m = Middle(Inner(sv.ndarray(sv.f32, 2)))
    assert read(m) == 0
    before = len(read.specializations)
    m.inner.a = sv.ndarray(sv.f32, 2, needs_grad=True)
    m.inner.a[0] = 5.0
    assert read(m) == 5
    assert len(read.specializations) == before + 1


def test_an_object_of_another_class_with_the_same_attributes():
    class Other:
        def __init__(self, a):
            self.a = a

    world = World()
    world.step()
    world.middle.inner = Other(np.zeros(4, np.float32))
    world.step()
    assert total(world.middle.inner.a) == 4


def test_a_member_deleted_at_depth_is_named():
    world = World()
    world.step()
    del world.middle.inner.a
    with pytest.raises(sv.SamovarCompilationError, match=r"`self\.middle\.inner` .*has no attribute `a`"):
        world.step()
    world.middle.inner.a = np.zeros(4, np.float32)
    world.step()
    assert total(world.middle.inner.a) == 4
