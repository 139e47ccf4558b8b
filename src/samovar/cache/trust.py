"""Whether a cache directory is trusted: its code runs in this process, so only the user and root may modify it.

The same applies to each directory and link on its path: whoever can rename one of them controls the rest of the path.
Checked once per process, in a few system calls.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISLNK

#: As many links as the system follows.
_MOST_LINKS = 40
_STICKY = 0o1000


def distrust(owner: int, mode: int) -> str | None:
    """Return why a file or directory must not be used: it is not owned by the user or root, or others can write to it."""
    if owner not in (os.geteuid(), 0):
        return f"it is owned by user {owner}"
    if mode & 0o022:
        return "others can write to it"
    return None


def untrusted_folder(folders: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the first folder that must not be used, with the reason. A missing one is created with safe permissions."""
    for folder in folders:
        try:
            status = os.stat(folder)
        except OSError:
            continue
        reason = distrust(status.st_uid, status.st_mode)
        if reason is not None:
            return folder, reason
    return None


def untrusted_parent(directory: str) -> tuple[str, str] | None:
    """Return the first parent directory, or link on the path, that others could replace, with the reason.

    In a directory with the sticky bit, such as `/tmp`, everybody can create files, but nobody can rename those of others.
    """
    at, links = "/", 0
    pending = directory.split("/")[::-1]
    status = os.lstat(at)
    while True:
        reason = _distrust_of_parent(status)
        if reason is not None:
            return at, reason
        while pending and pending[-1] in ("", "."):
            pending.pop()
        if not pending:
            return None
        name = pending.pop()
        path = os.path.dirname(at) if name == ".." else f"{at.rstrip('/')}/{name}"
        try:
            status = os.lstat(path)
            if S_ISLNK(status.st_mode):
                links += 1
                if not _is_trusted(status.st_uid) or links > _MOST_LINKS:
                    return path, f"it is a link owned by user {status.st_uid}"
                target = os.readlink(path)
                pending += target.split("/")[::-1]
                path = "/" if target.startswith("/") else at
                status = os.lstat(path)
        except OSError:
            return None  # missing, or not visible
        if not S_ISDIR(status.st_mode):
            return None  # nothing can be stored there, as the attempt will report
        at = path
        if not any(each not in ("", ".") for each in pending):
            return None  # the directory itself, to which another rule applies


def _distrust_of_parent(status: os.stat_result) -> str | None:
    if not _is_trusted(status.st_uid):
        return f"it is owned by user {status.st_uid}"
    if not status.st_mode & 0o022 or status.st_mode & _STICKY:
        return None
    return "others can write to it" if status.st_mode & 0o002 or not _is_private(status.st_gid) else None


def _is_trusted(owner: int) -> bool:
    return owner in (os.geteuid(), 0) or _is_root_of_outside(owner)


def _is_root_of_outside(owner: int) -> bool:
    """Whether the owner is root outside a rootless container, where it is shown as nobody."""
    try:
        with open("/proc/self/uid_map", "rb") as file:
            mapped = [tuple(map(int, line.split())) for line in file]
        with open("/proc/sys/kernel/overflowuid", "rb") as file:
            nobody = int(file.read())
    except (OSError, ValueError):
        return False
    return owner == nobody and not any(begin <= nobody < begin + count for begin, _, count in mapped)


def _is_private(group: int) -> bool:
    """Whether a group is that of root, or a user's private group without other members."""
    if group == 0:
        return True
    try:
        import grp
        import pwd

        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    return group == user.pw_gid and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
