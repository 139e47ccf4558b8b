"""Doors of rooms: a room offers its names in its `__init__`, and a name is loaded from the file that has it when it is used.

A process that compiles nothing loads a small part of each room.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def door(room: str, homes: dict[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a room that has these names in these files."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        # Not `importlib`, which would be loaded for nothing else.
        value: object = getattr(__import__(f"{room}.{home}", fromlist=[name]), name)
        setattr(sys.modules[room], name, value)
        return value

    return get, lambda: sorted(home_of)
