"""Cache hit statistics over all processes: each appends a line when it ends.

A line is "loads compiles seconds-saved". A long file is folded into one line; losing a line in a race between two processes
costs only accuracy.
"""

from __future__ import annotations

import os

from samovar._native import read_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.store import Store

_FOLD_BYTES = 1 << 14


class Statistics:
    """Loads from the store, compiles, and the seconds that the loads have saved."""

    __slots__ = ("compiles", "loads", "saved")

    def __init__(self, loads: int = 0, compiles: int = 0, saved: float = 0.0) -> None:
        self.loads = loads
        self.compiles = compiles
        self.saved = saved

    def line(self) -> bytes:
        return b"%d %d %.3f\n" % (self.loads, self.compiles, self.saved)

    def add_line(self, line: bytes) -> None:
        """Add a process's line; malformed ones are ignored."""
        try:
            loads, compiles, saved = line.split()
            self.loads += int(loads)
            self.compiles += int(compiles)
            self.saved += float(saved)
        except ValueError:
            return


def _path(store: Store) -> str:
    return os.path.join(store.base, "statistics")


def read_statistics(store: Store) -> Statistics:
    """Return the sum over all processes that have ended."""
    total = Statistics()
    try:
        for line in read_entry(_path(store))[0].splitlines():
            total.add_line(line)
    except OSError:
        pass
    return total


def write_statistics(store: Store, process: Statistics) -> None:
    """Add the figures of a process. If that fails, they are lost."""
    path = _path(store)
    if not store.is_trusted():
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, process.line())
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > _FOLD_BYTES:
            from samovar.fingerprint import publish_file

            publish_file(path, read_statistics(store).line(), ())
    except OSError:
        return
