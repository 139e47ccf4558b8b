"""What MkDocs calls while it builds the site (see `hooks` in mkdocs.yml): the pages of the reference, and the navigation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

# MkDocs loads this file by its path; its neighbours are found beside it.
sys.path.insert(0, str(Path(__file__).parent))

from navigation import navigation
from public_names import public_modules
from reference import pages


def on_config(config: Any) -> Any:
    config.nav = navigation(Path(config.docs_dir), public_modules())
    return config


def on_files(files: Any, config: Any) -> Any:
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    return files
