"""`docs/architecture.md` names rooms and files: they are there."""

import re
from pathlib import Path

import pytest
from test_rooms import GROUND, ORDER

import samovar

PACKAGE = Path(samovar.__file__).parent
REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs" / "architecture.md").read_text()
FILES = sorted(set(re.findall(r"`([\w/*]+\.(?:py|c|h))`", TEXT)))


def test_the_page_names_files():
    assert len(FILES) > 60


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_is_there(name):
    # In a row about a room, or about native code, a file is named without its folder.
    places = [REPOSITORY.glob(name), PACKAGE.glob(name), PACKAGE.glob(f"*/{name}")]
    assert any(path.is_file() for found in places for path in found)


@pytest.mark.parametrize("room", [room for room in ORDER if room not in (*GROUND, "samovar")])
def test_every_room_has_a_row(room):
    assert re.search(rf"^\| `{room}` \|", TEXT, re.MULTILINE)


def test_the_rooms_stand_in_their_order():
    rows = re.findall(r"^\| `(\w+)`", TEXT, re.MULTILINE)
    assert [row for row in rows if row in ORDER] == [room for room in ORDER if room in rows]
