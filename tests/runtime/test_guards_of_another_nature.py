"""Guards rest on where a name was found: for objects that keep it elsewhere they are refused, and others are made."""

from __future__ import annotations

import types

import samovar as sv

settings = types.ModuleType("settings")
settings.n = 5  # type: ignore[attr-defined]


class Lazy(types.ModuleType):
    """A module whose class says what a name means, whatever is in its dictionary."""

    now = 5

    @property
    def n(self) -> int:
        return self.now


@sv.kernel
def name_of_a_module() -> sv.i32:
    return settings.n


def test_a_module_whose_class_finds_its_names_in_place_of_a_plain_one(monkeypatch):
    assert name_of_a_module() == 5
    lazy = Lazy("settings")
    vars(lazy)["n"] = 5  # which the property hides
    monkeypatch.setitem(globals(), "settings", lazy)
    compiled = name_of_a_module.cache_observations.compiles
    assert name_of_a_module() == 5
    assert name_of_a_module.cache_observations.compiles == compiled
    monkeypatch.setattr(Lazy, "now", 7)
    assert name_of_a_module() == 7


@sv.kernel
def whether_a_module_has_it() -> sv.i32:
    return 5 if sv.static(hasattr(settings, "absent")) else 1


def test_a_module_that_finds_names_in_place_of_one_that_does_not(monkeypatch):
    assert whether_a_module_has_it() == 1
    known: set[str] = set()

    def find(name: str) -> int:
        if name in known:
            return 1
        raise AttributeError(name)

    finding = types.ModuleType("settings")
    finding.__getattr__ = find
    monkeypatch.setitem(globals(), "settings", finding)
    assert whether_a_module_has_it() == 1
    lookups = whether_a_module_has_it.cache_observations.lookups
    assert whether_a_module_has_it() == 1
    assert whether_a_module_has_it.cache_observations.lookups == lookups
    known.add("absent")
    assert whether_a_module_has_it() == 5


def test_a_module_whose_class_finds_names_in_place_of_one_that_does_not(monkeypatch):
    class Finding(types.ModuleType):
        known = False

        def __getattr__(self, name: str) -> int:
            if self.known:
                return 1
            raise AttributeError(name)

    assert whether_a_module_has_it() == 1
    monkeypatch.setitem(globals(), "settings", Finding("settings"))
    assert whether_a_module_has_it() == 1
    Finding.known = True
    assert whether_a_module_has_it() == 5


class Numbered:
    def __init__(self, n: int) -> None:
        self.n = n

    @sv.func
    def number(self) -> sv.i32:
        return self.n


class Borrowing:
    """Has no method of its own."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.number = Numbered.number.__get__(self)


@sv.kernel
def by_method(thing: sv.Template) -> sv.i32:
    return thing.number()


def test_an_object_that_holds_the_method_which_its_class_defines():
    plain, holding = Numbered(3), Numbered(3)
    assert by_method(plain) == 3
    holding.number = holding.number
    assert by_method(holding) == 3
    lookups = by_method.cache_observations.lookups
    assert by_method(holding) == 3
    assert by_method.cache_observations.lookups == lookups
    holding.n = 4
    assert by_method(holding) == 4


def test_an_object_that_holds_the_method_of_another_one():
    first, second = Numbered(1), Numbered(2)
    assert [by_method(first), by_method(second)] == [1, 2]
    second.number = first.number
    assert by_method(second) == 1
    first.n = 6
    assert [by_method(first), by_method(second)] == [6, 6]
    del second.number
    assert by_method(second) == 2


def test_an_object_that_borrows_a_method():
    borrowing = Borrowing(3)
    assert by_method(borrowing) == 3
    borrowing.n = 8
    assert by_method(borrowing) == 8
    borrowing.number = Numbered(9).number
    assert by_method(borrowing) == 9
