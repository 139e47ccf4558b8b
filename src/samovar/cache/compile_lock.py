"""A lock per kernel: if several processes need the same kernel, one compiles it and the others wait for the result.

The lock is advisory: where locks do not work, or its holder does not finish in time, every process compiles.
"""

from __future__ import annotations

import fcntl
import os
import struct
from _thread import get_ident
from errno import EACCES, EAGAIN, EINVAL
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds to wait for another process.
PATIENCE_SECONDS = 120.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02


class CompileLock:
    """A context manager in which other processes that request the same key wait. `waited` says whether this one had to."""

    def __init__(self, directory: str, key: str) -> None:
        self._path = os.path.join(directory, "turns")
        #: One file for all keys, with one byte each: nothing to clean up.
        self._byte = int(key[:7], 16)
        self._holder = (self._path, self._byte, get_ident())
        self._descriptor: int | None = None
        self.waited = False

    def __enter__(self) -> CompileLock:
        if self._holder in _holders or self._holder[:2] in _of_parent:
            # A kernel that is launched from code another one evaluates in `static` would wait for itself forever. So could a
            # child that waits for its parent, which often waits for the child.
            return self
        try:
            self._descriptor = self._opened()
        except OSError:
            return self
        _open.add(self._descriptor)
        _holders.add(self._holder)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(self._path, flags, 0o600)
        except FileNotFoundError:  # the first kernel in this store
            from samovar.fingerprint import make_folder

            make_folder(os.path.dirname(self._path))
            return os.open(self._path, flags, 0o600)

    def _wait(self) -> None:
        for pause in _pauses():
            if self._locked():
                return
            self.waited = True
            sleep(pause)

    def __exit__(self, *error: object) -> None:
        if self._descriptor is not None:
            _holders.discard(self._holder)
        if self._descriptor in _open:
            # A child that was forked meanwhile shares the open file: closing it here would not release the lock.
            self._request(fcntl.F_UNLCK)
            _open.discard(self._descriptor)
            os.close(self._descriptor)

    def _locked(self) -> bool:
        """Whether waiting is over: the lock is taken, or does not work."""
        error = self._request(fcntl.F_WRLCK)
        return error not in (EACCES, EAGAIN)

    def _request(self, kind: int) -> int:
        """Request one byte for this open file description, not for the process. Return 0 or an errno."""
        assert self._descriptor is not None
        try:
            request = struct.pack("hhqqi4x", kind, os.SEEK_SET, self._byte, 1, 0)
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, request)
        except OSError as error:
            return error.errno or EINVAL
        return 0


#: The open files. A forked child closes them, because it does not hold its parent's locks.
_open: set[int] = set()
#: Which thread holds which lock.
_holders: set[tuple[str, int, int]] = set()
#: The locks that the parent process held at the fork.
_of_parent: set[tuple[str, int]] = set()


def _forget() -> None:
    _of_parent.update(holder[:2] for holder in _holders)
    _holders.clear()
    while _open:
        os.close(_open.pop())


os.register_at_fork(after_in_child=_forget)


def _pauses() -> Iterator[float]:
    end = monotonic() + PATIENCE_SECONDS
    pause = _FIRST_PAUSE
    while monotonic() < end:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)
