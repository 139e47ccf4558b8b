"""Paths through an object graph, as people would write them: `.body[3].type`.

A path is stored as a chain and spelled out only when it is shown: with a string for each prefix, a hundred thousand levels
would take quadratic space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from samovar.fingerprint.deconstruction import Deconstruction
from samovar.fingerprint.vocabulary import TAG_ITEM

__all__ = ["Path", "labels_of", "shorten", "spell"]

#: Maximum length of a path in a message.
_LONGEST: Final = 400

#: The path of the level above and the label from there; `None` is the root.
Path: TypeAlias = "tuple[Path, str] | None"


def spell(path: Path) -> str:
    """Return the path as text."""
    labels = []
    while path is not None:
        path, label = path
        labels.append(label)
    return "".join(reversed(labels))


def shorten(path: str) -> str:
    """Return the path for a message, without the middle of a very long one."""
    half = _LONGEST // 2
    return path if len(path) <= _LONGEST else f"{path[:half]}...{path[-half:]}"


def labels_of(level: Deconstruction) -> Sequence[str]:
    """Return a label for each piece of a level."""
    if level.labels is not None and len(level.labels) == len(level.pieces):
        return level.labels
    if level.tag == TAG_ITEM:
        return (".keys()", f"[{_key(level.pieces[0])}]")
    # A key-value pair has no path of its own, but its value does.
    return ["" if _is_item(piece) else f"[{index}]" for index, piece in enumerate(level.pieces)]


def _is_item(piece: object) -> bool:
    return type(piece) is Deconstruction and piece.tag == TAG_ITEM


def _key(key: object) -> str:
    """Return a key as text. Only short keys with a builtin `repr` are shown."""
    text = repr(key) if type(key) in (bool, int, float, str, bytes) else ""
    return text if 0 < len(text) <= 40 else "..."
