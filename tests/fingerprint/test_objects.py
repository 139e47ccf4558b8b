"""Plain objects, namespaces, objects that say themselves how they are made, and hostile ones."""

from __future__ import annotations

import argparse
import copyreg
import decimal
import functools
import io
import re
import sys
import threading
import types

import fingerprint_hostile as hostile
import numpy
import pytest
from fingerprint_specimens import Doubled, Plain, Reduced

from samovar.fingerprint import (
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
)


def same(left, right):
    assert stable_fingerprinter(left) == stable_fingerprinter.reference(left)
    return stable_fingerprinter(left) == stable_fingerprinter(right)


class Slots:
    __slots__ = ("__private", "first")

    def __init__(self, first, private):
        self.first = first
        self.__private = private


class SlotsAndDict(Slots):
    pass


class WithState:
    def __init__(self, kept, dropped):
        self.kept, self.dropped = kept, dropped

    def __getstate__(self):
        return {"kept": self.kept}


class ListMaker(list):
    def __init__(self, *items):
        super().__init__(items)


class Registered:
    def __init__(self, value, noise):
        self.value, self.noise = value, noise


def restore_registered(value):
    return Registered(value, None)


def test_attributes_of_a_plain_object_count_by_name_and_value():
    variants = [Plain(), Plain(a=1), Plain(a=2), Plain(b=1), Plain(a=1, b=2)]
    assert len({stable_fingerprinter(variant) for variant in variants}) == len(variants)


def test_order_of_attributes_does_not_count():
    assert same(Plain(a=1, b=2), Plain(b=2, a=1))


def test_attributes_that_are_no_names_count():
    left, right = Plain(), Plain()
    left.__dict__[1] = "x"
    right.__dict__[1] = "y"
    assert not same(left, right)


def test_slots_count_even_if_private_or_unset():
    assert same(Slots(1, 2), Slots(1, 2))
    assert not same(Slots(1, 2), Slots(1, 3))
    unset = Slots(1, 2)
    del unset.first
    assert not same(unset, Slots(1, 2))
    extended = SlotsAndDict(1, 2)
    extended.more = 3
    assert not same(extended, SlotsAndDict(1, 2))


def test_cached_property_does_not_count():
    fresh, used = Doubled(value=3), Doubled(value=3)
    assert used.twice == 6
    assert "twice" in vars(used)
    assert same(fresh, used)


def test_getstate_decides_what_counts():
    assert same(WithState(1, 2), WithState(1, 3))
    assert not same(WithState(1, 2), WithState(2, 2))


def test_reduce_decides_what_counts():
    assert same(Reduced(1), Reduced(1))
    assert not same(Reduced(1), Reduced(2))


def test_dispatch_table_is_honored(monkeypatch):
    assert not same(Registered(1, "a"), Registered(1, "b"))
    table = {**copyreg.dispatch_table, Registered: lambda value: (restore_registered, (value.value,))}
    monkeypatch.setattr(copyreg, "dispatch_table", table)
    assert same(Registered(1, "a"), Registered(1, "b"))
    assert not same(Registered(1, "a"), Registered(2, "a"))


def test_regular_expressions_and_partials_work():
    assert not same(re.compile("a"), re.compile("a", re.IGNORECASE))
    assert not same(functools.partial(int, base=2), functools.partial(int, base=3))
    assert same(decimal.Context(prec=3), decimal.Context(prec=3))


@pytest.mark.parametrize("name", ["cbrt", "sin", "add"])
def test_numpy_ufuncs_work(name):
    assert stable_fingerprinter(getattr(numpy, name)) == lenient_fingerprinter(getattr(numpy, name))
    assert not same(getattr(numpy, name), numpy.sqrt)


def test_object_that_cannot_be_pickled_is_refused_with_advice():
    for value in (threading.Lock(), io.TextIOWrapper(io.BytesIO()), (index for index in range(3))):
        with pytest.raises(
            TypeError, match=r"^\[1\]\.a: cannot fingerprint an object of type .*metadata\(fingerprint=False\)"
        ):
            stable_fingerprinter([0, Plain(a=value)])


def test_reduce_that_returns_nonsense_is_refused():
    class Nonsense:
        def __reduce_ex__(self, protocol):
            return 3

    with pytest.raises(TypeError, match="returned an object of type int"):
        lenient_fingerprinter(Nonsense())


def test_reduce_that_raises_is_told():
    class Failing:
        def __reduce_ex__(self, protocol):
            raise KeyError("broken")

    with pytest.raises(TypeError, match=r"Failing.*broken"):
        lenient_fingerprinter(Failing())


def test_namespaces_go_by_content_even_if_their_class_is_local():
    def define(limit):
        class Constants(types.SimpleNamespace):
            LIMIT = limit

            def doubled(self):
                return 2 * self.LIMIT

        return Constants

    assert same(define(1)(g=9.81), define(1)(g=9.81))
    assert not same(define(1)(g=9.81), define(1)(g=1.62))
    assert not same(define(1)(g=9.81), define(2)(g=9.81))
    assert not same(types.SimpleNamespace(a=1), types.SimpleNamespace(a=2))
    assert same(argparse.Namespace(a=1, b=2), argparse.Namespace(b=2, a=1))
    assert not same(argparse.Namespace(a=1), types.SimpleNamespace(a=1))


@pytest.mark.parametrize("name", ["Hidden", "Endless", "EndlessDict"])
def test_hostile_metaclass_is_not_run(name):
    make = vars(hostile)[name]
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Plain: ["x"]}, ordered={Plain: ["y"]}))
    for one in (stable_fingerprinter, fingerprinter, lenient_fingerprinter):
        assert one(make(1)) == one.reference(make(1)) == one(make(1))
        assert one(make(1)) != one(make(2))


def test_hostile_class_itself_has_a_fingerprint():
    assert stable_fingerprinter([hostile.Hidden, hostile.Endless]) == lenient_fingerprinter(
        [hostile.Hidden, hostile.Endless]
    )


def test_class_that_changes_its_fields_is_looked_at_again():
    class Changing:
        def __init__(self, value):
            self.value = value
            self.noise = object.__new__(Plain)

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True))
    before = fingerprinter(Changing(1))
    Changing.__reduce__ = lambda self: (Changing, (self.value,))
    assert fingerprinter(Changing(1)) == fingerprinter.reference(Changing(1)) != before


def test_exceptions_count_with_type_and_arguments():
    assert same(ValueError("a", 1), ValueError("a", 1))
    assert not same(ValueError("a"), ValueError("b"))
    assert not same(ValueError("a"), TypeError("a"))


def test_base_class_of_list_with_arguments_counts_its_items():
    assert not same(ListMaker(1, 2), ListMaker(2, 1))


@pytest.mark.parametrize("name", ["numpy.ndarray", "uuid.UUID", "unheard_of.Decimal", "decimal.Decimal"])
def test_class_that_poses_as_one_of_a_library_is_not_taken_for_it(name):
    module, _, qualified_name = name.rpartition(".")
    poser = type(qualified_name, (), {"__module__": module, "bytes": b"1"})()
    assert make_deconstructor(lenient=True)(poser).tag == "object"


def test_library_that_was_unloaded_is_not_asked_for(monkeypatch):
    value = decimal.Decimal(1)
    monkeypatch.delitem(sys.modules, "decimal")
    fingerprinter = make_fingerprinter()
    with pytest.raises(TypeError, match="'decimal' is not imported"):
        fingerprinter(value)
    monkeypatch.undo()
    assert fingerprinter(value) == fingerprinter.reference(value) == stable_fingerprinter(value)
