"""Colors as numbers, 0xRRGGBB, and as three floats from 0 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def rgb_to_hex(c: Any) -> Any:
    """The number of a color, or an array of them if the channels are arrays."""
    red, green, blue = (np.clip((np.asarray(channel) * 255).astype(np.int32), 0, 255) for channel in c)
    found = red << 16 | green << 8 | blue
    return found if found.ndim else int(found)


def hex_to_rgb(color: int) -> tuple[float, float, float]:
    """The channels of a color."""
    return (color >> 16 & 255) / 255, (color >> 8 & 255) / 255, (color & 255) / 255
