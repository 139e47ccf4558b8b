"""Containers: what is ordered, what is not, and what a subclass adds."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import types

import pytest
from fingerprint_specimens import Arguments, Named, Point, SlottedList

from samovar.fingerprint import Deconstruction, make_deconstructor, make_fingerprinter, stable_fingerprinter


def same(left, right):
    assert stable_fingerprinter(right) == stable_fingerprinter.reference(right)
    return stable_fingerprinter(left) == stable_fingerprinter(right)


@pytest.mark.parametrize("make", [tuple, list, collections.deque])
def test_order_of_a_sequence_counts(make):
    assert not same(make([1, 2]), make([2, 1]))


@pytest.mark.parametrize("make", [set, frozenset, dict.fromkeys, collections.Counter])
def test_order_of_a_set_or_a_mapping_does_not_count(make):
    assert same(make(["a", 1, (2,)]), make([(2,), "a", 1]))


def test_keys_need_not_be_comparable():
    assert same({1: "a", "b": 2, None: 3, (1, "x"): 4}, {None: 3, (1, "x"): 4, "b": 2, 1: "a"})


def test_swapping_values_between_keys_counts():
    assert not same({"a": 1, "b": 2}, {"a": 2, "b": 1})


def test_key_and_value_are_not_interchangeable():
    assert not same({"a": "b"}, {"b": "a"})


def test_containers_of_the_same_elements_differ_by_kind():
    kinds = [(1, 2), [1, 2], {1, 2}, frozenset({1, 2}), {1: 2}, [(1, 2)], {(1, 2)}, collections.deque([1, 2])]
    assert len({stable_fingerprinter(kind) for kind in kinds}) == len(kinds)


def test_grouping_counts():
    groupings = [
        [1, 2, 3],
        [[1, 2], 3],
        [1, [2, 3]],
        [[1, 2, 3]],
        [[1], [2], [3]],
        [[], 1, 2, 3],
        ["12", 3],
        ["1", "23"],
    ]
    assert len({stable_fingerprinter(grouping) for grouping in groupings}) == len(groupings)


def test_order_of_an_ordered_dict_counts():
    left = collections.OrderedDict(a=1, b=2)
    assert not same(left, collections.OrderedDict(b=2, a=1))
    assert not same(left, {"a": 1, "b": 2})


def test_defaultdict_counts_with_its_factory():
    assert not same(collections.defaultdict(list, a=1), collections.defaultdict(set, a=1))
    assert same(collections.defaultdict(list, {"a": 1, "b": 2}), collections.defaultdict(list, {"b": 2, "a": 1}))


def test_deque_counts_with_its_maximal_length():
    assert not same(collections.deque([1], maxlen=3), collections.deque([1]))


def test_mappingproxy_counts_with_the_order_of_an_ordered_mapping_only():
    proxy = types.MappingProxyType
    assert same(proxy({"a": 1, "b": 2}), proxy({"b": 2, "a": 1}))
    left = proxy(collections.OrderedDict(a=1, b=2))
    assert not same(left, proxy(collections.OrderedDict(b=2, a=1)))


def test_mappingproxy_counts_with_the_class_and_the_state_of_the_mapping_behind_it():
    proxy = types.MappingProxyType
    left, right = Named(a=1), Named(a=1)
    assert same(proxy(left), proxy(right))
    assert not same(proxy(left), proxy({"a": 1}))
    right.unit = "m"
    assert not same(proxy(left), proxy(right))
    assert not same(proxy(collections.UserDict(a=1)), proxy(collections.UserDict(a=2)))


class Counting(collections.defaultdict):
    default_factory = None


class Bounded(collections.deque):
    maxlen = None


def test_factory_and_length_are_read_past_the_attributes_of_a_subclass():
    assert not same(Counting(int), Counting(list))
    assert not same(Bounded([1], 2), Bounded([1], 3))


def test_namedtuple_is_not_its_tuple():
    assert not same(Point(1, 2), (1, 2))
    assert not same(Point(1, 2), Point(2, 1))


def test_attribute_of_a_dict_subclass_counts():
    left, right = Named(a=1), Named(a=1)
    assert same(left, right)
    left.unit = "m"
    assert not same(left, right)
    right.unit = "km"
    assert not same(left, right)


def test_slot_of_a_list_subclass_counts():
    left, right = SlottedList([1]), SlottedList([1])
    left.unit = right.unit = "m"
    assert same(left, right)
    right.unit = "km"
    assert not same(left, right)


def test_subclass_that_is_a_dataclass_counts_with_its_fields_and_its_content():
    @dataclasses.dataclass
    class Table(dict):
        name: str

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True))

    def make(name, **content):
        table = Table(name)
        table.update(content)
        return fingerprinter(table)

    assert len({make("a", x=1), make("b", x=1), make("a", x=2)}) == 3
    assert make("a", x=1) == make("a", x=1)


def test_content_of_a_subclass_is_read_past_its_own_methods():
    class Lying(dict):
        def items(self):
            return []

        __iter__ = None

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True))
    assert fingerprinter(Lying(a=1)) != fingerprinter(Lying(a=2))


def test_state_that_only_c_code_sees_is_asked_for_by_pickling():
    pandas_like = datetime.datetime
    assert not same(pandas_like(2020, 1, 1), pandas_like(2020, 1, 1, microsecond=1))


def test_reordered_mapping_is_seen_where_the_order_matters():
    deconstructor = make_deconstructor(ordered={Arguments: ["tables"]})
    fingerprinter = make_fingerprinter(deconstructor)
    left, right = Arguments("f", {"i": 1, "j": 2}), Arguments("f", {"j": 2, "i": 1})
    assert stable_fingerprinter(left) == stable_fingerprinter(right)
    assert fingerprinter(left) != fingerprinter(right)
    assert fingerprinter(left) == fingerprinter(Arguments("f", {"i": 1, "j": 2})) == fingerprinter.reference(left)


def test_ordered_field_may_hold_something_that_is_no_mapping():
    fingerprinter = make_fingerprinter(make_deconstructor(ordered={Arguments: ["tables"]}))
    assert fingerprinter(Arguments("f", None)) != fingerprinter(Arguments("f", []))


def test_mapping_class_can_be_made_ordered_by_a_rule():
    rule = lambda table: Deconstruction("Named", pieces=tuple(table.items()))  # noqa: E731
    fingerprinter = make_fingerprinter(make_deconstructor({Named: rule}))
    assert fingerprinter(Named(a=1, b=2)) != fingerprinter(Named(b=2, a=1))
    assert fingerprinter({"a": 1, "b": 2}) == fingerprinter({"b": 2, "a": 1})
