"""A cache of values in a directory: one file per entry, published by renaming.

An entry is data with a checksum over all of it. An entry that cannot be read, verified or decoded is treated as absent.
Nothing is pickled: the caller supplies the encoding.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, TypeVar

from samovar._native import read_entry
from samovar.fingerprint.entry_files import files_in, publish_file, remove_file, sweep_temporaries

__all__ = ["FileCache", "identity"]

Value = TypeVar("Value")
Default = TypeVar("Default")

_LOG: Final = logging.getLogger("samovar.fingerprint")
_MAGIC: Final = b"samovar step 1\n"
_CHECKSUM_SIZE: Final = 32
_KEY: Final = re.compile(r"[0-9a-f]{16,128}")

#: Directories for which a write failure was reported.
_reported: set[str] = set()
#: Directories that were swept for stale temporary files.
_swept: set[str] = set()


def identity(value: Any) -> Any:
    """The identity, which encodes and decodes bytes."""
    return value


@dataclass(frozen=True)
class FileCache(Generic[Value]):
    """A persistent cache for `CachedStep`. `encode` converts a value to bytes, `decode` converts it back. Values that are
    bytes need neither.

    >>> import tempfile
    >>> from samovar.fingerprint import FileCache, stable_fingerprinter
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     cache = FileCache(directory, encode=str.encode, decode=bytes.decode)
    ...     cache[stable_fingerprinter("question")] = "answer"
    ...     cache.get(stable_fingerprinter("question"), None)
    'answer'
    """

    directory: str | os.PathLike[str]
    encode: Callable[[Value], bytes] = identity
    decode: Callable[[bytes], Value] = identity

    #: Tells `CachedStep` that its keys have to be valid in every process.
    persistent: ClassVar[bool] = True

    def get(self, key: str, default: Default) -> Value | Default:
        """Return the value of a key, or `default` if there is no valid entry."""
        path = self.path_of(key)
        try:
            return self.decode(_unwrap(key, read_entry(path)[0]))
        except FileNotFoundError:
            return default
        except Exception as error:
            _LOG.info("ignored the invalid cache entry %s: %s", path, error)
            remove_file(path)
            return default

    def __setitem__(self, key: str, value: Value) -> None:
        """Publish a value. If the directory is not writable, the value is not cached, which is reported once."""
        path = self.path_of(key)
        content = self.encode(value)
        if not isinstance(content, bytes):
            raise TypeError(
                f"encode has to return bytes, not {type(content).__name__}: pass an encode that converts a value "
                "to bytes, and a decode that converts it back"
            )
        try:
            # One by one: for a whole path, the mode would apply to the last directory only.
            publish_file(path, _wrap(key, content), (os.fspath(self.directory), os.path.dirname(path)))
        except OSError as error:
            if os.fspath(self.directory) not in _reported:
                _reported.add(os.fspath(self.directory))
                _LOG.warning("results are not cached in %s: %s", self.directory, error)
        self._sweep()

    def path_of(self, key: str) -> str:
        """Return the file of a key."""
        if not _KEY.fullmatch(key):
            raise ValueError(f"a key of a FileCache has to be a fingerprint in hexadecimal digits, not {key!r}")
        return os.path.join(self.directory, key[:2], key)

    def _sweep(self) -> None:
        """Remove files that dead writers left behind, once per process and directory."""
        if os.fspath(self.directory) in _swept:
            return
        _swept.add(os.fspath(self.directory))
        inside = [path for _, path, status in files_in(os.fspath(self.directory)) if stat.S_ISDIR(status.st_mode)]
        sweep_temporaries((os.fspath(self.directory), *inside))


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
        raise ValueError("it is truncated, of another key, or of another format")
    return content
