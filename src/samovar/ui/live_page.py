"""A window as a page in a browser tab or a notebook cell: frames go there, and events and values of widgets come back."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from samovar.ui.frames import Screen
from samovar.ui.local_server import LocalServer, Page

if TYPE_CHECKING:
    from samovar.ui.picture import Picture
    from samovar.ui.websocket import WebSocket

#: Seconds until the first frame goes on without a browser.
_PATIENCE = 60.0
#: Seconds in which a page that is closed may come back: a tab that is reloaded does.
_GRACE = 1.0
#: Frames that are on the way to the page at a time.
_AHEAD = 2


class LivePage(Screen):
    """The page of one window."""

    def __init__(self, title: str, size: tuple[int, int]) -> None:
        super().__init__()
        self._title = title
        self._size = size
        self._changed = threading.Condition()
        self._socket: WebSocket | None = None
        self._was_connected = False
        self._left_at = 0.0
        self._frame: tuple[str, Any] | None = None
        self._in_flight = 0
        self._values: dict[str, Any] = {}
        self._shown_at = 0.0
        self._widgets: list[dict[str, Any]] = []
        self._sent_widgets = ""
        self._server = LocalServer(self._page, self._talk)
        self.address = self._server.address
        self._announce()

    # --- for the program

    def next(self, picture: Picture, is_kept: bool, fps_limit: float | None) -> None:
        """Show a frame. Waits for the page before the first one, and for the frame rate."""
        if not self._was_connected and self.is_open:
            with self._changed:
                if not self._changed.wait_for(lambda: self._socket is not None, _PATIENCE):
                    print(f"samovar: nobody has opened {self.address}; the program goes on without it", file=sys.stderr)
                self._was_connected = True
                self._left_at = monotonic()
        if fps_limit:
            wait = self._shown_at + 1 / fps_limit - monotonic()
            if wait > 0:
                sleep(wait)
        self._shown_at = monotonic()
        widgets, self._widgets = self._widgets, []
        texts, self._texts = self._texts, []
        with self._changed:
            if self._socket is None and self._left_at and monotonic() - self._left_at > _GRACE:
                self.is_open = False
            is_wanted = self._socket is not None and self._in_flight < _AHEAD
        if not is_wanted:
            return
        about: dict[str, Any] = {"texts": texts}
        described = json.dumps(widgets)
        if described != self._sent_widgets:
            self._sent_widgets = described
            about["widgets"] = widgets
        pixels = picture.as_rgba()
        with self._changed:
            self._frame = json.dumps(about), pixels
            self._changed.notify_all()

    def close(self) -> None:
        """Close the window and the page's connection."""
        if self.is_open:
            self.is_open = False
        with self._changed:
            socket, self._socket = self._socket, None
            self._changed.notify_all()
        if socket is not None:
            socket.close()
        self._server.close()

    def widget(self, kind: str, key: str, text: str, value: Any, **options: Any) -> Any:
        with self._changed:
            if kind == "button":
                value = self._values.pop(key, 0)
                self._widgets.append({"kind": kind, "key": key, "text": text, **options})
                return bool(value)
            if key in self._values:
                value = self._values.pop(key)
                self._sent_widgets = ""  # the page waits for it
        self._widgets.append({"kind": kind, "key": key, "text": text, "value": value, **options})
        return value

    def take_events(self) -> list[Any]:
        with self._changed:
            found = list(self._events)
            self._events.clear()
        return found

    # --- for the browser

    def _announce(self) -> None:
        shell = sys.modules.get("IPython")
        running = shell.get_ipython() if shell is not None else None
        if running is not None and hasattr(running, "kernel"):
            display: Any = __import__("IPython.display", fromlist=["display"])
            width, height = self._size
            display.display(display.IFrame(self.address, max(width + 40, 480), height + 160))
            return
        print(f"samovar: the window {self._title!r} is at {self.address}", file=sys.stderr)
        if has_display():
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()

    def _page(self, path: str) -> Page | None:
        if path:
            return None
        with open(os.path.join(os.path.dirname(__file__), "window.html"), encoding="utf-8") as file:
            text = file.read()
        about = json.dumps({"title": self._title, "width": self._size[0], "height": self._size[1]})
        return Page(text.replace("@ABOUT@", about.replace("<", "\\u003c").replace("@", "\\u0040")))

    def _talk(self, socket: WebSocket) -> None:
        """Take messages from the page; another thread sends frames. A second page takes over from the first."""
        with self._changed:
            before, self._socket = self._socket, socket
            self._in_flight = 0
            self._sent_widgets = ""
            self._changed.notify_all()
        if before is not None:
            before.close()
        threading.Thread(target=self._send_frames, args=(socket,), name="samovar-frames", daemon=True).start()
        while (message := socket.receive()) is not None:
            try:
                self._take(json.loads(message))
            except (ValueError, KeyError, TypeError, IndexError, RecursionError):
                break  # no page of ours sends this
        with self._changed:
            if self._socket is socket:
                self._socket = None
                self._left_at = monotonic()
                self.pressed.clear()
            self._changed.notify_all()

    def _send_frames(self, socket: WebSocket) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._socket is not socket or self._frame is not None)
                if self._socket is not socket or self._frame is None:
                    return
                (about, pixels), self._frame = self._frame, None
                self._in_flight += 1
            try:
                socket.send(about)
                socket.send(memoryview(pixels).cast("B"))
            except OSError:
                return

    def _take(self, message: dict[str, Any]) -> None:
        with self._changed:
            kind = message["kind"]
            if kind == "shown":
                self._in_flight = max(0, self._in_flight - 1)
            elif kind == "blur":
                self.pressed.clear()
            elif kind == "value":
                key, value = str(message["key"])[:200], message["value"]
                if isinstance(value, (bool, int, float)) and math.isfinite(value):
                    self._values[key] = value
                elif isinstance(value, list) and len(value) == 3:
                    self._values[key] = tuple(map(float, value))
            elif kind in ("press", "release", "move", "wheel"):
                x, y = (min(max(float(part), 0.0), 1.0) for part in message["at"])
                self.cursor = x, y
                key = str(message.get("key", ""))[:40]
                if kind == "press":
                    self.pressed.add(key)
                elif kind == "release":
                    self.pressed.discard(key)
                delta = tuple(float(part) for part in message.get("delta", (0, 0)))[:2]
                modifiers = tuple(str(each)[:10] for each in message.get("modifiers", ()))[:4]
                if kind == "move" and self._events and self._events[-1]["kind"] == "move":
                    self._events.pop()
                self._events.append({"kind": kind, "key": key, "at": (x, y), "delta": delta, "modifiers": modifiers})


def has_display() -> bool:
    """Whether a browser could appear on a screen of this machine."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
