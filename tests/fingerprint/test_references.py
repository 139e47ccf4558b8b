"""Types, functions and modules: by verified name, or taken apart."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import sys
import types

import fingerprint_local
import fingerprint_specimens
import pytest
from fingerprint_specimens import Location, Scale, double

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter


def strict_refuses(value, match):
    with pytest.raises(TypeError, match=match):
        stable_fingerprinter(value)
    with pytest.raises(TypeError, match=match):
        stable_fingerprinter.reference(value)


def test_lambda_is_refused_by_name_and_reason():
    strict_refuses(lambda: 1, r"function test_references\.test_lambda|<lambda>.*defined inside")


def test_lambda_at_module_level_is_refused():
    strict_refuses(eval("lambda: 1", {"__name__": "math"}), "it is a lambda")


def test_closure_is_refused():
    def local():
        return 1

    strict_refuses(local, "local.*defined inside test_closure_is_refused")


def test_local_class_is_refused():
    class Local:
        pass

    strict_refuses(Local, "class .*Local")
    strict_refuses([Local()], r"^\[0\].*class .*Local")


def test_shadowed_function_is_refused(monkeypatch):
    original = fingerprint_specimens.double
    monkeypatch.setattr(fingerprint_specimens, "double", len)
    strict_refuses(original, "fingerprint_specimens.double is another object")


def test_function_whose_name_is_gone_is_refused(monkeypatch):
    original = fingerprint_specimens.double
    monkeypatch.delattr(fingerprint_specimens, "double")
    strict_refuses(original, "does not exist")


def test_function_of_a_module_that_is_not_imported_is_refused(monkeypatch):
    monkeypatch.delitem(sys.modules, "fingerprint_specimens")
    strict_refuses(double, "'fingerprint_specimens' is not imported")


def test_decorated_function_is_known_and_the_one_it_wraps_is_not(monkeypatch):
    wrapper = functools.wraps(double)(lambda value: double(value))
    monkeypatch.setattr(fingerprint_specimens, "double", wrapper)
    stable_fingerprinter(fingerprint_specimens.double)
    strict_refuses(double, "another object")


def test_refusal_tells_the_path():
    strict_refuses(
        {"steps": [double, {"last": (1, lambda: 2)}]}, r"^\['steps'\]\[1\]\['last'\]\[1\]: cannot fingerprint"
    )


def test_module_is_known_by_name_and_an_unknown_one_refused():
    assert stable_fingerprinter(math) != stable_fingerprinter(sys)
    strict_refuses(types.ModuleType("math"), "module 'math'")


def test_method_of_a_class_is_known_by_its_qualified_name():
    assert stable_fingerprinter(Scale.__call__) != stable_fingerprinter(double)


def test_bound_method_counts_with_its_object():
    assert stable_fingerprinter(Scale(1.0).__call__) != stable_fingerprinter(Scale(2.0).__call__)


def test_bound_method_of_a_builtin_counts_with_its_object():
    assert stable_fingerprinter([1].append) != stable_fingerprinter([2].append)


@pytest.mark.parametrize("name", [name for name, value in vars(types).items() if isinstance(value, type)])
def test_types_of_the_interpreter_are_known(name):
    assert stable_fingerprinter(getattr(types, name)) == lenient_fingerprinter(getattr(types, name))


def make_adder(amount, *, by_default=0):
    def add(value, extra=by_default):
        return value + amount + extra

    return add


def test_lenient_counts_code_defaults_and_closure_of_a_function():
    assert lenient_fingerprinter(make_adder(1)) == lenient_fingerprinter(make_adder(1))
    variants = [make_adder(1), make_adder(2), make_adder(1, by_default=3), make_adder(True), make_adder(1.0)]
    assert len({lenient_fingerprinter(variant) for variant in variants}) == len(variants)


def test_lenient_counts_constants_names_and_nested_code():
    functions = [
        lambda x: x + 1,
        lambda x: x + 2,
        lambda x: x + 1.0,
        lambda x: x - 1,
        lambda y: y + 1,
        lambda x: math.sin(x),
        lambda x: math.cos(x),
        lambda x: lambda: x + 1,
        lambda x: lambda: x + 2,
        lambda x: x in {1, 2},
        lambda x: x in {1, 3},
        lambda x, /: x + 1,
        lambda *x: x + 1,
        lambda *, x: x + 1,
        lambda *, x=1: x + 1,
    ]
    assert len({lenient_fingerprinter(function) for function in functions}) == len(functions)


def test_lenient_fingerprint_of_a_function_does_not_change_when_it_runs():
    def busy(value):
        total = 0
        for index in range(value):
            total += index * 2
        return total

    before = lenient_fingerprinter(busy)
    for _ in range(50):
        busy(1000)
    assert lenient_fingerprinter(busy) == before


def test_lenient_fingerprint_of_a_function_does_not_depend_on_its_line():
    source = "def make():\n    def f(x):\n        return x + 1\n    return f\n"
    spaces = [{"__name__": "somewhere"}, {"__name__": "somewhere"}]
    exec(compile(source, "one.py", "exec"), spaces[0])
    exec(compile("\n\n# moved\n" + source, "other.py", "exec"), spaces[1])
    assert lenient_fingerprinter(spaces[0]["make"]()) == lenient_fingerprinter(spaces[1]["make"]())


def test_lenient_takes_a_recursive_closure():
    def make(base):
        def countdown(n):
            return base if n == 0 else countdown(n - 1)

        return countdown

    assert lenient_fingerprinter(make(1)) == lenient_fingerprinter(make(1)) != lenient_fingerprinter(make(2))


def test_lenient_takes_a_closure_with_an_empty_cell():
    def make():
        def read():
            return later

        if False:
            later = 1
        return read

    assert lenient_fingerprinter(make()) == lenient_fingerprinter(make())


def test_lenient_takes_local_classes_by_their_body():
    def define(unit, factor):
        class Measure:
            UNIT = unit

            def __init__(self, value):
                self.value = value

            def scaled(self):
                return self.value * factor

            @property
            def text(self):
                return f"{self.value} {self.UNIT}"

            @staticmethod
            def zero():
                return 0

        return Measure

    assert lenient_fingerprinter(define("m", 1)(3)) == lenient_fingerprinter(define("m", 1)(3))
    variants = [define("m", 1)(3), define("km", 1)(3), define("m", 2)(3), define("m", 1)(4), define("m", 1)]
    assert len({lenient_fingerprinter(variant) for variant in variants}) == len(variants)


def test_lenient_takes_an_unknown_module_by_its_content():
    left, right = types.ModuleType("made_up"), types.ModuleType("made_up")
    left.value = right.value = 1
    assert lenient_fingerprinter(left) == lenient_fingerprinter(right)
    right.value = 2
    assert lenient_fingerprinter(left) != lenient_fingerprinter(right)


@pytest.mark.parametrize("name", fingerprint_local.make())
def test_lenient_fingerprint_is_the_same_in_other_processes(name, other_processes):
    first, second = fingerprint_local.make()[name], fingerprint_local.make()[name]
    expected = lenient_fingerprinter(first)
    assert lenient_fingerprinter(second) == expected
    assert {process.fingerprint(("local", name)) for process in other_processes} == {expected}


def test_lenient_fingerprints_of_local_things_are_all_different():
    things = fingerprint_local.make()
    assert len({lenient_fingerprinter(thing) for thing in things.values()}) == len(things)


@dataclasses.dataclass(frozen=True)
class Power:
    """A callable without a name of its own."""

    exponent: int

    def __call__(self, value):
        return value**self.exponent


CACHES = {
    "cache": functools.cache,
    "unbounded": functools.lru_cache(maxsize=None),
    "bounded": functools.lru_cache(maxsize=7),
    "typed": functools.lru_cache(maxsize=7, typed=True),
}


@pytest.mark.parametrize("fingerprinter", [stable_fingerprinter, lenient_fingerprinter], ids=["strict", "lenient"])
def test_cached_callable_without_a_name_counts_by_what_it_wraps(fingerprinter):
    for make in (Power, lambda exponent: functools.partial(pow, exp=exponent)):
        for cache in CACHES.values():
            first = fingerprinter(cache(make(2)))
            assert first == fingerprinter.reference(cache(make(2))) == fingerprinter(cache(make(2)))
            assert first != fingerprinter(cache(make(3)))
            assert first != fingerprinter(make(2))
    different = {fingerprinter(cache(Power(2))) for cache in CACHES.values()}
    # `cache` is another name of the unbounded one.
    assert len(different) == len(CACHES) - 1


def test_cached_callable_counts_with_what_it_was_given_besides():
    plain, noted = functools.cache(Power(2)), functools.cache(Power(2))
    noted.note = "x"
    assert stable_fingerprinter(plain) != stable_fingerprinter(noted)
    noted(3)
    del noted.note
    assert stable_fingerprinter(plain) == stable_fingerprinter(noted)


def test_cached_callable_that_cannot_be_known_is_refused_with_its_path():
    strict_refuses({"f": [functools.cache(functools.partial(lambda x: x))]}, r"^\['f'\]\[0\]\.__wrapped__.*<lambda>")
    bare = functools.cache(Power(2))
    del bare.__wrapped__
    handmade = functools._lru_cache_wrapper(pow, 3, False, tuple)
    for value in (bare, handmade):
        strict_refuses([1, value], r"^\[1\]: cannot fingerprint a functools.lru_cache function: it lost")
        with pytest.raises(TypeError, match=r"^\[1\]: cannot fingerprint a functools"):
            lenient_fingerprinter([1, value])


def test_cached_function_inside_of_a_local_enumeration_is_taken_apart():
    def define(factor):
        class Mode(enum.Enum):
            FAST = 1

            @functools.cache
            def scaled(self):
                return self.value * factor

        return Mode

    assert stable_fingerprinter(define(1).FAST) == stable_fingerprinter.reference(define(1).FAST)
    assert stable_fingerprinter(define(1).FAST) != stable_fingerprinter(define(2).FAST)


@pytest.mark.parametrize("module", [None, 3, [], ""], ids=["none", "number", "list", "empty"])
def test_function_with_a_strange_module_is_refused_and_not_an_accident(module):
    function = types.FunctionType(double.__code__, {}, "double")
    function.__module__ = module
    strict_refuses([function], r"^\[0\]: cannot fingerprint the function double by its name: it names no module")
    assert lenient_fingerprinter(function) == lenient_fingerprinter.reference(function)


def test_strict_and_lenient_agree_on_everything_that_has_a_name():
    for value in (Location, double, math, [Scale(1.0), {"f": len}], functools.partial(double, 1)):
        assert stable_fingerprinter(value) == lenient_fingerprinter(value)
