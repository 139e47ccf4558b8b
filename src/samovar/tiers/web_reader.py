"""GET requests to one server over one connection, with the standard library: importing a larger client would cost more than
everything else that a cold worker does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPConnection

#: The largest file that is read.
MOST_BYTES = 256 << 20


class TooLarge(OSError):
    """A file that exceeds the size limit."""


class Refused(OSError):
    """The server answers, but not with the file."""


class WebReader:
    """A server that answers GET requests. `seconds` limits each request."""

    def __init__(self, scheme: str, host: str, seconds: float) -> None:
        self._secure = scheme == "https"
        self._host = host
        self._seconds = seconds
        self._connection: HTTPConnection | None = None

    def get(self, target: str, headers: Mapping[str, str] | None = None) -> bytes | None:
        """The content at a target (an encoded path and query), or None if there is none."""
        answer = None
        if self._connection is not None:
            try:
                answer = self._answer(target, headers or {})
            except OSError:  # the server closed the connection
                self._connection.close()
                self._connection = None
        if answer is None:
            from http.client import HTTPConnection, HTTPSConnection

            self._connection = (HTTPSConnection if self._secure else HTTPConnection)(self._host, timeout=self._seconds)
            answer = self._answer(target, headers or {})
        status, reason, content = answer
        if status in (404, 410):
            return None
        if status != 200:
            raise Refused(f"{status} {reason}")
        if len(content) > MOST_BYTES:
            self._connection = None  # the rest of the answer is not read
            raise TooLarge(f"{target.partition('?')[0]} has more than {MOST_BYTES >> 20} MiB")
        return content

    def _answer(self, target: str, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        from http.client import HTTPException

        assert self._connection is not None
        try:
            self._connection.request("GET", target, headers=dict(headers))
            _acknowledge_at_once(self._connection)
            response = self._connection.getresponse()
            return response.status, response.reason, response.read(MOST_BYTES + 1)
        except HTTPException as error:
            raise ConnectionError(f"malformed answer: {error or type(error).__name__}") from error


def _acknowledge_at_once(connection: HTTPConnection) -> None:
    """A simple server sends headers and content in two parts, and the second only when the first is acknowledged (Nagle's
    algorithm). Linux delays that by 40 ms, unless it is told otherwise, for each answer anew."""
    import socket

    if hasattr(socket, "TCP_QUICKACK"):
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
