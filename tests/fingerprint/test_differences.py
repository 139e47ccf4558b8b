"""`difference` says where, and only what changes a fingerprint."""

from __future__ import annotations

import collections
import dataclasses
import enum

import numpy
import pytest
from fingerprint_specimens import Color, Location, Named, Node, Plain, Type, tree
from hypothesis import given
from hypothesis import strategies as st

from samovar.fingerprint import difference, make_deconstructor, make_fingerprinter, stable_fingerprinter


def told(before, after, **options):
    return [str(place) for place in difference(before, after, **options)]


def test_path_leads_through_fields_and_items():
    before, after = tree(bits=32), tree(bits=64)
    assert told(before, after)[0] == ".type.bits: 32 → 64"
    changed = dataclasses.replace(before.operands[1], value=3)
    assert told(before, dataclasses.replace(before, operands=(before.operands[0], changed))) == [
        ".operands[1].value: 2 → 3"
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, 2, ["the whole: 1 → 2"]),
        (1, 1.0, ["the whole: 1 → 1.0"]),
        (0.0, -0.0, ["the whole: 0.0 → -0.0"]),
        ([1], (1,), ["the whole: [1] → (1)"]),
        ([1, 2, 3], [1, 9, 3], ["[1]: 2 → 9"]),
        ([1, 2, 3], [1, 3], ["[1]: 2 → nothing"]),
        ([1, 3], [1, 2, 3], ["[1]: nothing → 2"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 3}, ["['a']: 1 → 3"]),
        ({"a": 1}, {"b": 1}, ["['a']: 1 → nothing", "['b']: nothing → 1"]),
        ({1: {2: {3: "x"}}}, {1: {2: {3: "y"}}}, ["[1][2][3]: 'x' → 'y'"]),
        ({1, 2}, {2, 3}, ["{1}: 1 → nothing", "{3}: nothing → 3"]),
        (Color.RED, Color.GREEN, ["the whole: Color.RED → Color.GREEN"]),
        (Plain(a=1, b=2), Plain(a=1, b=3), [".b: 2 → 3"]),
        (Plain(a=1), Plain(a=1, b=3), [".b: nothing → 3"]),
        (Plain(a=1), Location("f", 1, 2), ["the whole: Plain(...) → Location(...)"]),
        (Node(Type("f", 32), None), Node(None, None), [".type: Type(...) → None"]),
        (len, max, ["the whole: len → max"]),
        (int, float, ["the whole: int → float"]),
        (2**100, 2**100 + 1, ["the whole: 1267650600228229401496703205376 → 1267650600228229401496703205377"]),
        (b"a", "a", ["the whole: b'a' → 'a'"]),
        (True, None, ["the whole: True → None"]),
        (1j, 2j, ["the whole: 1j → 2j"]),
        (collections.deque([1], 2), collections.deque([1], 3), [".maxlen: 2 → 3"]),
        (range(3), range(4), [".stop: 3 → 4"]),
    ],
)
def test_difference_is_told(before, after, expected):
    assert sorted(told(before, after)) == sorted(expected)


def test_reordered_ordered_mapping_is_told():
    before, after = collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)
    assert len(told(before, after)) == 1


def test_state_of_a_container_subclass_is_told():
    before, after = Named(a=1), Named(a=1)
    before.unit, after.unit = "m", "km"
    assert told({"t": before}, {"t": after}) == ["['t'].unit: 'm' → 'km'"]


def test_arrays_are_told_by_dtype_shape_or_content():
    array = numpy.zeros((2, 3))
    assert told([array], [array.astype("f4")])[0] == "[0].dtype: <f8 → <f4"
    assert told([array], [array.reshape(3, 2)]) == [
        "[0]: array of <f8 with shape (2, 3) → array of <f8 with shape (3, 2)"
    ]
    (place,) = told([array], [array + 1])
    assert place.startswith("[0]: 48 bytes (")


def test_functions_that_have_no_name_are_told_by_what_changed():
    def make(amount):
        return lambda x: x + amount

    assert told({"f": make(1)}, {"f": make(2)}) == ["['f'].__closure__[0].cell_contents: 1 → 2"]


def test_equal_objects_have_no_difference():
    assert difference(tree(), tree()) == ()


def test_what_a_fingerprinter_skips_is_not_told():
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Node: ["location"]}))
    assert difference(tree(line=1), tree(line=9), fingerprinter=fingerprinter) == ()
    assert told(tree(line=1), tree(line=9))[0] == ".location.line: 1 → 9"


def test_number_of_places_is_limited():
    assert len(difference(list(range(500)), list(range(1, 501)), limit=7)) == 7


def test_long_values_are_shortened():
    (place,) = difference("a" * 500, "b" * 500)
    assert len(place.before) == 80


def test_shared_pieces_are_told_once():
    left, right = [1], [2]
    for _ in range(50):
        left, right = [left, left], [right, right]
    assert len(difference(left, right)) == 1


def test_cycles_are_compared():
    before, after = [1], [2]
    before.append(before)
    after.append(after)
    assert told(before, after) == ["[0]: 1 → 2"]


def test_deep_paths_are_found():
    before, after = 1, 2
    for _ in range(50_000):
        before, after = [before], [after]
    (place,) = difference(before, after)
    assert place.path == "[0]" * 50_000


def test_local_enumerations_are_told():
    class Mode(enum.Enum):
        A = 1
        B = 2

    assert told([Mode.A], [Mode.B])[0].endswith("Mode.A → test_local_enumerations_are_told.<locals>.Mode.B")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(st.text(max_size=2) | st.integers(), below, max_size=4)
        | st.tuples(below, below)
        | st.builds(Plain, a=below, b=below)
        | st.sets(st.integers() | st.text(max_size=2), max_size=4)
    ),
    max_leaves=12,
)


@given(values, values)
def test_there_is_a_difference_exactly_if_the_fingerprints_differ(before, after):
    places = difference(before, after)
    assert bool(places) == (stable_fingerprinter(before) != stable_fingerprinter(after))
    assert all(place.before != place.after for place in places)


def test_hundred_thousand_levels_are_described_without_recursion():
    deep = 0
    for _ in range(100_000):
        deep = (deep,)
    (found,) = difference([1], [deep])
    assert (found.path, found.before) == ("[0]", "1")
    assert found.after.startswith("((")
    assert len(found.after) <= 80


def test_what_is_refused_is_told_with_its_path():
    with pytest.raises(TypeError, match=r"^\['a'\]\[1\]: cannot fingerprint an object of type"):
        difference({"a": [1, (index for index in range(3))]}, {})
