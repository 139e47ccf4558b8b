"""Warnings that point at the user's line, however deep in the library they come up."""

from __future__ import annotations

import sys

from samovar.errors import SamovarWarning
from samovar.runtime import configuration


def warn(message: str) -> None:
    """Warn about what the user's code did, unless warnings are switched off."""
    if configuration.current_options().log_level == "error":
        return
    import warnings

    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("samovar."):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, SamovarWarning, stacklevel=level)
