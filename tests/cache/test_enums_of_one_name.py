"""Enums of one qualified name that are not the same: what a factory makes, a cell that was run again, a reloaded module."""

import pytest
from changes import Change, check_between_processes, check_in_one_process

MAKE = """
def make(value=1, base=enum.Enum):
    class Color(base):
        RED = value
        GREEN = 7
    return Color
A, B = make(), make()
"""
EQUAL = "@sv.kernel\ndef k() -> sv.i32:\n    return (1 if static({}) else 0) + (2 if static({}) else 0)\n"

CHANGES = {
    "two that become one": Change(MAKE + EQUAL.format("A.RED == B.RED", "A.RED is B.RED"), "B = A", 0, 3),
    "one that becomes two": Change(MAKE + "B = A\n" + EQUAL.format("A.RED == B.RED", "A.RED is B.RED"), "B = make()", 3, 0),
    "the other one": Change(
        MAKE + "C = A\n" + EQUAL.format("C.RED == A.RED", "C.RED == B.RED"),
        "C = B",
        1,
        2,
    ),
    "a third one": Change(MAKE + "C = A\n" + EQUAL.format("C.RED == A.RED", "C.RED == B.RED"), "C = make()", 1, 0),
    "as keys of one dict": Change(
        MAKE + "D = {A.RED: 1, B.RED: 2}\n@sv.kernel\ndef k() -> sv.i32:\n    return D[A.RED] * 10 + D[B.RED]\n",
        "D = {B.RED: 1, A.RED: 2}",
        12,
        21,
    ),
    "a key that is not there any more": Change(
        MAKE + "D = {A.RED: 1}\n@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static(A.RED in D) else 6\n",
        "D = {B.RED: 1}",
        5,
        6,
    ),
    "what a call gives": Change(
        MAKE + "def f(): return B.RED\n" + EQUAL.format("f() == A.RED", "f() == B.RED"),
        "def f(): return A.RED",
        2,
        1,
    ),
    "arguments of a func": Change(
        MAKE
        + "@sv.func\ndef is_a(x: sv.template()):\n    return 1 if static(x == A.RED) else 0\n"
        + "X = B.RED\n@sv.kernel\ndef k() -> sv.i32:\n    return is_a(A.RED) * 10 + is_a(X)\n",
        "X = A.RED",
        10,
        11,
    ),
    "numbers that are members": Change(
        MAKE + "A, B = make(1, enum.IntEnum), make(2, enum.IntEnum)\n" + EQUAL.format("A.RED == B.RED", "A.RED < B.RED"),
        "B = make(1, enum.IntEnum)",
        2,
        1,
    ),
    "flags": Change(
        MAKE + "A, B = make(1, enum.Flag), make(1, enum.Flag)\n" + EQUAL.format("A.RED == B.RED", "A.RED == A.RED"),
        "B = A",
        2,
        3,
    ),
    "a cell that is run again": Change(
        "class Color(enum.Enum):\n    RED = 1\nkept = Color.RED\n"
        + EQUAL.format("kept == Color.RED", "Color.RED.value == 1"),
        "class Color(enum.Enum):\n    RED = 1",
        3,
        2,
    ),
    "in a list": Change(
        MAKE + "L = [A.RED]\n@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static(A.RED in L) else 6\n",
        "L[0] = B.RED",
        5,
        6,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_a_change_between_two_processes_is_seen_and_nothing_is_compiled_twice(tmp_path):
    check_between_processes(tmp_path, CHANGES)
