"""`docs/architecture.md` names packages and files that exist."""

import re
from pathlib import Path

import pytest
from test_packages import GROUND, ORDER

import samovar

PACKAGE = Path(samovar.__file__).parent
REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs" / "architecture.md").read_text()
FILES = sorted(set(re.findall(r"`([\w/*]+\.(?:py|c|h))`", TEXT)))


def test_the_page_names_files():
    assert len(FILES) > 60


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_is_there(name):
    # In a row about a package, or about native code, a file is named without its folder.
    places = [REPOSITORY.glob(name), PACKAGE.glob(name), PACKAGE.glob(f"*/{name}")]
    assert any(path.is_file() for found in places for path in found)


@pytest.mark.parametrize("package", [package for package in ORDER if package not in (*GROUND, "samovar")])
def test_every_package_has_a_row(package):
    assert re.search(rf"^\|[^|]* `{package}`", TEXT, re.MULTILINE)


def test_the_packages_are_in_order():
    rows = [name for row in re.findall(r"^\| (`[^|]*) \|", TEXT, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert [row for row in rows if row in ORDER] == [package for package in ORDER if package in rows]
