"""The standard streams of a command, which the caller may have closed (`>&-`) or redirected to a full disk."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys


class ClosedOutput(io.TextIOBase):
    """A closed standard output, which raises an error when it is written to."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


def open_missing_streams() -> None:
    """Replace closed standard streams, so that no file opened later takes their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def restore_closed_output() -> None:
    """Restore what the interpreter would have given a program: without an output, prints are lost."""
    if isinstance(sys.stdout, ClosedOutput):
        sys.stdout = None


def drop_output() -> None:
    """Discard pending output, so that the interpreter does not report an error at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
