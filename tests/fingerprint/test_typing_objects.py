"""Type variables, new types and aliases: by name where one leads to them, by what they are made of where none does."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing

import pytest

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter

Element = typing.TypeVar("Element")
Bounded = typing.TypeVar("Bounded", bound=int)
Arguments = typing.ParamSpec("Arguments")
UserId = typing.NewType("UserId", int)


class Box(typing.Generic[Element]):
    pass


def agreed(value, fingerprinter=lenient_fingerprinter):
    digest = fingerprinter(value)
    assert digest == fingerprinter.reference(value)
    return digest


@pytest.mark.parametrize("value", [Element, Bounded, Arguments, UserId, Arguments.args, Arguments.kwargs, Box[Element]])
def test_what_has_a_name_counts_by_it(value):
    assert agreed(value, stable_fingerprinter) == agreed(value)


def test_things_of_different_names_differ():
    values = [Element, Bounded, Arguments, UserId, Arguments.args, Arguments.kwargs]
    values += [Box[Element], Box[Bounded], list[Element]]
    assert len({agreed(value) for value in values}) == len(values)


def define(annotation=int, **options):
    Local = typing.TypeVar("Local", **options)

    @dataclasses.dataclass
    class Holder(typing.Generic[Local]):
        value: Local
        values: list[Local]
        other: annotation

        def first(self) -> Local:
            return self.values[0]

    # What `from __future__ import annotations` would have left as text.
    Holder.__annotations__ = {"value": Local, "values": list[Local], "other": annotation}
    return Holder


def test_local_class_with_a_type_variable_is_taken_apart():
    assert agreed(define()) == agreed(define())
    assert agreed(define()(1, [], 2)) == agreed(define()(1, [], 2)) != agreed(define()(1, [], 3))
    variants = [define(), define(str), define(bound=int), define(bound=str), define(covariant=True)]
    assert len({agreed(variant) for variant in variants}) == len(variants)


def test_argument_of_a_generic_base_counts():
    def derive(argument):
        class Derived(Box[argument]):
            pass

        return Derived

    assert agreed(derive(int)) == agreed(derive(int)) != agreed(derive(str))


def test_local_type_variables_count_by_what_they_are_made_of():
    def make():
        return [
            typing.TypeVar("Local"),
            typing.TypeVar("Other"),
            typing.TypeVar("Local", bound=int),
            typing.TypeVar("Local", int, str),
            typing.TypeVar("Local", str, int),
            typing.TypeVar("Local", covariant=True),
            typing.TypeVar("Local", contravariant=True),
            typing.ParamSpec("Local"),
            typing.NewType("Local", int),
            typing.NewType("Local", str),
        ]

    digests = [agreed(value) for value in make()]
    assert len(set(digests)) == len(digests)
    assert [agreed(value) for value in make()] == digests


@pytest.mark.parametrize("kind", ["TypeVar", "ParamSpec", "NewType"])
def test_strict_refusal_names_the_module_where_it_was_made(kind):
    local = getattr(typing, kind)("Nowhere", *([int] if kind == "NewType" else []))
    local.__module__ = __name__
    match = rf"^\[0\]: cannot fingerprint the {kind} {__name__}.Nowhere by its name: {__name__}.Nowhere does not exist"
    for fingerprint in (stable_fingerprinter, stable_fingerprinter.reference):
        with pytest.raises(TypeError, match=match):
            fingerprint([local])


def run(source):
    space = {"__name__": "somewhere"}
    exec(source, space)
    return space


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs TypeVarTuple")
def test_local_type_variable_tuples_work():
    assert agreed(typing.TypeVarTuple("Local")) == agreed(typing.TypeVarTuple("Local")) != agreed(typing.TypeVar("Local"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs the syntax for type parameters")
def test_classes_and_aliases_with_type_parameters_work():
    source = "class Box[T: {}]:\n    value: T\ntype Alias[T] = list[T] | {}"
    first, second, other = (run(source.format(name, name)) for name in ("int", "int", "str"))
    for name in ("Box", "Alias"):
        assert agreed(first[name]) == agreed(second[name]) != agreed(other[name])
    with pytest.raises(TypeError, match=r"TypeAliasType somewhere\.Alias by its name: .*'somewhere' is not imported"):
        stable_fingerprinter(first["Alias"])


@pytest.mark.skipif(sys.version_info < (3, 13), reason="needs defaults of type variables")
def test_default_of_a_type_variable_counts():
    values = [typing.TypeVar("Local", default=default) for default in (int, str, None)]
    assert len({agreed(value) for value in [*values, typing.TypeVar("Local")]}) == 4


def test_unions_and_aliases_of_builtins_work():
    values = [int | str, str | int, list[int], list[str], dict[str, int], typing.Optional[int]]  # noqa: UP045
    values += [typing.Callable[[int], str], typing.List[int]]  # noqa: UP006
    assert len({agreed(value, stable_fingerprinter) for value in values}) == len(values)
    assert type(int | str) is types.UnionType
