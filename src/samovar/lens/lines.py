"""The lines that a function was written in, without a look at their meaning."""

from __future__ import annotations

import linecache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType


def file_lines(function: FunctionType) -> list[str]:
    """The lines of the file or notebook cell that a function was defined in; none if it left no text behind."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def own_lines(function: FunctionType) -> str:
    """The function's lines, from its first decorator to the last line that does something."""
    code = function.__code__
    last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return "".join(file_lines(function)[code.co_firstlineno - 1 : last])
