"""Files of caches, one per entry. Writes are atomic, even if several processes write the same entry.

A writer renames a temporary file next to the entry. Temporary files of dead writers are removed once they are old. Used by
`FileCache` and by the store of compiled kernels.
"""

from __future__ import annotations

import os
from errno import ENOTDIR
from time import time

from samovar._native import write_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Temporary files older than this belong to writers that died.
_STALE_WRITE_SECONDS = 3600.0
_TEMPORARY = ".tmp"


def publish_file(path: str, content: bytes, folders: Iterable[str]) -> None:
    """Write a file atomically. If a folder is missing, create `folders`, outermost first, accessible to the owner only.

    Raise `OSError` and leave nothing behind if that fails.
    """
    try:
        write_entry(_temporary(path), path, content)
    except FileNotFoundError:
        # A folder was removed (by another process clearing the cache) or never created.
        for folder in folders:
            make_folder(folder)
        write_entry(_temporary(path), path, content)


def make_folder(path: str) -> None:
    """Create a folder and its missing parents, accessible to the owner only."""
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
    """Whether a file is temporary: being written, or left behind by a writer that died."""
    return name.endswith(_TEMPORARY)


def files_in(folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Yield name, path and status of the files in a folder; nothing if it is not readable."""
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
    """Remove temporary files that dead writers left behind, and return their number."""
    oldest = time() - _STALE_WRITE_SECONDS
    removed = 0
    for folder in folders:
        for name, path, status in files_in(folder):
            if is_temporary(name) and status.st_mtime < oldest:
                remove_file(path)
                removed += 1
    return removed


def remove_file(path: str) -> None:
    """Remove a file. A file that is already gone, or is not ours, is ignored."""
    try:
        os.unlink(path)
    except OSError:
        return
