"""Warnings about what the user's code did, unless the options switch them off."""

from __future__ import annotations

from samovar import errors
from samovar.runtime import configuration


def warn_once(message: str, about: object = None, told: set[object] | None = None) -> None:
    """Warn, unless that was done before or warnings are switched off; see `samovar.errors.warn_once`."""
    if configuration.current_options().log_level != "error":
        errors.warn_once(message, about=about, told=told)
