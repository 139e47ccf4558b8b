"""A bundle: entries of a store in one file, for another machine.

    magic | length of the header | header (JSON) | entries, each after its length | a length of zero | checksum of all before

The header says under which salt the entries were made, in a form that every version can read and explain. Each entry is the
content of a file of the store, with its own checksum. Nothing but the header is decoded before the user agrees to it.
"""

from __future__ import annotations

import json
import os
import stat
from _blake2 import blake2b

from samovar.cache.entry import Damaged, opened
from samovar.output_file import write_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

MAGIC = b"samovar bundle 1\n"
_LENGTH = 8
_CHECKSUM = 32
_PIECE = 1 << 20


class BundleError(ValueError):
    """A file that is no bundle, is damaged, or cannot be used here."""


def write_bundle(path: str, salt: dict[str, str], names: Iterable[str], contents: Iterable[bytes]) -> int:
    """Write entries into a file, which appears when it is complete. Gives its size in bytes."""
    return write_pieces(path, _summed(_pieces(salt, names, contents)))


def _pieces(salt: dict[str, str], names: Iterable[str], contents: Iterable[bytes]) -> Iterator[bytes]:
    header = json.dumps({"salt": salt, "kernels": list(names)}).encode()
    yield from (MAGIC, _length(header), header)
    for content in contents:
        yield _length(content)
        yield content
    yield _length(b"")


def _summed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces, and the checksum of all of them."""
    checksum = blake2b(digest_size=_CHECKSUM)
    for piece in pieces:
        checksum.update(piece)
        yield piece
    yield checksum.digest()


def _length(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH, "little")


class Bundle:
    """A bundle whose checksum is right. `salt` is what its entries were made under, `names` the kernels in it.

    The file stays open, so that what is read is what was verified, whatever its name comes to mean.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        # What is not a regular file (a pipe) must not make anybody wait.
        self._file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
        try:
            status = os.fstat(self._file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise BundleError(f"{path} is not a regular file")
            self.size = status.st_size
            self._verify(self._file)
            self._file.seek(len(MAGIC))
            header = self._piece()
            self._start = self._file.tell()
            self.salt, self.names = self._said(header)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing more is read."""
        self._file.close()

    def entries(self) -> Iterator[tuple[str, str, Any]]:
        """The kind, the key and the data of each entry."""
        self._file.seek(self._start)
        while content := self._piece():
            try:
                kind, key, data = opened(content)
            except Damaged as error:
                raise BundleError(f"{self.path} is damaged: of an entry, {error}") from error
            if not _is_key(key):
                raise BundleError(f"{self.path} is damaged: there is an entry under {kind!r}, {key!r}")
            yield kind, key, data

    def _said(self, header: bytes) -> tuple[dict[str, str], list[str]]:
        try:
            said = json.loads(header)
            salt = {str(part): str(value) for part, value in said["salt"].items()}
            return salt, [str(name) for name in said["kernels"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BundleError(f"{self.path} is damaged: its header cannot be read") from error

    def _verify(self, file: BinaryIO) -> None:
        if file.read(len(MAGIC)) != MAGIC:
            raise BundleError(f"{self.path} is not a bundle of this format")
        rest = self.size - len(MAGIC) - _CHECKSUM
        checksum = blake2b(MAGIC, digest_size=_CHECKSUM)
        while rest > 0:
            piece = file.read(min(rest, _PIECE))
            if not piece:
                break
            checksum.update(piece)
            rest -= len(piece)
        if rest or file.read() != checksum.digest():
            raise BundleError(f"{self.path} is damaged: its checksum is wrong")

    def _piece(self) -> bytes:
        """What follows, after its length."""
        length = int.from_bytes(self._file.read(_LENGTH), "little")
        if length > self.size - self._file.tell() - _CHECKSUM:
            raise BundleError(f"{self.path} is damaged: a part of it is missing")
        return self._file.read(length)


def _is_key(key: object) -> bool:
    """Keys become names of files: nothing else may be one."""
    return isinstance(key, str) and len(key) == 40 and set(key) <= set("0123456789abcdef")
