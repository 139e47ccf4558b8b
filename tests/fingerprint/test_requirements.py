"""What this room was designed after: each requirement has a test named after what it protects."""

from __future__ import annotations

import abc
import ast
import dataclasses
import types
from pathlib import Path

import numpy
import pytest
from fingerprint_specimens import Arguments, Named, Node, Scale, SlottedList, double, lowering, tree

import samovar.fingerprint
from samovar.fingerprint import (
    CachedStep,
    EmptyDeconstruction,
    FileCache,
    build_cache_version_id,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
)

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def without_locations():
    return make_fingerprinter(make_deconstructor(skip={Node: ["location"]}))


def test_1_persistent_key_does_not_change_when_a_file_moves_and_does_with_a_type(tmp_path, without_locations):
    cache = FileCache(tmp_path, encode=str.encode, decode=bytes.decode)
    step = CachedStep(lowering, key_function=without_locations, cache=cache)
    assert step.key_of(tree(line=1, file="/home/a/model.py")) == step.key_of(tree(line=8, file="/srv/b/model.py"))
    assert step.key_of(tree(bits=32)) != step.key_of(tree(bits=64))
    skipping_types = make_fingerprinter(make_deconstructor(skip={Node: ["location", "type"]}))
    with pytest.raises(ValueError, match="skip type"):
        CachedStep(lowering, key_function=skipping_types, cache=cache)


def test_2_frontend_key_changes_when_a_file_moves_so_that_messages_point_to_the_right_one():
    step = CachedStep(lowering, key_function=stable_fingerprinter)
    one, other = step(tree(file="mod_one.py")), step(tree(file="mod_two.py"))
    assert "mod_one.py" in one
    assert "mod_two.py" in other


def test_3_instance_of_a_locally_defined_namespace_goes_by_content():
    def constants(**content):
        class Constants(types.SimpleNamespace):
            pass

        return Constants(**content)

    assert stable_fingerprinter([constants(g=9.81)]) == stable_fingerprinter([constants(g=9.81)])
    assert stable_fingerprinter([constants(g=9.81)]) != stable_fingerprinter([constants(g=1.62)])


def test_4_in_process_key_neither_reads_nor_copies_large_arrays():
    class Guarded(numpy.ndarray):
        def __getattribute__(self, name):
            raise AssertionError(f"read {name} of the array")

    by_identity = make_fingerprinter(make_deconstructor(arrays="identity", ordered={Arguments: ["tables"]}))
    table = numpy.zeros(10).view(Guarded)
    arguments = Arguments("f", {"neighbors": table})
    assert by_identity(arguments) == by_identity(Arguments("f", {"neighbors": table}))
    assert by_identity(arguments) != by_identity(Arguments("f", {"neighbors": numpy.zeros(10).view(Guarded)}))


def test_5_version_salt_is_overridden_by_the_prefixed_variable_only(monkeypatch):
    monkeypatch.delenv("SAMOVAR_BUILD_CACHE_VERSION_ID", raising=False)
    default = build_cache_version_id()
    monkeypatch.setenv("BUILD_CACHE_VERSION_ID", "stray")
    assert build_cache_version_id() == default
    monkeypatch.setenv("SAMOVAR_BUILD_CACHE_VERSION_ID", "pinned")
    assert build_cache_version_id() == "pinned"
    monkeypatch.setenv("SAMOVAR_BUILD_CACHE_VERSION_ID", "")
    assert build_cache_version_id() == default


def test_6_dispatch_over_abstract_base_classes_respects_direct_subclasses():
    class Model(abc.ABC):  # noqa: B024
        @classmethod
        def __subclasshook__(cls, subclass):
            return False

    class Direct(Model):
        pass

    deconstructor = make_deconstructor({Model: lambda value: EmptyDeconstruction("model")}, lenient=True)
    assert deconstructor(Direct()).tag == "model"
    assert deconstructor(Scale(1.0)).tag == "fields"


def test_7_state_of_a_container_subclass_is_never_dropped():
    for make in (lambda: Named(a=1), lambda: SlottedList([1])):
        left, right = make(), make()
        left.unit, right.unit = "m", "km"
        assert stable_fingerprinter(left) != stable_fingerprinter(right)


def test_8_step_without_key_function_or_with_a_lambda_is_told_what_to_do(tmp_path):
    with pytest.raises(TypeError, match="key_function=stable_fingerprinter"):
        CachedStep(double)
    cache = FileCache(tmp_path, encode=repr, decode=eval)
    with pytest.raises(TypeError, match=r"<lambda>.*define it at module level"):
        CachedStep(lambda value: value, key_function=stable_fingerprinter, cache=cache)
    assert CachedStep(lambda value: [*value, 1], key_function=stable_fingerprinter)([1]) == [1, 1]


def names_used_from_the_room(path: Path) -> set[str]:
    """Names that a file imports from the room and then uses."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    imports = [
        node
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("samovar.fingerprint")
    ]
    imported = {alias.name for node in imports for alias in node.names}
    return imported & {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def test_9_every_public_name_has_a_caller_outside_of_the_tests():
    callers = [path for folder in ("src", "examples", "benchmarks") for path in (REPOSITORY / folder).rglob("*.py")]
    used = set().union(*map(names_used_from_the_room, callers))
    assert set(samovar.fingerprint.__all__) <= used


def test_10_class_is_looked_at_once_and_not_for_every_object(monkeypatch):
    from samovar.fingerprint import declared_fields

    looked_at = []
    original = declared_fields._declaration
    monkeypatch.setattr(declared_fields, "_declaration", lambda cls: looked_at.append(cls) or original(cls))
    fingerprinter = make_fingerprinter()
    nodes = [tree(line) for line in range(100)]
    for fingerprint in (fingerprinter, fingerprinter.reference):
        looked_at.clear()
        fingerprint(nodes)
        assert len(looked_at) == len(set(looked_at)) == 4


def test_10_step_is_fingerprinted_once_and_not_for_every_call(monkeypatch):
    looked_at = []
    original = CachedStep._fingerprint_of_step
    monkeypatch.setattr(CachedStep, "_fingerprint_of_step", lambda step: looked_at.append(step) or original(step))
    step = CachedStep(Scale(2.0), key_function=stable_fingerprinter)
    for value in range(5):
        step(value)
    assert len(looked_at) == 1


def test_names_of_fields_are_those_of_the_dataclass():
    assert [field.name for field in dataclasses.fields(CachedStep)] == ["step", "key_function", "cache"]


def test_an_installed_version_tells_builds_apart(monkeypatch, tmp_path):
    from samovar import version
    from samovar._native import BUILD

    package = tmp_path / "site-packages" / "samovar"
    package.mkdir(parents=True)
    monkeypatch.setattr(version.samovar, "__file__", str(package / "__init__.py"))
    assert version._installed_version() == f"{version.samovar.__version__}+{BUILD}"
    assert len(BUILD) == 16
