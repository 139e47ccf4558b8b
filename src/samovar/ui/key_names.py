"""Names of keys and events."""

from __future__ import annotations

import enum


class EType(enum.Enum):
    """The type of an event."""

    Move = 0
    Press = 1
    Release = 2


KEYS = {
    "SHIFT": "Shift",
    "ALT": "Alt",
    "CTRL": "Control",
    "ESCAPE": "Escape",
    "RETURN": "Return",
    "TAB": "Tab",
    "BACKSPACE": "BackSpace",
    "SPACE": " ",
    "UP": "Up",
    "DOWN": "Down",
    "LEFT": "Left",
    "RIGHT": "Right",
    "CAPSLOCK": "Caps_Lock",
    "LMB": "LMB",
    "MMB": "MMB",
    "RMB": "RMB",
}
