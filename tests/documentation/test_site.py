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
from site_pages import as_page, generated_pages, outside_links, repository

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = set(generated_pages())
WRITTEN = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def test_every_page_is_in_the_navigation_once():
    found = places(navigation(DOCS, public_modules(), tuple(GENERATED)))
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


AT_THE_ROOT = [path.name for path in ROOT.glob("*.md")]


@pytest.mark.parametrize("page", [*sorted(AT_THE_ROOT), *sorted(f"docs/{page}" for page in WRITTEN)])
def test_links_lead_somewhere(page):
    generated = {(DOCS / place).resolve() for place in GENERATED}
    text = (ROOT / page).read_text()
    for link in [*LINK.findall(text), *re.findall(r'(?:src|srcset)="([^"]+)"', text)]:
        target = link.partition("#")[0]
        if not target or re.match(r"https?://", target):
            continue
        place = (ROOT / page).parent / target
        assert place.exists() or place.resolve() in generated, f"{page}: {link}"


def test_links_out_of_docs_lead_to_pages_or_into_the_repository():
    text = "[a](../CONTRIBUTING.md#set-up) [b](../examples/axpy.py) [c](guide.md) ![d](images/x.png)"
    kept = "[c](guide.md) ![d](images/x.png)"
    assert outside_links(text, 0, "") == f"[a](contributing.md#set-up) b {kept}"
    assert outside_links(text, 0, "https://host/r") == (
        f"[a](contributing.md#set-up) [b](https://host/r/blob/main/examples/axpy.py) {kept}"
    )
    assert outside_links("[a](../../CHANGELOG.md)", 1, "") == "[a](../changelog.md)"
    assert as_page("[a](docs/guide.md#loops) [b](LICENSE)") == "[a](guide.md#loops) [b](../LICENSE)"


def test_the_repository_is_one_setting():
    assert repository('[project.urls]\nRepository = "https://host/r/"\n') == "https://host/r"
    assert repository("[project]\n") == ""


with_mkdocs = pytest.mark.skipif(not (find_spec("mkdocs") and find_spec("material")), reason="MkDocs is not installed")


@with_mkdocs
@pytest.mark.parametrize("address", ["", "https://host/r"])
def test_pages_link_to_the_repository_if_it_is_known(address):
    from mkdocs.config import load_config
    from mkdocs_hooks import set_links

    config = load_config(str(ROOT / "mkdocs.yml"))
    set_links(config, address)
    assert (config.repo_url or "") == address
    assert bool(config.edit_uri) == bool(address)


@with_mkdocs
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    built = tmp_path / "site"
    assert "sv.algorithms.parallel_sort" in (built / "reference" / "samovar-algorithms.html").read_text()
    assert (built / "gallery.html").read_text().count('<img alt="') >= 11
    guide = (built / "arrays.html").read_text()
    assert 'rel="prev"' in guide
    assert 'rel="next"' in guide
