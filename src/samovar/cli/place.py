"""The store that a command works on."""

from __future__ import annotations

import argparse
import os
import sys

from samovar.cache import Library, directory_of, open_library, untrusted_folder, untrusted_parent
from samovar.cli.failure import USAGE, Failure
from samovar.language import Options
from samovar.runtime import current_options


def library(given: argparse.Namespace) -> Library:
    """Return the store of `--directory`, or the one that a program would use. It need not exist yet."""
    options = current_options()
    if given.directory is not None:
        if not given.directory:
            raise Failure("--directory is empty", USAGE)
        options = Options(offline_cache_file_path=given.directory, offline_cache_max_size=options.offline_cache_max_size)
    directory = directory_of(options)
    if directory is not None and os.path.lexists(directory):
        if not os.path.isdir(directory):
            raise Failure(f"{directory} is not a directory")
        untrusted = untrusted_folder((directory,)) or untrusted_parent(directory)
        if untrusted is not None:
            where = directory if untrusted[0] == directory else f"{directory} in {untrusted[0]}"
            raise Failure(
                f"{where} is not used, because {untrusted[1]}\n"
                "  help: cached code runs in your process: make the directory private (chmod 700)"
            )
    found = open_library(options, _say)
    if found is None:
        raise Failure("there is no cache directory\n  help: set one with --directory")
    return found


def _say(message: str) -> None:
    print(f"samovar: {message}", file=sys.stderr)
