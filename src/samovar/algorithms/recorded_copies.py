"""Copies of arrays on a tape, or in forward mode: `y.copy_from(x)` is a launch there, so that derivatives go through it."""

from __future__ import annotations

from typing import Any

import samovar as sv


@sv.kernel
def _copy(target: sv.Template, source: sv.Template) -> None:
    for at in sv.grouped(target):
        target[at] = sv.cast(source[at], target.dtype)


def copy_elements(target: Any, source: Any) -> None:
    """Copy an array with a gradient into another one, of the same shape."""
    _copy(target, source)
