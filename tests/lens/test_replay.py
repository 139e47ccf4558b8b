"""Replay: the same answers on other arguments, or the one that differs, as a sentence."""

import enum
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looking import again, look

import samovar as sv
from samovar.language.options import Options
from samovar.lens import Kind


def template(x: sv.Template, y: sv.Template = None):
    pass


class Color(enum.Enum):
    RED = 1
    GREEN = 2


def differs(ask, old, new):
    lens = look(template, x=old)
    ask(lens.parameter("x"))
    assert again(lens.trace, template, x=old) is None
    return str(again(lens.trace, template, x=new))


CASES = [
    (lambda r: r.value(), 1, 2, "parameter `x` changed from 1 to 2"),
    (lambda r: r.value(), 1, 1.0, "parameter `x` changed from 1 to 1.0"),
    (lambda r: r.value(), 1, True, "parameter `x` changed from 1 to True"),
    (lambda r: r.value(), 0.0, -0.0, "parameter `x` changed from 0.0 to -0.0"),
    (lambda r: r.value(), "a", "b", "parameter `x` changed from 'a' to 'b'"),
    (lambda r: r.value(), sv.f32, sv.f64, "parameter `x` changed from f32 to f64"),
    (lambda r: r.value(), Color.RED, Color.GREEN, "parameter `x` changed from Color.RED to Color.GREEN"),
    (lambda r: r.kind(), None, 1, "parameter `x`: kind changed from none to scalar"),
    (lambda r: r.scalar_type(), 1, 1.0, "parameter `x`: scalar type changed from 'int' to 'float'"),
    (lambda r: r.length(), (1, 2), (1, 2, 3), "parameter `x`: length changed from 2 to 3"),
    (lambda r: r.keys(), {"a": 1, "b": 2}, {"b": 2, "a": 1}, "parameter `x`: keys changed from ('a', 'b') to ('b', 'a')"),
    (lambda r: r.item(1).value(), [1, 2], [1, 3], "x[1] changed from 2 to 3"),
    (lambda r: r.item("a").kind(), {"a": 1}, {}, "x['a'] no longer exists"),
    (lambda r: r.tensor(), np.zeros(3, "f4"), np.zeros(3, "f8"), "parameter `x`: dtype changed from f32 to f64"),
    (lambda r: r.tensor(), np.zeros(3), np.zeros((3, 1)), "parameter `x`: ndim changed from 1 to 2"),
    (
        lambda r: r.extent(1),
        np.zeros((9, 3)),
        np.zeros((2, 4)),
        "parameter `x`: the extent of dimension 1 changed from 3 to 4",
    ),
    (
        lambda r: r.extent(1),
        sv.ndarray(sv.f32, (9, 3)),
        sv.ndarray(sv.f32, (9, 30)),
        "parameter `x`: the extent of dimension 1 changed from 3 to one that code is not specialized on",
    ),
    (lambda r: r.extent(1), np.zeros((9, 3)), np.zeros(3), None),
    (lambda r: r.extent(1), np.zeros((9, 3)), 3, None),
    (lambda r: r.tensor(), np.zeros(6), np.zeros(6)[::2], "parameter `x`: contiguous changed from True to False"),
    (
        lambda r: r.tensor(),
        sv.ndarray(sv.f32, 3),
        sv.ndarray(sv.f32, 3, needs_grad=True),
        "parameter `x`: needs_grad changed from False to True",
    ),
    (lambda r: r.intrinsic(), min, max, "parameter `x`: intrinsic changed from 'builtins.min' to 'builtins.max'"),
    (lambda r: r.annotation(), sv.f32, sv.f64, None),
    (lambda r: r.tensor(), np.zeros(3), 3, None),
]


@pytest.mark.parametrize(("ask", "old", "new", "sentence"), CASES)
def test_a_difference_is_a_sentence(ask, old, new, sentence):
    said = differs(ask, old, new)
    assert said != "None"
    if sentence is not None:
        assert said == sentence


def test_nan_is_itself():
    lens = look(template, x=float("nan"))
    lens.parameter("x").value()
    assert again(lens.trace, template, x=float("nan")) is None


def test_facts_that_were_not_asked_do_not_matter():
    lens = look(template, x=types.SimpleNamespace(n=1, m=2))
    lens.parameter("x").attribute("n").value()
    assert again(lens.trace, template, x=types.SimpleNamespace(n=1, m=99)) is None


def test_a_deep_change_names_its_path():
    def world(n):
        return types.SimpleNamespace(config=types.SimpleNamespace(substeps=[n, 3]))

    lens = look(template, x=world(1))
    lens.parameter("x").attribute("config").attribute("substeps").item(0).value()
    assert str(again(lens.trace, template, x=world(2))) == "x.config.substeps[0] changed from 1 to 2"


