"""Shared by the examples that draw: iterating over frames, and saving an image of colors from 0 to 1 as PNG.

Run on its own, it draws a shaded ball: `python examples/pictures.py`.
"""

from __future__ import annotations

from itertools import islice

import samovar as sv
from samovar.math import vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

Image = sv.types.NDArray[vec3, 2]


def image(height: int, width: int) -> Any:
    """A black image, row 0 at the top."""
    return sv.ndarray(vec3, (height, width))


def last_of(frames: Iterator[Any], count: int) -> Any:
    """The image after `count` frames."""
    found = None
    for found in islice(frames, count):  # noqa: B007
        pass
    return found


@sv.kernel
def develop(light: Image, pixels: sv.types.NDArray[sv.u8, 3]) -> None:
    """Convert to gamma-corrected bytes."""
    for i, j in light:
        color = sv.sqrt(sv.math.clamp(light[i, j], 0.0, 1.0))
        for channel in sv.static(range(3)):
            pixels[i, j, channel] = sv.cast(255.0 * color[channel] + 0.5, sv.u8)


def save(light: Any, name: str) -> None:
    """Write an image to out/<name>.png."""
    from png import write_png  # only if something is drawn

    height, width = light.shape
    pixels = sv.ndarray(sv.u8, (height, width, 3))
    develop(light, pixels)
    path = f"out/{name}.png"
    write_png(path, bytes(memoryview(pixels).cast("B")), width, height)
    print(f"Wrote {path}")


@sv.kernel
def shade_ball(light: Image) -> None:
    for i, j in light:
        x, y = 2.0 * j / light.shape[1] - 1.0, 1.0 - 2.0 * i / light.shape[0]
        depth = 0.8 - x * x - y * y
        if depth > 0.0:
            light[i, j] = 0.5 + 0.5 * vec3(x, y, sv.sqrt(depth)).normalized()


if __name__ == "__main__":
    ball = image(96, 96)
    shade_ball(ball)
    save(ball, "pictures")
