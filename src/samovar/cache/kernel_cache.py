"""The kernel cache as the runtime uses it: looks up the artifact of a kernel, and stores compiled ones.

Keys do not depend on locations: the tree key combines the toolchain fingerprint and the code of the kernel; the key of an
artifact adds every answer that the compile got.
"""

from __future__ import annotations

from time import time_ns

from samovar._native import decode_plain, encode_plain, matches_schema, tree_path_digest
from samovar.cache.artifacts import StoredArtifact, sealed_artifact
from samovar.cache.entry import MISREADINGS, Damaged, opened, wrapped
from samovar.cache.salt import salt
from samovar.cache.store import Store, directory_of
from samovar.lens import PathTable, Tree, digest, essence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from samovar.artifact import Artifact, Guards
    from samovar.language import Options
    from samovar.lens import Leaf, Path, Trace

    class FetchedLeaf(Protocol):
        """A leaf from a tier: a tree that contains nothing else, and the data of its artifact's entry."""

        key: str
        tree: Tree
        data: tuple[bytes, bytes]
        record: Record

        def another_tree(self) -> Tree: ...

    class Tiers(Protocol):
        """The package `samovar.tiers`, which is above this one."""

        publishes: bool

        def leaves(
            self, tree: str, known: Iterable[str], *, is_other_target: bool
        ) -> Iterable[FetchedLeaf]: ...
        def offer(self, library: Library, tree: str, leaf: str) -> None: ...
        def expect(self, trees: Sequence[str]) -> None: ...
        def warm(self) -> None: ...
        def write_later(self, run: Callable[[], object]) -> None: ...


#: How many trees are remembered per kernel name, to explain cache misses.
RELATIVES = 8


def artifact_key(tree: str, trace: Trace) -> str:
    """Return the key of the artifact compiled for the answers of a trace."""
    table = PathTable([])
    steps = tuple(
        (table.number(asked.path), asked.question, table.encoded(essence(asked.question, asked.answer))) for asked in trace
    )
    return digest([tree, "kernel", tuple(table.rows), steps])


def way_of(tree: str, trace: Trace, paths: tuple[Path, ...]) -> bytes:
    """Return the digest of a path through a tree, and of the paths that the guards at its end refer to."""
    table = PathTable([])
    steps = [(table.number(asked.path), asked.question, table.encoded(asked.answer)) for asked in trace]
    return tree_path_digest(tree, table.rows, steps, tuple(map(table.number, paths)))


class Record:
    """What is known about a stored kernel besides its code: for listings and explanations."""

    __slots__ = ("answers", "compiled", "file", "line", "name", "reason", "salt", "seconds", "tree")

    def __init__(
        self,
        name: str,
        file: str,
        line: int,
        tree: str,
        compiled: float,
        seconds: float,
        reason: str,
        answers: tuple[tuple[str, str, str], ...],
        salt: dict[str, str],
    ) -> None:
        self.name = name
        self.file = file
        self.line = line
        self.tree = tree
        self.compiled = compiled
        self.seconds = seconds
        self.reason = reason
        self.answers = answers
        self.salt = salt

    def data(self) -> tuple[Any, ...]:
        return (
            self.name,
            self.file,
            self.line,
            self.tree,
            self.compiled,
            self.seconds,
            self.reason,
            self.answers,
            tuple(self.salt.items()),
        )

    @classmethod
    def of(cls, data: tuple[Any, ...]) -> Record:
        name, file, line, tree, compiled, seconds, reason, answers, salt = data
        return cls(name, file, line, tree, compiled, seconds, reason, answers, dict(salt))


def record_of(data: tuple[Any, ...]) -> Record:
    """Return the record in the data of a stored kernel."""
    try:
        record = decode_plain(data[1])
    except MISREADINGS as error:
        raise Damaged("its record is malformed") from error
    if not matches_schema(record, "(SSJSFFS{(SSS)}{(SS)})"):
        raise Damaged("its record is malformed")
    return Record.of(record)


