"""LLVM text without what means nothing: the names of local values and labels.

Two kernels that differ in the name of a local become the same text up to these names, and need LLVM only once.
"""

from __future__ import annotations

from samovar._native import numbered_names


def canonical(text: str) -> str:
    """The text with locals and labels numbered in the order in which they appear in their function.

    Names that are the same in a function stay the same and others stay apart, so texts with one canonical form mean the
    same. It is a key and not a program: names are not told from types, of which none has a name.
    """
    return numbered_names(text)
