"""Annotations: what they mean, and that they are resolved where the function is defined."""

import pickle
import typing

import pytest

import samovar as sv
from samovar.language.annotations import (
    AnyAnnotation,
    ArrayAnnotation,
    NoneAnnotation,
    ScalarAnnotation,
    TemplateAnnotation,
    TupleAnnotation,
    specification,
)
from samovar.language.options import Options


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (sv.f32, ScalarAnnotation(sv.f32)),
        (int, ScalarAnnotation(default="default_ip")),
        (float, ScalarAnnotation(default="default_fp")),
        (bool, ScalarAnnotation(sv.u1)),
        (sv.types.NDArray, ArrayAnnotation()),
        (sv.types.NDArray[sv.f32], ArrayAnnotation(sv.f32, element=())),
        (sv.types.NDArray[sv.f32, 2], ArrayAnnotation(sv.f32, 2, element=())),
        (sv.types.NDArray[2], ArrayAnnotation(None, 2)),
        (sv.types.NDArray[..., 2], ArrayAnnotation(None, 2)),
        (sv.types.NDArray[None, 2], ArrayAnnotation(None, 2)),
        (sv.types.NDArray[float, 1], ArrayAnnotation(None, 1, default="default_fp", element=())),
        (sv.types.ndarray(), ArrayAnnotation()),
        (sv.types.ndarray(dtype=sv.i8, ndim=3), ArrayAnnotation(sv.i8, 3, element=())),
        (sv.types.NDArray[sv.types.vector(3, sv.i8), 1], ArrayAnnotation(sv.i8, 1, element=(3,))),
        (
            sv.types.ndarray(sv.i8, 3, needs_grad=True, boundary="clamp"),
            ArrayAnnotation(sv.i8, 3, True, "clamp", element=()),
        ),
        (sv.Template, TemplateAnnotation()),
        (sv.template(), TemplateAnnotation()),
        (None, NoneAnnotation()),
        (tuple[sv.f32, int], TupleAnnotation((ScalarAnnotation(sv.f32), ScalarAnnotation(default="default_ip")))),
        (typing.Tuple[sv.f32, sv.f32], TupleAnnotation((ScalarAnnotation(sv.f32),) * 2)),  # noqa: UP006
        ((sv.f32, sv.i32), TupleAnnotation((ScalarAnnotation(sv.f32), ScalarAnnotation(sv.i32)))),
        (str, None),
        (3, None),
        (list[int], None),
    ],
)
def test_meaning(annotation, expected):
    assert specification(annotation) == expected


def test_specifications_are_values():
    one, two = sv.types.NDArray[sv.f32, 2], sv.types.ndarray(sv.f32, 2)
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != sv.types.NDArray[sv.f64, 2]
    with pytest.raises(AttributeError):
        one.ndim = 3


def test_python_types_are_resolved_late():
    assert specification(int).resolved(Options(default_ip=sv.i64)) is sv.i64
    assert specification(float).resolved(Options()) is sv.f32
    assert specification(bool).resolved(Options()) is sv.u1
    assert sv.types.NDArray[float].resolved(Options(default_fp=sv.f64)) is sv.f64


@pytest.mark.parametrize(
    "make",
    [
        lambda: sv.types.NDArray["f32"],
        lambda: sv.types.NDArray[sv.f32, sv.f32],
        lambda: sv.types.NDArray[1, 2],
        lambda: sv.types.NDArray[sv.f32, 1, 2],
        lambda: sv.types.NDArray[sv.f32, -1],
        lambda: sv.types.ndarray(ndim=1.5),
        lambda: sv.types.ndarray(boundary="wrap"),
        lambda: sv.types.NDArray(),
        lambda: sv.Template(),
    ],
)
def test_nonsense_is_refused(make):
    with pytest.raises(sv.SamovarTypeError):
        make()


def test_local_names_are_visible():
    element = sv.f64

    @sv.func
    def local(x: element, y: "element") -> "element":
        return x

    assert [str(p.annotation) for p in local.signature.parameters] == ["f64", "f64"]
    assert str(local.signature.returns) == "f64"


def test_names_around_a_class_are_visible():
    element = sv.i16

    class Owner:
        inner = sv.i8

        @sv.func
        def method(self, x: "element", y: "inner"):
            return x

    assert [str(p.annotation) for p in Owner.method.signature.parameters] == ["no annotation", "i16", "i8"]


def test_text_under_the_future_import():
    space = {"sv": sv}
    text = (
        "from __future__ import annotations\n"
        "def make():\n"
        "    element = sv.i64\n"
        "    @sv.func(requires_top_level=True)\n"
        "    def f(a: sv.types.NDArray[element, 1], b: 'element', c: int, d) -> tuple[element, float]: pass\n"
        "    return f\n"
        "f = make()\n"
    )
    exec(text, space)
    signature = space["f"].signature
    assert [str(p.annotation) for p in signature.parameters] == ["NDArray[i64, 1]", "i64", "int", "no annotation"]
    assert str(signature.returns) == "tuple[i64, float]"
    assert isinstance(signature.parameters[3].annotation, AnyAnnotation)


def test_a_name_that_does_not_exist_is_named():
    with pytest.raises(sv.SamovarTypeError, match=r"annotation 'nowhere' of parameter `x` of .*wrong.* NameError"):

        @sv.func
        def wrong(x: "nowhere"):  # noqa: F821
            pass


def test_an_annotation_that_is_no_type_says_what_is_one():
    with pytest.raises(sv.SamovarTypeError, match=r"parameter `x` of .*(.|\n)*help: use a dtype"):

        @sv.func
        def wrong(x: bytes):
            pass


def test_variadic_parameters_are_refused():
    with pytest.raises(sv.SamovarTypeError, match="declare each parameter by name"):

        @sv.kernel
        def wrong(*arguments: sv.f32):
            pass


def test_a_func_needs_none():
    @sv.func
    def free(a, b):
        return a + b

    assert free(1, 2) == 3
