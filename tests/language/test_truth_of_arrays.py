"""An array is neither true nor false: asking is an error in kernels, and a ValueError in plain Python, as with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv

from .source import define

Point = sv.types.struct(x=sv.f32)

ASKED = [
    "if x: r = 1",
    "while x: r = 1",
    "r = 1 if x else 2",
    "r = sv.i32(not x)",
    "r = sv.i32(x and r)",
    "r = sv.i32(x or r)",
    "if r == 0 and x: r = 1",
    "r = sv.i32(bool(x))",
    "r = sv.select(x, 1, 2)",
    "r = sv.i32(any((r, x)))",
    "r = sv.i32(all([x]))",
    "r = sum([1 for _ in range(2) if x])",
    "if asks(x): r = 1",
]
ARRAYS = {
    "array": lambda: np.zeros(3, np.float32),
    "empty": lambda: np.zeros(0, np.float32),
    "one": lambda: np.ones(1, np.float32),
    "rows": lambda: sv.ndarray(sv.f32, (2, 2)),
    "field": lambda: sv.field(sv.f32, 3),
    "view": lambda: sv.ndarray(sv.f32, 4)[1:3],
    "structs": lambda: Point.ndarray(2),
    "field of structs": lambda: Point.field(2),
    "vectors": lambda: sv.Vector.field(3, sv.f32, 2),
}


def made(statement):
    return define(
        "@sv.func\ndef asks(x):\n    return 1 if x else 0\n\n"
        f"@sv.kernel\ndef k(x: sv.Template) -> sv.i32:\n    r = 0\n    {statement}\n    return r\n"
    )


@pytest.mark.parametrize("statement", ASKED)
@pytest.mark.parametrize("kind", ["array", "view", "structs"])
def test_a_condition_in_a_kernel_is_an_error(statement, kind):
    with pytest.raises(sv.SamovarTypeError, match=r"is ambiguous|expected a number, got (the|an array)"):
        made(statement)(ARRAYS[kind]())


@pytest.mark.parametrize("kind", ARRAYS)
def test_the_message_says_what_to_ask(kind):
    with pytest.raises(sv.SamovarTypeError, match=r"the truth value of .*`x`.* is ambiguous") as caught:
        made("if x: r = 1")(ARRAYS[kind]())
    for advice in ("`x is not None`", "`x.size > 0`", "`x[i]`", "`x.any()`", "`x.all()`", "^"):
        assert advice in str(caught.value)


def test_an_assertion_is_an_error_in_debug_mode():
    sv.init(debug=True)
    with pytest.raises(sv.SamovarTypeError, match="is ambiguous"):
        made("assert x")(np.zeros(3, np.float32))
    sv.reset()


@pytest.mark.parametrize(
    ("statement", "there", "absent"),
    [
        ("if x is not None: r = 1", 1, 0),
        ("if sv.static(x is None): r = 1", 0, 1),
        ("if sv.static(x): r = 1", 1, 0),
        ("r = sv.i32(not sv.static(x))", 0, 1),
    ],
)
def test_whether_it_is_there_can_be_asked(statement, there, absent):
    kernel = made(statement)
    assert kernel(np.zeros(3, np.float32)) == there
    assert kernel(None) == absent


def test_an_array_without_axes_is_its_number():
    for value in (0, 2):
        x = np.array(value, np.float32)
        assert made("if x: r = 1")(x) == bool(value)
        assert made("r = sv.i32(not x)")(x) == (not value)


@pytest.mark.parametrize("kind", [kind for kind in ARRAYS if kind not in ("array", "empty", "one")])
def test_in_plain_python_it_is_a_value_error(kind):
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ARRAYS[kind]())


def test_in_plain_python_one_without_axes_is_its_number():
    number = sv.ndarray(sv.i32, ())
    assert not number
    number[None] = 3
    assert number
