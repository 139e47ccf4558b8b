"""The standard streams of a command, which whoever starts it may have closed (`>&-`), or have sent to a full disk."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys


class ClosedOutput(io.TextIOBase):
    """A standard output that is closed: who writes is told so, and not before."""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


def open_missing_streams() -> None:
    """Give each standard stream that is closed something in its place: no file that is opened later may become one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def restore_closed_output() -> None:
    """Leave a program what the interpreter would have given it: where there is no output, what it prints is lost."""
    if isinstance(sys.stdout, ClosedOutput):
        sys.stdout = None


def drop_output() -> None:
    """Nobody takes what is still to be written: the interpreter must not complain about that at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
