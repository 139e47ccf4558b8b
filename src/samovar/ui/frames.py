"""Where frames of a window go: nowhere, until they are written to files, or to a page in a browser."""

from __future__ import annotations

import os
import sys
from collections import deque

from samovar.errors import SamovarError
from samovar.runtime import say_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.ui.picture import Picture

VARIABLE = "SAMOVAR_FRAMES"
_USUAL = 50
#: A program that does not check whether its window is open is ended after this multiple of the frames.
_PATIENCE = 10
_MOST_EVENTS = 1000


class Screen:
    """The frames of a window and its input. Without a user, nothing happens: widgets keep their values."""

    def __init__(self) -> None:
        self.is_open = True
        #: The position of the mouse, from 0 to 1, from the bottom left.
        self.cursor = (0.5, 0.5)
        #: The keys and mouse buttons that are down.
        self.pressed: set[str] = set()
        self._events: deque[dict[str, Any]] = deque(maxlen=_MOST_EVENTS)
        self._texts: list[dict[str, Any]] = []

    def next(self, picture: Picture, is_kept: bool, fps_limit: float | None) -> None:
        """Show a frame."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the window."""
        self.is_open = False

    def is_pressed(self, *keys: str) -> bool:
        """Whether one of the keys or mouse buttons is down."""
        return any(key in self.pressed for key in keys)

    def take_events(self) -> list[Any]:
        """The events since the last call, oldest first."""
        return []

    def text(self, content: str, at: Any, size: float, color: Any) -> None:
        """Draw text over the picture of this frame."""
        self._texts.append({"text": str(content), "at": [float(part) for part in at], "size": size, "color": color})

    def widget(self, kind: str, key: str, text: str, value: Any, **options: Any) -> Any:
        """Show a widget in this frame, and return its value: the given one, unless the user has changed it."""
        return False if kind == "button" else value


class Headless(Screen):
    """Counts the frames that are shown. The window closes itself after some of them, as there is no user to do so."""

    def __init__(self) -> None:
        super().__init__()
        text = os.environ.get(VARIABLE, str(_USUAL))
        if not text.isdigit():
            raise SamovarError(f"{VARIABLE} has to be the number of frames after which a window closes, not {text!r}")
        self.limit = int(text)
        self.shown = 0
        say_once(f"headless window: drawing in memory, closing after {self.limit} frames ({VARIABLE})")

    def text(self, content: str, at: Any, size: float, color: Any) -> None:
        """Nothing: text is drawn by browsers only."""

    def next(self, picture: Picture, is_kept: bool, fps_limit: float | None) -> None:
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
