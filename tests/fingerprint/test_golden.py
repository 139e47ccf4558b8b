"""Fingerprints that must not change: not with the version of Python, not with the process, not by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fingerprint_specimens import SPECIMENS

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())


@pytest.mark.parametrize("name", SPECIMENS)
def test_specimen_has_its_golden_fingerprint(name):
    assert stable_fingerprinter(SPECIMENS[name]()) == GOLDEN[name]


def test_every_golden_fingerprint_belongs_to_a_specimen():
    assert GOLDEN.keys() == SPECIMENS.keys()


def test_golden_fingerprints_are_all_different():
    assert len(set(GOLDEN.values())) == len(GOLDEN)


@pytest.mark.parametrize("name", SPECIMENS)
def test_lenient_fingerprint_is_the_same_where_nothing_is_local(name):
    assert lenient_fingerprinter(SPECIMENS[name]()) == GOLDEN[name]


@pytest.mark.parametrize("name", SPECIMENS)
def test_python_reference_agrees_with_the_native_traversal(name):
    assert stable_fingerprinter.reference(SPECIMENS[name]()) == GOLDEN[name]


@pytest.mark.parametrize("name", SPECIMENS)
def test_other_processes_agree(name, other_processes):
    assert {process.fingerprint(("specimen", name)) for process in other_processes} == {GOLDEN[name]}
