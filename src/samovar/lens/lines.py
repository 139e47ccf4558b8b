"""The lines that a function was written in, without a look at their meaning."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType

#: Lines by file, with what was known of the file when they were read.
_READ: dict[str, tuple[tuple[int, ...], list[str]]] = {}


def file_lines(function: FunctionType) -> list[str]:
    """The lines of the file or notebook cell that a function was defined in; none if it left no text behind."""
    import linecache

    file = function.__code__.co_filename
    if file.startswith("<"):
        from samovar.lens.unfiled import unfiled_lines

        lines = unfiled_lines(function.__code__)
        if lines:
            return lines
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def present_lines(function: FunctionType) -> list[str]:
    """The same lines, read in a quicker way where they are in a file: a lookup must not cost the import of `linecache`."""
    file = function.__code__.co_filename
    library = sys.modules.get("linecache")
    if library is None or file not in library.cache:
        try:
            status = os.stat(file)
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = _READ.get(file)
            if known is None or known[0] != version:
                with open(file, encoding="utf-8") as opened:
                    lines = opened.readlines()
                if lines and not lines[-1].endswith("\n"):
                    lines[-1] += "\n"  # as `linecache` does
                known = _READ[file] = (version, lines)
            return known[1]
        except (OSError, ValueError):  # not a file, or not in this encoding
            pass
    return file_lines(function)
