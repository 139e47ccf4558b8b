"""What each kind of object is to the compiler, and that looking at it leaves it alone."""

import builtins
import collections
import enum
import functools
import math

import numpy as np
import pytest
from looking import asked, look

import samovar as sv
from samovar.lens import EnumValue, Kind


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 3


class Whole(int):
    def __int__(self):
        return 99


Point = collections.namedtuple("Point", "x y")


@sv.func
def helper(x: sv.i32) -> sv.i32:
    return x


@sv.kernel
def other(x: sv.i32):
    pass


def template(x: sv.Template):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (sv.ndarray(sv.f32, 3), Kind.TENSOR),
        (np.zeros(3), Kind.TENSOR),
        (np.zeros(3, complex), Kind.TENSOR),
        (3, Kind.SCALAR),
        (3.5, Kind.SCALAR),
        (True, Kind.SCALAR),
        (np.float32(1), Kind.SCALAR),
        (np.int8(1), Kind.SCALAR),
        (np.bool_(True), Kind.SCALAR),
        (Whole(3), Kind.SCALAR),
        ("s", Kind.STRING),
        (Color.RED, Kind.ENUM),
        (Level.LOW, Kind.ENUM),
        (sv.f32, Kind.DTYPE),
        (None, Kind.NONE),
        (range, Kind.INTRINSIC),
        (math.sin, Kind.INTRINSIC),
        (sv.sin, Kind.INTRINSIC),
        (sv.math.clamp, Kind.INTRINSIC),
        (sv.ndrange, Kind.INTRINSIC),
        (helper, Kind.FUNC),
        (template, Kind.FUNCTION),
        (sorted, Kind.FUNCTION),
        ([].append, Kind.FUNCTION),
        (dict, Kind.FUNCTION),
        (functools.partial(max, 1), Kind.FUNCTION),
        (Color, Kind.FUNCTION),
        (math, Kind.MODULE),
        ((1, 2), Kind.SEQUENCE),
        ([1], Kind.SEQUENCE),
        (Point(1, 2), Kind.SEQUENCE),
        ({}, Kind.MAPPING),
        (collections.defaultdict(int), Kind.MAPPING),
        (sv.types.NDArray, Kind.ANNOTATION),
        (sv.types.NDArray[sv.f32, 1], Kind.ANNOTATION),
        (sv.template(), Kind.ANNOTATION),
        (other, Kind.KERNEL),
        (object(), Kind.OBJECT),
        ({1, 2}, Kind.OBJECT),
        (b"bytes", Kind.OBJECT),
        (1j, Kind.COMPLEX),
    ],
)
def test_kind(value, kind):
    assert look(template, x=value).parameter("x").kind() is kind


def test_a_parameter_that_was_not_given_is_absent():
    assert look(template).parameter("x").kind() is Kind.ABSENT


@pytest.mark.parametrize("value", [3, -0.0, True, "s", None, sv.f64])
def test_a_simple_value_is_itself(value):
    found = look(template, x=value).parameter("x").value()
    assert type(found) is type(value)
    assert found == value


def test_numbers_of_other_types_become_numbers_of_python():
    assert look(template, x=np.float32(0.5)).parameter("x").value() == 0.5
    assert type(look(template, x=np.int8(-3)).parameter("x").value()) is int
    assert look(template, x=np.bool_(True)).parameter("x").value() is True
    assert look(template, x=Whole(3)).parameter("x").value() == 3


def test_an_enum_member_is_its_class_its_name_and_its_value():
    value = look(template, x=Level.LOW).parameter("x").value()
    assert isinstance(value, EnumValue)
    assert (value.class_name.rpartition(".")[2], value.name, value.value) == ("Level", "LOW", 3)


def test_scalar_types():
    for value, expected in [(1, int), (1.0, float), (True, bool), (np.float16(1), float), (np.uint8(1), int)]:
        assert look(template, x=value).parameter("x").scalar_type() is expected


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (range, "builtins.range"),
        (builtins.max, "builtins.max"),
        (math.sin, "math.sin"),
        (sv.sin, "samovar.sin"),
        (sv.math.sin, "samovar.sin"),
        (sv.math.clamp, "samovar.math.clamp"),
        (sv.static, "samovar.static"),
        (sv.atomic_add, "samovar.atomic_add"),
    ],
)
def test_canonical_names(value, name):
    assert look(template, x=value).parameter("x").intrinsic() == name


def test_tensor_facts():
    facts = look(template, x=np.zeros((4, 6), np.int16)[:, ::2]).parameter("x").tensor()
    assert (facts.dtype, facts.ndim, facts.contiguous, facts.wide) == (sv.i16, 2, False, False)
    assert not facts.needs_grad
    assert look(template, x=sv.ndarray(sv.f32, 2, needs_grad=True)).parameter("x").tensor().needs_grad


def test_whether_an_array_may_be_written_is_asked_only_if_it_matters():
    array = np.zeros(3)
    array.flags.writeable = False
    lens = look(template, x=array)
    lens.parameter("x").tensor()
    assert asked(lens) == [("x", "tensor")]
    assert lens.parameter("x").readonly()
    assert asked(lens) == [("x", "tensor"), ("x", "readonly")]


@pytest.mark.parametrize(("length", "known"), [(0, None), (1, None), (2, 2), (3, 3), (8, 8), (9, None), (1000, None)])
def test_of_an_extent_only_a_few_lengths_are_known(length, known):
    for array in (np.zeros((2, length)), sv.ndarray(sv.f32, (2, length))):
        lens = look(template, x=array)
        assert lens.parameter("x").extent(1) == known
        assert [(each.question, each.answer) for each in lens.trace if each.question[:6] == "extent"] == [
            ("extent 1", known or 0)
        ]


def test_an_array_that_kernels_cannot_take_says_why():
    with pytest.raises(sv.SamovarTypeError, match="x: "):
        look(template, x=np.zeros(3, "M8[s]")).parameter("x").tensor()


def test_an_object_has_no_value():
    with pytest.raises(sv.SamovarTypeError, match="x: a object is not a value"):
        look(template, x=object()).parameter("x").value()


def test_containers_give_their_length_keys_and_items():
    lens = look(template, x={"a": (1, 2), "b": [3]})
    ref = lens.parameter("x")
    assert ref.keys() == ("a", "b")
    assert ref.item("a").length() == 2
    assert ref.item("a").item(1).value() == 2
    assert ref.item("a").item(-1).value() == 2
    assert ref.item("a").item(5).kind() is Kind.ABSENT
    assert ref.item("c").kind() is Kind.ABSENT


def test_enum_members_are_keys():
    ref = look(template, x={Color.RED: 1, Color.GREEN: 2}).parameter("x")
    keys = ref.keys()
    assert [ref.item(key).value() for key in keys] == [1, 2]


def test_a_key_that_is_an_object_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="keys must be"):
        look(template, x={object(): 1}).parameter("x").keys()


def test_a_dict_that_invents_items_is_not_asked_to():
    mapping = collections.defaultdict(int)
    assert look(template, x=mapping).parameter("x").item("new").kind() is Kind.ABSENT
    assert not mapping


def test_annotations():
    assert str(look(template, x=sv.types.NDArray[sv.f32, 2]).parameter("x").annotation()) == "NDArray[f32, 2]"
    assert str(look(template, x=sv.f64).parameter("x").annotation()) == "f64"
    assert str(look(template, x=int).parameter("x").annotation()) == "int"
    with pytest.raises(sv.SamovarTypeError):
        look(template, x=dict).parameter("x").annotation()
