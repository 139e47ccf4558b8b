"""The order of the pages: by topic, and in the guide in the order of learning.

A page that no list names is found in `docs` and becomes the last one of the guide, so none is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reference import COMMANDS, ERRORS, FUNCTIONS, INDEX, OPTIONS, page_of_module

START = ("index", "getting-started", "tutorial", "gallery", "why", "faq")
GUIDE = (
    "guide", "arrays", "vectors", "structs", "fields", "compound", "views", "ufuncs", "linear-algebra", "graphs",
    "gradients", "torch", "state", "pictures", "cookbook",
    "cache", "fleets", "fleet-security", "dask", "ray", "fleet-ci", "profiling",
)  # fmt: skip
PERFORMANCE = ("results", "genesis", "performance", "benchmarks", "accuracy")
REFERENCE = ("environment", "names", "versioning")
INTERNALS = ("architecture", "what-is-in-the-key", "launch", "fingerprint", "glossary")
MOVING, DECISIONS = "moving", "adr"
#: Files of the repository that are pages of the site as well.
ROOT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
}
#: The public modules by topic; others follow.
TOPICS = {
    "Kernels and data": ("samovar", "samovar.types", "samovar.graph"),
    "Math and algorithms": (
        "samovar.math", "samovar.linalg", "samovar.ad", "samovar.algorithms", "samovar.simt",
    ),
    "Fleets": ("samovar.dask", "samovar.ray"),
    "Tools": ("samovar.tools", "samovar.ui", "samovar.fingerprint"),
}  # fmt: skip


def title_of(page: Path) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{page} has no heading")
    return found.group(1).replace("`", "")


def by_topic(modules: list[str]) -> list[dict[str, Any]]:
    """The pages of modules: topic → module → place. A module inside another one belongs to its topic."""
    placed: dict[str, list[dict[str, str]]] = {topic: [] for topic in TOPICS}
    for module in modules:
        outer = ".".join(module.split(".")[:2])
        topic = next((topic for topic, members in TOPICS.items() if outer in members), "Tools")
        placed[topic].append(
            {module.replace("samovar", "sv", 1) if module != "samovar.fingerprint" else module: page_of_module(module)}
        )
    return [{topic: pages} for topic, pages in placed.items() if pages]


def navigation(docs: Path, modules: list[str], generated: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The sections of the site, each with its pages: title → place. `generated` pages have no file in `docs`."""
    named = {*START, *GUIDE, *PERFORMANCE, *INTERNALS, *REFERENCE}
    others = tuple(sorted(path.stem for path in docs.glob("*.md") if path.stem not in named))

    def listed(names: tuple[str, ...], folder: str = "") -> list[dict[str, str]]:
        places = [docs / folder / f"{name}.md" for name in names]
        return [
            {title_of(place) if place.is_file() else place.stem.capitalize(): str(place.relative_to(docs))}
            for place in places
            if place.is_file() or str(place.relative_to(docs)) in generated
        ]

    def folder(name: str) -> list[dict[str, str]]:
        return listed(tuple(sorted(path.stem for path in (docs / name).glob("*.md"))), name)

    def roots(*files: str) -> list[dict[str, str]]:
        titles = {"CHANGELOG.md": "Release notes", "CONTRIBUTING.md": "Contributing", "SECURITY.md": "Security"}
        return [{titles.get(file, "Code of conduct"): ROOT_PAGES[file]} for file in files if ROOT_PAGES[file] in generated]

    decisions = folder(DECISIONS)
    return [
        {"Start": listed(START)},
        {"Guide": listed((*GUIDE, *others))},
        {"Migrating": folder(MOVING)},
        {"Performance": listed(PERFORMANCE)},
        {
            "Reference": [
                {"All names": INDEX},
                {"Functions in kernels": FUNCTIONS},
                {"Options": OPTIONS},
                *listed(REFERENCE),
                {"Errors and warnings": ERRORS},
                {"Command line": COMMANDS},
                *by_topic(modules),
                *roots("CHANGELOG.md"),
            ]
        },
        {
            "Internals": [
                *roots("CONTRIBUTING.md"),
                *listed(INTERNALS),
                *roots("SECURITY.md", "CODE_OF_CONDUCT.md"),
                {"Decisions": decisions[-1:] + decisions[:-1]},
            ]
        },
    ]


def places(sections: Any) -> list[str]:
    """All places in a navigation, in order."""
    if isinstance(sections, str):
        return [sections]
    values = sections.values() if isinstance(sections, dict) else sections
    return [place for each in values for place in places(each)]
