"""Chooses where a window appears: in a browser, in a notebook, or nowhere."""

from __future__ import annotations

import os
import sys

from samovar.errors import SamovarError, not_one_of
from samovar.ui.frames import VARIABLE, Headless, Screen

WINDOW_VARIABLE = "SAMOVAR_WINDOW"


def open_screen(title: str, size: tuple[int, int], is_wanted: bool = True) -> Screen:
    """A page, if a browser or a notebook can show it, and otherwise none. `SAMOVAR_WINDOW` decides if it is set."""
    said = os.environ.get(WINDOW_VARIABLE, "")
    if said not in ("", "page", "headless"):
        raise SamovarError(not_one_of(WINDOW_VARIABLE, said, ("page", "headless")))
    if said == "headless" or not is_wanted or (not said and (VARIABLE in os.environ or not _has_viewer())):
        return Headless()
    from samovar.ui.live_page import LivePage

    return LivePage(title, size)


def _has_viewer() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or hasattr(running, "kernel")
