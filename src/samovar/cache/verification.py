"""Verifies every entry of a store beyond its checksum: that it can be decoded, that its image loads, that trees lead to the
artifacts of their answers.

Images are loaded but not run. Entries of other versions and machines are verified as far as this one can read them.
"""

from __future__ import annotations

from samovar._native import plain_digest, tree_path_digest
from samovar.artifact import UNIT
from samovar.cache.artifacts import StoredArtifact, unpacked_fills
from samovar.cache.entry import MISREADINGS, Damaged
from samovar.cache.image_cache import image_of
from samovar.cache.kernel_cache import Record, artifact_key, record_of
from samovar.cache.salt import salt, salt_parts
from samovar.cache.store import KINDS
from samovar.lens import Tree, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.cache.kernel_cache import Library

    #: Prepares an image to run, or raises `ValueError` or `ImportError`.
    Load = Callable[[bytes], object]


class StoredKernel:
    """What the tree that leads to a stored kernel must agree with."""

    __slots__ = ("content", "record", "way")

    def __init__(self, record: Record, way: bytes | None, content: str) -> None:
        self.record = record
        #: The digest of its path through the tree; None for another toolchain fingerprint.
        self.way = way
        #: A digest of the content that a tree may embed.
        self.content = content


def checked_kernel(key: str, data: Any, load: Load) -> StoredKernel:
    """Return a valid stored kernel. For another toolchain fingerprint, only its record is read."""
    record = record_of(data)
    if record.salt != salt_parts():
        return StoredKernel(record, None, plain_digest(data[0]))
    try:
        found = StoredArtifact(data[0])
        artifact, _ = found.made()
        unpacked_fills(found.fills)
    except MISREADINGS as error:
        raise Damaged("its artifact cannot be decoded") from error
    if found.key != key:
        raise Damaged(f"its artifact belongs to the key {found.key}")
    check_image(artifact.image, load)
    return StoredKernel(record, found.way, plain_digest(data[0]))


def check_image(image: Any, load: Load) -> None:
    """Verify that an image loads. A compilation unit loads only together with others."""
    if isinstance(image, bytes) and image.startswith(UNIT):
        return
    try:
        load(image)
    except (ValueError, TypeError, AttributeError, ImportError) as error:
        raise Damaged(f"its image does not load: {error}") from error


def checked_tree(key: str, data: Any, kernel: Callable[[str], StoredKernel | None]) -> tuple[Tree, list[str]]:
    """Return a decision tree, and the keys of its dangling leaves. The artifact of a leaf must match its answers."""
    missing = []
    try:
        tree = Tree.of(data)
        tree.check()
        for steps, (leaf, sources, _, content) in tree.leaves():
            way = tree_path_digest(key, tree.paths.rows, steps, sources)
            found = kernel(leaf)
            if found is None:
                missing.append(leaf)
            elif found.record.tree != key:
                raise Damaged(f"it leads to {leaf}, which belongs to another tree")
            elif found.way is not None and (found.way != way or artifact_key(key, tree.trace(steps)) != leaf):
                raise Damaged(f"it leads to {leaf}, which was compiled for other answers")
            elif content is not None and plain_digest(content) != found.content:
                raise Damaged(f"its copy of {leaf} differs from that kernel")
    except Damaged:
        raise
    except MISREADINGS as error:
        raise Damaged("its questions cannot be decoded") from error
    return tree, missing


def check_code(key: str, data: Any, load: Load) -> bytes:
    """Verify an image of the code cache, and return it."""
    image = image_of(key, data)
    if data[0] == salt():
        check_image(image, load)
    return image


def check_name(key: str, data: Any) -> None:
    """Verify the trees that are remembered under a name."""
    if digest([data[0]]) != key:
        raise Damaged(f"it belongs to the name {data[0]}")


class Finding:
    """A problem with an entry. Stale entries were valid once: they cost a compile and are not damage."""

    __slots__ = ("key", "kind", "problem", "stale")

    def __init__(self, kind: str, key: str, problem: str, *, stale: bool = False) -> None:
        self.kind = kind
        self.key = key
        self.problem = problem
        self.stale = stale


class Verification:
    """One pass over a store. `checked` counts the entries of each kind."""

    def __init__(self, library: Library, load: Load) -> None:
        self.library = library
        self.checked = dict.fromkeys(KINDS, 0)
        self.findings: list[Finding] = []
        self._load = load
        self._kernels: dict[str, StoredKernel | None] = {}
        self._stale_trees: dict[str, tuple[Tree, list[str]]] = {}
        # Kernels come before the trees that lead to them.
        for entry in sorted(library.store.entries(), key=lambda entry: (entry.kind != "kernels", entry.kind, entry.key)):
            self._check(entry.kind, entry.key)

    @property
    def damaged(self) -> list[Finding]:
        """The findings that are damage."""
        return [finding for finding in self.findings if not finding.stale]

    def repair(self) -> list[Finding]:
        """Remove damaged entries, and dangling leaves from trees. Return what could not be removed."""
        store = self.library.store
        store.sweep()
        left = []
        for finding in self.damaged:
            store.remove(finding.kind, finding.key)
            if store.identity(finding.kind, finding.key) is not None:
                left.append(finding)
        for key, (tree, missing) in self._stale_trees.items():
            kept = Tree()
            kept.adopt(tree, lambda leaf, missing=missing: leaf not in missing)  # type: ignore[misc]
            if kept.root is None:
                store.remove("trees", key)
            else:
                store.write("trees", key, kept.data())
        return left

    def _check(self, kind: str, key: str) -> None:
        try:
            data = self.library.store.examine(kind, key)
        except FileNotFoundError:
            return  # removed meanwhile
        except OSError as error:
            self.findings.append(Finding(kind, key, f"it cannot be read: {error.strerror or error}"))
            return
        except Damaged as error:
            self.findings.append(Finding(kind, key, str(error)))
            return
        finally:
            self.checked[kind] += 1
        try:
            self._check_data(kind, key, data)
        except Damaged as error:
            self.findings.append(Finding(kind, key, str(error)))

    def _check_data(self, kind: str, key: str, data: Any) -> None:
        if kind == "kernels":
            self._kernels[key] = None
            self._kernels[key] = checked_kernel(key, data, self._load)
        elif kind == "trees":
            tree, missing = checked_tree(key, data, self._kernel)
            if missing:
                self._stale_trees[key] = tree, missing
                leaves = "leaf leads" if len(missing) == 1 else "leaves lead"
                self.findings.append(
                    Finding(kind, key, f"{len(missing)} {leaves} to missing kernels", stale=True)
                )
        elif kind == "code":
            check_code(key, data, self._load)
        else:
            check_name(key, data)

    def _kernel(self, key: str) -> StoredKernel | None:
        """Return a valid kernel; one that was stored since the pass began is verified now."""
        if key not in self._kernels:
            try:
                self._kernels[key] = checked_kernel(key, self.library.store.examine("kernels", key), self._load)
            except (OSError, Damaged):
                self._kernels[key] = None
        return self._kernels[key]
