"""Files at paths that the user names: bundles, traces, reports, images.

A regular file is written atomically: under another name in the same directory, then renamed. A symbolic link is kept, and
its target is replaced. A device or a pipe (`/dev/stdout`) is written to and never replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def write_file(path: str | os.PathLike[str], *pieces: bytes) -> int:
    """Write a file from the given blocks of bytes. Return the number of bytes."""
    return write_pieces(path, pieces)


def write_pieces(path: str | os.PathLike[str], pieces: Iterable[bytes], is_synced: bool = False) -> int:
    """Write a file block by block, as they are produced. Return the number of bytes. With `is_synced`, a regular file is on
    the disk before it replaces the old one, so that it survives a power failure.

    Raises `OSError`, or whatever `pieces` raises, and then leaves the old file untouched.
    """
    name = os.fspath(path)
    try:
        found = os.stat(name)
    except FileNotFoundError:
        found = None  # nothing, or a dangling link
    _check_link(name)
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if found is not None and (not stat.S_ISREG(found.st_mode) or _names_descriptor(name)):
        return _written_through(name, pieces)
    return _replaced(os.path.realpath(name), found, pieces, is_synced)


def _check_link(name: str) -> None:
    """Reject a link that another user has made, as anybody can in `/tmp`."""
    try:
        status = os.lstat(name)
    except OSError:
        return
    if stat.S_ISLNK(status.st_mode) and status.st_uid not in (os.geteuid(), 0):
        raise PermissionError(errno.EACCES, "the link belongs to another user and is not followed", name)


def _names_descriptor(name: str) -> bool:
    """Whether the name stands for an open descriptor, as `/dev/stdout` does, and not for a file."""
    for _ in range(40):  # the system's limit of links
        name = os.path.join(os.path.realpath(os.path.dirname(name) or "."), os.path.basename(name))
        if name.startswith(("/proc/", "/dev/")):
            return True
        if not os.path.islink(name):
            break
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return False


def _written_through(name: str, pieces: Iterable[bytes]) -> int:
    """Write to an existing terminal, pipe or descriptor. A pipe without a reader is an error; this does not wait."""
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "a pipe without a reader, or a socket", name) from None
        raise
    os.set_blocking(descriptor, True)
    return _write_to(descriptor, pieces)


def _replaced(target: str, found: os.stat_result | None, pieces: Iterable[bytes], is_synced: bool) -> int:
    temporary = f"{target}.{os.getpid()}.{os.urandom(6).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except PermissionError:
        if found is None:
            raise
        # The file is writable, but its directory is not.
        return _write_to(os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC), pieces)
    try:
        if found is not None:
            os.chmod(temporary, stat.S_IMODE(found.st_mode))
        size = _write_to(descriptor, pieces, is_synced)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return size


def _write_to(descriptor: int, pieces: Iterable[bytes], is_synced: bool = False) -> int:
    size = 0
    with os.fdopen(descriptor, "wb") as file:
        for piece in pieces:
            file.write(piece)
            size += len(piece)
        if is_synced:
            file.flush()
            os.fsync(descriptor)
    return size
