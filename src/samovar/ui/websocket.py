"""The server's side of a WebSocket connection (RFC 6455): text from the browser, text and bytes to it."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _BYTES, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
#: Messages of a page are a few hundred bytes.
_LONGEST = 1 << 16


def accepting(key: str) -> str:
    """The answer to the key of a handshake."""
    return base64.b64encode(hashlib.sha1(key.encode("ascii", "replace") + _MAGIC).digest()).decode()


class WebSocket:
    """An open connection. Any thread may send; one receives."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO) -> None:
        self._reading = reading
        self._writing = writing
        self._lock = threading.Lock()

    def receive(self) -> str | None:
        """The next text; None at the end of the connection, and when the browser breaks the rules."""
        while True:
            head = self._exactly(2)
            if head is None:
                return None
            is_last, code, length = head[0] & 0x80, head[0] & 0x0F, head[1] & 0x7F
            if length >= 126:
                extended = self._exactly(2 if length == 126 else 8)
                if extended is None:
                    return None
                length = int.from_bytes(extended, "big")
            if not is_last or not head[1] & 0x80 or length > _LONGEST or head[0] & 0x70:
                return None  # fragments, and what is not masked, come from no browser's page of ours
            content = self._exactly(4 + length)
            if content is None or code == _CLOSE:
                return None
            mask = content[:4] * (length // 4 + 1)
            plain = (int.from_bytes(content[4:], "big") ^ int.from_bytes(mask[:length], "big")).to_bytes(length, "big")
            if code == _PING:
                self._send(_PONG, plain)
            elif code == _TEXT:
                return plain.decode("utf-8", "replace")

    def send(self, message: str | bytes | memoryview) -> None:
        """Send a text or bytes. Raises `OSError` if the connection is closed."""
        if isinstance(message, str):
            self._send(_TEXT, message.encode())
        else:
            self._send(_BYTES, message)

    def _send(self, code: int, content: bytes | memoryview) -> None:
        length = len(content)
        if length < 126:
            head = bytes([0x80 | code, length])
        elif length < 1 << 16:
            head = bytes([0x80 | code, 126]) + length.to_bytes(2, "big")
        else:
            head = bytes([0x80 | code, 127]) + length.to_bytes(8, "big")
        with self._lock:
            try:
                self._writing.write(head)
                self._writing.write(content)
                self._writing.flush()
            except ValueError as error:  # the file is closed
                raise OSError("the connection is closed") from error

    def close(self) -> None:
        """Tell the browser that the connection ends."""
        with contextlib.suppress(OSError):
            self._send(_CLOSE, b"\x03\xe8")

    def _exactly(self, count: int) -> bytes | None:
        try:
            found = self._reading.read(count)
        except (OSError, ValueError):
            return None
        return found if len(found) == count else None
