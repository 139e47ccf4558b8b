"""Compile-time f-strings: the text that Python makes of the same values."""

import enum
import textwrap

import numpy as np
import pytest

import samovar as sv


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 3


class Word(str, enum.Enum):  # the old way, which formats in another way
    A = "a"


class Mask(enum.Flag):
    X = 1
    Y = 2


class Own(enum.Enum):
    A = 1

    def __str__(self):
        return "own"

    def __format__(self, form):
        return f"<{form}>"


class Text(str):
    def __format__(self, form):
        return "text"


VALUES = {
    "7": 7, "-3": -3, "True": True, "pi": 3.14159, "text": "a'b", "none": None, "dtype": sv.f32, "member": Color.RED,
    "number and member": Level.LOW, "text and member": Word.A, "flag": Mask.X, "own": Own.A, "single": np.float32(0.1),
    "numpy integer": np.int64(5), "derived text": Text("x"), "tuple": (1, "a", 2.5), "one": (1,),
}  # fmt: skip
FORMS = ["", "!r", "!s", "!a", ":>12", ":.2f", ":03d", ":{WIDTH}", ":>{WIDTH}.1f", "!r:>{WIDTH}"]
WIDTH = 9
VALUE = None
TABLE: dict = {}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A kernel for each form, which gives the place of the text in a table of all texts."""
    folder = tmp_path_factory.mktemp("forms")
    made = {}
    for number, form in enumerate(FORMS):
        path = folder / f"form{number}.py"
        path.write_text(
            textwrap.dedent(f"""
            @sv.kernel
            def k() -> sv.i32:
                return TABLE[f"<{{VALUE{form}}}>"]
            """)
        )
        namespace = globals()
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        made[form] = namespace.pop("k")
    return made


def expected_text(value, form):
    try:
        return eval(f'f"<{{value{form}}}>"', {"value": value, "WIDTH": WIDTH})
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize("form", FORMS)
def test_the_text_is_pythons(monkeypatch, kernels, form):
    for value in VALUES.values():
        text = expected_text(value, form)
        monkeypatch.setitem(globals(), "VALUE", value)
        if text is None:
            with pytest.raises(sv.SamovarError, match="format"):
                kernels[form]()
        else:
            monkeypatch.setitem(globals(), "TABLE", {text: 5})
            assert kernels[form]() == 5, (value, text)


def test_a_form_that_changes_between_launches_is_seen(monkeypatch, kernels):
    monkeypatch.setitem(globals(), "VALUE", 3.5)
    monkeypatch.setitem(globals(), "TABLE", {"<      3.5>": 1, "<   3.5>": 2})
    kernel, compiles = kernels[":{WIDTH}"], []
    for width, found in ((9, 1), (6, 2), (6, 2), (9, 1)):
        monkeypatch.setitem(globals(), "WIDTH", width)
        assert kernel() == found
        compiles.append(kernel.cache_observations.compiles)
    assert compiles[1] == compiles[2] == compiles[3]


def test_text_is_put_together_of_pieces():
    @sv.kernel
    def k() -> sv.i32:
        return sv.static(len(f"a{{b}}{1}{2:02d}" f"c{'d'!r}"))

    assert k() == len("a{b}102c'd'")


@sv.func
def length(x: sv.template()):
    return sv.static(len(f"{x!s}"))


@sv.kernel
def of_arguments() -> sv.i32:
    return length(VALUE) * 10000 + length(0.10000000149011612) * 100 + length(Color.RED)


def test_a_func_tells_numbers_of_different_types_apart(monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", np.float32(0.1))
    assert of_arguments() == 3 * 10000 + 19 * 100 + 9


def test_run_time_values_are_refused_with_advice():
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        return sv.static(len(f"{n}"))

    with pytest.raises(sv.SamovarSyntaxError, match="f-string") as caught:
        k(1)
    assert "print" in str(caught.value)


def test_members_are_printed_as_python_prints_them(capfd):
    @sv.kernel
    def k():
        print(Color.RED, f"{Own.A:x} {Own.A!s}", Level.LOW)

    k()
    assert capfd.readouterr().out == f"{Color.RED} {Own.A:x} {Own.A!s} {Level.LOW}\n"
