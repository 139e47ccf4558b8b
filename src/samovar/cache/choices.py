"""What was found to be fastest, kept for other processes: one entry for each question, with the salt that it belongs to.

An answer belongs to the machine and the version: another one may find something else.
"""

from __future__ import annotations

from samovar.cache.salt import salt_parts
from samovar.lens import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.store import Store


def read_choice(store: Store, question: str) -> str | None:
    """What was chosen here; None if nothing was."""
    data = store.read("names", digest([question]))
    if data is None or len(data[1]) != 1:
        return None
    name, ((chosen, found_under),) = data
    return str(chosen) if name == question and dict(found_under) == salt_parts() else None


def write_choice(store: Store, question: str, chosen: str) -> None:
    """Keep what was chosen."""
    store.write("names", digest([question]), (question, [(chosen, tuple(salt_parts().items()))]))
