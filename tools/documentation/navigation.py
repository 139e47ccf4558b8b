"""The order of the pages, found by looking into `docs`: a page that no list names is a page of the guide.

So a new page is never left out, and one that is named here before it is written is no error.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reference import COMMANDS, ERRORS, FUNCTIONS, INDEX, OPTIONS, page_of_module

FIRST = ("index", "getting-started")
GUIDE = ("guide", "arrays", "vectors", "linear-algebra", "fields", "compound", "graphs", "cache")
PERFORMANCE = ("performance", "benchmarks", "accuracy")
INTERNALS = ("architecture", "what-is-in-the-key", "launch", "fingerprint", "glossary")
REFERENCE = ("environment",)
MOVING, DECISIONS = "moving", "adr"


def title_of(page: Path) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{page} has no heading")
    return found.group(1).replace("`", "")


def navigation(docs: Path, modules: list[str]) -> list[dict[str, Any]]:
    """The sections of the site, each with its pages: title → place."""
    named = {*FIRST, *GUIDE, *PERFORMANCE, *INTERNALS, *REFERENCE}
    others = tuple(sorted(path.stem for path in docs.glob("*.md") if path.stem not in named))

    def listed(names: tuple[str, ...], folder: str = "") -> list[dict[str, str]]:
        places = [docs / folder / f"{name}.md" for name in names]
        return [{title_of(place): str(place.relative_to(docs))} for place in places if place.is_file()]

    def folder(name: str) -> list[dict[str, str]]:
        return listed(tuple(sorted(path.stem for path in (docs / name).glob("*.md"))), name)

    generated = [
        {"All names": INDEX},
        {"What kernels can call": FUNCTIONS},
        {"Options": OPTIONS},
        *listed(REFERENCE),
        {"Errors and warnings": ERRORS},
        {"Commands": COMMANDS},
        *({module: page_of_module(module)} for module in modules),
    ]
    return [
        {"Home": "index.md"},
        {"Getting started": "getting-started.md"},
        {"Guide": listed((*GUIDE, *others))},
        {"Moving over": folder(MOVING)},
        {"Performance": listed(PERFORMANCE)},
        {"Reference": generated},
        {"Internals": [*listed(INTERNALS), {"Decisions": folder(DECISIONS)}]},
    ]


def places(sections: Any) -> list[str]:
    """All places in a navigation, in order."""
    if isinstance(sections, str):
        return [sections]
    values = sections.values() if isinstance(sections, dict) else sections
    return [place for each in values for place in places(each)]
