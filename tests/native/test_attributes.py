"""Attribute loads of guard programs find what `getattr` finds, however often and in whatever order objects come."""

import gc
import sys
import weakref

import pytest
from image_from_c import EMPTY

from samovar._native import Image, Kernel, Specialization, f64

IMAGE = Image.from_flat(EMPTY)


def reader(name="x", stable=False):
    """A kernel that reads an attribute of its argument and returns it; a miss is an AttributeError."""
    program = [("parameter", 0, 0), ("attribute", 1, 0, name), ("scalar", 1, f64, 0, name)]
    if stable:
        program.insert(1, ("stable", 0, True))
    made = []

    def resolve(kernel, arguments):
        if made:
            raise AttributeError(name)
        made.append(kernel)
        return Specialization(IMAGE, program, 2, 8, results=("scalar", f64, 0))

    def function(owner):
        pass

    return Kernel(function, ("owner",), {}, resolve)


class Plain:
    def __init__(self, x):
        self.other = 0
        self.x = x


class Slots:
    __slots__ = ("other", "x")

    def __init__(self, x):
        self.x = x


class Big:
    def __init__(self, x):
        for number in range(60):
            setattr(self, f"field{number}", number)
        self.x = x


class Property:
    def __init__(self, x):
        self.hidden = x
        self.__dict__["x"] = -1.0

    @property
    def x(self):
        return self.hidden


class Hook:
    def __init__(self, x):
        self.hidden = x

    def __getattr__(self, name):
        if name == "x":
            return self.hidden
        raise AttributeError(name)


class Override:
    def __init__(self, x):
        self.hidden = x

    def __getattribute__(self, name):
        return object.__getattribute__(self, "hidden" if name == "x" else name)


CLASSES = [Plain, Slots, Big, Property, Hook, Override]


@pytest.mark.parametrize("cls", CLASSES)
def test_one_object_again_and_again(cls):
    read, owner = reader(), cls(1.5)
    assert [read(owner) for _ in range(5)] == [1.5] * 5


@pytest.mark.parametrize("cls", CLASSES)
def test_temporary_objects_between_launches_of_another(cls):
    read, owner = reader(), cls(1.5)
    for number in range(50):
        assert read(cls(float(number))) == number
        assert read(owner) == 1.5


@pytest.mark.parametrize("cls", CLASSES)
def test_objects_by_turns(cls):
    read, owners = reader(), [cls(float(number)) for number in range(20)]
    for _ in range(3):
        assert [read(owner) for owner in owners] == list(range(20))


def test_objects_of_many_classes_by_turns():
    read, owners = reader(), [cls(float(number)) for number, cls in enumerate(CLASSES)]
    for _ in range(5):
        assert [read(owner) for owner in owners] == list(range(len(CLASSES)))


def test_instances_that_have_it_in_different_places():
    read, owners = reader(), []
    for number in range(40):
        owner = Plain.__new__(Plain)
        for before in range(number):
            setattr(owner, f"before{before}", None)
        owner.x = float(number)
        owners.append(owner)
    for _ in range(3):
        assert [read(owner) for owner in owners] == list(range(40))


def test_a_class_attribute_and_an_instance_that_shadows_it():
    class Owner:
        x = 7.0

    read, owner = reader(), Owner()
    assert read(owner) == 7
    owner.x = 8.0
    assert read(owner) == 8
    del owner.x
    assert read(owner) == 7
    Owner.x = 9.0
    assert read(owner) == 9


def test_a_property_that_appears_and_goes():
    class Owner:
        pass

    read, owner = reader(), Owner()
    owner.x = 1.0
    assert [read(owner), read(owner)] == [1, 1]
    Owner.x = property(lambda self: 42.0)
    assert read(owner) == 42
    del Owner.x
    assert read(owner) == 1


def test_a_new_class_of_an_object():
    class Other:
        @property
        def x(self):
            return 5.0

    read, owner = reader(), Plain(1.0)
    assert [read(owner), read(owner)] == [1, 1]
    owner.__class__ = Other
    assert read(owner) == 5


def test_a_new_dictionary_of_an_object():
    read, owner = reader(), Plain(1.0)
    assert [read(owner), read(owner)] == [1, 1]
    owner.__dict__ = {"first": None, "x": 3.0}
    assert [read(owner), read(owner)] == [3, 3]


