"""The store: its location, and one file per entry, published by renaming, verified on every read.

File system errors never raise: an unreadable entry is treated as absent, an unwritable one is not cached, and either is
reported once. Correctness does not depend on locks.
"""

from __future__ import annotations

import os
import sys
from time import time

from samovar._native import LARGEST_ENTRY, read_entry
from samovar.cache.entry import FORMAT, Damaged, Foreign, unwrapped, wrapped
from samovar.cache.trust import distrust, untrusted_folder, untrusted_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from samovar.language import Options

#: A folder for each kind of entry: decision trees, artifacts, images by LLVM text, kernels by name.
KINDS = ("trees", "kernels", "code", "names")
#: Seconds after which the time of last use is renewed.
_STALE_USE_SECONDS = 3600.0
#: The store is measured at this interval, or when a process has written this fraction of the limit.
_MEASURE_SECONDS = 600.0
_MEASURE_PART = 16
_MEASURED = "measured"


def directory_of(options: Options) -> str | None:
    """Return the directory of the store: that of the options, else the platform's cache directory; None if there is none."""
    if options.offline_cache_file_path:
        try:
            return os.path.abspath(os.path.expanduser(options.offline_cache_file_path))
        except FileNotFoundError:  # relative to a directory that was removed
            return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "samovar")


class Entry:
    """A file of the store."""

    __slots__ = ("key", "kind", "path", "size", "used")

    def __init__(self, kind: str, key: str, path: str, size: int, used: float) -> None:
        self.kind = kind
        self.key = key
        self.path = path
        self.size = size
        self.used = used


