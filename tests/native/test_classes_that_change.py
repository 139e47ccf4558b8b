"""What native code remembers of a class holds for one state of it, whatever number the interpreter gives to that."""

import ctypes
import sys

import pytest
from image_from_c import EMPTY

from samovar._native import FingerprintPlans, Image, Kernel, Specialization, f64, fingerprint_fold, is_tensor_type

IMAGE = Image.from_flat(EMPTY)


def reader():
    """A kernel that reads `x` of its argument and returns it."""
    program = [("parameter", 0, 0), ("attribute", 1, 0, "x"), ("scalar", 1, f64, 0, "x")]
    made = Specialization(IMAGE, program, 2, 8, results=("scalar", f64, 0))
    return Kernel(lambda owner: None, ("owner",), {}, lambda kernel, arguments: made)


def number_of(cls):
    """The number of the state that a class is in, where the interpreter keeps it on 64-bit Linux."""
    return ctypes.c_uint32.from_address(id(cls) + 384).value


def let_begin_again(cls, change):
    """Let the interpreter count again, change a class, and bring it to the number that it had."""
    before = number_of(cls)
    sys._clear_type_cache()
    change()
    for _ in range(100_000):
        other = type("Other", (), {})
        getattr(other, "x", None)
        if number_of(other) == before - 1:
            break
    getattr(cls, "x", None)
    assert number_of(cls) == before


begins_again = pytest.mark.skipif(sys.version_info >= (3, 11), reason="only 3.10 gives a number twice")


@begins_again
def test_a_class_that_becomes_an_array_with_the_number_that_it_had():
    class Owner:
        x = 1

    assert Owner.x == 1
    assert not is_tensor_type(Owner)
    let_begin_again(Owner, lambda: setattr(Owner, "__dlpack__", lambda self: None))
    assert is_tensor_type(Owner)


@begins_again
def test_an_attribute_that_becomes_a_property_with_the_number_that_it_had():
    class Owner:
        pass

    read, owner = reader(), Owner()
    owner.x = 1.0
    assert [read(owner), read(owner)] == [1, 1]
    let_begin_again(Owner, lambda: setattr(Owner, "x", property(lambda self: 2.0)))
    assert read(owner) == 2


def test_the_numbers_are_forgotten_again_and_again():
    class Owner:
        pass

    read, owner = reader(), Owner()
    owner.x = 0.0
    for number in range(5):
        assert read(owner) == number
        sys._clear_type_cache()
        Owner.x = property(lambda self, number=number: number + 1.0)


@pytest.mark.parametrize("change", ["the class of the class attribute", "the class attribute's class to another one"])
def test_a_class_attribute_that_becomes_a_data_descriptor(change):
    class Mark:
        pass

    class Descriptor:
        def __get__(self, instance, owner):
            return 7.0

        def __set__(self, instance, value):
            raise AttributeError

    class Owner:
        x = Mark()

    read, owner = reader(), Owner()
    owner.x = 1.0
    assert [read(owner) for _ in range(3)] == [1, 1, 1]
    if change == "the class of the class attribute":
        Mark.__get__ = Descriptor.__get__
        Mark.__set__ = Descriptor.__set__
    else:
        Owner.x.__class__ = Descriptor
    assert owner.x == 7.0
    assert read(owner) == 7


def test_a_class_that_gets_its_own_way_of_reading_attributes():
    class Owner:
        def __init__(self):
            self.x = 1.0

    read, owner = reader(), Owner()
    assert [read(owner) for _ in range(3)] == [1, 1, 1]
    Owner.__getattr__ = lambda self, name: 5.0
    assert read(owner) == 1
    del owner.x
    assert read(owner) == 5
    Owner.__getattribute__ = lambda self, name: 6.0
    assert read(owner) == 6
    del Owner.__getattribute__
    owner.x = 2.0
    assert read(owner) == 2


def test_a_slot_that_is_empty_is_asked_of_getattr():
    class Owner:
        __slots__ = ("x",)

        def __getattr__(self, name):
            return 3.0

    read, owner = reader(), Owner()
    assert [read(owner), read(owner)] == [3, 3]
    owner.x = 1.0
    assert read(owner) == 1


def test_a_name_of_a_class_that_changes_the_object_while_it_is_looked_up():
    """Names in a class may be of a class derived from str, and compare in Python."""

    class Name(str):
        armed = False

        def __hash__(self):
            return hash("x")

        def __eq__(self, other):
            if Name.armed:
                Name.armed = False
                owner.__class__ = Other
            return False

    class Other:
        @property
        def x(self):
            return 5.0

    Owner = type("Owner", (), {Name("z"): None})
    read, owner = reader(), Owner()
    vars(owner)["x"] = 1.0  # nobody has looked the name up in the class yet
    Name.armed = True
    assert read(owner) in (1, 5)
    assert not Name.armed
    assert read(owner) == 5


def test_a_class_is_planned_once_for_all_fingerprints():
    planned = []

    class Level:
        pass

    def planner(cls):
        planned.append(cls)
        return {int: 3, str: 6, list: 9, dict: 10}[cls]

    plans = FingerprintPlans(planner, True, Level, Level, Level)
    for _ in range(10):
        fingerprint_fold({"a": [1, 2, "x"]}, plans)
    assert sorted(cls.__name__ for cls in planned) == ["dict", "int", "list", "str"]