@pytest.mark.parametrize("cls", [Plain, Slots, Big])
def test_an_attribute_that_is_deleted_is_absent(cls):
    read, owner = reader(), cls(1.0)
    read(owner), read(owner)
    del owner.x
    with pytest.raises(AttributeError):
        read(owner)
    owner.x = 2.0
    assert read(owner) == 2


class Key(str):
    """A key with the hash of another one, that runs something when it is compared."""

    def __new__(cls, text, like, run):
        made = super().__new__(cls, text)
        made.hash = hash(like)
        made.run = run
        return made

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        self.run()
        return False


@pytest.mark.parametrize("guard", ["attribute", "method"])
def test_an_instance_that_gets_another_dictionary_while_a_name_is_looked_up(guard):
    """The lookup goes on in the old dictionary, which must not be freed under it."""

    def forget():
        if owner is not None and armed:
            armed.clear()
            full = [{} for _ in range(200)]
            del full  # the interpreter keeps no more dictionaries for later: the old one is freed
            owner.__dict__ = {"x": 2.0}

    def func(self):
        pass

    class Owner:
        method = func

    program = [("parameter", 0, 0), ("attribute", 1, 0, "x"), ("scalar", 1, f64, 0, "x")]
    if guard == "method":
        program.insert(1, ("method", 0, "method", func))
    name = "x" if guard == "attribute" else "method"
    made = Specialization(IMAGE, program, 2, 8, results=("scalar", f64, 0))
    read = Kernel(lambda owner: None, ("owner",), {}, lambda kernel, arguments: made)
    for padding in range(12):
        owner, armed = None, []
        one = Owner()
        before = {f"before{number}": number for number in range(padding)}
        one.__dict__ = {Key("z", name, forget): 0, **before, "x": 1.0}
        owner, armed = one, [True]
        assert read(one) in (1, 2)
        assert not armed
        assert read(one) == 2


def test_a_launch_inside_of_a_lookup():
    """The same instruction is run again, on an object of another class, while it looks something up."""

    def launch():
        if nested:
            nested.clear()
            assert read(Slots(7.0)) == 7

    read, nested = reader(), []
    for padding in range(6):
        owner = Plain.__new__(Plain)
        owner.__dict__ = {Key("z", "x", launch): 0, **{f"before{number}": 0 for number in range(padding)}, "x": 1.0}
        nested.append(True)
        assert read(owner) == 1
        assert not nested


def test_references_are_balanced():
    class Number(float):
        pass

    read = reader()
    for cls in CLASSES:
        number = Number(2.5)
        owner = cls(number)
        read(owner), read(owner)
        before = sys.getrefcount(number)
        for _ in range(100):
            read(owner)
        assert sys.getrefcount(number) == before


def test_stable_members_are_read_once_per_object():
    read, first, second = reader(stable=True), Plain(1.5), Plain(9.0)
    assert read(first) == 1.5
    first.x = 3.0  # the promise is broken: what was read first counts
    assert [read(first), read(second), read(first)] == [1.5, 9.0, 1.5]


def test_more_stable_objects_than_are_remembered():
    read, owners = reader(stable=True), [Plain(float(number)) for number in range(10)]
    for _ in range(3):
        assert [read(owner) for owner in owners] == list(range(10))


def test_stable_objects_are_held_until_the_kernel_is_cleared():
    read, owner = reader(stable=True), Plain(1.0)
    read(owner)
    there = weakref.ref(owner)
    del owner
    gc.collect()
    assert there() is not None
    read.clear()
    gc.collect()
    assert there() is None


def test_a_kernel_and_its_stable_object_are_collected_together():
    class Node:
        pass

    read, owner = reader(stable=True), Node()
    owner.x = 1.0
    owner.read = read
    read(owner)
    there = weakref.ref(owner)
    del owner, read
    gc.collect()
    assert there() is None


def test_a_promise_about_a_parameter_that_is_not_loaded_is_refused():
    with pytest.raises(ValueError, match="stable: no such parameter is loaded"):
        Specialization(IMAGE, [("stable", 0, True)], 1, 8)
