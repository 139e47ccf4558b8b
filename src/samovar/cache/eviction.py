"""Eviction: by age, by size, and entries of other versions."""

from __future__ import annotations

import os
import shutil
from time import time

from samovar.cache.catalog import kernels
from samovar.cache.entry import MISREADINGS
from samovar.cache.salt import salt, salt_parts
from samovar.lens import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from samovar.cache.kernel_cache import Library
    from samovar.cache.store import Entry


class Pruned:
    """What was removed."""

    __slots__ = ("bytes", "entries")

    def __init__(self) -> None:
        self.entries = 0
        self.bytes = 0

    def add(self, size: int) -> None:
        self.entries += 1
        self.bytes += size


def prune(
    library: Library, *, limit: int | None = None, older_than: float | None = None, other_versions: bool = False
) -> Pruned:
    """Remove entries of other versions and machines, then those unused for some time, then what exceeds a limit."""
    store, pruned = library.store, Pruned()
    store.sweep()
    if other_versions:
        for entry in list(_foreign(library)):
            store.remove(entry.kind, entry.key)
            pruned.add(entry.size)
        for directory in _other_formats(library):
            for size in _sizes(directory):
                pruned.add(size)
            shutil.rmtree(directory, ignore_errors=True)
    if older_than is not None:
        oldest = time() - older_than
        for entry in list(store.entries()):
            if entry.used < oldest:
                store.remove(entry.kind, entry.key)
                pruned.add(entry.size)
    if limit is not None:
        for entry in store.shrink(limit):
            pruned.add(entry.size)
    return pruned


def _foreign(library: Library) -> Iterator[Entry]:
    """Yield the entries that are unrelated to the current toolchain fingerprint. Damaged ones are skipped."""
    store, here = library.store, salt_parts()
    stored = {item.key: item for item in kernels(library)}
    ours = {item.record.tree for item in stored.values() if item.usable}
    for entry in store.entries():
        try:
            data = store.examine(entry.kind, entry.key)
            if entry.kind == "kernels":
                foreign = entry.key in stored and not stored[entry.key].usable
            elif entry.kind == "trees":
                known = {end[0] for _, end in Tree.of(data).leaves()}
                foreign = entry.key not in ours and any(key in stored for key in known)
            elif entry.kind == "code":
                foreign = data[0] != salt()
            else:
                foreign = all(dict(parts) != here for _, parts in data[1])
        except (OSError, *MISREADINGS):
            continue
        if foreign:
            yield entry


def _other_formats(library: Library) -> list[str]:
    """Return the stores of other formats next to this one."""
    store = library.store
    try:
        names = sorted(os.listdir(store.directory))
    except OSError:
        return []
    paths = [os.path.join(store.directory, name) for name in names if name[:1] == "v" and name[1:].isdecimal()]
    return [path for path in paths if path != store.base and not os.path.islink(path) and os.path.isdir(path)]


def _sizes(directory: str) -> Iterator[int]:
    for folder, _, files in os.walk(directory):
        for file in files:
            try:
                yield os.lstat(os.path.join(folder, file)).st_size
            except OSError:
                continue
