"""Changes between two launches that a comparison by type, by position or by the user's `==` would not see."""

import collections
import math
import types

import pytest

import samovar as sv


class Equal(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class EqualText(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Counter:
    def __init__(self, n):
        self.n = n

    def count(self):
        return self.n


class Meta(type):
    @property
    def n(cls):
        return 9


class WithMeta(metaclass=Meta):
    n = 3


@sv.func
def summed(x, y=1, z=2):
    return x + 10 * y + 100 * z


constant = Equal(5)
text = EqualText("a")
method = Counter(1).count
counter = Counter(1)
invents = collections.defaultdict(int, a=5)
module = types.ModuleType("module")


@sv.kernel
def number() -> sv.i64:
    return constant


@sv.kernel
def length() -> sv.i64:
    return sv.static(len(text))


@sv.kernel
def called() -> sv.i64:
    return sv.static(method())


@sv.kernel
def called_member() -> sv.i64:
    return sv.static(counter.count())


@sv.kernel
def with_default() -> sv.i64:
    return summed(1, 5)


@sv.kernel
def item() -> sv.i64:
    return invents["a"]


@sv.kernel
def name_of_a_module() -> sv.i64:
    return module.n


@sv.kernel
def of_the_metaclass() -> sv.i64:
    return WithMeta.n


@sv.kernel(fastcache=True)
def renamed_constant() -> sv.f64:
    return half_a_turn


half_a_turn = math.pi


def test_numbers_and_texts_whose_class_calls_all_of_them_equal(monkeypatch):
    assert number() == 5
    monkeypatch.setitem(globals(), "constant", Equal(6))
    assert number() == 6
    assert length() == 1
    monkeypatch.setitem(globals(), "text", EqualText("bc"))
    assert length() == 2


def test_a_method_of_another_object(monkeypatch):
    assert called() == 1
    monkeypatch.setitem(globals(), "method", Counter(2).count)
    assert called() == 2
    monkeypatch.setitem(globals(), "method", [1, 2, 3].__len__)
    assert called() == 3
    first, second = {"a": 4}, {"a": 5, "b": 6}
    for bound, expected in ((first.__sizeof__, first.__sizeof__()), (first.copy().__len__, 1), (second.__len__, 2)):
        monkeypatch.setitem(globals(), "method", bound)
        assert called() == expected


def test_a_builtin_method_of_another_object(monkeypatch):
    first, second = [1], [1, 1]
    for owner in (first, second, first):
        monkeypatch.setitem(globals(), "method", iter([0] * len(owner)).__length_hint__)
        assert called() == len(owner)


def test_a_method_that_the_class_has_exchanged(monkeypatch):
    assert called_member() == 1
    monkeypatch.setattr(Counter, "count", lambda self: 100)
    assert called_member() == 100


def test_another_number_of_defaults(monkeypatch):
    for defaults, expected in (((1, 2), 251), ((2,), 251), ((2, 2), 251), ((2, 7), 751), ((7,), 751)):
        monkeypatch.setattr(summed.__wrapped__, "__defaults__", defaults)
        assert with_default() == expected


def test_a_func_that_wraps_another_function_with_the_same_code(monkeypatch):
    names = {"sv": sv, "base": 1}

    @sv.func
    def based(x):
        return x + base  # noqa: F821

    @sv.kernel
    def run() -> sv.i32:
        return based(1)

    code = based.__wrapped__.__code__
    for value, expected in ((1, 2), (10, 11), (1, 2)):
        monkeypatch.setattr(based, "__wrapped__", types.FunctionType(code, {**names, "base": value}, "based", None, ()))
        assert run() == run() == expected


def test_a_dict_that_invents_items_is_not_given_the_occasion():
    assert item() == 5
    del invents["a"]
    with pytest.raises(sv.SamovarError):
        item()
    assert "a" not in invents
    invents["a"] = 5


def test_a_module_that_changes_its_class():
    class Lazy(types.ModuleType):
        n = property(lambda self: 8)

    module.n = 1
    assert name_of_a_module() == 1
    module.__class__ = Lazy
    assert name_of_a_module() == 8


def test_a_property_of_the_metaclass():
    assert of_the_metaclass() == WithMeta.n == 9


def test_a_constant_of_math_under_another_name_is_pure():
    assert renamed_constant() == math.pi
