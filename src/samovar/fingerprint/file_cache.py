"""A cache of values in a directory: one file per entry, published by renaming.

An entry is data with a checksum over all of it. What cannot be read, checked or decoded is as good as absent. Nothing
is pickled: how a value becomes bytes and how it comes back is up to the caller.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, TypeVar

__all__ = ["FileCache", "as_it_is"]

Value = TypeVar("Value")
Default = TypeVar("Default")

_LOG: Final = logging.getLogger("samovar.fingerprint")
_MAGIC: Final = b"samovar step 1\n"
_CHECKSUM_SIZE: Final = 32
_KEY: Final = re.compile(r"[0-9a-f]{16,128}")

#: Temporary files that are older belong to writers that are gone.
_STALE_AFTER_SECONDS: Final = 3600.0

#: Directories about which a failure to write was reported.
_reported: set[str] = set()
#: Directories that were looked through for stale temporary files.
_swept: set[str] = set()


def as_it_is(value: Any) -> Any:
    """How bytes are encoded and decoded."""
    return value


@dataclass(frozen=True)
class FileCache(Generic[Value]):
    """A persistent cache for `CachedStep`. `encode` makes bytes of a value, `decode` makes a value of bytes. Values that
    are bytes need neither.

    >>> import tempfile
    >>> from samovar.fingerprint import FileCache, stable_fingerprinter
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     cache = FileCache(directory, encode=str.encode, decode=bytes.decode)
    ...     cache[stable_fingerprinter("question")] = "answer"
    ...     cache.get(stable_fingerprinter("question"), None)
    'answer'
    """

    directory: str | os.PathLike[str]
    encode: Callable[[Value], bytes] = as_it_is
    decode: Callable[[bytes], Value] = as_it_is

    #: Tells `CachedStep` that its keys have to mean the same in every process.
    persistent: ClassVar[bool] = True

    def get(self, key: str, default: Default) -> Value | Default:
        """The value of a key, or `default` if there is no entry, or none that loads."""
        path = self.path_of(key)
        try:
            with open(path, "rb") as file:
                content = _unwrap(key, file.read())
            return self.decode(content)
        except FileNotFoundError:
            return default
        except Exception as error:
            _LOG.info("dropped the cache entry %s, which does not load: %s", path, error)
            _remove(path)
            return default

    def __setitem__(self, key: str, value: Value) -> None:
        """Publish a value. If the directory cannot be written to, it is not kept, which is reported once."""
        path = self.path_of(key)
        content = self.encode(value)
        if not isinstance(content, bytes):
            raise TypeError(
                f"encode has to return bytes, not {type(content).__name__}: give the cache an encode that makes bytes of "
                "a value, and a decode that makes a value of bytes"
            )
        try:
            _publish(path, _wrap(key, content))
        except OSError as error:
            if os.fspath(self.directory) not in _reported:
                _reported.add(os.fspath(self.directory))
                _LOG.warning("results are not kept in %s: %s", self.directory, error)
        self._sweep()

    def path_of(self, key: str) -> str:
        """The file of a key."""
        if not _KEY.fullmatch(key):
            raise ValueError(f"a key of a FileCache is a fingerprint in hexadecimal digits, not {key!r}")
        return os.path.join(self.directory, key[:2], key)

    def _sweep(self) -> None:
        """Remove what writers that died have left, once per process and directory."""
        if os.fspath(self.directory) in _swept:
            return
        _swept.add(os.fspath(self.directory))
        oldest = time.time() - _STALE_AFTER_SECONDS
        for directory, _, names in os.walk(self.directory):
            for name in names:
                path = os.path.join(directory, name)
                try:
                    if name.endswith(".tmp") and os.stat(path).st_mtime < oldest:
                        _remove(path)
                except OSError:
                    continue


def _checksum(head: bytes, content: bytes) -> bytes:
    digest = hashlib.blake2b(head, digest_size=_CHECKSUM_SIZE)
    digest.update(content)
    return digest.digest()


def _wrap(key: str, content: bytes) -> bytes:
    head = _MAGIC + key.encode() + b"\n"
    return head + _checksum(head, content) + content


def _unwrap(key: str, entry: bytes) -> bytes:
    head = _MAGIC + key.encode() + b"\n"
    content = entry[len(head) + _CHECKSUM_SIZE :]
    if entry[: len(head)] != head or entry[len(head) : len(head) + _CHECKSUM_SIZE] != _checksum(head, content):
        raise ValueError("it is torn, foreign, or of another format")
    return content


def _publish(path: str, entry: bytes) -> None:
    # One by one: of a whole path, the mode would hold for the last directory only.
    for directory in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):
        os.makedirs(directory, mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(entry)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Gone already, or not ours to remove: either way the entry is not used.
        _LOG.debug("could not remove %s", path)
