"""LLVM text without what means nothing: the names of local values and labels.

Two kernels that differ in the name of a local become the same text up to these names, and need LLVM only once.
"""

from __future__ import annotations

import re

#: A local value or label where it is used (`%name`), or a label where it stands (at the beginning of a line).
_NAME = re.compile(r'%("[^"]*"|[-a-zA-Z$._0-9]+)|^("[^"]*"|[-a-zA-Z$._0-9]+):', re.MULTILINE)

#: Where a function begins. A name means something in its own function only.
_FUNCTION = re.compile(r"^(?=define )", re.MULTILINE)


def canonical(text: str) -> str:
    """The text with locals and labels numbered in the order in which they appear in their function.

    Names that are the same in a function stay the same and others stay apart, so texts with one canonical form mean the
    same. It is a key and not a program: names are not told from types, of which none has a name.
    """
    return "".join(map(_numbered, _FUNCTION.split(text)))


def _numbered(function: str) -> str:
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        used, stands = found.groups()
        number = numbers.setdefault(used or stands, len(numbers))
        return f"%{number}" if used else f"{number}:"

    return _NAME.sub(numbered, function)
