"""The lines that a function was written in, without a look at their meaning.

Files are read here and not by `linecache`, which a lookup must not cost the import of, and which believes a file to be the
same as long as its size and time are: an edit within one tick of the clock, or by a tool that keeps times, is none to it.
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

#: How long after a change (nanoseconds) the times of a file may stay the same at the next one: clocks of file systems tick
#: in anything up to two seconds.
_TICK = 2_000_000_000

#: File → what it holds, the lines of that, and what was known of it when it was read: nothing if it had changed just before.
_READ: dict[str, tuple[bytes, list[str], tuple[int, ...] | None]] = {}


def file_lines(function: FunctionType) -> list[str]:
    """The lines of the file or notebook cell that a function was defined in; none if it left no text behind."""
    file = function.__code__.co_filename
    if file[:1] == "<" or id(function.__code__) in CARRIED:
        from samovar.lens.text_without_file import lines_without_file

        lines = lines_without_file(function.__code__)
        if lines:
            return lines
    return named_lines(file, function.__globals__)


def named_lines(file: str, names: dict[str, Any] | None = None) -> list[str]:
    """The lines of a file as it is now, of a cell, or of what the loader of a module with these names has; else none.

    As long as the lines are equal, they are the same list.
    """
    library = sys.modules.get("linecache")
    if library is None or not _is_registered(library.cache.get(file)):
        try:
            status = os.stat(file)
            version = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
            known = _READ.get(file)
            return known[1] if known is not None and known[2] == version else _read_lines(file, version)
        except (OSError, ValueError, SyntaxError):  # not a file, or not a text
            pass
    import linecache

    linecache.checkcache(file)
    return linecache.getlines(file, names)


def _is_registered(entry: Any) -> bool:
    """Has somebody told `linecache` the lines, as notebooks do? Such lines have no time."""
    return entry is not None and len(entry) > 1 and entry[1] is None


def _read_lines(file: str, version: tuple[int, ...]) -> list[str]:
    is_old_enough = time_ns() - max(version[:2]) > _TICK
    with open(file, "rb") as opened:
        content = opened.read()
    known = _READ.get(file)
    if known is not None and known[0] == content:  # taken apart once: a file that is new is read for each of its functions
        content, lines, _ = known
    else:
        lines = _decoded(content)
    _READ[file] = (content, lines, version if is_old_enough else None)
    return lines


def _decoded(content: bytes) -> list[str]:
    """Lines, as Python reads them."""
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
