"""Small programs, each about one behavior of Quadrants: they do here what was recorded there (`outcomes.py`)."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import samovar as sv
import samovar.compat.quadrants as qd

outcomes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "outcomes.py")))
EXPECTED = json.loads(outcomes.RECORDED.read_text())
MODULES = {path.stem: outcomes.load(path, qd) for path in sorted((outcomes.HERE / "behaviors").glob("*.py"))}


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def test_all_of_them_are_recorded():
    assert set(EXPECTED) == {f"{stem}.{name}" for stem, module in MODULES.items() for name in outcomes.programs(module)}


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_program_does_what_it_did_there(name):
    stem, _, program = name.partition(".")
    expected, found = EXPECTED[name], outcomes.outcome(getattr(MODULES[stem], program))
    if "error" in expected:
        wanted = [kind for kind in expected["error"] if kind not in ("Exception", "BaseException", "object")]
        assert "error" in found, found
        assert set(wanted) <= set(found["error"])
    else:
        assert "value" in found, found
        assert outcomes.agrees(expected["value"], found["value"]), (expected["value"], found["value"])
