"""`sv.ui`: windows with pictures, widgets and input, as pages in a browser or a notebook, or off-screen."""

from __future__ import annotations

from typing import TYPE_CHECKING  # not a constant of its own, which jedi takes at its word

from samovar import _lazy_exports

if TYPE_CHECKING:
    from samovar.ui.gui import GUI
    from samovar.ui.key_names import KEYS as KEYS
    from samovar.ui.local_server import LocalServer as LocalServer
    from samovar.ui.local_server import Page as Page
    from samovar.ui.picture import Picture as Picture
    from samovar.ui.picture import as_colors as as_colors
    from samovar.ui.picture import as_pixels as as_pixels
    from samovar.ui.scenes import Camera, ProjectionMode, Scene
    from samovar.ui.scenes import make_camera as make_camera
    from samovar.ui.window import PRESS as PRESS
    from samovar.ui.window import RELEASE as RELEASE
    from samovar.ui.window import Canvas, Gui, Window
else:
    __getattr__, _ = _lazy_exports(
        globals(),
        {
            "gui": "GUI",
            "key_names": "KEYS",
            "local_server": "LocalServer Page",
            "picture": "Picture as_colors as_pixels",
            "scenes": "Camera ProjectionMode Scene make_camera",
            "window": "Canvas Gui PRESS RELEASE Window",
        },
        (),
    )

__all__ = ["GUI", "Camera", "Canvas", "Gui", "ProjectionMode", "Scene", "Window"]


def __dir__() -> list[str]:
    return __all__
