"""Messages between a process and its compile workers: a length of four bytes, and that many bytes of `marshal`, which both
sides have without importing anything. Both are the same interpreter.
"""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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
