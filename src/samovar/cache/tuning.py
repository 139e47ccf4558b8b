"""Auto-tuning results, shared with other processes: one entry per question, with the toolchain fingerprint.

A result is valid for one machine and version: others may choose differently.
"""

from __future__ import annotations

from samovar.cache.salt import salt_parts
from samovar.lens import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.store import Store


def read_choice(store: Store, question: str) -> str | None:
    """Return what was chosen here, or None."""
    data = store.read("names", digest([question]))
    if data is None or len(data[1]) != 1:
        return None
    name, ((chosen, found_under),) = data
    return str(chosen) if name == question and dict(found_under) == salt_parts() else None


def write_choice(store: Store, question: str, chosen: str) -> None:
    """Store a choice."""
    store.write("names", digest([question]), (question, [(chosen, tuple(salt_parts().items()))]))
