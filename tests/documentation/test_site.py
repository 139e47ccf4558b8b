"""The site: every page has its place, links lead somewhere, and it builds without a warning."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from navigation import navigation, places, title_of
from public_names import public_modules
from reference import pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = set(pages())
WRITTEN = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def test_every_page_is_in_the_navigation_once():
    found = places(navigation(DOCS, public_modules()))
    assert len(found) == len(set(found))
    assert set(found) == WRITTEN | GENERATED


def test_a_page_that_is_not_written_yet_is_left_out(tmp_path):
    (tmp_path / "guide.md").write_text("# Guide\n")
    (tmp_path / "something-new.md").write_text("# Something new\n")
    found = places(navigation(tmp_path, []))
    assert "performance.md" not in found
    assert found.index("something-new.md") > found.index("guide.md")


@pytest.mark.parametrize("page", sorted(WRITTEN))
def test_a_page_has_one_heading(page):
    assert title_of(DOCS / page)
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", *sorted(f"docs/{page}" for page in WRITTEN)])
def test_links_lead_somewhere(page):
    generated = {(DOCS / place).resolve() for place in GENERATED}
    for link in LINK.findall((ROOT / page).read_text()):
        target = link.partition("#")[0]
        if not target or re.match(r"https?://", target):
            continue
        place = (ROOT / page).parent / target
        assert place.exists() or place.resolve() in generated, f"{page}: {link}"


@pytest.mark.skipif(find_spec("mkdocs") is None or find_spec("material") is None, reason="MkDocs is not installed")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    assert "sv.algorithms.parallel_sort" in (tmp_path / "site" / "reference" / "samovar-algorithms.html").read_text()
