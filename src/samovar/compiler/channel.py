"""Messages between a process and its compile workers: a length of four bytes, and that many bytes of `marshal`, which both
sides have without importing anything. Both are the same interpreter, and have to be the same package.
"""

from __future__ import annotations

import marshal
import os

import samovar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.backends import Backend

#: What a worker sends before its first message: whatever else has been started does not know it.
GREETING = b"samovar compile worker\n"
_LENGTH = 4


def packed(message: Any) -> bytes:
    """A message as it travels."""
    content = marshal.dumps(message)
    return len(content).to_bytes(_LENGTH, "little") + content


def received(read: Callable[[int], bytes]) -> Any:
    """The next message. `read` gives at most so many bytes, and none at the end, which is an EOFError here."""
    length = int.from_bytes(exactly(read, _LENGTH), "little")
    return marshal.loads(exactly(read, length))


def exactly(read: Callable[[int], bytes], count: int) -> bytes:
    """So many bytes."""
    parts = []
    while count:
        part = read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


#: What a worker runs of ours, whatever the backend, as parts of paths.
_FILES = (("compiler", "channel.py"), ("compiler", "worker.py"))


def package_directory() -> str:
    """Where the package is."""
    return os.path.dirname(os.path.abspath(samovar.__file__))


def state_of_files(backend: Backend) -> tuple[tuple[int, int], ...]:
    """What tells the files that a worker runs from others: it may be started long after they were read here."""
    states = [os.stat(os.path.join(package_directory(), *parts)) for parts in (*_FILES, *backend.files)]
    return tuple((state.st_size, state.st_mtime_ns) for state in states)
