"""Where two objects differ, as paths.

The traversal of fingerprints folds both graphs into trees of digests. The comparison descends only where digests differ:
equal parts cost nothing, and only what changes the fingerprint is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from samovar.fingerprint.aggregation import digest_level
from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, OrderInsensitiveDeconstruction
from samovar.fingerprint.description import describe
from samovar.fingerprint.fingerprinter import Fingerprinter, lenient_fingerprinter
from samovar.fingerprint.paths import Path, labels_of, spell
from samovar.fingerprint.vocabulary import TAG_ITEM

__all__ = ["Difference", "difference"]


@dataclass(frozen=True)
class Difference:
    """One place where two objects differ: its path, and what is there on either side.

    >>> from samovar.fingerprint import difference
    >>> difference([1, 2], [1, 3])
    (Difference(path='[1]', before='2', after='3'),)
    """

    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path or 'the whole'}: {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class _Node:
    """A level with its digest. Nodes compare like their digests, because the traversal sorts them."""

    digest: bytes
    level: Deconstruction

    def __lt__(self, other: _Node) -> bool:
        return self.digest < other.digest

    @property
    def children(self) -> tuple[_Node, ...]:
        return self.level.pieces


_Step = tuple[str, "_Node | None", "_Node | None"]


def difference(
    before: object, after: object, *, fingerprinter: Fingerprinter = lenient_fingerprinter, limit: int = 100
) -> tuple[Difference, ...]:
    """Return where `after` differs from `before`, as far as `fingerprinter` can tell.

    At most `limit` places are returned, and none if the fingerprints are equal.

    >>> from samovar.fingerprint import difference
    >>> before = {"body": [1, ("x", 2.5)], "name": "step"}
    >>> after = {"body": [1, ("x", 4.0)], "name": "step", "debug": True}
    >>> for place in difference(before, after):
    ...     print(place)
    ['body'][1][1]: 2.5 → 4.0
    ['debug']: nothing → True
    """
    old_root, new_root = (fingerprinter.fold(side, _annotate) for side in (before, after))
    found: list[Difference] = []
    compared: set[tuple[int, int]] = set()
    pending: list[tuple[Path, _Node | None, _Node | None]] = [(None, old_root, new_root)]
    while pending and len(found) < limit:
        path, old, new = pending.pop()
        if old is None or new is None or not _is_same_kind(old, new):
            found.append(_report(path, old, new))
        elif old.digest != new.digest and (id(old), id(new)) not in compared:
            # A pair that is reached on several paths is reported once.
            compared.add((id(old), id(new)))
            steps = list(_steps(old, new))
            if steps:
                pending.extend(((path, label), *sides) for label, *sides in reversed(steps))  # type: ignore[misc]
            else:
                found.append(_report(path, old, new))
    return tuple(found)


def _annotate(level: Deconstruction) -> _Node:
    if isinstance(level, EmptyDeconstruction):
        return _Node(digest_level(level), level)
    digests = tuple(node.digest for node in level.pieces)
    return _Node(digest_level(type(level)(level.tag, level.payload, digests)), level)


def _report(path: Path, old: _Node | None, new: _Node | None) -> Difference:
    before, after = (describe(None if side is None else side.level) for side in (old, new))
    if before == after and old is not None and new is not None:
        before, after = f"{before} ({old.digest.hex()[:8]})", f"{after} ({new.digest.hex()[:8]})"
    return Difference(spell(path), before, after)


def _is_same_kind(old: _Node, new: _Node) -> bool:
    """Whether the two sides can be compared piece by piece, or are unrelated."""
    if old.digest == new.digest:
        return True
    if (
        isinstance(old.level, EmptyDeconstruction)
        or type(old.level) is not type(new.level)
        or old.level.tag != new.level.tag
    ):
        return False
    has_class = all(labels_of(node.level)[:1] == (".__class__",) for node in (old, new))
    return not has_class or describe(old.level) == describe(new.level)


def _steps(old: _Node, new: _Node) -> Iterator[_Step]:
    """Yield the pieces in which two levels of one kind differ."""
    if any(child.level.tag == TAG_ITEM for child in (*old.children, *new.children)):
        return _item_steps(old, new)
    if isinstance(old.level, OrderInsensitiveDeconstruction):
        return _unordered_steps(old, new)
    if old.level.labels is not None and new.level.labels is not None:
        return _labeled_steps(old, new)
    return _sequence_steps(old, new)


def _item_steps(old: _Node, new: _Node) -> Iterator[_Step]:
    old_items, new_items = ({node.children[0].digest: node for node in side.children} for side in (old, new))
    for key in (*old_items, *(key for key in new_items if key not in old_items)):
        before, after = old_items.get(key), new_items.get(key)
        if before is None or after is None or before.digest != after.digest:
            label = describe((before or after).children[0].level)  # type: ignore[union-attr]
            yield f"[{label}]", before and before.children[1], after and after.children[1]


def _unordered_steps(old: _Node, new: _Node) -> Iterator[_Step]:
    old_pieces, new_pieces = ({node.digest: node for node in side.children} for side in (old, new))
    for digest in old_pieces.keys() - new_pieces.keys():
        yield f"{{{describe(old_pieces[digest].level)}}}", old_pieces[digest], None
    for digest in new_pieces.keys() - old_pieces.keys():
        yield f"{{{describe(new_pieces[digest].level)}}}", None, new_pieces[digest]


def _labeled_steps(old: _Node, new: _Node) -> Iterator[_Step]:
    # Labels may repeat: two pieces can both be labeled as the object itself.
    old_pieces, new_pieces = (_numbered(side) for side in (old, new))
    for key in (*old_pieces, *(key for key in new_pieces if key not in old_pieces)):
        before, after = old_pieces.get(key), new_pieces.get(key)
        if before is None or after is None or before.digest != after.digest:
            yield key[0], before, after


def _numbered(node: _Node) -> dict[tuple[str, int], _Node]:
    pieces: dict[tuple[str, int], _Node] = {}
    for label, child in zip(labels_of(node.level), node.children, strict=True):
        number = 0
        while (label, number) in pieces:
            number += 1
        pieces[label, number] = child
    return pieces


def _sequence_steps(old: _Node, new: _Node) -> Iterator[_Step]:
    """Skip the common prefix and suffix, so that an insertion is reported as one."""
    shorter = min(len(old.children), len(new.children))
    front = 0
    while front < shorter and old.children[front].digest == new.children[front].digest:
        front += 1
    back = 0
    while (
        len(old.children) != len(new.children)
        and back < shorter - front
        and old.children[-1 - back].digest == new.children[-1 - back].digest
    ):
        back += 1
    for index in range(front, max(len(old.children), len(new.children)) - back):
        before = old.children[index] if index < len(old.children) - back else None
        after = new.children[index] if index < len(new.children) - back else None
        if before is None or after is None or before.digest != after.digest:
            yield f"[{index}]", before, after
