"""One leaf of a decision tree with its artifact, as an entry of its own: what shared tiers hold.

Machines publish leaves independently, and readers merge them into their trees.
"""

from __future__ import annotations

from samovar._native import tree_path_digest
from samovar.cache.artifacts import StoredArtifact
from samovar.cache.entry import MISREADINGS, Damaged, unwrapped, wrapped
from samovar.cache.kernel_cache import Record, record_of
from samovar.lens import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.cache.kernel_cache import Library


class StoredLeaf:
    """A valid leaf: a tree that contains nothing else, and the data of its artifact's entry."""

    __slots__ = ("_content", "data", "key", "record", "tree")

    def __init__(self, key: str, content: bytes, tree: Tree, data: tuple[bytes, bytes], record: Record) -> None:
        self._content = content
        self.key = key
        self.tree = tree
        self.data = data
        self.record = record

    def another_tree(self) -> Tree:
        """The tree once more, for another thread."""
        found = Tree.of(unwrapped("leaves", self.record.tree, self._content)[0])
        found.check()
        return found


def leaf_entries(library: Library, tree_key: str) -> dict[str, tuple[Record, bytes]]:
    """Return the leaves of a tree in a store, by key: the record of each, and the content of its entry. Damaged and
    evicted entries are omitted."""
    tree, found = library.tree(tree_key), {}
    for steps, (key, sources, _, _) in () if tree is None else tree.leaves():
        try:
            data = library.store.examine("kernels", key)
            alone = Tree()
            alone.add(tree.trace(steps), key, tuple(map(tree.paths.path, sources)))  # type: ignore[union-attr]
            content = wrapped("leaves", tree_key, (alone.data(), *data))
            found[key] = opened_leaf(tree_key, content).record, content
        except (OSError, *MISREADINGS):
            continue
    return found


def opened_leaf(tree_key: str, content: bytes) -> StoredLeaf:
    """Return the leaf in the content of an entry; raise `Damaged` if it does not belong to the tree."""
    data: Any = unwrapped("leaves", tree_key, content)
    rest = data[1:]
    try:
        tree = Tree.of(data[0])
        [(steps, (key, sources, _, _))] = tree.leaves()
        artifact = StoredArtifact(rest[0])
        way = tree_path_digest(tree_key, tree.paths.rows, steps, sources)
    except MISREADINGS as error:
        raise Damaged("its leaf is malformed") from error
    record = record_of(rest)
    if artifact.key != key or artifact.way != way or record.tree != tree_key:
        raise Damaged("its artifact was compiled for other answers")
    return StoredLeaf(key, content, tree, rest, record)
