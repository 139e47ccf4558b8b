"""The store that a command works on."""

from __future__ import annotations

import argparse
import os
import sys

from samovar.cache import Library, directory_of, open_library, refused_folder, refused_parent
from samovar.cli.failure import USAGE, Failure
from samovar.language import Options
from samovar.runtime import current_options


def library(given: argparse.Namespace) -> Library:
    """The store that `--directory` names, or the one that a program would use; it need not be there yet."""
    options = current_options()
    if given.directory is not None:
        if not given.directory:
            raise Failure("--directory is empty", USAGE)
        options = Options(
            offline_cache_file_path=given.directory, offline_cache_max_size=options.offline_cache_max_size
        )
    directory = directory_of(options)
    if directory is not None and os.path.lexists(directory):
        if not os.path.isdir(directory):
            raise Failure(f"{directory} is not a directory")
        refused = refused_folder((directory,)) or refused_parent(directory)
        if refused is not None:
            where = directory if refused[0] == directory else f"{directory} in {refused[0]}"
            raise Failure(
                f"{where} is not used, because {refused[1]}\n"
                "  help: cached code runs in your process: make the directory yours alone (chmod 700)"
            )
    found = open_library(options, _say)
    if found is None:
        raise Failure("there is no store\n  help: name one with --directory")
    return found


def _say(message: str) -> None:
    print(f"samovar: {message}", file=sys.stderr)
