"""What a process counts about a tier, and the sums over all processes: a line of each in the local directory."""

from __future__ import annotations

import os

from samovar._native import read_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache import Store

_NUMBERS = ("hits", "misses", "requests", "received", "sent", "rejected")
_FOLD_BYTES = 1 << 15


class TierFigures:
    """Entries found and missed, requests, bytes, seconds of requests, entries that were not used, and seconds that launches
    waited. `reasons` counts the entries by why they were not used, in this process only."""

    __slots__ = ("hits", "misses", "reasons", "received", "rejected", "requests", "seconds", "sent", "waited")

    def __init__(self) -> None:
        self.hits = self.misses = self.requests = self.received = self.sent = self.rejected = 0
        self.seconds = self.waited = 0.0
        self.reasons: dict[str, int] = {}

    def reject(self, reason: str) -> None:
        """Count an entry that is not used."""
        self.rejected += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def line(self, address: str) -> bytes:
        numbers = " ".join(str(getattr(self, name)) for name in _NUMBERS)
        return f"{numbers} {self.seconds:.6f} {self.waited:.6f} {address}\n".encode()

    def add_line(self, words: list[bytes]) -> None:
        """Add a line of a file, without its address."""
        *numbers, seconds, waited = words
        for name, number in zip(_NUMBERS, map(int, numbers), strict=True):
            setattr(self, name, getattr(self, name) + number)
        self.seconds += float(seconds)
        self.waited += float(waited)


def _path(store: Store) -> str:
    return os.path.join(store.base, "tiers")


def read_figures(store: Store) -> dict[str, TierFigures]:
    """Return the sums over all processes that have ended, by address."""
    found: dict[str, TierFigures] = {}
    try:
        lines = read_entry(_path(store))[0].splitlines()
    except OSError:
        return found
    for line in lines:
        words = line.split(b" ", 8)
        try:
            found.setdefault(words[-1].decode(), TierFigures()).add_line(words[:-1])
        except ValueError:  # malformed
            continue
    return found


def write_figures(store: Store, address: str, figures: TierFigures) -> None:
    """Add the figures of this process. If that fails, they are lost."""
    if not store.is_trusted() or not os.path.isdir(store.base):
        return
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(_path(store), flags, 0o600)
        try:
            os.write(descriptor, figures.line(address))
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > _FOLD_BYTES:
            from samovar.fingerprint import publish_file

            publish_file(_path(store), b"".join(each.line(name) for name, each in read_figures(store).items()), ())
    except OSError:
        return
