"""Objects are looked at without harm: hostile classes, cycles, side effects, instances that differ."""

import dataclasses
import gc
import warnings
import weakref

import numpy as np
import pytest

import samovar as sv


class RecursingMeta(type):
    """As pydantic's: asking a class for an attribute that it lacks never comes back."""

    def __getattr__(cls, name):
        return getattr(cls, name + "_")

    def __instancecheck__(cls, instance):
        raise RuntimeError("isinstance was asked")

    def __subclasscheck__(cls, subclass):
        raise RuntimeError("issubclass was asked")

    def __eq__(cls, other):
        raise RuntimeError("classes were compared")

    __hash__ = None


class Hostile(metaclass=RecursingMeta):
    def __init__(self):
        self.value = np.full(2, 5, np.float32)
        self.number = 3


def test_an_object_with_a_recursing_metaclass_is_read_through():
    @sv.kernel
    def total(h: sv.Template) -> sv.f32:
        return h.value[0] * h.number

    assert total(Hostile()) == 15


def test_as_a_member_read_and_unread():
    @sv.data_oriented
    class Holder:
        def __init__(self):
            self.child = Hostile()
            self.x = np.zeros(2, np.float32)

        @sv.kernel
        def reads(self):
            self.x[0] += self.child.value[0]

        @sv.kernel
        def does_not(self):
            self.x[0] += 1.0

    holder = Holder()
    holder.reads()
    holder.does_not()
    assert holder.x[0] == 6


def test_a_data_oriented_class_and_a_dataclass_with_such_a_metaclass():
    @sv.data_oriented
    class Oriented(metaclass=RecursingMeta):
        def __init__(self):
            self.n = 4

        @sv.kernel
        def get(self) -> sv.i32:
            return self.n

    fields = type(dataclasses.make_dataclass("Fields", [("n", int)]))
    assert fields is type
    assert Oriented().get() == 4


def test_classes_that_lie_about_themselves():
    class Liar:
        def __init__(self, x):
            self.x = x

        @property
        def __class__(self):
            return int

    @sv.kernel
    def get(liar: sv.Template) -> sv.f32:
        return liar.x[0]

    assert get(Liar(np.ones(1, np.float32))) == 1


def test_cycles():
    @sv.data_oriented
    class Node:
        def __init__(self, value):
            self.value = np.full(2, value, np.float32)
            self.next = None

        @sv.kernel
        def total(self) -> sv.f32:
            return self.value[0] + self.next.value[0] * 10.0 + self.next.next.value[0] * 100.0

    one, two = Node(1), Node(2)
    one.next, two.next = two, one
    assert one.total() == 121
    assert two.total() == 212
    one.next = one
    assert one.total() == 111


def test_the_same_array_through_a_cycle_is_seen_to_overlap():
    @sv.data_oriented
    class Node:
        def __init__(self):
            self.x = np.zeros(64, np.float32)
            self.twin = self

        @sv.kernel
        def shift(self):
            sv.loop_config(serialize=True)
            for i in range(63):
                self.x[i + 1] = self.twin.x[i] + 1.0

    node, other = Node(), Node()
    node.shift()
    assert node.x[63] == 63
    node.twin = other
    node.shift()
    assert node.x[63] == 1


def test_properties_with_side_effects_run_only_if_read_and_once_per_launch():
    @sv.data_oriented
    class Counting:
        def __init__(self):
            self.counts = {"read": 0, "unread": 0}
            self.x = np.zeros(2, np.float32)

        @property
        def read(self):
            self.counts["read"] += 1
            return self.x

        @property
        def unread(self):
            self.counts["unread"] += 1
            return self.x

        @sv.kernel
        def run(self):
            for i in self.read:
                self.read[i] += 1.0

    counting = Counting()
    counting.run()
    counting.run()
    before = counting.counts["read"]
    for _ in range(10):
        counting.run()
    assert counting.counts == {"read": before + 10, "unread": 0}
    assert counting.x.tolist() == [12, 12]


def test_a_property_that_raises():
    @sv.data_oriented
    class Failing:
        @property
        def x(self):
            raise ValueError("not ready")

        @sv.kernel
        def run(self) -> sv.f32:
            return self.x[0]

    with pytest.raises(sv.SamovarCompilationError, match=r"self: reading x of a .*Failing raised ValueError: not ready"):
        Failing().run()


def test_descriptors():
    class Scaled:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner):
            return self if instance is None else getattr(instance, self.name) * 2

        def __set__(self, instance, value):
            setattr(instance, self.name, value)

    @sv.data_oriented(template_primitives=False)
    class Described:
        x = Scaled()

        def __init__(self, x):
            self.x = x

        @sv.kernel
        def get(self) -> sv.i32:
            return self.x

    described = Described(4)
    assert described.get() == 8
    described.x = 5
    assert described.get() == 10
    assert len(Described.get.specializations) == 1


