"""Every decision record states its number, title, status and date, and the index repeats them."""

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs" / "adr"
RECORDS = sorted(DECISIONS.glob("0*.md"))
HEAD = re.compile(
    r"# (?P<number>\d{4})\. (?P<title>.+)\n\n"
    r"Status: (?P<status>Accepted|Superseded(?: in part)? by \[\d{4}\]\([\w-]+\.md\)) · Date: (?P<date>\d{4}-\d\d-\d\d)\n"
)
INDEX = (DECISIONS / "index.md").read_text()


def head(record: Path) -> re.Match[str]:
    found = HEAD.match(record.read_text())
    assert found is not None, f"{record.name}: expected number, title, status and date"
    return found


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_the_index_repeats_the_head_of_a_record(record):
    found = head(record)
    assert record.name.startswith(found["number"] + "-")
    row = f"| [{found['number']}]({record.name}) | {found['title']} | {found['status']} | {found['date']} |"
    assert row in INDEX.splitlines()


def test_numbers_are_used_once_and_gaps_are_explained():
    numbers = [int(record.name[:4]) for record in RECORDS]
    assert len(numbers) == len(set(numbers))
    introduction = INDEX.partition("\n| number")[0]
    gaps = set(range(1, max(numbers))) - set(numbers)
    assert {int(number) for number in re.findall(r"\d{4}", introduction)} == gaps


def test_the_index_lists_nothing_else():
    assert re.findall(r"^\| \[\d{4}\]\(([^)]+)\)", INDEX, re.MULTILINE) == [record.name for record in RECORDS]
