"""Crash reports: a file with a kernel that the backend, or a step before it, has failed on, to reproduce the failure."""

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

#: The first line of a report: the version, and the name of the kernel.
_TITLE = "samovar {}, kernel {}"


def write_report(name: str, text: str, target: Target, events: Sequence[str], suffix: str = "") -> str:
    """Write the text of a kernel, with the events that led to the failure as comments above it. Return the path, or a phrase
    to use instead. The text is that of the backend, or of a kind with the given `suffix`.

    Equal texts have the same file, so a program that is started repeatedly writes only one.
    """
    heading = [
        _TITLE.format(samovar.__version__, name),
        *(f"{each}: {_version(each)}" for each in backend().salt()),
        f"target: {target}",
        *events,
    ]
    comments = "".join(f"; {line}\n" for part in heading for line in part.splitlines())
    # A backend rejects a text for one reason; other texts may fail in several steps.
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
    """The existing reports of this version: the kernel of each, and its path."""
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
    """Whether an earlier process of the same user has written it."""
    try:
        state = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(state.st_mode) and state.st_uid == os.geteuid() and state.st_size > 0


def _write(path: str, content: str) -> None:
    # Others may write to the directory: existing files are neither followed nor overwritten.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
