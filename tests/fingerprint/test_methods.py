"""Bound functions: by their object and the name under which it has them, if that name leads to the function."""

from __future__ import annotations

import collections
import functools
import types

import pytest
from fingerprint_specimens import Plain, Scale, double

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter


def agreed(value, fingerprinter=stable_fingerprinter):
    digest = fingerprinter(value)
    assert digest == fingerprinter.reference(value)
    return digest


class Base:
    def run(self):
        return 1

    @classmethod
    def make(cls):
        return cls()

    @classmethod
    def build(cls):
        return cls()


class Derived(Base):
    def run(self):
        return 2


class Meta(type):
    def describe(cls):
        return cls.__name__


class Made(metaclass=Meta):
    pass


def add(value, factor):
    return value + factor


def test_method_counts_with_its_object_and_its_name():
    methods = [Base().run, Derived().run, Base.make, Base.build, Derived.make, Scale(1.0).__call__, Scale(2.0).__call__]
    methods += [Made.describe, Base().make]
    assert len({agreed(method) for method in methods}) == len(methods) - 1
    assert agreed(Base().make) == agreed(Base.make)


def test_function_that_is_bound_by_hand_counts():
    value = Plain(a=1)
    bound = [types.MethodType(function, value) for function in (double, add, len)]
    assert len({agreed(method) for method in bound}) == 3
    assert agreed(types.MethodType(double, value)) != agreed(types.MethodType(double, Plain(a=2)))


def make(number):
    def run(self):
        return number

    return run


def test_functions_of_the_same_name_that_are_bound_to_one_object_differ():
    value = Base()
    with pytest.raises(TypeError, match=r"^\[0\]\.__func__: cannot fingerprint the function .*make.<locals>.run"):
        stable_fingerprinter([types.MethodType(make(1), value)])
    digests = [agreed(types.MethodType(make(number), value), lenient_fingerprinter) for number in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]
    assert agreed(value.run, lenient_fingerprinter) not in digests


def test_method_of_a_base_differs_from_the_one_that_hides_it():
    value = Derived()
    assert agreed(super(Derived, value).run) != agreed(value.run)
    hidden = Base()
    hidden.run = 3
    assert agreed(types.MethodType(Base.run, hidden)) == agreed(types.MethodType(Base.run, hidden))


def test_callable_object_that_is_bound_counts():
    value = Plain()
    bound = [types.MethodType(callable_, value) for callable_ in (Scale(1.0), Scale(2.0), functools.partial(add, 1))]
    assert len({agreed(method) for method in bound}) == 3


def test_builtin_method_of_a_base_differs_from_the_one_that_hides_it():
    ordered = collections.OrderedDict(a=1)
    for name in ("update", "setdefault", "pop"):
        assert agreed(getattr(ordered, name)) != agreed(getattr(super(collections.OrderedDict, ordered), name))
    assert agreed((5).__repr__) != agreed(object.__repr__.__get__(5))
    assert agreed((5).__repr__) == agreed((5).__repr__) != agreed((6).__repr__)
    assert agreed(dict.fromkeys) != agreed(collections.OrderedDict.fromkeys)
    assert agreed(int.__new__) != agreed(object.__new__)
