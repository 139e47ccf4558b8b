"""`make check` finds the tests of a changed file."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def related_tests():
    spec = importlib.util.spec_from_file_location("changed_tests", ROOT / "tools" / "changed_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.related_tests


@pytest.fixture
def project(tmp_path):
    for file, text in {
        "lens/test_replay.py": "",
        "lens/test_other.py": "replay, path",
        "ir/test_values.py": "replay",
        "language/test_races.py": "",
        "language/test_traces.py": "",
        "language/test_matrices.py": "",
    }.items():
        (tmp_path / "tests" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / file).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("src/samovar/lens/replay.py", {"tests/lens/test_replay.py"}),
        ("src/samovar/lens/path.py", {"tests/lens/test_other.py"}),
        ("src/samovar/lens/nothing.py", {"tests/lens/test_other.py", "tests/lens/test_replay.py"}),
        ("src/samovar/passes/races.py", {"tests/language/test_races.py"}),
        ("src/samovar/values/matrices.py", {"tests/language/test_matrices.py"}),
        ("src/samovar/lens/README", set()),
        ("tests/lens/test_other.py", {"tests/lens/test_other.py"}),
        ("tests/lens/data.txt", set()),
        ("benchmarks/launch.py", set()),
    ],
)
def test_a_module_leads_to_its_tests(related_tests, project, file, tests):
    assert related_tests(file, project) == tests


def test_a_page_leads_to_tests_that_exist(related_tests):
    found = related_tests("docs/guide.md")
    assert found
    assert all((ROOT / test).is_file() for test in found)
