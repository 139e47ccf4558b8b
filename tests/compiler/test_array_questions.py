"""What is asked about arrays: when it is known what becomes of them, and only of those that it matters for."""

import numpy as np
import pytest

import samovar as sv
from samovar.compiler.array_questions import ask_about_arrays, require_writable
from samovar.frontend import lower
from samovar.language.annotations import signature_of
from samovar.language.options import Options
from samovar.lens import Lens
from samovar.passes import run


def asked(function, **arguments):
    """The kernel, and the questions about its arrays that come after staging."""
    lens = Lens(function, arguments, signature_of(function, None, {}), Options())
    kernel = lower(lens).kernel
    before = len(lens.trace)
    run(kernel, lens.options, lambda kernel: ask_about_arrays(lens, kernel))
    require_writable(lens, kernel)
    questions = [(str(each.path), each.question) for each in list(lens.trace)[before:]]
    return kernel, [each for each in questions if each[1] != "option"]


Array = sv.types.NDArray[sv.f32, 1]


def removed_write(a: Array, b: Array, n: sv.i32):
    for i in range(3, 3):
        a[i] = 1.0
    for i in range(n):
        b[i] = a[i]


def only_removed(a: Array, b: Array, n: sv.i32):
    for i in range(3, 3):
        a[i] = b[i]


def test_a_write_that_a_pass_removes_asks_nothing_of_its_array():
    kernel, questions = asked(removed_write, a=np.zeros(3, "f4"), b=np.zeros(3, "f4"), n=3)
    assert [(each.name, each.written) for each in kernel.parameters if isinstance(each.name, str) and each.name != "n"] == [
        ("a", False), ("b", True),
    ]  # fmt: skip
    assert [question for _, question in questions] == ["disjoint", "readonly"]
    assert questions[1] == ("b", "readonly")


def test_arrays_of_which_nothing_is_left_are_not_passed():
    kernel, questions = asked(only_removed, a=np.zeros(3, "f4"), b=np.zeros(3, "f4"), n=3)
    assert [each.name for each in kernel.parameters] == ["n"]  # which a launch checks
    assert (questions, kernel.disjoint) == ([], True)


def read_only(values):
    array = np.array(values, np.float32)
    array.flags.writeable = False
    return array


def test_an_array_whose_only_write_is_removed_may_be_read_only():
    b = np.zeros(2, np.float32)
    sv.kernel(removed_write)(read_only([1, 2]), b, 2)
    assert list(b) == [1, 2]
    with pytest.raises(sv.SamovarTypeError, match="argument `b`: the array is read-only"):
        sv.kernel(removed_write)(b, read_only([1, 2]), 2)


Rows = sv.types.NDArray[sv.f32, 2]


def points(a: Rows, b: Rows, c: Rows):
    for i in range(a.shape[0]):
        b[i, 0] = a[i, 0] + a[i, 1]
        b[i, 1] = a[i, 0]
        c[i, 0] = 1.0


def test_extents_are_asked_where_they_help():
    for length, known in ((2, 2), (3, None), (30, None)):
        kernel, questions = asked(points, a=np.zeros((3, 4), "f4"), b=np.zeros((3, length), "f4"), c=np.zeros((3, 2), "f4"))
        # Of what is written, a row that is written whole; of `c`, no length could be that.
        assert [each for each in questions if each[1].startswith("extent")] == [("a", "extent 1"), ("b", "extent 1")]
        assert {each.name: each.extents for each in kernel.parameters} == {
            "a": (None, 4), "b": (None, known), "c": (None, None),
        }  # fmt: skip


def test_sources_are_on_the_parameters():
    kernel, _ = asked(removed_write, a=np.zeros(3, "f4"), b=np.zeros(3, "f4"), n=3)
    assert {each.name: str(each.source) for each in kernel.parameters} == {"a": "a", "b": "b", "n": "n"}
