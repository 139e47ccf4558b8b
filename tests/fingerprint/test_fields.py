"""Dataclasses, attrs classes and pydantic models: by their fields, and only by those that count."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from typing import Annotated, Any, ClassVar, Generic, TypeVar
from unittest import mock

import attrs
import pydantic
import pytest
from fingerprint_specimens import Constant, Location, Node, Slotted, Tuned, Type, tree

from samovar.fingerprint import (
    CachedStep,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    metadata,
    stable_fingerprinter,
)

hidden = metadata(fingerprint=False)


def same(left, right):
    assert stable_fingerprinter(left) == stable_fingerprinter.reference(left)
    return stable_fingerprinter(left) == stable_fingerprinter(right)


@dataclasses.dataclass
class Options:
    level: int
    debug: bool = False
    limit: ClassVar[int] = 3
    runtime: Any = dataclasses.field(default=None, metadata=hidden, compare=False)

    @functools.cached_property
    def expensive(self):
        return object()


@dataclasses.dataclass(frozen=True)
class Renamed:
    name: str
    value: Any = None


class MoreOptions(Options):
    """Declares no fields of its own."""


@dataclasses.dataclass
class Guarded:
    value: int
    runtime: Any = dataclasses.field(default=None, metadata=hidden)

    def __getattribute__(self, name):
        if name == "runtime":
            raise RuntimeError("never to be read")
        return super().__getattribute__(name)


@attrs.define
class Vessel:
    volume: float
    tags: list = attrs.field(factory=list)
    heater: Any = attrs.field(default=None, metadata={**hidden, "other": 1})


class Recipe(pydantic.BaseModel):
    name: str
    minutes: int = 3
    session: Annotated[Any, hidden] = None
    client: Any = pydantic.Field(default=None, json_schema_extra=dict(hidden))
    _private: int = pydantic.PrivateAttr(default=0)


class OpenRecipe(Recipe):
    model_config = pydantic.ConfigDict(extra="allow")


Element = TypeVar("Element")


class Box(pydantic.BaseModel, Generic[Element]):
    content: Element


def test_fields_count_by_value():
    assert same(Location("a", 1, 2), Location("a", 1, 2))
    variants = [Location("b", 1, 2), Location("a", 2, 2), Location("a", 1, 3), Location("a", 2, 1)]
    assert len({stable_fingerprinter(variant) for variant in variants}) == len(variants)


def test_class_counts():
    assert not same(Slotted("a", 1), Renamed("a", 1))
    assert not same(Options(1), MoreOptions(1))


def test_slots_and_inherited_fields_count():
    assert not same(Slotted("a", 1), Slotted("a", 2))
    assert not same(Constant(Type("f", 32), None, 1), Constant(Type("f", 64), None, 1))


def test_init_only_variables_and_class_variables_are_no_fields():
    assert not same(Tuned("a", scale=1), Tuned("a", scale=2)), "its __post_init__ stores it"
    assert same(Options(1), Options(1))


@pytest.mark.parametrize(
    "runtime", [mock.Mock(), mock.MagicMock(), lambda: 1, object()], ids=["mock", "magic", "lambda", "object"]
)
def test_field_that_opted_out_is_not_traversed(runtime):
    assert same(Options(1, runtime=runtime), Options(1))
    assert same(Vessel(1.0, heater=runtime), Vessel(1.0))
    assert same(Recipe(name="tea", session=runtime, client=runtime), Recipe(name="tea"))


def test_open_file_in_a_field_that_opted_out_does_no_harm(tmp_path):
    with open(tmp_path / "log", "w") as file:
        assert same(Options(1, runtime=file), Options(1))


def test_field_that_opted_out_is_not_even_read():
    assert same(Guarded(1), Guarded(1))
    assert not same(Guarded(1), Guarded(2))


def test_cached_property_of_a_dataclass_does_not_count():
    used = Options(1)
    assert used.expensive is not None
    assert same(used, Options(1))


def test_field_without_a_value_counts_as_such():
    unset = Slotted.__new__(Slotted)
    object.__setattr__(unset, "name", "a")
    assert not same(unset, Slotted("a", None))


def test_property_in_the_place_of_a_field_that_fails_is_an_error_and_not_an_absent_value():
    @dataclasses.dataclass
    class Broken:
        value: int = 1

    Broken.value = property(lambda self: self.gone)
    for fingerprint in (lenient_fingerprinter, lenient_fingerprinter.reference):
        with pytest.raises(AttributeError, match="gone"):
            fingerprint(Broken.__new__(Broken))


def test_subclass_that_declares_nothing_counts_with_what_it_adds():
    left, right = MoreOptions(1), MoreOptions(1)
    assert same(left, right)
    left.extra = 1
    assert not same(left, right)
    right.extra = 1
    right.runtime = object()
    assert same(left, right)
    assert right.expensive is not None
    assert same(left, right)


def test_attrs_classes_count_by_their_fields():
    assert same(Vessel(1.0, ["a"]), Vessel(1.0, ["a"]))
    assert not same(Vessel(1.0, ["a"]), Vessel(1.0, ["b"]))


def test_pydantic_models_count_by_their_fields():
    assert same(Recipe(name="tea"), Recipe(name="tea", minutes=3))
    assert not same(Recipe(name="tea"), Recipe(name="tea", minutes=4))
    private = Recipe(name="tea")
    private._private = 5
    assert same(private, Recipe(name="tea"))


def test_undeclared_fields_of_a_pydantic_model_count():
    assert not same(OpenRecipe(name="tea", sugar=1), OpenRecipe(name="tea", sugar=2))
    assert same(OpenRecipe(name="tea", sugar=1, milk=2), OpenRecipe(name="tea", milk=2, sugar=1))


def test_parametrized_pydantic_models_work():
    assert same(Box[int](content=1), Box[int](content=1))
    assert not same(Box[int](content=1), Box[float](content=1))


@pytest.mark.parametrize("make", [Node, Constant], ids=["declaring class", "subclass"])
def test_skipped_fields_do_not_count(make):
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Node: ["location"]}))
    arguments = (1,) if make is Constant else ()
    left, right = make(None, Location("a", 1, 1), *arguments), make(None, Location("b", 2, 2), *arguments)
    assert fingerprinter(left) == fingerprinter(right) == fingerprinter.reference(left)
    assert stable_fingerprinter(left) != stable_fingerprinter(right)


def test_skipped_fields_are_not_read():
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Options: ["level"]}, lenient=True))
    assert fingerprinter(Options(mock.Mock())) == fingerprinter(Options(None))


def test_skipped_names_hold_for_plain_objects_and_containers():
    class Plain:
        pass

    class Table(dict):
        pass

    fingerprinter = make_fingerprinter(make_deconstructor(skip={Plain: ["noise"], Table: ["noise"]}, lenient=True))
    for make in (Plain, Table):
        left, right = make(), make()
        left.noise, right.noise = 1, 2
        assert fingerprinter(left) == fingerprinter(right)
        left.signal = 1
        assert fingerprinter(left) != fingerprinter(right)


class BareNode:
    """Declares nothing; what is derived from it does."""


@dataclasses.dataclass
class Tree:
    kind: str


@dataclasses.dataclass
class Located(Tree, BareNode):
    line: int = 0


@dataclasses.dataclass
class Deeper(Located):
    column: int = 0


@attrs.define
class AttrsNode(BareNode):
    kind: str
    line: int = 0


class Undeclared(Tree):
    """Holds what it likes besides the fields."""


def test_field_of_a_subclass_is_skipped_by_naming_it_under_the_base():
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Tree: ["line", "column"]}))
    for one in (fingerprinter, fingerprinter.reference):
        assert one(Located("a", 1)) == one(Located("a", 2)) != one(Located("b", 1))
        assert one(Deeper("a", 1, 2)) == one(Deeper("a", 3, 4))
        assert one([Tree("a"), Located("a", 1)]) == one([Tree("a"), Located("a", 2)])
    assert stable_fingerprinter(Located("a", 1)) != stable_fingerprinter(Located("a", 2))


def test_field_is_skipped_by_naming_it_under_a_base_without_fields():
    fingerprinter = make_fingerprinter(make_deconstructor(skip={BareNode: ["line"]}))
    assert fingerprinter(Located("a", 1)) == fingerprinter(Located("a", 2))
    assert fingerprinter(AttrsNode("a", 1)) == fingerprinter(AttrsNode("a", 2)) != fingerprinter(AttrsNode("b", 1))


def test_skipped_name_holds_for_subclasses_that_are_defined_later():
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Tree: ["line"]}, lenient=True))

    @dataclasses.dataclass
    class Later(Tree):
        line: int = 0

    assert fingerprinter(Later("a", 1)) == fingerprinter(Later("a", 2)) != fingerprinter(Later("b", 1))


def test_attribute_of_a_subclass_without_fields_of_its_own_can_be_skipped():
    left, right = Undeclared("a"), Undeclared("a")
    left.noise, right.noise = 1, 2
    assert not same(left, right)
    fingerprinter = make_fingerprinter(make_deconstructor(skip={Undeclared: ["noise"]}))
    assert fingerprinter(left) == fingerprinter(right) == fingerprinter.reference(right)


class WithState:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __getstate__(self):
        return dict(self.__dict__)


class WithSlotState:
    __slots__ = ("kept", "noise")

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)

    def __getstate__(self):
        return None, {name: getattr(self, name) for name in ("kept", "noise")}


@pytest.mark.parametrize("cls", [WithState, WithSlotState])
def test_names_are_skipped_in_the_state_that_a_class_gives_of_itself(cls):
    fingerprinter = make_fingerprinter(make_deconstructor(skip={cls: ["noise"]}))
    for one in (fingerprinter, fingerprinter.reference):
        assert one(cls(kept=1, noise=1)) == one(cls(kept=1, noise=2)) != one(cls(kept=2, noise=1))
    assert not same(cls(kept=1, noise=1), cls(kept=1, noise=2))


@dataclasses.dataclass
class Logging:
    log: Any = dataclasses.field(default=None, metadata=hidden)
    level: int = 0


class Both(Tree, Logging):
    """Two declarations above, none of its own."""


@dataclasses.dataclass
class First:
    z: int = 0


@dataclasses.dataclass
class Counting:
    y: int = 0


@dataclasses.dataclass
class OptedOut:
    y: int = dataclasses.field(default=0, metadata=hidden)


class NearerCounts(First, Counting, OptedOut):
    """Declares nothing itself."""


class NearerOptedOut(First, OptedOut, Counting):
    """Declares nothing itself."""


def test_of_two_bases_that_declare_a_field_the_nearer_one_says_whether_it_counts():
    for cls, is_same in ((NearerCounts, False), (NearerOptedOut, True)):
        one, other = cls(), cls()
        one.y, other.y = 1, 2
        assert same(one, other) is is_same


def test_field_that_opted_out_in_a_further_base_does_not_count():
    def make(log, level):
        both = Both("a")
        both.log, both.level = log, level
        return both

    assert same(make(1, 1), make(2, 1))
    assert not same(make(1, 1), make(1, 2))


@pytest.mark.parametrize("argument", ["skip", "ordered"])
def test_a_field_that_does_not_exist_is_warned_of_at_the_first_use(argument):
    fingerprinter = make_fingerprinter(make_deconstructor(**{argument: {Node: ["locaton"]}}))
    with pytest.warns(UserWarning, match=r"names locaton, but neither Node nor a subclass.*did you mean location\?"):
        fingerprinter(Node(None, None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fingerprinter(Node(None, None)) == stable_fingerprinter(Node(None, None))


def test_fields_of_subclasses_that_are_defined_later_are_skipped():
    @dataclasses.dataclass(frozen=True)
    class Base:
        id: str

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True, skip={Base: ["location"]}))

    @dataclasses.dataclass(frozen=True)
    class Located(Base):
        location: object = None

    @dataclasses.dataclass(frozen=True)
    class Call(Located):
        args: tuple = ()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fingerprinter(Call("f", 1, (Located("x", 2),))) == fingerprinter(Call("f", 3, (Located("x", 4),)))
        assert fingerprinter(Call("f", 1)) != fingerprinter(Call("g", 1))

    @dataclasses.dataclass(frozen=True)
    class Later(Call):
        pass

    assert fingerprinter(Later("f", 1)) == fingerprinter(Later("f", 2))


def test_attributes_that_are_no_fields_are_not_warned_of():
    @dataclasses.dataclass
    class Base:
        id: str

    class Located(Base):
        def __init__(self, id, location):
            self.id, self.location = id, location

    fingerprinter = make_fingerprinter(make_deconstructor(lenient=True, skip={Base: ["location"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fingerprinter(Located("a", 1)) == fingerprinter(Located("a", 2))


def test_what_names_no_fields_is_refused():
    with pytest.raises(TypeError, match="collection of names"):
        make_deconstructor(skip={Node: "location"})
    with pytest.raises(TypeError, match="classes as keys"):
        make_deconstructor(skip={"Node": ["location"]})


def test_cached_step_inside_of_a_step_leaves_its_runtime_fields_out():
    left = CachedStep(tree, key_function=stable_fingerprinter, cache={"full": mock.Mock()})
    right = CachedStep(tree, key_function=lenient_fingerprinter)
    assert same(left, right)
