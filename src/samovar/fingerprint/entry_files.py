"""Files of caches, one per entry: each appears whole or not at all, under its own name, however many processes write it.

A writer makes a temporary file beside it and renames that. What writers that died have left is swept when it is old. Used by
`FileCache`, and by the store of compiled kernels.
"""

from __future__ import annotations

import os
from errno import ENOTDIR
from time import time

from samovar._native import write_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Temporary files that are older belong to writers that are gone.
_STALE_WRITE_SECONDS = 3600.0
_TEMPORARY = ".tmp"


def publish_file(path: str, content: bytes, folders: Iterable[str]) -> None:
    """Write a file. If it cannot be made, the folders are, the outermost first: nobody else may look into them.

    Raises `OSError` and leaves nothing behind if that is not possible.
    """
    try:
        write_entry(_temporary(path), path, content)
    except FileNotFoundError:
        # A folder went away (cleared by another process) or was never made.
        for folder in folders:
            make_folder(folder)
        write_entry(_temporary(path), path, content)


def make_folder(path: str) -> None:
    """Make a folder and those above it that are not there: nobody else may look into any of them."""
    if path and not os.path.isdir(path):
        make_folder(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), path) from None


def _temporary(path: str) -> str:
    return f"{path}.{os.getpid()}.{os.urandom(6).hex()}{_TEMPORARY}"


def is_temporary(name: str) -> bool:
    """Is a file one that is being written, or was when its writer died?"""
    return name.endswith(_TEMPORARY)


def files_in(folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Name, path and status of what is in a folder; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    yield entry.name, entry.path, entry.stat(follow_symlinks=False)
                except OSError:
                    continue
    except OSError:
        return


def sweep_temporaries(folders: Iterable[str]) -> int:
    """Remove what writers that died have left in some folders. Gives the number of files."""
    oldest = time() - _STALE_WRITE_SECONDS
    removed = 0
    for folder in folders:
        for name, path, status in files_in(folder):
            if is_temporary(name) and status.st_mtime < oldest:
                remove_file(path)
                removed += 1
    return removed


def remove_file(path: str) -> None:
    """Remove a file. One that is gone already, or is not ours, is left alone."""
    try:
        os.unlink(path)
    except OSError:
        return
