"""The kernels in a store. Listing is read-only: no entry is dropped or marked as used."""

from __future__ import annotations

from fnmatch import fnmatchcase

from samovar.cache.entry import Damaged
from samovar.cache.kernel_cache import record_of
from samovar.cache.salt import salt_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.cache.kernel_cache import Library, Record


class Item:
    """A stored kernel. `usable` says whether this installation on this machine can find it."""

    __slots__ = ("key", "record", "size", "usable", "used")

    def __init__(self, key: str, size: int, used: float, record: Record, usable: bool) -> None:
        self.key = key
        self.size = size
        self.used = used
        self.record = record
        self.usable = usable


def kernels(library: Library, names: Sequence[str] = ()) -> list[Item]:
    """Return every readable kernel with one of the names, by name and in the order of compilation."""
    found, here = [], salt_parts()
    for entry in library.store.entries():
        if entry.kind != "kernels":
            continue
        try:
            record = record_of(library.store.examine(entry.kind, entry.key))
        except (OSError, Damaged):
            continue
        if not names or any(is_called(record.name, name) for name in names):
            found.append(Item(entry.key, entry.size, entry.used, record, record.salt == here))
    return sorted(found, key=lambda item: (item.record.name, item.record.compiled, item.key))


def is_called(name: str, pattern: str) -> bool:
    """Whether the pattern is a kernel's full name, its last dotted part, or a shell pattern for either."""
    return name == pattern or name.endswith(f".{pattern}") or fnmatchcase(name, pattern) or fnmatchcase(name, f"*.{pattern}")
