"""The release checklist refuses a changelog that is not ready."""

import importlib.util
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TODAY = date(2030, 5, 1)


@pytest.fixture(scope="module")
def checklist():
    spec = importlib.util.spec_from_file_location("checklist", ROOT / "release" / "checklist.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def changelog(checklist, heading: str, unreleased: str = "") -> str:
    section = heading.format(checklist.version())
    return f"# Changelog\n\n## [Unreleased]\n{unreleased}\n## {section}\n\n- a feature\n\n## [0.0.1] - 2020-01-01\n"


def test_a_dated_section_is_accepted(checklist):
    checklist.check_changelog(changelog(checklist, "[{}] - 2030-05-01"), TODAY)


@pytest.mark.parametrize(
    ("heading", "unreleased", "reason"),
    [
        ("[{}] - not released yet", "", "no section"),
        ("[9.9.9] - 2030-05-01", "", "no section"),
        ("[{}] - 2030-05-02", "", "future"),
        ("[{}] - 2030-05-01", "- left behind\n", "Unreleased"),
    ],
)
def test_a_changelog_that_is_not_ready_is_refused(checklist, heading, unreleased, reason):
    with pytest.raises(checklist.NotReady, match=reason):
        checklist.check_changelog(changelog(checklist, heading, unreleased), TODAY)


def test_every_step_says_what_it_does(checklist):
    assert all(step.__doc__ for step in checklist.STEPS.values())