class StoredTree:
    """A decision tree with the file that it comes from. When folded, only the file is kept, which takes far less memory.

    `identity` changes when the file does.
    """

    __slots__ = ("_content", "_tree", "identity")

    def __init__(self, tree: Tree, content: bytes, identity: tuple[int, ...]) -> None:
        self._tree: Tree | None = tree
        self._content = content
        self.identity = identity

    def fold(self) -> None:
        """Drop the tree until it is needed again."""
        self._tree = None

    def unfolded(self) -> Tree:
        """Return the tree. A caller that modifies it keeps it and discards the file."""
        if self._tree is None:
            self._tree = Tree.of(opened(self._content)[2])
        return self._tree

    def trace(self, leaf: str, reread: Mapping[int, Any]) -> Trace:
        """Return the trace that leads to a leaf, with reread sources as they are now."""
        tree = Tree.of(opened(self._content)[2])
        steps = next(steps for steps, end in tree.leaves() if end[0] == leaf)
        return tree.trace(steps, reread)


class Library:
    """The kernels in the store that the options select."""

    def __init__(self, store: Store, target: str | None = None, tiers: Tiers | None = None) -> None:
        self.store = store
        #: Shared tiers behind the store.
        self.tiers = tiers
        self.is_other_target = target is not None
        self._salt = salt(target)
        self._others: dict[str, Library] = {}

    def takes_baselines(self) -> bool:
        """Whether code for a lower target is better than a compile: not for a process that publishes what it compiles."""
        return self.tiers is not None and not self.tiers.publishes

    def of_target(self, target: str) -> Library:
        """Return the library of another target in the same store and tiers."""
        if target not in self._others:
            self._others[target] = Library(self.store, target, self.tiers)
        return self._others[target]

    def tree_key(self, function: tuple[Any, ...]) -> str:
        """Return the key of a kernel's decision tree, from the answer to the question `function`."""
        return digest([self._salt, "tree", function])

    def tree(self, key: str) -> Tree | None:
        """Return the decision tree of a kernel, to be modified."""
        stored = self.stored_tree(key)
        tree = None if stored is None else stored.unfolded()
        return tree if tree is None or self.is_whole(tree, key) else None

    def is_whole(self, tree: Tree, key: str) -> bool:
        """Whether a tree is one that this version writes. Two versions can share an identifier; such a tree is dropped."""
        try:
            tree.check()
        except MISREADINGS:
            self.forget_tree(key)
            return False
        return True

    def forget_tree(self, key: str) -> None:
        """Drop a tree that cannot be walked."""
        self.store.remove("trees", key)

    def stored_tree(self, key: str) -> StoredTree | None:
        """Return the decision tree of a kernel as stored."""
        found = self.store.read_file("trees", key)
        if found is None:
            return None
        data, content, identity = found
        return StoredTree(Tree.of(data), content, identity)

    def fetched_tree(self, key: str, known: Tree) -> StoredTree | None:
        """Return the tree of a kernel with the leaves that shared tiers have and neither the store nor the `known` tree has;
        None if there are none.

        What is fetched is stored later. If that fails, it is used nevertheless.
        """
        assert self.tiers is not None
        tree = self.tree(key) or Tree()
        there = {end[0] for _, end in tree.leaves()}
        # What was fetched a moment ago may not be stored yet.
        recent = {end[0]: end[3] for _, end in known.leaves() if end[0] not in there}
        tree.adopt(known, recent.__contains__)
        leaves = list(self.tiers.leaves(key, there | recent.keys(), is_other_target=self.is_other_target))
        if not leaves:
            return None
        self.tiers.write_later(lambda: self.merge(key, leaves))
        if tree.root is None and len(leaves) == 1:
            tree = leaves[0].tree
        else:
            for leaf in leaves:
                tree.adopt(leaf.tree)
        contents = {leaf.key: leaf.data[0] for leaf in leaves}
        tree.embed(contents | {leaf: content for leaf, content in recent.items() if content is not None})
        return StoredTree(tree, wrapped("trees", key, tree.data()), (0, time_ns(), 0))

    def merge(self, key: str, leaves: Sequence[FetchedLeaf]) -> str | None:
        """Add leaves to the stored tree, artifacts first. Return why something could not be stored, or None."""
        failure, tree = None, self.tree(key) or Tree()
        for leaf in leaves:
            failure = self.store.write("kernels", leaf.key, leaf.data) or failure
            tree.adopt(leaf.another_tree())
        failure = self.store.write("trees", key, tree.data()) or failure
        for leaf in leaves:
            self.remember(leaf.record)
        return failure

    def latest_trace(self, key: str) -> Trace | None:
        """Return the trace that was added last to a tree."""
        tree = self.tree(key)
        leaves = [] if tree is None else list(tree.leaves())
        return tree.trace(leaves[-1][0]) if tree is not None and leaves else None

    def artifact(self, leaf: Leaf, tree: str, rows: list[Any]) -> tuple[Artifact, Guards, float] | None:
        """Return the artifact at a leaf of a tree with these rows, its guards, and its compile time in seconds.

        The artifact contains the digest of its path through the tree. If that differs, the tree was tampered with or is
        corrupt.
        """
        content = leaf.content
        if content is None:
            data = self.store.read("kernels", leaf.key)
            if data is None:
                return None
            content = data[0]
        try:
            found = StoredArtifact(content)
            if found.key != leaf.key or found.way != tree_path_digest(tree, rows, leaf.steps, leaf.sources):
                raise Damaged("it was compiled for other answers")
            return (*found.made(), found.seconds)
        except MISREADINGS:
            self.drop(leaf, tree)
            return None

    def drop(self, leaf: Leaf, tree: str) -> None:
        """Drop an unusable artifact, and the tree that leads to it."""
        self.store.reject("kernels", leaf.key)
        self.forget_tree(tree)

    def keep(
        self, tree: str, trace: Trace, artifact: Artifact, guards: Guards, key: str, record: Record
    ) -> str | None:
        """Publish an artifact, then its path in the tree. Return why it is not cached, or None."""
        content = sealed_artifact(artifact, guards, key, way_of(tree, trace, guards.paths), record.seconds)
        failure = self.store.write("kernels", key, (content, encode_plain(record.data())))
        if failure is not None:
            return failure
        failure = self.lead(tree, trace, guards.paths, key, content)
        if failure is None:
            self.remember(record)
            if self.tiers is not None:
                self.tiers.offer(self, tree, key)
        return failure

    def lead(self, tree: str, trace: Trace, paths: tuple[Path, ...], key: str, content: bytes | None) -> str | None:
        """Publish the path to an artifact, with its content if that is small. Return why it is not cached, or None."""
        known = self.tree(tree) or Tree()
        known.add(trace, key, paths, content)
        return self.store.write("trees", tree, known.data())

    # --- kernels by name

    def relatives(self, name: str) -> list[tuple[str, dict[str, str]]]:
        """Return the trees of kernels with a name, latest first, each with its toolchain fingerprint."""
        data = self.store.read("names", digest([name]))
        return [] if data is None else [(tree, dict(salt)) for tree, salt in data[1]]

    def remember(self, record: Record) -> None:
        """Record the tree of a kernel under its name."""
        known = [each for each in self.relatives(record.name) if each[0] != record.tree]
        rows = [(record.tree, tuple(record.salt.items())), *((tree, tuple(salt.items())) for tree, salt in known)]
        self.store.write("names", digest([record.name]), (record.name, rows[:RELATIVES]))


def open_library(options: Options, say: Callable[[str], None]) -> Library | None:
    """Return the library that the options select, or None if there is no directory for one."""
    directory = directory_of(options)
    if directory is None:
        missing = "working" if options.offline_cache_file_path else "home"
        say(
            f"compiled kernels are not cached: there is no {missing} directory\n"
            "  help: set a directory with offline_cache_file_path"
        )
        return None
    return Library(Store(directory, options.offline_cache_max_size, say))