def test_a_path_that_cannot_be_walked_is_absent():
    lens = look(template, x=types.SimpleNamespace(config=types.SimpleNamespace(n=1)))
    lens.parameter("x").attribute("config").attribute("n").kind()
    mismatch = again(lens.trace, template, x=3)
    assert mismatch.new is Kind.ABSENT


def test_a_call_is_made_again():
    state = [10]
    lens = look(template, x=lambda k: state[0] * k)
    assert lens.parameter("x").call((2,), {}).value() == 20
    same = again(lens.trace, template, x=lambda k: state[0] * k)
    assert same is None
    state[0] = 11
    assert "to (scalar, 22)" in str(again(lens.trace, template, x=lambda k: state[0] * k))


def test_a_call_that_raises_now_differs():
    lens = look(template, x=lambda: 1)
    lens.parameter("x").call((), {}).value()
    assert again(lens.trace, template, x=lambda: 1 / 0) is not None


def test_nothing_is_asked_after_the_first_difference():
    read = []

    class Watched:
        n = 1

        @property
        def m(self):
            read.append("m")
            return 2

    lens = look(template, x=Watched())
    lens.parameter("x").attribute("n").value()
    lens.parameter("x").attribute("m").value()
    read.clear()
    other = Watched()
    other.n = 5
    assert again(lens.trace, template, x=other) is not None
    assert read == []


def test_options_that_were_read_are_part_of_the_trace():
    lens = look(template, x=1)
    assert lens.options.fast_math is True
    assert again(lens.trace, template, x=1, options=Options(default_fp=sv.f64)) is None
    mismatch = again(lens.trace, template, x=1, options=Options(fast_math=False))
    assert str(mismatch) == "option fast_math changed from True to False"


def test_other_code_is_another_kernel():
    def other(x: sv.Template, y: sv.Template = None):
        return 1

    lens = look(template, x=1)
    assert str(again(lens.trace, other, x=1)) == "the code of template() changed"


def annotated():
    x: sv.f64 = 0
    return x


def annotated_differently():
    x: sv.f32 = 0
    return x


def test_the_text_counts_where_bytecode_does_not_tell_it():
    lens = look(annotated)
    assert again(lens.trace, annotated) is None
    other = types.FunctionType(annotated_differently.__code__.replace(co_name="annotated"), globals(), "annotated")
    # The text of the other one is under another name: it is not what is loaded, and which was loaded is not known.
    assert again(lens.trace, other) is not None


def test_what_is_told_by_bytecode_needs_no_text():
    def plain(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 2]):
        for i in range(3):
            a[i] = b[i, i] * 2
        for i, j in sv.ndrange(3, 4):
            b[i, j] += a[i]

    def assigning(a: sv.types.NDArray[sv.f32, 1]):
        x = 1
        a[0] = x

    def choosing(n: sv.i32) -> sv.i32:
        return 1 if n else 2

    def nested(a: sv.types.NDArray[sv.f32, 1]):
        while True:
            for i in range(3):
                a[i] = 1
            break

    def asks(function):
        return any(each.question == "source" for each in look(function).trace)

    assert [asks(each) for each in (plain, assigning, choosing, nested)] == [False, True, True, True]


def test_overlap():
    whole = np.zeros(10)
    lens = look(template, x=whole[:5], y=whole[5:])
    x, y = lens.parameter("x"), lens.parameter("y")
    x.tensor()
    assert lens.disjoint([x], [x, y]) is True
    assert again(lens.trace, template, x=np.zeros(5), y=np.ones(5)) is None
    mismatch = again(lens.trace, template, x=whole[:6], y=whole[5:])
    assert str(mismatch) == "written x now overlaps one of x, y"


def test_a_question_is_recorded_once():
    lens = look(template, x=1)
    for _ in range(3):
        lens.parameter("x").kind()
        lens.parameter("x").value()
    assert len(lens.trace) == len({(each.path, each.question) for each in lens.trace})


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), inner, max_size=3),
    ),
    max_leaves=6,
)


def ask_everything(ref):
    """Ask a container for all that is in it, as an unrolled loop does."""
    kind = ref.kind()
    if kind is Kind.SEQUENCE:
        items = tuple(ask_everything(ref.item(i)) for i in range(ref.length()))
        return kind, ref.ask("immutable"), items
    if kind is Kind.MAPPING:
        return kind, tuple((type(key), key, ask_everything(ref.item(key))) for key in ref.keys())  # noqa: SIM118
    value = ref.value()
    return type(value), value.hex() if isinstance(value, float) else value


@given(values, values)
def test_a_trace_holds_exactly_where_all_answers_are_the_same(old, new):
    lens = look(template, x=old)
    first = ask_everything(lens.parameter("x"))
    assert again(lens.trace, template, x=old) is None
    second = ask_everything(look(template, x=new).parameter("x"))
    assert (again(lens.trace, template, x=new) is None) == (first == second)
