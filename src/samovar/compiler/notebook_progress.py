"""The progress line of long compiles in a notebook: a label of ipywidgets if it is installed, otherwise a line of output."""

from __future__ import annotations

import sys
from importlib import import_module
from threading import Lock
from typing import Any


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook. Imports nothing."""
    shell: Any = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return hasattr(running, "kernel")


class NotebookLine:
    """A line below a cell."""

    def __init__(self) -> None:
        self._lock = Lock()  # the thread that compiles and the one that waits both show the line
        self._label: Any = None
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show the line, or change its text."""
        with self._lock:
            if self._label is not None:
                self._label.value = text
            elif self._handle is not None:
                self._handle.update({"text/plain": text}, raw=True)
            else:
                self._begin(text)

    def _begin(self, text: str) -> None:
        display: Any = import_module("IPython.display").display
        try:
            self._label = import_module("ipywidgets").Label(text)
        except ImportError:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            display(self._label)

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._label is not None:
                self._label.close()
            elif self._handle is not None:
                self._handle.update({"text/plain": ""}, raw=True)
            self._label = self._handle = None
