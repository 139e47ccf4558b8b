"""Warnings about the text of kernels, such as an assignment that loses something: given once in a process for each place,
whether the kernel is compiled there or comes from the cache.

What is kept says where in the code of a function the warning belongs, not in which line: a file may have moved, or have got
another comment, since the kernel was compiled.
"""

from __future__ import annotations

from samovar.errors import warn_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    from samovar.lens import Path


class Notice:
    """A warning about a function, which is known by its path (in an artifact from the cache, by the number of the path); or
    about a kernel as a whole, where `function` is None.

    `place` is that of an instruction in the code of the function, None if there is none in its line. `line` is counted from
    the first line of the function, and was right when the kernel was compiled.
    """

    __slots__ = ("function", "line", "message", "place")

    def __init__(self, message: str, function: Path | int | None = None, place: int | None = None, line: int = 0) -> None:
        self.message = message
        self.function = function
        self.place = place
        self.line = line


def give_again(notice: Notice, code: CodeType) -> None:
    """Warn about the code of a function as when it was compiled, in the line where that is now."""
    place = notice.place
    lines = (line for begin, end, line in code.co_lines() if place is not None and begin <= place < end)
    give(code.co_filename, next(lines, None) or code.co_firstlineno + notice.line, notice.message)


def give(file: str, line: int, message: str) -> None:
    """Warn about a line, unless that was done before."""
    warn_once(message, (file, line))
