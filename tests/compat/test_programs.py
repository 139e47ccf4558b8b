"""Programs in the style of the peers' examples compute on Samovar what they computed on Quadrants (see `compare.py`)."""

import importlib.util
import json
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def load_compare():
    spec = importlib.util.spec_from_file_location("compare_programs", HERE / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = load_compare()
RECORDED = json.loads(compare.RECORDED.read_text())


@pytest.fixture(scope="module")
def found():
    """The results of all programs, which run one after the other in one process."""
    return compare.results_of(compare.samovar_command(), compare.programs())


def test_every_program_is_recorded():
    assert sorted(RECORDED) == [path.stem for path in compare.programs()]
    assert len(RECORDED) >= 40


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_program_computes_what_it_computed_on_quadrants(name, found):
    assert "error" not in found[name], found[name]["error"]
    results = found[name]["results"]
    assert results.keys() == RECORDED[name].keys()
    for key, expected in RECORDED[name].items():
        assert compare.differences(expected, results[key]) == []
