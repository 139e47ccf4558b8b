"""Paths through an object graph, as people would write them: `.body[3].type`.

A path is kept as a chain and spelled out only when it is shown: below a hundred thousand levels, every prefix as a
string of its own would be quadratic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from samovar.fingerprint.deconstruction import Deconstruction
from samovar.fingerprint.vocabulary import TAG_ITEM

__all__ = ["Path", "labels_of", "path_to", "spell"]

#: The way to the level above and the label from there; `None` is the root.
Path: TypeAlias = "tuple[Path, str] | None"


def spell(path: Path) -> str:
    """The path as text."""
    labels = []
    while path is not None:
        path, label = path
        labels.append(label)
    return "".join(reversed(labels))


def labels_of(level: Deconstruction) -> Sequence[str]:
    """A label for each piece of a level."""
    if level.labels is not None and len(level.labels) == len(level.pieces):
        return level.labels
    if level.tag == TAG_ITEM:
        return (".keys()", f"[{_key(level.pieces[0])}]")
    # The pair of a key and a value is no place of its own: its value is.
    return ["" if _is_item(piece) else f"[{index}]" for index, piece in enumerate(level.pieces)]


def path_to(subject: object, root: object, deconstruct: Callable[[Any], Deconstruction]) -> str:
    """The first path to an object, or an empty string if it is the root or cannot be found."""
    seen: dict[int, object] = {}
    pending: list[tuple[Path, object]] = [(None, root)]
    while pending:
        path, piece = pending.pop()
        if piece is subject:
            return spell(path)
        if id(piece) in seen:
            continue
        seen[id(piece)] = piece
        try:
            level = piece if issubclass(type(piece), Deconstruction) else deconstruct(piece)
        except Exception:
            # The search only serves a message about another object.
            continue
        assert isinstance(level, Deconstruction)
        steps = [((path, label), child) for label, child in zip(labels_of(level), level.pieces, strict=True)]
        pending.extend(reversed(steps))
    return ""


def _is_item(piece: object) -> bool:
    return type(piece) is Deconstruction and piece.tag == TAG_ITEM


def _key(key: object) -> str:
    """Only keys whose `repr` is the builtin one, and short, are shown."""
    text = repr(key) if type(key) in (bool, int, float, str, bytes) else ""
    return text if 0 < len(text) <= 40 else "..."
