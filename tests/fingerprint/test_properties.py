"""The promise of a fingerprint, over generated objects: equal exactly where nothing that counts differs."""

from __future__ import annotations

import copy
import math
import pickle
import random

import pytest
from fingerprint_specimens import Color, Location, Named, Plain, Point, Slotted, SlottedList
from hypothesis import assume, given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.fractions()
    | st.datetimes()
    | st.timedeltas()
    | st.uuids()
    | st.sampled_from(list(Color))
    | st.sampled_from([int, Plain, len, math.sin, ..., NotImplemented])
)
keys = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.tuples(st.integers(), st.text())
)


def named(content, unit):
    value = Named(content)
    value.unit = unit
    return value


def slotted_list(content, unit):
    value = SlottedList(content)
    value.unit = unit
    return value


def containers(below):
    return (
        st.lists(below, max_size=4)
        | st.lists(below, max_size=4).map(tuple)
        | st.dictionaries(keys, below, max_size=4)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
        | st.builds(Plain, a=below, b=below)
        | st.builds(Slotted, st.text(), below)
        | st.builds(Location, st.text(), st.integers(), below)
        | st.builds(Point, below, below)
        | st.builds(named, st.dictionaries(keys, below, max_size=2), below)
        | st.builds(slotted_list, st.lists(below, max_size=2), below)
    )


values = st.recursive(leaves, containers, max_leaves=15)


@given(values)
@examples("interpreted")
def test_equal_objects_have_equal_fingerprints_in_processes_with_other_hash_seeds(other_processes, value):
    expected = stable_fingerprinter(value)
    assert {process.fingerprint(value) for process in other_processes} == {expected}


@given(values)
def test_native_and_reference_agree(value):
    expected = stable_fingerprinter(value)
    assert stable_fingerprinter.reference(value) == expected
    assert lenient_fingerprinter(value) == expected
    assert lenient_fingerprinter.reference(value) == expected


@given(values)
def test_copies_have_equal_fingerprints(value):
    expected = stable_fingerprinter(value)
    assert stable_fingerprinter(copy.deepcopy(value)) == expected
    assert stable_fingerprinter(pickle.loads(pickle.dumps(value))) == expected


def reinserted(value, random):
    """The same with every set and mapping filled in another order."""
    if type(value) is dict:
        pairs = [(key, reinserted(item, random)) for key, item in value.items()]
        random.shuffle(pairs)
        return dict(pairs)
    if type(value) in (set, frozenset):
        elements = list(value)
        random.shuffle(elements)
        return type(value)(elements)
    if type(value) in (list, tuple):
        return type(value)(reinserted(item, random) for item in value)
    return value


@given(values, st.randoms(use_true_random=False))
def test_insertion_order_never_counts(value, random):
    assert stable_fingerprinter(reinserted(value, random)) == stable_fingerprinter(value)


@given(values)
def test_sharing_never_counts(value):
    shared = [value, value, {"again": value}]
    apart = [value, copy.deepcopy(value), {"again": copy.deepcopy(value)}]
    assert stable_fingerprinter(shared) == stable_fingerprinter(apart)


@given(st.lists(values, min_size=1, max_size=3))
def test_address_never_counts(content):
    random.Random(1).shuffle(content)
    clones = [copy.deepcopy(content) for _ in range(3)]
    assert len({stable_fingerprinter(clone) for clone in clones}) == 1


#: Ways to put an object into a larger one. Each has one place for it.
CONTEXTS = {
    "list": lambda value, other: [other, value],
    "tuple": lambda value, other: (value, other),
    "dict value": lambda value, other: {"k": value, "o": other},
    "named tuple": lambda value, other: Point(value, other),
    "attribute": lambda value, other: Plain(value=value, other=other),
    "field": lambda value, other: Slotted("a", (value, other)),
    "state of a dict": lambda value, other: named({"k": other}, value),
    "slot of a list": lambda value, other: slotted_list([other], value),
    "item of a dict subclass": lambda value, other: named({"k": value}, other),
}


@given(values, values, values, st.lists(st.sampled_from(sorted(CONTEXTS)), max_size=5))
def test_single_mutation_anywhere_changes_the_fingerprint(value, mutated, other, path):
    assume(stable_fingerprinter(value) != stable_fingerprinter(mutated))
    for name in path:
        value, mutated = CONTEXTS[name](value, other), CONTEXTS[name](mutated, other)
    assert stable_fingerprinter(value) != stable_fingerprinter(mutated)


@given(leaves, leaves)
def test_leaves_that_look_different_differ(left, right):
    assume(repr((type(left), left)) != repr((type(right), right)))
    assert stable_fingerprinter(left) != stable_fingerprinter(right)


@given(st.lists(values, min_size=2, max_size=5), st.data())
def test_swapping_two_different_elements_changes_the_fingerprint(elements, data):
    first, second = data.draw(st.permutations(range(len(elements))))[:2]
    assume(stable_fingerprinter(elements[first]) != stable_fingerprinter(elements[second]))
    swapped = list(elements)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    assert stable_fingerprinter(swapped) != stable_fingerprinter(elements)


@given(st.lists(values, max_size=4), values)
def test_adding_an_element_changes_the_fingerprint(elements, extra):
    assert stable_fingerprinter([*elements, extra]) != stable_fingerprinter(elements)


@given(st.dictionaries(keys, values, min_size=1, max_size=4), st.data())
def test_adding_removing_or_renaming_a_key_changes_the_fingerprint(mapping, data):
    key = data.draw(st.sampled_from(list(mapping)))
    without = {other: value for other, value in mapping.items() if other is not key}
    renamed = {**without, ("renamed", key): mapping[key]}
    assert len({stable_fingerprinter(variant) for variant in (mapping, without, renamed)}) == 3


@pytest.mark.parametrize(
    "size", [0, 1, 50, 51, 52, 100, 115, 116, 117, 127, 128, 129, 255, 256, 257, 1000, 16384, 65536, 100_000]
)
def test_native_digest_is_blake2b_at_every_block_boundary(size):
    for value in (b"x" * size, "x" * size, bytearray(size), memoryview(bytes(2 * size))[::2], [0] * size):
        assert stable_fingerprinter(value) == stable_fingerprinter.reference(value)
