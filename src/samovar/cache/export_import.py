"""Export and import: copies kernels from one store to another, through a bundle.

Only kernels for the current toolchain fingerprint are exported, and only such a bundle is imported: others would never be
found. An import publishes artifacts before the trees that lead to them, so it may be interrupted at any moment.
"""

from __future__ import annotations

from samovar.cache.artifacts import StoredArtifact
from samovar.cache.bundle import Bundle, BundleError, write_bundle
from samovar.cache.catalog import kernels
from samovar.cache.entry import Damaged, wrapped
from samovar.cache.explain import salt_differences
from samovar.cache.kernel_cache import record_of
from samovar.cache.salt import salt, salt_parts
from samovar.cache.verification import StoredKernel, check_code, checked_kernel, checked_tree
from samovar.lens import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from samovar.cache.kernel_cache import Library
    from samovar.cache.verification import Load


# --- export


class Exported:
    """The content of a new bundle: the number of artifacts, and their kernels."""

    __slots__ = ("artifacts", "kernels", "size")

    def __init__(self, artifacts: int, kernels: list[str], size: int) -> None:
        self.artifacts = artifacts
        self.kernels = kernels
        self.size = size


def export_bundle(
    library: Library,
    path: str,
    load: Load,
    names: Sequence[str] = (),
    done: Callable[[int], object] = lambda total: None,
) -> Exported:
    """Write the kernels with these names, or all, into a bundle: artifacts, their trees, and their images.

    Damaged entries are left out: they would prevent the import of the bundle. `done` is called for each kernel, with the
    total number.
    """
    stored: dict[str, StoredKernel] = {}
    found = kernels(library, names)
    for item in found:
        done(len(found))
        if item.usable:
            try:
                stored[item.key] = checked_kernel(item.key, library.store.examine("kernels", item.key), load)
            except (OSError, Damaged):
                continue
    if not stored:
        wanted = f" called {' or '.join(names)}" if names else ""
        raise BundleError(f"{library.store.directory} has no kernel{wanted} that this installation can use")
    called = sorted({kernel.record.name for kernel in stored.values()})
    size = write_bundle(path, salt_parts(), called, _contents(library, stored, load, everything=not names))
    return Exported(len(stored), called, size)


def _contents(
    library: Library, stored: dict[str, StoredKernel], load: Load, *, everything: bool
) -> Iterator[bytes]:
    """Yield the entries that belong to some kernels. Unreadable ones are omitted."""
    images = set()
    for key in stored:
        for data in _examined(library, "kernels", key):
            images.add(StoredArtifact(data[0]).image)
            yield wrapped("kernels", key, data)
    for key in sorted({kernel.record.tree for kernel in stored.values()}):
        for data in _examined(library, "trees", key):
            try:
                known, _ = checked_tree(key, data, stored.get)
            except Damaged:
                continue
            tree = Tree()
            tree.adopt(known, stored.__contains__)
            if tree.root is not None:
                yield wrapped("trees", key, tree.data())
    for entry in library.store.entries():
        if entry.kind == "code":
            for data in _examined(library, "code", entry.key):
                try:
                    image = check_code(entry.key, data, load)
                except Damaged:
                    continue
                if data[0] == salt() and (everything or image in images):
                    yield wrapped("code", entry.key, data)


def _examined(library: Library, kind: str, key: str) -> Iterator[Any]:
    """Yield the data of an entry, unless it was removed meanwhile or is damaged."""
    try:
        yield library.store.examine(kind, key)
    except (OSError, Damaged):
        return


# --- import


class Imported:
    """What an import added, and what was already there."""

    __slots__ = ("known", "new")

    def __init__(self) -> None:
        self.new = 0
        self.known = 0


def incompatibility(bundle: Bundle) -> str | None:
    """Return why a bundle cannot be used here, or None."""
    different = salt_differences(bundle.salt, salt_parts())
    if not different:
        return None
    lines = [f"{bundle.path} was exported for another machine or version (there → here):"]
    lines += [f"  {words}: {change}" for words, change in different]
    lines.append("  help: export it from a machine and version that match")
    return "\n".join(lines)


def import_bundle(library: Library, bundle: Bundle, load: Load) -> Imported:
    """Add the content of a bundle to a store. All of it is verified before anything is written."""
    reason = incompatibility(bundle)
    if reason is not None:
        raise BundleError(reason)
    if bundle.size > library.store.limit:
        raise BundleError(
            f"{bundle.path} holds {bundle.size} bytes, more than the store's limit of {library.store.limit}\n"
            "  help: raise offline_cache_max_size (SAMOVAR_OFFLINE_CACHE_MAX_SIZE)"
        )
    _check(bundle, load)
    imported = Imported()
    # Artifacts and images first, then the trees that lead to them.
    for kind, key, data in bundle.entries():
        if kind in ("code", "kernels"):
            known = library.store.read(kind, key) is not None
            if kind == "kernels":
                imported.known += known
                imported.new += not known
            if not known:
                _write(library, kind, key, data)
    for kind, key, data in bundle.entries():
        if kind == "trees":
            _merge(library, key, Tree.of(data))
    for kind, _, data in bundle.entries():
        if kind == "kernels":
            library.remember(record_of(data))
    return imported


def _merge(library: Library, key: str, brought: Tree) -> None:
    """Add the leaves that the store's tree lacks. The key of a leaf covers all of its answers."""
    tree = library.tree(key) or Tree()
    new = {end[0] for _, end in brought.leaves()} - {end[0] for _, end in tree.leaves()}
    if new:
        tree.adopt(brought, new.__contains__)
        _write(library, "trees", key, tree.data())


def _check(bundle: Bundle, load: Load) -> None:
    found = {}
    try:
        for kind, key, data in bundle.entries():
            if kind == "kernels":
                found[key] = checked_kernel(key, data, load)
                if found[key].record.salt != bundle.salt:
                    raise Damaged(f"kernel {key} has another toolchain fingerprint than the bundle")
            elif kind == "code":
                check_code(key, data, load)
            elif kind != "trees":
                raise Damaged(f"it has an entry of the unexpected kind {kind}")
        for kind, key, data in bundle.entries():
            if kind == "trees":
                _, missing = checked_tree(key, data, found.get)
                if missing:
                    raise Damaged(f"a tree leads to {missing[0]}, which the bundle lacks")
    except Damaged as error:
        raise BundleError(f"{bundle.path} is damaged: {error}") from error


def _write(library: Library, kind: str, key: str, data: Any) -> None:
    failure = library.store.write(kind, key, data)
    if failure is not None:
        raise BundleError(
            f"the import stopped: {failure}\n  help: imported entries are complete; free disk space and import again"
        )
