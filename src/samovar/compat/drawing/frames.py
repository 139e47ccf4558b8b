"""How long a headless window stays open."""

from __future__ import annotations

import os
import sys

from samovar.errors import SamovarError
from samovar.runtime import say_once

VARIABLE = "SAMOVAR_FRAMES"
_USUAL = 50
#: A program that does not check whether its window is open is ended after this multiple of the frames.
_PATIENCE = 10


class Frames:
    """Counts the frames that are shown. The window closes itself after some of them, as there is no user to do so."""

    def __init__(self) -> None:
        text = os.environ.get(VARIABLE, str(_USUAL))
        if not text.isdigit():
            raise SamovarError(f"{VARIABLE} has to be the number of frames after which a window closes, not {text!r}")
        self.limit = int(text)
        self.shown = 0
        self.is_open = True
        say_once(f"headless window: drawing in memory, closing after {self.limit} frames ({VARIABLE})")

    def next(self, is_kept: bool) -> None:
        """Count a frame. Frames written to a file do not count: the program decides how many it writes."""
        if is_kept:
            return
        self.shown += 1
        if self.shown >= self.limit:
            self.is_open = False
        if self.shown >= self.limit * _PATIENCE:
            what = f"headless window: frame limit reached ({VARIABLE}={self.limit}), exiting"
            print(f"samovar: {what}", file=sys.stderr)
            raise SystemExit(0)