class Store:
    """A directory of entries. `limit` is its maximum size in bytes; `say` receives messages about problems."""

    def __init__(self, directory: str, limit: int, say: Callable[[str], None]) -> None:
        self.directory = directory
        self.limit = limit
        self._say = say
        self._trusted: bool | None = None
        self._is_way_trusted = False
        self._unwritable = False
        self._written = 0
        #: How many entries had valid checksums but were otherwise invalid.
        self.foreign = 0
        #: When the store was last measured, if known.
        self._measured = 0.0
        #: Each format has its own directory.
        self.base = os.path.join(directory, f"v{FORMAT}")
        self._folders = {kind: os.path.join(self.base, kind) for kind in KINDS}

    # --- reading

    def read(self, kind: str, key: str) -> Any:
        """Return the data of an entry, or None if there is no usable one."""
        found = self.read_file(kind, key)
        return None if found is None else found[0]

    def read_file(self, kind: str, key: str) -> tuple[Any, bytes, tuple[int, ...]] | None:
        """Return the data of an entry, the content of its file, and its `identity`; None if there is no usable one."""
        path = f"{self._folders[kind]}/{key}"
        try:
            content, identity, owner, mode = read_entry(path)
        except (OSError, MemoryError):
            return None
        if not self.is_trusted() or self._untrusted(path, owner, mode):
            return None
        try:
            data = unwrapped(kind, key, content)
        except Damaged as error:
            self._drop(path, content)
            if isinstance(error, Foreign):
                self._report_foreign()
            return None
        except MemoryError:
            return None
        self.renew(kind, key, identity[1] * 1e-9)
        return data, content, identity

    def renew(self, kind: str, key: str, used: float) -> None:
        """Mark an entry, last used at some time, as used now."""
        if time() - used > _STALE_USE_SECONDS:
            _touch(f"{self._folders[kind]}/{key}")

    def examine(self, kind: str, key: str) -> Any:
        """Return the data of an entry without dropping it or marking it as used: for listing and verification.

        Raise `Damaged` if it cannot be used, and `OSError` if it cannot be read.
        """
        content, _, owner, mode = read_entry(f"{self._folders[kind]}/{key}")
        reason = distrust(owner, mode)
        if reason is not None:
            raise Damaged(reason)
        return unwrapped(kind, key, content)

    def identity(self, kind: str, key: str) -> tuple[int, ...] | None:
        """Return something that changes when an entry is rewritten; None if there is no entry."""
        try:
            status = os.stat(f"{self._folders[kind]}/{key}")
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def is_trusted(self) -> bool:
        """Whether the content of the directory may be used, and files may be created there."""
        if self._trusted is None:
            untrusted = untrusted_folder((self.directory, self.base, *self._folders.values()))
            if untrusted is None and not self._is_way_trusted:
                untrusted = untrusted_parent(self.directory)
                self._is_way_trusted = untrusted is None
            if untrusted is None and not os.path.isdir(self.base):
                return True  # not remembered: a folder that is created later has to be checked
            self._trusted = untrusted is None
            if untrusted is not None:
                self._say(
                    f"the cache directory {self._described(untrusted[0])} is not used, because {untrusted[1]}\n"
                    "  help: cached code runs in your process: make the directory private (chmod 700), or choose another"
                    " one with offline_cache_file_path"
                )
        return self._trusted

    def _described(self, folder: str) -> str:
        """Describe a directory of the store, or a parent of it."""
        return folder if folder.startswith(self.directory) else f"{self.directory} in {folder}"

    def reject(self, kind: str, key: str) -> None:
        """Drop an entry with a valid checksum that is not what it claims to be."""
        self.remove(kind, key)
        self._report_foreign()

    def _report_foreign(self) -> None:
        """Report foreign entries on request only: their only cost is a compile."""
        self.foreign += 1
        if self.foreign == 1 and "cache" in os.environ.get("SAMOVAR_LOG", "").split(",") and sys.stderr is not None:
            sys.stderr.write(
                f"samovar: cache: ignored an entry in {self.directory}: its checksum is valid, but this version has not"
                " written it\n"
            )

    def _untrusted(self, path: str, owner: int, mode: int) -> bool:
        reason = distrust(owner, mode)
        if reason is not None:
            self._say(f"the cache entry {path} is not used, because {reason}")
        return reason is not None

    def _drop(self, path: str, content: bytes) -> None:
        """Remove a damaged entry, unless another process has replaced it meanwhile."""
        from samovar.fingerprint import remove_file

        try:
            if read_entry(path)[0] == content:
                remove_file(path)
        except OSError:
            return

    # --- writing

    def write(self, kind: str, key: str, data: Any) -> str | None:
        """Publish an entry. Return why it could not be stored, or None."""
        try:
            content = wrapped(kind, key, data)
        except ValueError as error:  # nested too deeply for a file
            return str(error)
        if len(content) > LARGEST_ENTRY:
            return f"it takes {len(content) >> 20} MiB, but an entry is limited to {LARGEST_ENTRY >> 20} MiB"
        if not self._prepare():
            return f"the cache directory {'is not trusted' if self._trusted is False else 'is not writable'}"
        path = f"{self._folders[kind]}/{key}"
        from samovar.fingerprint import publish_file

        try:
            publish_file(path, content, (self.base, self._folders[kind]))
        except OSError as error:
            return self._failed(error)
        self._written += len(content)
        self._measure_now_and_then()
        return None

    def remove(self, kind: str, key: str) -> None:
        """Drop an entry."""
        from samovar.fingerprint import remove_file

        remove_file(f"{self._folders[kind]}/{key}")

    def _prepare(self) -> bool:
        if self._unwritable:
            return False
        if not self.is_trusted():
            return False
        if self._trusted is None:
            from samovar.fingerprint import make_folder

            try:
                make_folder(self.directory)
            except OSError as error:
                self._failed(error)
                return False
        return self.is_trusted()

    def _failed(self, error: OSError) -> str:
        """Report once that nothing is cached. Permission errors are not retried; a full disk may get space again."""
        reason = error.strerror or str(error)
        from errno import EACCES, ENOTDIR, EPERM, EROFS

        if error.errno in (EACCES, ENOTDIR, EPERM, EROFS):
            self._unwritable = True
        self._say(f"compiled kernels are not cached in {self.directory}: {reason}")
        return reason

    # --- size

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, except temporary files."""
        from samovar.fingerprint import files_in, is_temporary

        for kind, folder in self._folders.items():
            for name, path, status in files_in(folder):
                if not is_temporary(name):
                    yield Entry(kind, name, path, status.st_size, status.st_mtime)

    def _measure_now_and_then(self) -> None:
        mark = os.path.join(self.base, _MEASURED)
        if self._written * _MEASURE_PART < self.limit:
            if time() < self._measured + _MEASURE_SECONDS:
                return
            try:
                self._measured = os.stat(mark).st_mtime
            except OSError:
                self._measured = 0.0
            if time() < self._measured + _MEASURE_SECONDS:
                return
        self._written, self._measured = 0, time()
        try:
            os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            os.utime(mark)
        except OSError:
            return
        self.sweep()
        self.shrink(self.limit)

    def sweep(self) -> int:
        """Remove files that dead writers left behind, and return their number."""
        from samovar.fingerprint import sweep_temporaries

        return sweep_temporaries((self.base, *self._folders.values()))

    def shrink(self, limit: int) -> list[Entry]:
        """Evict the least recently used entries until the rest takes nine tenths of a limit that is exceeded."""
        from samovar.fingerprint import remove_file

        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries)
        removed: list[Entry] = []
        if total <= limit:
            return removed
        for entry in entries:
            if total <= limit * 9 // 10:
                break
            remove_file(entry.path)
            total -= entry.size
            removed.append(entry)
        return removed

    def clear(self) -> int:
        """Remove everything, and return the number of entries."""
        from samovar.fingerprint import files_in, is_temporary, remove_file

        count = 0
        for folder in self._folders.values():
            for name, path, _ in files_in(folder):
                remove_file(path)
                count += not is_temporary(name)
        return count


def _touch(path: str) -> None:
    try:
        os.utime(path)
    except OSError:
        return
