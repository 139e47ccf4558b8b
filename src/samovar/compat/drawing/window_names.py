"""The names of `ti.ui`."""

from __future__ import annotations

from samovar import ui

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WINDOW_NAMES: dict[str, Any] = {
    **ui.KEYS,
    **{each.__name__: each for each in (ui.Camera, ui.Canvas, ui.Gui, ui.ProjectionMode, ui.Scene, ui.Window)},
    "make_camera": ui.make_camera,
    "PRESS": ui.PRESS,
    "RELEASE": ui.RELEASE,
    "check_ggui_availability": lambda: None,
}
