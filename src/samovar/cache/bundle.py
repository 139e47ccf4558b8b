"""A bundle: entries of a store in one file, for another machine.

    magic | length of the header | header (JSON) | entries, each after its length | a length of zero | checksum of all before

The header contains the toolchain fingerprint of the entries, in a form that every version can read and explain. Each entry
is the content of a file of the store, with its own checksum. Only the header is decoded before the bundle is accepted.
"""

from __future__ import annotations

import json
import os
import stat
from _blake2 import blake2b

from samovar.cache.entry import Damaged, opened
from samovar.system import write_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

MAGIC = b"samovar bundle 1\n"
_LENGTH = 8
_CHECKSUM = 32
_PIECE = 1 << 20


class BundleError(ValueError):
    """The file is not a bundle, is damaged, or cannot be used here."""


def write_bundle(path: str, salt: dict[str, str], names: Iterable[str], contents: Iterable[bytes]) -> int:
    """Write entries into a file, which appears when it is complete. Return its size in bytes."""
    return write_pieces(path, _summed(_pieces(salt, names, contents)))


def _pieces(salt: dict[str, str], names: Iterable[str], contents: Iterable[bytes]) -> Iterator[bytes]:
    header = json.dumps({"salt": salt, "kernels": list(names)}).encode()
    yield from (MAGIC, _length(header), header)
    for content in contents:
        yield _length(content)
        yield content
    yield _length(b"")


def _summed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks, then a checksum of all of them."""
    checksum = blake2b(digest_size=_CHECKSUM)
    for piece in pieces:
        checksum.update(piece)
        yield piece
    yield checksum.digest()


def _length(content: bytes) -> bytes:
    return len(content).to_bytes(_LENGTH, "little")


class Bundle:
    """A bundle with a valid checksum. `salt` is the toolchain fingerprint of its entries, `names` lists its kernels.

    The file stays open, so that exactly the verified content is read, even if its name changes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        # Opening something other than a regular file (a pipe) must not block.
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
        """Close the file."""
        self._file.close()

    def entries(self) -> Iterator[tuple[str, str, Any]]:
        """Yield the kind, key and data of each entry."""
        self._file.seek(self._start)
        while content := self._piece():
            try:
                kind, key, data = opened(content)
            except Damaged as error:
                raise BundleError(f"{self.path} is damaged: an entry is invalid: {error}") from error
            if not _is_key(key):
                raise BundleError(f"{self.path} is damaged: it has an entry under {kind!r}, {key!r}")
            yield kind, key, data

    def _said(self, header: bytes) -> tuple[dict[str, str], list[str]]:
        try:
            said = json.loads(header)
            salt = {str(part): str(value) for part, value in said["salt"].items()}
            return salt, [str(name) for name in said["kernels"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BundleError(f"{self.path} is damaged: its header is malformed") from error

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
        """Read the next block, which follows its length."""
        length = int.from_bytes(self._file.read(_LENGTH), "little")
        if length > self.size - self._file.tell() - _CHECKSUM:
            raise BundleError(f"{self.path} is damaged: it is truncated")
        return self._file.read(length)


def _is_key(key: object) -> bool:
    """Whether the value is a key. Keys become file names, so other text is rejected."""
    return isinstance(key, str) and len(key) == 40 and set(key) <= set("0123456789abcdef")
