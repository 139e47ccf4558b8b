"""The cache as the runtime uses it: find the artifact of a kernel, keep one that was compiled.

A key never says where something is: the tree key is the salt and the code of the kernel; the key of an artifact adds every
answer that the compile was given.
"""

from __future__ import annotations

from samovar._native import decode_plain, encode_plain, has_form, way_digest
from samovar.cache.artifacts import StoredArtifact, sealed_artifact
from samovar.cache.entry import MISREADINGS, Damaged, opened
from samovar.cache.salt import salt
from samovar.cache.store import Store, directory_of
from samovar.lens import PathTable, Tree, digest, essence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from samovar.artifact import Artifact, Guards
    from samovar.language import Options
    from samovar.lens import Leaf, Path, Trace

#: How many trees of a kernel are remembered by its name, for who asks why it was compiled.
RELATIVES = 8


def artifact_key(tree: str, trace: Trace) -> str:
    """The key of what was compiled for the answers of a trace."""
    table = PathTable([])
    steps = tuple(
        (table.number(asked.path), asked.question, table.encoded(essence(asked.question, asked.answer))) for asked in trace
    )
    return digest([tree, "kernel", tuple(table.rows), steps])


def way_of(tree: str, trace: Trace, paths: tuple[Path, ...]) -> bytes:
    """The digest of a way through a tree, and of the paths that the guards at its end speak of."""
    table = PathTable([])
    steps = [(table.number(asked.path), asked.question, table.encoded(asked.answer)) for asked in trace]
    return way_digest(tree, table.rows, steps, tuple(map(table.number, paths)))


class Record:
    """What is known of a stored kernel beside its code: for lists and explanations."""

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
    """The record in the data of a stored kernel."""
    try:
        record = decode_plain(data[1])
    except MISREADINGS as error:
        raise Damaged("its record cannot be read") from error
    if not has_form(record, "(SSJSFFS{(SSS)}{(SS)})"):
        raise Damaged("its record cannot be read")
    return Record.of(record)


class StoredTree:
    """A decision tree with the file that it comes from. Folded, it is the file alone, which takes far less room.

    `identity` changes when the file does.
    """

    __slots__ = ("_content", "_tree", "identity")

    def __init__(self, tree: Tree, content: bytes, identity: tuple[int, ...]) -> None:
        self._tree: Tree | None = tree
        self._content = content
        self.identity = identity

    def fold(self) -> None:
        """Forget the tree until it is needed again."""
        self._tree = None

    def unfolded(self) -> Tree:
        """The tree. Who changes it keeps it, and forgets the file."""
        if self._tree is None:
            self._tree = Tree.of(opened(self._content)[2])
        return self._tree

    def trace(self, leaf: str, reread: Mapping[int, Any]) -> Trace:
        """What was asked on the way to a leaf, with the texts that were read again as they are now."""
        tree = Tree.of(opened(self._content)[2])
        steps = next(steps for steps, end in tree.leaves() if end[0] == leaf)
        return tree.trace(steps, reread)


class Library:
    """The store that the options name, as kernels."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._salt = salt()

    def tree_key(self, function: tuple[Any, ...]) -> str:
        """The key of a kernel's decision tree, from the answer to the question `function`."""
        return digest([self._salt, "tree", function])

    def tree(self, key: str) -> Tree | None:
        """The decision tree of a kernel, for who adds to it."""
        stored = self.stored_tree(key)
        tree = None if stored is None else stored.unfolded()
        return tree if tree is None or self.is_whole(tree, key) else None

    def is_whole(self, tree: Tree, key: str) -> bool:
        """Is it a tree as this version writes them? Two versions can be given one identifier; such a tree is dropped."""
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
        """The decision tree of a kernel as it is in the store."""
        found = self.store.read_file("trees", key)
        if found is None:
            return None
        data, content, identity = found
        return StoredTree(Tree.of(data), content, identity)

    def latest_trace(self, key: str) -> Trace | None:
        """What was asked for the kernel that was added last to a tree."""
        tree = self.tree(key)
        leaves = [] if tree is None else list(tree.leaves())
        return tree.trace(leaves[-1][0]) if tree is not None and leaves else None

    def artifact(self, leaf: Leaf, tree: str, rows: list[Any]) -> tuple[Artifact, Guards, float] | None:
        """The artifact at a leaf of a tree with these rows, its guards, and the seconds that it took to compile.

        It knows the way that leads to it: where that is another one, something else was written into the tree.
        """
        content = leaf.content
        if content is None:
            data = self.store.read("kernels", leaf.key)
            if data is None:
                return None
            content = data[0]
        try:
            found = StoredArtifact(content)
            if found.key != leaf.key or found.way != way_digest(tree, rows, leaf.steps, leaf.sources):
                raise Damaged("it was compiled for other answers")
            return (*found.made(), found.seconds)
        except MISREADINGS:
            self.drop(leaf, tree)
            return None

    def drop(self, leaf: Leaf, tree: str) -> None:
        """Drop an artifact that is of no use, and the tree that leads to it."""
        self.store.refuse("kernels", leaf.key)
        self.forget_tree(tree)

    def keep(
        self, tree: str, trace: Trace, artifact: Artifact, guards: Guards, key: str, record: Record
    ) -> str | None:
        """Publish an artifact, then the way to it. None, or why it is not kept."""
        content = sealed_artifact(artifact, guards, key, way_of(tree, trace, guards.paths), record.seconds)
        failure = self.store.write("kernels", key, (content, encode_plain(record.data())))
        if failure is not None:
            return failure
        failure = self.lead(tree, trace, guards.paths, key, content)
        if failure is None:
            self.remember(record)
        return failure

    def lead(self, tree: str, trace: Trace, paths: tuple[Path, ...], key: str, content: bytes | None) -> str | None:
        """Publish the way to an artifact, with its content if that is small. None, or why it is not kept."""
        known = self.tree(tree) or Tree()
        known.add(trace, key, paths, content)
        return self.store.write("trees", tree, known.data())

    # --- kernels by name

    def relatives(self, name: str) -> list[tuple[str, dict[str, str]]]:
        """The trees of kernels with a name, latest first, each with its salt."""
        data = self.store.read("names", digest([name]))
        return [] if data is None else [(tree, dict(salt)) for tree, salt in data[1]]

    def remember(self, record: Record) -> None:
        """Note the tree of a kernel under its name."""
        known = [each for each in self.relatives(record.name) if each[0] != record.tree]
        rows = [(record.tree, tuple(record.salt.items())), *((tree, tuple(salt.items())) for tree, salt in known)]
        self.store.write("names", digest([record.name]), (record.name, rows[:RELATIVES]))


def open_library(options: Options, say: Callable[[str], None]) -> Library | None:
    """The library that options name; None if there is no place for one."""
    directory = directory_of(options)
    if directory is None:
        missing = "working" if options.offline_cache_file_path else "home"
        say(
            f"compiled kernels are not kept: there is no {missing} directory\n"
            "  help: name a directory with offline_cache_file_path"
        )
        return None
    return Library(Store(directory, options.offline_cache_max_size, say))

