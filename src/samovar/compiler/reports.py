"""A file for a kernel that a backend, or a step before it, has failed in: what one needs to see it again, for a report."""

from __future__ import annotations

import glob
import os
import re
import stat
import tempfile
from collections.abc import Sequence

import samovar
from samovar._native import plain_digest
from samovar.backends import Target, backend
from samovar.cache import installed_library

#: What a report begins with: the version, and the name of the kernel.
_TITLE = "samovar {}, kernel {}"


def write_report(name: str, text: str, target: Target, events: Sequence[str], suffix: str = "") -> str:
    """Write the text of a kernel with what happened, one event after the other, as comments above it. Gives the path, or
    what one would say instead. The text is that of the backend, or of a kind that `suffix` is for.

    The same text goes to the same file, so that a program which is started again and again leaves one.
    """
    heading = [
        _TITLE.format(samovar.__version__, name),
        *(f"{each}: {_version(each)}" for each in backend().salt()),
        f"target: {target}",
        *events,
    ]
    comments = "".join(f"; {line}\n" for part in heading for line in part.splitlines())
    # What a backend refuses is refused for one reason; in another text, several steps may have failed.
    digest = plain_digest((text, *(events[-1:] if suffix else ()), *target.key()))
    stem = f"samovar-{re.sub(r'[^A-Za-z0-9_]', '_', name)[:64]}-{digest[:12]}"
    try:
        path = os.path.join(tempfile.gettempdir(), f"{stem}.{suffix or backend().suffix}")
        if not _is_ours(path):
            _write(path, comments + text)
        return path
    except OSError as error:
        return f"its text, which could not be written to a file ({error})"


def reports_here() -> list[tuple[str, str]]:
    """The reports of this version that are still there: the kernel that each is about, and its path."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), "samovar-*-*.*"))):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                begin, _, name = file.readline().partition(_TITLE.format(samovar.__version__, ""))
        except OSError:
            continue
        if begin == "; " and _is_ours(path):
            found.append((name.strip(), path))
    return found


def _version(name: str) -> str:
    found = installed_library(name)
    text = "" if found is None else found[1].decode(errors="replace")
    return " ".join(re.findall(r"[0-9]+(?:[.][0-9]+)+", text)[:1]) or "unknown"


def _is_ours(path: str) -> bool:
    """Whether an earlier process of the user has written it."""
    try:
        state = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(state.st_mode) and state.st_uid == os.geteuid() and state.st_size > 0


def _write(path: str, content: str) -> None:
    # Others may write to the directory: nothing that is there already is followed or overwritten.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
