"""How the files of a tier are read and written: a folder, an HTTP server, S3 (`s3_transport.py`), or whatever fsspec opens
(`fsspec_transport.py`).

Paths are relative to the address, with slashes. A missing file reads as None; everything else that fails raises. A file that
is published is never written again, except the index that an HTTP server needs because it cannot list a folder.
"""

from __future__ import annotations

import os
from typing import Protocol

from samovar.tiers.addresses import without_secrets
from samovar.tiers.fsspec_transport import FsspecTransport
from samovar.tiers.web_reader import WebReader

#: In each folder of manifests, for servers that cannot list one.
INDEX = "index"


class Transport(Protocol):
    """A place for files."""

    def read(self, path: str) -> bytes | None:
        """The content of a file, or None if there is none."""

    def names(self, folder: str) -> list[str]:
        """The names of the files and folders in a folder."""

    def write(self, path: str, content: bytes) -> None:
        """Publish a file: readers see all of it or nothing."""

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""


class FolderTransport:
    """A folder, which several machines may share."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes | None:
        from samovar._native import read_entry

        try:
            return read_entry(f"{self._folder}/{path}")[0]
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        try:
            return [name for name in os.listdir(f"{self._folder}/{folder}") if not name.endswith(".tmp")]
        except FileNotFoundError:
            return []

    def write(self, path: str, content: bytes) -> None:
        whole = f"{self._folder}/{path}"
        temporary = f"{whole}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(content)
            os.replace(temporary, whole)
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)
            raise

    def remove(self, path: str) -> None:
        try:
            os.unlink(f"{self._folder}/{path}")
        except FileNotFoundError:
            return


class HttpTransport:
    """A web server, read only. Its folders are listed by the index files that publishers write."""

    def __init__(self, address: str, seconds: float) -> None:
        from urllib.parse import quote, unquote, urlsplit

        parts = urlsplit(address)
        self._address = without_secrets(address)
        self._base = quote(parts.path.rstrip("/"))
        self._headers = {}
        if parts.username is not None:
            from base64 import b64encode

            who = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(who.encode()).decode()}"
        self._web = WebReader(parts.scheme, parts.netloc.rpartition("@")[2], seconds)

    def read(self, path: str) -> bytes | None:
        from urllib.parse import quote

        return self._web.get(f"{self._base}/{quote(path)}", self._headers)

    def names(self, folder: str) -> list[str]:
        found = self.read(f"{folder}/{INDEX}")
        return [] if found is None else found[: 1 << 20].decode("ascii", "replace").split()

    def write(self, path: str, content: bytes) -> None:
        raise OSError(f"{self._address} is read only: publish to the storage behind it")

    def remove(self, path: str) -> None:
        raise OSError(f"{self._address} is read only")


def transport_to(address: str, seconds: float) -> Transport:
    """The transport to an address; `seconds` limits each request."""
    protocol, separator, rest = address.partition("://")
    if not separator or protocol == "file":
        folder = rest if separator else address
        return FolderTransport(os.path.abspath(os.path.expanduser(folder)))
    if protocol in ("http", "https"):
        return HttpTransport(address, seconds)
    if protocol in ("s3", "s3a"):
        from samovar.tiers.s3_transport import S3Transport

        return S3Transport(address, seconds)
    return FsspecTransport(address, seconds)
