"""A progress bar on a terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ProgressBar:
    """The number done, and the total. `wanted` forces or disables it; None shows it on a terminal."""

    def __init__(self, what: str, total: int | None = None, wanted: bool | None = None) -> None:
        self._what = what
        self._total = total
        self._wanted = wanted
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressBar:
        import sys

        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        if self._total != 0 and sys.stderr is not None and (is_terminal if self._wanted is None else self._wanted):
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=is_terminal)
            self._progress.start()
            self._task = self._progress.add_task(self._what, total=self._total)
        return self

    def advance(self, total: int | None = None) -> None:
        """Count one more, and update the total."""
        if self._progress is not None:
            if total is not None:
                self._progress.update(self._task, total=total)
            self._progress.advance(self._task)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
