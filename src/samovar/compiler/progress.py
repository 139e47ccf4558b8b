"""A progress line at a terminal or in a notebook, once compiling has taken half a second in total. Elsewhere nothing is
written.

Our own steps do not update the line: at a terminal, a thread does.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Protocol

from samovar.compiler.notebook_progress import NotebookLine, in_notebook

#: No line is shown before compiling has taken so many seconds in this process.
PATIENCE = 0.5
#: The update interval of the line, in seconds.
INTERVAL = 0.1


class _Process:
    """What this process has compiled so far, and the callback that shows lines instead of the terminal, if any."""

    kernels = 0
    seconds = 0.0
    shows: Callable[[str], object] | None = None
    #: The line of a notebook, once it is known to be one.
    line: NotebookLine | None = None


class _Thread(threading.local):
    """The compiles of this thread."""

    current: Progress | None = None


_thread = _Thread()


class Answering(Protocol):
    """Something with a descriptor that is readable when it has an answer."""

    def fileno(self) -> int: ...


class Progress:
    """The progress of a kernel: `total` parts, `done` of them finished. The line is overwritten, and removed at the end.
    Nested inside another one of the same kernel, it continues that one's line."""

    def __init__(self, name: str, total: int = 1) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self.start = monotonic()
        self.shown = 0.0
        self._outer: Progress | None = None
        self._inner: Progress | None = None
        self._ticker: _Ticker | None = None

    def __enter__(self) -> Progress:
        self._outer, _thread.current = _thread.current, self
        if self._outer is None:
            _Process.kernels += 1
            if _is_watched():
                self._ticker = _Ticker(self)
        else:
            self._outer._inner = self
        self.tick()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _thread.current = self._outer
        if self._ticker is not None:
            self._ticker.end()
        if self._outer is None:
            _Process.seconds += monotonic() - self.start
        else:
            self._outer._inner = None
        if self._outer is None and _Process.line is not None:
            _Process.line.clear()
        elif self.shown and _Process.shows is None and _Process.line is None:
            _write("\r\x1b[K")

    def advance(self) -> None:
        """Count another finished part."""
        self.done += 1
        self.tick()

    def tick(self) -> None:
        """Update the line if it is due."""
        now = monotonic()
        seconds = _Process.seconds + now - (self.start if self._outer is None else self._outer.start)
        if seconds < PATIENCE or now - self.shown < INTERVAL or not _is_watched():
            return
        self.shown = now
        parts = f": {self.done} of {self.total} parts" if self.total > 1 else ""
        several = f"{_Process.kernels} kernels, " if _Process.kernels > 1 else ""
        text = f"compiling {self.name}{parts} ({several}{seconds:.0f} s)"
        if _Process.shows is not None:
            _Process.shows(text)
        elif _Process.line is not None:
            _Process.line.show(text)
        else:
            _write(f"\r\x1b[Ksamovar: {text}")

    def tick_innermost(self) -> None:
        """Update the line of the innermost nested compile."""
        (self._inner or self).tick()

    def until_next(self) -> float:
        """The time in seconds until the next `tick` is due."""
        if not _is_watched():
            return float("inf")
        return max(INTERVAL, PATIENCE - _Process.seconds - (monotonic() - self.start))


class _Ticker(threading.Thread):
    """A thread that updates the line of a kernel."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(name="samovar-progress", daemon=True)
        self._progress = progress
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(self._progress.until_next()):
            self._progress.tick_innermost()

    def end(self) -> None:
        """Stop; no line is written after this returns."""
        self._over.set()
        self.join()


def wait_for(answering: Answering, seconds: float) -> None:
    """Wait for an answer, or so many seconds; return at once if no progress is displayed."""
    progress = _thread.current
    if progress is None or not _is_watched():
        return
    from select import POLLIN, poll

    waiting, end = poll(), monotonic() + seconds
    waiting.register(answering.fileno(), POLLIN)
    while monotonic() < end and not waiting.poll(int(min(progress.until_next(), end - monotonic()) * 1000) + 1):
        progress.tick()


def show_progress(shows: Callable[[str], object] | None) -> None:
    """Show lines by a callback from now on, or again at the terminal if it is None."""
    _Process.shows = shows


def _is_watched() -> bool:
    if _Process.shows is not None or _Process.line is not None:
        return True
    if in_notebook():
        _Process.line = NotebookLine()
        return True
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
