"""Pages of the site that have no file in `docs`, and links that lead out of `docs`."""

from __future__ import annotations

import re
from pathlib import Path

import gallery
from navigation import ROOT_PAGES
from reference import pages

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?!https?://|#)[^)\s]+)\)")


def repository(pyproject: str) -> str:
    """The address of the repository: `Repository` of `[project.urls]`; empty without it."""
    found = re.search(r'^Repository *= *"([^"]+)"', pyproject, re.MULTILINE)
    return found[1].rstrip("/") if found else ""


def generated_pages() -> dict[str, str]:
    """Place → text."""
    root_pages = {place: as_page((ROOT / file).read_text()) for file, place in ROOT_PAGES.items()}
    return {**pages(), **root_pages, gallery.PLACE: gallery.page()}


def as_page(text: str) -> str:
    """A file at the root of the repository as a page in docs: its links move by one folder."""

    def moved(link: re.Match[str]) -> str:
        target = link[3].removeprefix("docs/") if link[3].startswith("docs/") else f"../{link[3]}"
        return f"{link[1]}[{link[2]}]({target})"

    return LINK.sub(moved, text)


def outside_links(text: str, depth: int, address: str) -> str:
    """Links out of `docs` lead to the page that a file has on the site, else into the repository if its address is known.

    `depth` is the number of folders above the page.
    """
    up = "../" * depth

    def replaced(link: re.Match[str]) -> str:
        if not link[3].startswith(f"{up}../"):
            return link[0]
        file, _, anchor = link[3].removeprefix(f"{up}../").partition("#")
        if file in ROOT_PAGES:
            return f"[{link[2]}]({up}{ROOT_PAGES[file]}{'#' + anchor if anchor else ''})"
        return f"[{link[2]}]({address}/blob/main/{file})" if address else link[2]

    return LINK.sub(replaced, text)
