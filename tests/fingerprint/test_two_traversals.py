"""The native traversal and the Python one: they read one table, and give the same digits for any graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fingerprint_graphs import Frozen, Plain, Record, Stack, Table, graphs
from hypothesis import HealthCheck, given

from hypothesis_profiles import examples
from samovar import _native
from samovar.fingerprint import (
    containers,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
    traversal,
    vocabulary,
)

SOURCES = Path(__file__).parents[2] / "src" / "samovar"

FINGERPRINTERS = {
    "strict": stable_fingerprinter,
    "lenient": lenient_fingerprinter,
    "skipping": make_fingerprinter(
        make_deconstructor(skip={Plain: ["left"], Record: ["right"], Stack: ["top"], Frozen: ["location"], Table: ["a"]})
    ),
    "ordering": make_fingerprinter(make_deconstructor(ordered={Plain: ["left"], Record: ["left"], Table: ["left"]})),
    "by identity": make_fingerprinter(make_deconstructor(arrays="identity")),
    "without memo": make_fingerprinter(memoize=False),
}


@pytest.mark.parametrize("name", FINGERPRINTERS)
@examples("values", suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(graph=graphs())
def test_both_traversals_agree_on_any_graph(name, monkeypatch, graph):
    # A dense cyclic graph has more paths than a test has time for. It must then be an error in both.
    monkeypatch.setattr(traversal, "CYCLIC_VISITS_LIMIT", 3000)
    fingerprinter = FINGERPRINTERS[name]

    def attempt(fingerprint):
        try:
            return fingerprint(graph)
        except ValueError as error:
            return str(error)

    assert attempt(fingerprinter) == attempt(fingerprinter.reference)


@examples("values", suppress_health_check=[HealthCheck.too_slow])
@given(graph=graphs(most=4))
def test_fingerprint_does_not_depend_on_what_is_remembered(graph):
    assert FINGERPRINTERS["without memo"](graph) == stable_fingerprinter(graph)


@examples("values", suppress_health_check=[HealthCheck.too_slow])
@given(graph=graphs(most=4))
def test_native_traversal_forgets_everything_between_two_graphs(graph):
    first = stable_fingerprinter(graph)
    assert make_fingerprinter()(graph) == first == stable_fingerprinter(graph)


def test_every_builtin_that_is_walked_natively_has_the_rule_with_its_tag():
    samples = {type(None): None, bool: True, int: 1, float: 1.0, complex: 1j, str: "a", bytes: b"a"}
    assert vocabulary.BUILTIN_TAGS.keys() == vocabulary.BUILTIN_WALKS.keys()
    deconstruct = make_deconstructor()
    for cls, tag in vocabulary.BUILTIN_TAGS.items():
        assert deconstruct(samples[cls] if cls in samples else cls()).tag == tag
        assert containers.native_walk(cls, deconstruct.rule_for(cls)) == vocabulary.BUILTIN_WALKS[cls]
        assert deconstruct.native_plan(cls) == vocabulary.BUILTIN_WALKS[cls]


def test_domains_of_the_digest_are_named_in_one_place():
    holders = [
        path.name
        for path in [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.[ch]")]
        if re.search(r"samovar:\d+:", path.read_text())
    ]
    assert holders == ["fingerprint_tables.h"]
    assert len(set(_native.FINGERPRINT_DOMAINS.values())) == len(_native.FINGERPRINT_DOMAINS)
    assert all(len(domain) <= 15 for domain in _native.FINGERPRINT_DOMAINS.values())


def test_native_code_names_no_tag_that_is_not_in_the_table():
    table = (SOURCES / "_native" / "fingerprint" / "fingerprint_tables.h").read_text()
    tags = {*vocabulary.BUILTIN_TAGS.values(), *_native.FINGERPRINT_TAGS.values()}
    assert tags <= set(re.findall(r'"(\w+)"', table))
    for path in (SOURCES / "_native" / "fingerprint").glob("*.c"):
        assert not tags & set(re.findall(r'"(\w+)"', path.read_text()))
