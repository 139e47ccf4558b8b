"""Every public name of Quadrants is here, or among the absences with a reason; the page says so, and is up to date."""

import importlib.util
from pathlib import Path

import pytest

import samovar as sv
import samovar.compat.quadrants as qd

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("write_page", DOCS / "names" / "write_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_name_is_unknown(writer):
    assert [name for name, (state, _) in writer.states().items() if state == "unknown"] == []


def test_a_name_that_is_lost_is_found(writer, monkeypatch):
    monkeypatch.delitem(writer.ABSENT, "clock_freq_hz")
    assert writer.states()["clock_freq_hz"] == ("unknown", "")


def test_what_is_different_is_there(writer):
    there = [path for path in writer.DIFFERENT if not path.endswith("*") and not path.startswith("Quadrants")]
    elsewhere = {"Format", "lang", "experimental", "experimental.real_func", "StructField().parent", "StructField().snode"}
    assert [path for path in there if path not in elsewhere and writer.place(path) is None] == []


def test_the_page_is_what_is_written(writer):
    assert (DOCS / "names.md").read_text() == writer.page(), "run docs/names/write_page.py"


def test_the_module_of_the_peer_has_every_name_that_is_here(writer):
    for name, (state, _) in writer.states().items():
        if state != "absent" and "()" not in name:
            found = qd
            for part in name.split("."):
                found = getattr(found, part)
            assert found is not None


def test_errors_have_both_names():
    assert qd.QuadrantsAssertionError is sv.SamovarAssertionError
