"""Hooks that MkDocs calls while it builds the site (see `hooks` in mkdocs.yml): generated pages, navigation, links.

`Repository` of `[project.urls]` in pyproject.toml is the one setting for links to the repository, to files in it and to
the editor of each page. Without it, the site has none of these links.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

# MkDocs loads this file by its path; the modules beside it are imported from there.
sys.path.insert(0, str(Path(__file__).parent))

from navigation import navigation
from public_names import public_modules
from site_pages import ROOT, generated_pages, outside_links, repository


def on_config(config: Any) -> Any:
    config.nav = navigation(Path(config.docs_dir), public_modules(), tuple(generated_pages()))
    set_links(config, repository((ROOT / "pyproject.toml").read_text()))
    return config


def set_links(config: Any, address: str) -> None:
    """Links to the repository in the header, and to its editor on each page, if the address is known."""
    config.extra["repository"] = address
    if address:
        config.repo_url, config.repo_name, config.edit_uri = address, "Repository", "edit/main/docs/"


def on_files(files: Any, config: Any) -> Any:
    for place, text in generated_pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    if page.file.generated_by is not None:
        page.edit_url = None  # there is no file to edit
    return outside_links(markdown, page.file.src_uri.count("/"), config.extra["repository"])
