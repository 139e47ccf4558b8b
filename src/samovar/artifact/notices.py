"""Warnings about the source of kernels, such as an assignment that loses precision. Each is issued once per process and
place, whether the kernel is compiled or comes from the cache.

A stored warning refers to a place in a function's bytecode, not to a line: lines may have moved since the kernel was
compiled.
"""

from __future__ import annotations

from samovar.errors import warn_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    from samovar.lens import Path


class Notice:
    """A warning about a function, identified by its path (in an artifact from the cache, by the number of the path), or
    about a whole kernel, where `function` is None.

    `place` is an instruction offset in the function's code, None if its line has no instruction. `line` is relative to the
    first line of the function at compile time.
    """

    __slots__ = ("function", "line", "message", "place")

    def __init__(self, message: str, function: Path | int | None = None, place: int | None = None, line: int = 0) -> None:
        self.message = message
        self.function = function
        self.place = place
        self.line = line


def give_again(notice: Notice, code: CodeType) -> None:
    """Issue the warning of a cached kernel for a function's code, at its current line."""
    place = notice.place
    lines = (line for begin, end, line in code.co_lines() if place is not None and begin <= place < end)
    give(code.co_filename, next(lines, None) or code.co_firstlineno + notice.line, notice.message)


def give(file: str, line: int, message: str) -> None:
    """Warn about a line, once."""
    warn_once(message, (file, line))
