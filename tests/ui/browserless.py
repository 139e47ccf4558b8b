"""A page without a browser: the requests and WebSocket messages that it would send."""

import json
import os
import socket
import struct
from urllib.parse import urlsplit


class PageClient:
    """A connection to the WebSocket of a window's page."""

    def __init__(self, address):
        self.socket = connected(address)
        head = request(address, "socket", Upgrade="websocket", Origin=origin_of(address), **{"Sec-WebSocket-Key": "x" * 24})
        self.socket.sendall(head)
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def say(self, **message):
        content, mask = json.dumps(message).encode(), os.urandom(4)
        length = bytes([0x80 | len(content)]) if len(content) < 126 else b"\xfe" + struct.pack(">H", len(content))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))
        self.socket.sendall(b"\x81" + length + mask + masked)

    def hear(self):
        """The next message: text, bytes, or None at the end."""
        head = self.file.read(2)
        if len(head) < 2 or head[0] & 15 == 8:
            return None
        length = head[1] & 127
        if length >= 126:
            length = int.from_bytes(self.file.read(2 if length == 126 else 8), "big")
        content = self.file.read(length)
        return content.decode() if head[0] & 15 == 1 else content

    def frame(self):
        """The next frame: what is said about it, and its pixels, row by row from the top."""
        about = json.loads(self.hear())
        pixels = self.hear()
        self.say(kind="shown")
        return about, pixels

    def close(self):
        self.file.close()
        self.socket.close()


def origin_of(address):
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def connected(address):
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=20)


def request(address, path="", host=None, **headers):
    parts = urlsplit(address)
    lines = [f"GET {parts.path}{path} HTTP/1.1", f"Host: {parts.netloc if host is None else host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(address, path="", host=None, **headers):
    """The status, the headers and the text of an answer."""
    with connected(address) as connection:
        connection.sendall(request(address, path, host, Connection="close", **headers))
        with connection.makefile("rb") as file:
            content = file.read()
    head, _, body = content.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in rest), body.decode(errors="replace")
