"""Subclasses of builtin types, and instances by their state: what counts, and that the native traversal reads it itself."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import weakref

import pytest
from fingerprint_specimens import Plain, Point, SlottedList

from samovar.fingerprint import (
    containers,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    objects,
    stable_fingerprinter,
    state,
)


class Name(str):
    """A name as compilers have them."""


class OtherName(str):
    pass


class SlimName(str):
    __slots__ = ()


class PlacedName(str):
    __slots__ = ("line",)


class Count(int):
    pass


class Length(float):
    pass


class Phase(complex):
    pass


class Raw(bytes):
    pass


class Row(tuple):
    pass


class Stack(list):
    pass


class Table(dict):
    pass


class Bag(set):
    pass


class FrozenBag(frozenset):
    pass


CONTENTS = {
    Name: ["", "abc", "Grüße 🫖", "\ud800", "x" * 1000],
    Count: [0, -1, 2**63, -(2**63) - 1, 10**400],
    Length: [0.0, -0.0, float("nan"), 1.5],
    Phase: [0j, complex(-0.0, 1), complex(2, float("inf"))],
    Raw: [b"", b"abc", b"\0" * 200],
    Row: [(), (1, "a"), (1, (2, [3]))],
    Stack: [[], [1, "a"], [1, [2]]],
    Table: [{}, {"a": 1}, {1: {"b": [2]}}],
    Bag: [set(), {1, "a"}, {(1, 2)}],
    FrozenBag: [frozenset(), frozenset({1, "a"})],
}
CASES = [(cls, content) for cls, contents in CONTENTS.items() for content in contents]
IDS = [f"{cls.__name__} {number}" for cls, contents in CONTENTS.items() for number in range(len(contents))]


def agreed(value, fingerprinter=stable_fingerprinter):
    """The fingerprint, which both traversals have to give."""
    digest = fingerprinter(value)
    assert digest == fingerprinter.reference(value)
    # Two of one class: what is known of the class from the first is used for the second.
    assert fingerprinter([value, value]) == fingerprinter.reference([value, value])
    return digest


@pytest.mark.parametrize(("cls", "content"), CASES, ids=IDS)
def test_instance_of_a_subclass_counts_with_its_class_and_its_content(cls, content):
    assert agreed(cls(content)) == agreed(cls(content)) != agreed(content)
    assert len({agreed(cls(other)) for other in CONTENTS[cls]}) == len(CONTENTS[cls])


@pytest.mark.parametrize("cls", CONTENTS)
def test_state_of_an_instance_counts_by_name_and_value(cls):
    def make(**attributes):
        instance = cls(CONTENTS[cls][-1])
        vars(instance).update(attributes)
        return instance

    variants = [make(), make(unit="m"), make(unit="km"), make(size="m"), make(unit="m", size=1), make(unit=None)]
    assert len({agreed(variant) for variant in variants}) == len(variants)
    assert agreed(make(a=1, b=2)) == agreed(make(b=2, a=1))
    assert agreed([make(), make(unit="m"), make()]) == agreed([make(), make(unit="m"), make()])


def test_subclasses_of_one_type_differ():
    assert len({agreed(cls("abc")) for cls in (str, Name, OtherName, SlimName, PlacedName)}) == 5


def test_slots_count_and_may_be_without_a_value():
    unset, first, second = PlacedName("a"), PlacedName("a"), PlacedName("a")
    first.line, second.line = 1, 2
    assert len({agreed(unset), agreed(first), agreed(second)}) == 3
    del second.line
    assert agreed(second) == agreed(unset)


class SlotAndAttribute(PlacedName):
    pass


class SlotTwice(PlacedName):
    __slots__ = ("line",)


class HiddenSlot(PlacedName):
    line = "hidden by the class"


def test_slots_behind_others_of_the_same_name_count():
    both = [SlotAndAttribute("a") for _ in range(3)]
    for line, name in enumerate(both):
        name.line = line
    vars(both[2])["line"] = 0
    # The attribute hides the slot, as it would if it were pickled.
    assert agreed(both[0]) == agreed(both[2]) != agreed(both[1])
    twice = [SlotTwice("a") for _ in range(3)]
    PlacedName.line.__set__(twice[1], 1)
    twice[2].line = 2
    assert len({agreed(name) for name in twice}) == 3
    hidden = [HiddenSlot("a") for _ in range(2)]
    PlacedName.line.__set__(hidden[1], 1)
    assert agreed(hidden[0]) != agreed(hidden[1])


class Lying(str):
    def encode(self, *arguments):
        return b"lie"

    def __len__(self):
        return 0

    def __str__(self):
        return "lie"

    __eq__ = __hash__ = None


class LyingSet(set):
    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


class LyingRow(tuple):
    __len__ = LyingSet.__len__
    __iter__ = LyingSet.__iter__

    def __getitem__(self, index):
        return "lie"


class LyingTable(dict):
    __len__ = LyingSet.__len__
    __iter__ = keys = items = values = LyingSet.__iter__


class LyingCount(int):
    def __index__(self):
        return 0

    __int__ = bit_length = to_bytes = __index__


@pytest.mark.parametrize(
    ("cls", "content", "other"),
    [(Lying, "a", "b"), (LyingSet, {1}, {2}), (LyingRow, (1,), (2,)), (LyingTable, {1: 1}, {1: 2}), (LyingCount, 1, 2)],
)
def test_content_is_read_past_the_methods_of_a_subclass(cls, content, other):
    assert agreed(cls(content)) != agreed(cls(other))


def test_rules_are_not_called_for_what_the_native_traversal_reads(monkeypatch):
    names = Name("a"), PlacedName("b"), Point(1, 2), collections.Counter("aab"), SlottedList([1]), Plain(a=Count(3))
    names[1].line = 3
    expected = stable_fingerprinter.reference(names)

    def refuse(rule, value):
        raise AssertionError(f"called for {value!r}")

    for rule in (containers.ExtendedRule, state.StateRule, objects.PlainRule):
        monkeypatch.setattr(rule, "__call__", refuse)
    assert make_fingerprinter()(names) == expected


def test_what_counts_is_asked_once_per_list_of_names(monkeypatch):
    asked = []
    original = state.StateRule.shape
    monkeypatch.setattr(
        state.StateRule, "shape", lambda rule, cls, names: asked.append(names) or original(rule, cls, names)
    )
    values = [Plain(a=1, b=2) for _ in range(50)] + [Plain(b=1, a=2) for _ in range(50)]
    values += [Plain(**{"".join("a"): 3}, b=2) for _ in range(50)]
    fingerprinter = make_fingerprinter()
    assert fingerprinter(values) == fingerprinter.reference(values)
    assert sorted(asked) == [("a", "b"), ("b", "a")]


def test_instances_with_ever_new_names_do_not_pile_up():
    fingerprinter = make_fingerprinter()
    values = [Plain(**{f"name{number}": number, f"more{number % 7}": 1}) for number in range(2000)]
    assert fingerprinter(values) == fingerprinter.reference(values)


def test_names_of_attributes_that_are_no_text_count():
    for make in (Plain, lambda: Name("a")):
        left, right = make(), make()
        vars(left)[1], vars(right)[1] = "x", "y"
        assert agreed(left) != agreed(right)
        vars(left)[OtherName("b")] = 3
        assert agreed(left) == agreed(left)


class Hiding:
    """Says that it has no attributes."""

    @property
    def __dict__(self):
        return {}


class HidingName(str):
    __dict__ = None


def test_attributes_count_even_if_the_class_hides_its_dictionary():
    for make in (Hiding, lambda: HidingName("a")):
        left, right = make(), make()
        object.__setattr__(left, "value", 1)
        object.__setattr__(right, "value", 2)
        assert agreed(left) != agreed(right)


class Attributes(dict):
    def __iter__(self):
        raise AssertionError("somebody iterated")

    keys = values = items = __iter__


def test_dictionary_of_an_instance_may_be_of_a_subclass():
    left, right = Plain(), Plain()
    left.__dict__, right.__dict__ = Attributes(a=1), Attributes(a=2)
    assert agreed(left) != agreed(right)
    assert agreed(left) == agreed(Plain(a=1))


class Cached(str):
    @functools.cached_property
    def upper_case(self):
        return self.upper()


def test_cached_property_of_a_subclass_does_not_count():
    fresh, used = Cached("a"), Cached("a")
    assert used.upper_case == "A"
    assert agreed(fresh) == agreed(used)
    used.note = 1
    assert agreed(fresh) != agreed(used)


def test_class_that_changes_is_looked_at_again():
    class Growing(str):
        pass

    value = Growing("a")
    value.size = 3
    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True))
    before = fingerprinter([value])
    Growing.size = functools.cached_property(len)
    after = fingerprinter([value])
    assert after == fingerprinter.reference([value]) != before
    del value.size
    assert fingerprinter([value]) == after


def test_skipped_and_ordered_attributes_of_a_subclass():
    skipping = make_fingerprinter(make_deconstructor(skip={Name: ["line"]}))
    left, right = Name("a"), Name("a")
    left.line, right.line = 1, 2
    assert agreed(left, skipping) == agreed(right, skipping) == agreed(Name("a"), skipping)
    ordering = make_fingerprinter(make_deconstructor(ordered={Name: ["table"]}))
    left.line = right.line
    left.table, right.table = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert agreed(left) == agreed(right)
    assert agreed(left, ordering) != agreed(right, ordering)


def test_local_subclass_may_hold_instances_of_itself():
    def define(default):
        class Unit(str):
            pass

        Unit.DEFAULT = Unit(default)
        return Unit

    for value in (define("m"), define("m").DEFAULT, define("m")("km"), [define("m")("km"), define("m")("km")]):
        assert lenient_fingerprinter(value) == lenient_fingerprinter.reference(value)
    assert lenient_fingerprinter(define("m")("km")) != lenient_fingerprinter(define("km")("km"))


def test_instance_that_holds_itself_is_a_cycle():
    for make in (Plain, lambda: Name("a"), Stack, Table):
        value, other = make(), make()
        value.me, other.me = value, other
        assert stable_fingerprinter(value) == stable_fingerprinter.reference(value) == stable_fingerprinter(other)
        other.me = value
        assert stable_fingerprinter(other) == stable_fingerprinter.reference(other)


def test_subclasses_with_slots_are_not_kept_alive():
    def use():
        class Temporary(str):
            __slots__ = ("line",)

        value = Temporary("a")
        value.line = 1
        fingerprinter([value, value])
        return weakref.ref(Temporary)

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True))
    references = [use() for _ in range(5)]
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


def test_traversal_leaks_no_references():
    value = Name("abc")
    value.line = marker = object.__new__(Plain)
    row = Row([value, SlimName("a")])
    fingerprinter = make_fingerprinter()
    fingerprinter(row)
    before = [sys.getrefcount(each) for each in (value, marker, row, Name, Plain)]
    for _ in range(100):
        fingerprinter(row)
    assert [sys.getrefcount(each) for each in (value, marker, row, Name, Plain)] == before
