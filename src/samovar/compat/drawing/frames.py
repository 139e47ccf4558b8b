"""How long a window that nobody sees stays open."""

from __future__ import annotations

import os
import sys

from samovar.errors import SamovarError
from samovar.runtime import say_once

VARIABLE = "SAMOVAR_FRAMES"
_USUAL = 50
#: A program that does not ask whether its window is open ends after so many times the frames.
_PATIENCE = 10


class Frames:
    """Counts the frames that are shown: a window closes by itself after some of them, as nobody else will close it."""

    def __init__(self) -> None:
        text = os.environ.get(VARIABLE, str(_USUAL))
        if not text.isdigit():
            raise SamovarError(f"{VARIABLE} is the number of frames after which a window closes, not {text!r}")
        self.limit = int(text)
        self.shown = 0
        self.is_open = True
        say_once(f"there are no windows: this one is drawn in memory, and closes after {self.limit} frames ({VARIABLE})")

    def next(self, is_kept: bool) -> None:
        """One more frame. Those that go to files do not count: the program knows how many it wants."""
        if is_kept:
            return
        self.shown += 1
        if self.shown >= self.limit:
            self.is_open = False
        if self.shown >= self.limit * _PATIENCE:
            what = f"the window closed at frame {self.limit} and is still shown: the program ends here"
            print(f"samovar: {what}", file=sys.stderr)
            raise SystemExit(0)
