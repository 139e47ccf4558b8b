"""A line for who waits at a terminal while a large kernel is compiled. Nothing is written anywhere else."""

from __future__ import annotations

import sys
from time import monotonic

#: Nothing is said before so many seconds are over.
PATIENCE = 0.5
#: The line changes so often, in seconds.
INTERVAL = 0.1


class Progress:
    """So many units of a kernel are done, of so many. The line is written over, and removed at the end."""

    def __init__(self, name: str, total: int) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self.start = monotonic()
        self.shown = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self.shown:
            self._write("\r\x1b[K")

    def advance(self) -> None:
        """One more is done."""
        self.done += 1
        self.tick()

    def tick(self) -> None:
        """Time has passed."""
        now = monotonic()
        if now - self.start < PATIENCE or now - self.shown < INTERVAL or not self._has_terminal():
            return
        self.shown = now
        self._write(f"\r\x1b[Ksamovar: compiling {self.name}: {self.done} of {self.total} parts, {now - self.start:.0f} s")

    def until_next(self) -> float:
        """How long nobody has to call `tick`."""
        if not self._has_terminal():
            return float("inf")
        return max(INTERVAL, self.start + PATIENCE - monotonic())

    @staticmethod
    def _has_terminal() -> bool:
        try:
            return sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # it is closed
            return False

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass
