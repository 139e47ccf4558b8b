"""Descriptions of objects, and whether an object is still as it was described."""

import builtins
import collections
import sys
import weakref

import pytest

from samovar._native import same_contents


class Thing:
    def __init__(self, **attributes):
        vars(self).update(attributes)

    def method(self):
        return self


def value(*objects):
    return tuple(("value", each) for each in objects)


thing = Thing(n=1)
Pair = collections.namedtuple("Pair", "a b")

CASES = {
    "a value": (("value", 1), [1], [2, 1.0, True, "1", None]),
    "a zero": (("value", 0.0), [0.0], [-0.0, 0, False]),
    "the same object": (("is", thing), [thing], [Thing(n=1), None]),
    "the same object, weakly": (("weak", weakref.ref(thing)), [thing], [Thing(n=1), None]),
    "a type": (("type", list), [[], [1]], [(), Pair(1, 2)]),
    "values": (("values", (1, "a")), [[1, "a"], (1, "a")], [[1], [1, "a", 2.5], [1.0, "a"], {1, 2}, 5]),
    "items": (
        ("items", value(1, 2)),
        [[1, 2], (1, 2), Pair(1, 2), {1, 2}, frozenset({1, 2})],
        [[1], [2, 1], {1}, {1, 3}, {1: 2}, None],
    ),
    "nested items": (("items", (("items", value(1)), ("value", 2))), [[[1], 2], ((1,), 2)], [[[1.0], 2], [[1, 1], 2]]),
    "nothing": (("items", ()), [[], (), set(), frozenset()], [[1], {1}, {}]),
    "a mapping": (
        ("mapping", value("a", "b"), value(1, 2)),
        [{"a": 1, "b": 2}, collections.OrderedDict(a=1, b=2)],
        [{"a": 1}, {"b": 2, "a": 1}, {"a": 1, "b": 3}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}, [("a", 1), ("b", 2)]],
    ),
    "attributes": (
        ("attributes", (("n", ("value", 1)), ("m", None))),
        [thing, Thing(n=1, k=3)],
        [Thing(n=2), Thing(), Thing(n=1, m=1)],
    ),
    "a method": (("method", ("is", Thing.method), ("is", thing)), [thing.method], [Thing().method, Thing.method, thing]),
    "all of them": (("all", (("type", list), ("values", (1,)))), [[1]], [(1,), [2]]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_described_is_told_from_what_is_not(case):
    description, same, others = CASES[case]
    assert [same_contents(each, description) for each in same] == [True] * len(same)
    assert [same_contents(each, description) for each in others] == [False] * len(others)


def test_an_object_that_is_gone_is_no_other():
    gone = Thing()
    description = ("weak", weakref.ref(gone))
    del gone
    assert not same_contents(Thing(), description)
    assert not same_contents(None, description)


captured = 3


def make(n):
    def function(a, b=2, *, c=3):
        return a + b + c + n + captured

    return function


def described_function(function, cell):
    names = (("captured", ("value", captured)),)
    defaults = ("items", value(2)), ("mapping", value("c"), value(3))
    made_of = (function.__code__, *defaults, (("value", cell),), globals(), names, (("sum", sum),))
    return ("function", weakref.ref(function), *made_of)


def test_functions_are_compared_by_what_they_are_made_of(monkeypatch):
    function = make(5)
    description = described_function(function, 5)
    assert same_contents(function, description)
    assert not same_contents(make(5), description)
    assert not same_contents(len, description)
    for name, values in (("__defaults__", ((4,), None)), ("__kwdefaults__", ({"c": 4}, None))):
        for changed in values:
            with monkeypatch.context() as patch:
                patch.setattr(function, name, changed)
                assert not same_contents(function, description)
    assert same_contents(function, description)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "captured", 4)
        assert not same_contents(function, description)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "sum", sum)  # which hides the builtin
        assert not same_contents(function, description)
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "sum", max)
        assert not same_contents(function, description)
    with monkeypatch.context() as patch:
        patch.setattr(function, "level", 1, raising=False)
        assert not same_contents(function, description)
    with monkeypatch.context() as patch:
        patch.setattr(function, "__code__", make(1).__code__.replace(co_name="other"))
        assert not same_contents(function, description)
    assert same_contents(function, description)


def test_a_cell_that_is_not_assigned_is_described_by_nothing():
    def function():
        return later

    description = ("function", weakref.ref(function), function.__code__, None, None, (None,), globals(), (), ())
    assert same_contents(function, description)
    later = 1
    assert not same_contents(function, description)


@pytest.mark.parametrize(
    "description",
    [
        None, (), ("value",), ("value", 1, 2), ("nothing", 1), [("value", 1)], ("items", [1]), ("values", 1), ("all", 1),
        ("weak", 1), ("mapping", (), 1), ("mapping", 1, ()), ("attributes", (1,)), ("attributes", 1), ("all", (1,)),
        ("function", 1, 2, 3, 4, 5, 6, 7), ("function", 1, 2, 3, 4, (), {}, (), ()),
    ],
)  # fmt: skip
def test_what_describes_nothing_is_an_error(description):
    described = {} if description and description[0] == "mapping" else [1]
    with pytest.raises((ValueError, TypeError)):
        same_contents(described, description)


def test_depth_is_limited():
    deep = ("value", 1)
    nested = 1
    for _ in range(100_000):
        deep, nested = ("items", (deep,)), [nested]
    with pytest.raises(RecursionError):
        same_contents(nested, deep)


def test_an_attribute_that_raises_is_an_exception():
    class Raises:
        @property
        def n(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        same_contents(Raises(), ("attributes", (("n", ("value", 1)),)))


def test_a_list_that_shrinks_while_it_is_compared_is_another_one():
    class Shrinks:
        @property
        def n(self):
            del elements[:]
            return 1

    elements = [Shrinks(), 2, 3]
    description = ("items", (("attributes", (("n", ("value", 1)),)), ("value", 2), ("value", 3)))
    assert not same_contents(elements, description)


def test_nothing_is_kept():
    function = make(5)
    before = [sys.getrefcount(each) for each in (thing, function, captured)]
    for _ in range(10):
        same_contents([thing, thing], ("items", (("is", thing), ("is", thing))))
        same_contents(function, described_function(function, 5))
        same_contents({"a": thing}, ("mapping", value("a"), (("attributes", (("n", ("value", 1)),)),)))
        same_contents({thing}, ("items", (("is", thing),)))
    assert [sys.getrefcount(each) for each in (thing, function, captured)] == before
