"""A list is no tuple: in comparisons, as an argument of a plain function, and when one takes the place of the other."""

import itertools

import pytest
from changes import Change, check_between_processes, check_in_one_process, loaded

import samovar as sv

EQUAL = "@sv.kernel\ndef k() -> sv.i32:\n    return 1 if static({}) else 0\n"
NAMED = "import collections\nPair = collections.namedtuple('Pair', 'a b')\n"

CHANGES = {
    "a tuple that becomes a list": Change("T = (1,)\n" + EQUAL.format("T == (1,)"), "T = [1]", 1, 0),
    "a list that becomes a tuple": Change("T = [1]\n" + EQUAL.format("T == [1]"), "T = (1,)", 1, 0),
    "the other way round": Change("T = (1,)\n" + EQUAL.format("T != [1]"), "T = [1]", 1, 0),
    "a named tuple": Change(NAMED + "T = Pair(1, 2)\n" + EQUAL.format("T == (1, 2)"), "T = [1, 2]", 1, 0),
    "inside of another": Change("T = ((1, 2), 3)\n" + EQUAL.format("T == ((1, 2), 3)"), "T = ([1, 2], 3)", 1, 0),
    "joined": Change("T = [1]\n" + EQUAL.format("T + [2] == [1, 2]"), "T = [2]", 1, 0),
    "a slice": Change("T = [1, 2, 3]\n" + EQUAL.format("T[1:] == [2, 3]"), "T = (1, 2, 3)", 1, 0),
    "an element": Change("T = (1, 2)\n" + EQUAL.format("T == (1, 2)"), "T = (3, 2)", 1, 0),
    "given to a plain function": Change(
        "T = [1]\ndef f(x): return isinstance(x, list)\n" + EQUAL.format("f(T)"), "T = (1,)", 1, 0
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_a_change_between_two_processes_is_seen_and_nothing_is_compiled_twice(tmp_path):
    check_between_processes(tmp_path, CHANGES)


VALUES = [
    "(1, 2)", "[1, 2]", "(1,)", "[]", "()", "(1, (2, 3))", "(1, [2, 3])", "[1, (2, 3)]", "T", "L", "T[:1]", "L * 1",
    "(1,) + T[1:]",
]  # fmt: skip


def test_comparisons_are_those_of_python(tmp_path):
    names = "T, L = (1, 2), [1, 2]\n"
    pairs = list(itertools.product(VALUES, VALUES))
    text = names + "".join(
        f"@sv.kernel\ndef k{number}() -> sv.i32:\n    return (1 if static({one} == {other}) else 0) * 2"
        f" + (1 if static({one} != {other}) else 0)\n"
        for number, (one, other) in enumerate(pairs)
    )
    module = loaded(tmp_path, text)
    for number, (one, other) in enumerate(pairs):
        expected = 2 if eval(f"{one} == {other}", vars(module)) else 1
        assert getattr(module, f"k{number}")() == expected, (one, other)


GIVEN = """
def shape(x):
    return {list: 1, tuple: 2}[type(x)] * 10 + len(x)

@sv.kernel
def k(n: sv.i32) -> tuple[sv.i32, sv.i32, sv.i32, sv.i32, sv.i32]:
    return (
        static(shape([1, 2])), static(shape((1, 2))), static(shape([x for x in (1, 2, 3)])), static(shape(list((1,)))),
        static(shape(tuple([1]))),
    )
"""


def test_displays_are_given_to_plain_functions_as_what_they_are(tmp_path):
    assert loaded(tmp_path, GIVEN).k(1) == (12, 22, 13, 11, 21)


def test_a_list_and_a_tuple_are_not_joined(tmp_path):
    with pytest.raises(sv.SamovarTypeError, match=r"`\+` is not defined for a tuple and a list"):
        loaded(tmp_path, EQUAL.format("len((1,) + [2]) == 2")).k()


def test_lists_are_printed_as_lists(tmp_path, capfd):
    loaded(tmp_path, "T = ('a', 1.5)\n@sv.kernel\ndef k(n: sv.i32):\n    print([n, 2], (n,), ['x'], f'{[1, (2,)]}')\n").k(1)
    assert capfd.readouterr().out == "[1, 2] (1,) ['x'] [1, (2,)]\n"
