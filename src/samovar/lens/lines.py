"""Source lines of functions, unparsed.

Files are read here instead of through `linecache`: importing it would slow down lookups, and it takes a file with unchanged
size and time for unchanged, which misses edits within one clock tick or by tools that preserve times.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from samovar.lens.recognition import CARRIED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType
    from typing import Any

#: Nanoseconds within which a second change may leave the time of a file unchanged: some file systems have a resolution of
#: two seconds.
_TICK = 2_000_000_000

#: File → its content, its lines, and its version when it was read (empty if it had just changed).
_READ: dict[str, tuple[bytes, list[str], tuple[int, ...] | None]] = {}


def file_lines(function: FunctionType) -> list[str]:
    """Return the lines of the file or notebook cell that defines a function; empty if the source is not available."""
    file = function.__code__.co_filename
    if file[:1] == "<" or id(function.__code__) in CARRIED:
        from samovar.lens.text_without_file import lines_without_file

        lines = lines_without_file(function.__code__)
        if lines:
            return lines
    return named_lines(file, function.__globals__)


def named_lines(file: str, names: dict[str, Any] | None = None) -> list[str]:
    """Return the current lines of a file, a notebook cell, or a module with these globals from its loader; empty if
    unavailable.

    Equal lines are returned as the same list.
    """
    library = sys.modules.get("linecache")
    if library is None or not _is_registered(library.cache.get(file)):
        try:
            status = os.stat(file)
            version = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
            known = _READ.get(file)
            return known[1] if known is not None and known[2] == version else _read_lines(file, version)
        except (OSError, ValueError, SyntaxError):  # not a file, or not text
            pass
    import linecache

    linecache.checkcache(file)
    return linecache.getlines(file, names)


def _is_registered(entry: Any) -> bool:
    """Whether the lines were registered with `linecache`, as notebooks do. Such entries have no modification time."""
    return entry is not None and len(entry) > 1 and entry[1] is None


def _read_lines(file: str, version: tuple[int, ...]) -> list[str]:
    is_old_enough = time_ns() - max(version[:2]) > _TICK
    with open(file, "rb") as opened:
        content = opened.read()
    known = _READ.get(file)
    if known is not None and known[0] == content:  # split once: a new file is read for each of its functions
        content, lines, _ = known
    else:
        lines = _decoded(content)
    _READ[file] = (content, lines, version if is_old_enough else None)
    return lines


def _decoded(content: bytes) -> list[str]:
    """Decode and split lines as Python does."""
    import io

    encoding = "utf-8"
    beginning = content[:400].split(b"\n", 2)[:2]
    if content.startswith(b"\xef\xbb\xbf") or any(b"coding" in line for line in beginning):
        from tokenize import detect_encoding

        encoding, _ = detect_encoding(io.BytesIO(content).readline)
    lines = io.TextIOWrapper(io.BytesIO(content), encoding).readlines()
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines
