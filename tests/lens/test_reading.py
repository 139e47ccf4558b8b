"""Reading attributes and items: once, by the ordinary protocol, through any object, and without a trace left in it."""

import enum
import types

import numpy as np
import pytest
from looking import again, asked, look

import samovar as sv
from samovar.lens import Kind


class Counting:
    def __init__(self):
        self.calls = 0
        self.unread = object()

    @property
    def size(self):
        self.calls += 1
        return 7

    @property
    def broken(self):
        raise ValueError("out of order")

    def double(self, x):
        return 2 * x


def template(x: sv.Template):
    pass


def test_a_property_is_called_once_in_a_compile():
    value = Counting()
    lens = look(template, x=value)
    for _ in range(3):
        assert lens.parameter("x").attribute("size").value() == 7
    assert value.calls == 1


def test_a_property_that_raises_is_a_compile_error_that_names_the_path():
    with pytest.raises(sv.SamovarCompilationError, match=r"x: reading broken of .*Counting raised ValueError: out of order"):
        look(template, x=Counting()).parameter("x").attribute("broken")


def test_a_missing_attribute_is_absent():
    assert look(template, x=Counting()).parameter("x").attribute("nothing").kind() is Kind.ABSENT


def test_only_what_is_read_is_asked():
    lens = look(template, x=Counting())
    lens.parameter("x").attribute("size").value()
    assert asked(lens) == [("x.size", "kind"), ("x.size", "value")]


def test_nothing_is_written_into_user_objects():
    value = Counting()
    before = dict(vars(value))
    lens = look(template, x=value)
    ref = lens.parameter("x")
    ref.kind()
    ref.attribute("nothing").kind()
    ref.attribute("double").call((3,), {})
    assert vars(value) == before


class Forbidding(type):
    def __getattribute__(cls, name):
        raise AssertionError(f"{name} was read through the metaclass")

    def __instancecheck__(cls, instance):
        raise AssertionError("isinstance asked the metaclass")


class Base:
    inherited = 5

    @staticmethod
    def static():
        return 6


class Guarded(Base, metaclass=Forbidding):
    own = 4


def test_a_class_is_never_read_through_its_metaclass():
    ref = look(template, x=Guarded).parameter("x")
    assert ref.attribute("own").value() == 4
    assert ref.attribute("inherited").value() == 5
    assert ref.attribute("static").call((), {}).value() == 6
    assert ref.attribute("missing").kind() is Kind.ABSENT


def test_an_instance_of_a_guarded_class_is_an_object():
    ref = look(template, x=object.__new__(Guarded)).parameter("x")
    assert ref.kind() is Kind.OBJECT
    assert ref.attribute("own").value() == 4


class Liar:
    @property
    def __class__(self):
        return int


def test_an_object_that_lies_about_its_class_is_an_object():
    assert look(template, x=Liar()).parameter("x").kind() is Kind.OBJECT


class Color(enum.Enum):
    RED = 1


def test_enum_members_are_found_on_their_class():
    assert look(template, x=Color).parameter("x").attribute("RED").value().name == "RED"


def test_objects_may_form_cycles():
    first, second = types.SimpleNamespace(), types.SimpleNamespace()
    first.other, second.other, second.n = second, first, 3
    assert look(template, x=first).parameter("x").attribute("other").attribute("n").value() == 3


def test_two_instances_of_a_class_may_have_different_attributes():
    rich, poor = types.SimpleNamespace(n=1), types.SimpleNamespace()
    lens = look(template, x=rich)
    assert lens.parameter("x").attribute("n").kind() is Kind.SCALAR
    mismatch = again(lens.trace, template, x=poor)
    assert str(mismatch) == "x.n no longer exists"


def test_a_call_hands_over_references_and_values():
    lens = look(template, x=Counting(), y=21)
    result = lens.parameter("x").attribute("double").call((lens.parameter("y"),), {})
    assert result.value() == 42
    assert str(result.path) == "x.double(y)"


def test_each_call_is_made_anew():
    numbers = iter(range(10))
    lens = look(template, x=lambda: next(numbers))
    ref = lens.parameter("x")
    assert [ref.call((), {}).value() for _ in range(3)] == [0, 1, 2]


def test_a_call_that_raises_is_a_compile_error():
    with pytest.raises(sv.SamovarCompilationError, match=r"calling x\(0\) raised ZeroDivisionError"):
        look(template, x=lambda n: 1 / n).parameter("x").call((0,), {})


def test_an_enum_value_becomes_the_member_again_in_a_call():
    seen = []
    lens = look(template, x=seen.append, y=Color.RED)
    lens.parameter("x").call((lens.parameter("y").value(),), {})
    assert seen == [Color.RED]


def test_the_result_of_a_call_is_a_root_to_ask_below():
    lens = look(template, x=lambda n: {"table": list(range(n))})
    table = lens.parameter("x").call((), {"n": 4}).item("table")
    assert table.length() == 4
    assert table.item(3).value() == 3
    assert str(table.item(3).path) == "x(n=4)['table'][3]"


def test_operators_of_python_are_available_for_static_values():
    lens = look(template, x=frozenset({1}), y=frozenset({2}))
    union = lens.operate("or_", lens.parameter("x"), lens.parameter("y"))
    assert lens.operate("contains", union, 2).value() is True


def test_opaque_objects_are_noted_once_with_their_type():
    lens = look(template, x=Counting())
    lens.parameter("x").opaque()
    lens.parameter("x").opaque()
    assert [str(each) for each in map(repr, lens.trace.opaque)] == ["x is a test_reading.Counting"]


def test_libraries_are_not_imported_by_looking(tmp_path):
    import subprocess
    import sys

    program = """
import sys
import samovar as sv
from samovar.lens import Lens
from samovar.language.annotations import signature_of
from samovar.language.options import Options
def f(x: sv.Template): pass
lens = Lens(f, {"x": sv.ndarray(sv.f32, 3)}, signature_of(f, None, {}), Options())
lens.parameter("x").tensor()
lens.parameter("x").attribute("shape").kind()
assert "numpy" not in sys.modules and "torch" not in sys.modules
assert "samovar.frontend" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_numpy_array_is_read_through_like_any_object():
    assert look(template, x=np.arange(6)).parameter("x").item(4).value() == 4
