"""Messages between a process and its compile workers: a four-byte length, and that many bytes of `marshal`, which both sides
have without imports. Both are the same interpreter, and must be the same version of the package.
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

#: What a worker sends before its first message: another program would not know it.
GREETING = b"samovar compile worker\n"
_LENGTH = 4


def packed(message: Any) -> bytes:
    """A serialized message."""
    content = marshal.dumps(message)
    return len(content).to_bytes(_LENGTH, "little") + content


def received(read: Callable[[int], bytes]) -> Any:
    """The next message. `read` returns at most so many bytes, and none at the end, which raises EOFError."""
    length = int.from_bytes(exactly(read, _LENGTH), "little")
    return marshal.loads(exactly(read, length))


def exactly(read: Callable[[int], bytes], count: int) -> bytes:
    """Read exactly so many bytes."""
    parts = []
    while count:
        part = read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


#: The files of the package that a worker runs with any backend, as parts of paths.
_FILES = (("compiler", "channel.py"), ("compiler", "worker.py"))


def package_directory() -> str:
    """The directory of the package."""
    return os.path.dirname(os.path.abspath(samovar.__file__))


def state_of_files(backend: Backend) -> tuple[tuple[int, int], ...]:
    """A key of the files that a worker runs: it may start long after this process has read them."""
    states = [os.stat(os.path.join(package_directory(), *parts)) for parts in (*_FILES, *backend.files)]
    return tuple((state.st_size, state.st_mtime_ns) for state in states)
