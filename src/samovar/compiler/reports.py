"""A file for a text that a backend has failed in: what one needs to see it again, for a report."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Sequence

import samovar
from samovar._native import plain_digest
from samovar.backends import Target, backend
from samovar.cache import installed_library


def write_report(name: str, text: str, target: Target, events: Sequence[str]) -> str:
    """Write the text of a kernel with what happened, one event after the other, as comments above it. Gives the path, or
    what one would say instead.

    The same text goes to the same file, so that a program which is started again and again leaves one.
    """
    heading = [
        f"samovar {samovar.__version__}, kernel {name}",
        *(f"{each}: {_version(each)}" for each in backend().salt()),
        f"target: {target}",
        *events,
    ]
    comments = "".join(f"; {line}\n" for part in heading for line in part.splitlines())
    stem = f"samovar-{re.sub(r'[^A-Za-z0-9_]', '_', name)[:64]}-{plain_digest((text, *target.key()))[:12]}"
    try:
        path = os.path.join(tempfile.gettempdir(), f"{stem}.{backend().suffix}")
        if not _is_ours(path):
            _write(path, comments + text)
        return path
    except OSError as error:
        return f"its text, which could not be written to a file ({error})"


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