def test_attributes_that_appear_out_of_nowhere():
    @sv.data_oriented
    class Lazy:
        def __init__(self):
            self.made = {}

        def __getattr__(self, name):
            if name.startswith("array_"):
                return self.__dict__["made"].setdefault(name, np.zeros(2, np.float32))
            raise AttributeError(name)

        @sv.kernel
        def run(self):
            self.array_one[0] += 1.0
            self.array_two[0] += 2.0

    lazy = Lazy()
    lazy.run()
    lazy.run()
    assert (lazy.made["array_one"][0], lazy.made["array_two"][0]) == (2, 4)


@sv.data_oriented
class Manager:
    """As in the diary: some instances have a cache, others do not."""

    def __init__(self, with_cache):
        self.x = np.zeros(2, np.float32)
        if with_cache:
            self.cache = np.full(2, 10, np.float32)
        self.with_cache = with_cache


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_instances_of_one_class_with_different_attributes_in_both_orders(order):
    @sv.kernel
    def run(m: sv.Template):
        m.x[0] += 1.0
        if sv.static(m.with_cache):
            m.x[0] += m.cache[0]

    managers = {with_cache: Manager(with_cache) for with_cache in order}
    for _ in range(2):
        for with_cache in order:
            run(managers[with_cache])
    assert (managers[True].x[0], managers[False].x[0]) == (22, 2)
    managers[True].cache = np.full(2, 100, np.float32)
    run(managers[True])
    assert managers[True].x[0] == 123


def test_an_attribute_that_is_asked_for_and_absent():
    @sv.kernel
    def run(m: sv.Template) -> sv.f32:
        if sv.static(hasattr(m, "cache")):
            return m.cache[0]
        return -1.0

    with_cache, without = Manager(True), Manager(False)
    assert [run(with_cache), run(without), run(with_cache)] == [10, -1, 10]


@sv.data_oriented
class Configured:
    def __init__(self, size):
        self.size = size

    def substeps(self):
        return self.size * 2

    @sv.kernel
    def through_a_method(self) -> sv.i32:
        return sv.static(self.substeps())

    @sv.kernel
    def through_a_function(self) -> sv.i32:
        return sv.static(substeps_of(self))


def substeps_of(configured):
    return configured.size * 3


def test_what_plain_python_code_makes_of_an_instance_is_not_used_for_another_one():
    two, five = Configured(2), Configured(5)
    for _ in range(2):
        assert [two.through_a_method(), five.through_a_method()] == [4, 10]
        assert [two.through_a_function(), five.through_a_function()] == [6, 15]
    assert Configured.through_a_method.specializations[0].keep.trace.opaque == []


def test_an_instance_that_plain_python_code_has_seen_is_not_kept_alive():
    configured = Configured(3)
    assert configured.through_a_method() == 6
    there = weakref.ref(configured)
    del configured
    gc.collect()
    assert there() is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.SamovarWarning)
        assert [Configured(size).through_a_method() for size in range(40)] == [size * 2 for size in range(40)]


def test_a_member_that_is_an_array_in_one_instance_and_a_number_in_another():
    @sv.data_oriented
    class Either:
        def __init__(self, value):
            self.value = value

        @sv.func
        def at(self, i):
            return self.value[i]

    @sv.kernel
    def scaled(one: sv.Template, x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            if sv.static(is_number(one.value)):
                x[i] = one.value
            else:
                x[i] = one.at(i)

    x = np.zeros(2, np.float32)
    array, number = Either(np.array([1, 2], np.float32)), Either(7.0)
    for _ in range(2):
        scaled(array, x)
        assert x.tolist() == [1, 2]
        scaled(number, x)
        assert x.tolist() == [7, 7]
    number.value = np.array([3, 4], np.float32)
    scaled(number, x)
    assert x.tolist() == [3, 4]


def is_number(value):
    return isinstance(value, float)


def test_kernels_and_funcs_found_as_attributes_are_not_data():
    @sv.data_oriented
    class Holder:
        def __init__(self):
            self.x = np.zeros(1, np.float32)
            self.bound = self.run  # what a cache of bound methods would leave behind

        @sv.kernel
        def run(self):
            self.x[0] += 1.0

    holder = Holder()
    holder.run()
    holder.bound()
    assert holder.x[0] == 2
    assert len(Holder.run.specializations) == 1


def test_launches_write_nothing_into_objects():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        x: object
        n: int = 2

    @sv.kernel
    def run(f: Frozen):
        f.x[0] += f.n

    frozen = Frozen(np.zeros(1, np.float32))
    before = dict(vars(frozen))
    for _ in range(5):
        run(frozen)
    assert vars(frozen) == before
    assert list(vars(type(frozen))) == list(vars(Frozen))
