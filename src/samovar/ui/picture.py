"""A picture in memory: discs, lines, triangles and images, painted in the order in which they were drawn.

Coordinates are from 0 to 1, x to the right and y upward, as in the windows of Taichi; sizes are in pixels. Painting is lazy:
a frame that is never read costs only copies of its arrays.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Array = Any

#: Shapes up to this many pixels across are painted together, larger ones one by one.
_SMALL = 24


def as_array(values: Any, columns: int | None = None) -> Array:
    """Copy numbers, an array or a field into rows of some columns."""
    found = values.to_numpy() if hasattr(values, "to_numpy") else values
    found = np.array(found, np.float32)
    return found if columns is None else found.reshape(-1, found.shape[-1] if found.ndim > 1 else columns)[:, :columns]


def as_colors(color: Any, count: int) -> Array:
    """Return the colors of `count` shapes: one for all or one for each, as 0xRRGGBB or as three numbers from 0 to 1."""
    if hasattr(color, "to_numpy"):
        color = color.to_numpy()
    given = np.asarray(color)
    of_parts = given.shape[-1:] in ((3,), (4,)) and given.max(initial=0) <= 1
    if given.dtype.kind in "iu" and not of_parts:
        flat = given.astype(np.int64).reshape(-1)
        given = np.stack([flat >> 16 & 255, flat >> 8 & 255, flat & 255], -1) / 255
    rows = np.array(given, np.float32).reshape(-1, given.shape[-1])[:, :3]
    return np.broadcast_to(rows, (count, 3)) if len(rows) == 1 else rows[:count]


def as_pixels(image: Any) -> Array:
    """Return an image as RGB from 0 to 1, from a field, an array or bytes, with one, three or four channels."""
    found = image.to_numpy() if hasattr(image, "to_numpy") else np.asarray(image)
    scale = np.float32(1 / np.iinfo(found.dtype).max) if found.dtype.kind in "iu" else np.float32(1)
    found = found.astype(np.float32) * scale
    if found.ndim == 2:
        found = found[:, :, None]
    if found.shape[2] < 3:
        found = np.repeat(found[:, :, :1], 3, axis=2) if found.shape[2] == 1 else np.pad(found, ((0, 0), (0, 0), (0, 1)))
    return found[:, :, :3]


class Picture:
    """What is drawn in one frame."""

    def __init__(self, width: int, height: int, background: Any = 0) -> None:
        self.width, self.height = width, height
        self.background = background
        self._drawn: list[Callable[[Array], None]] = []

    def clear(self, background: Any = None) -> None:
        """Start over with a background color."""
        if background is not None:
            self.background = background
        self._drawn.clear()

    def image(self, image: Any) -> None:
        """Draw an image over everything, scaled to fit."""
        pixels = as_pixels(image)
        columns = np.arange(self.width) * pixels.shape[0] // self.width
        rows = np.arange(self.height) * pixels.shape[1] // self.height
        fits = pixels.shape[:2] == (self.width, self.height)

        def paint(target: Array) -> None:
            target[:] = pixels if fits else pixels[columns][:, rows]

        self._drawn.append(paint)

    def discs(self, centers: Any, radius: Any, color: Any) -> None:
        """Draw filled circles."""
        places = as_array(centers, 2)
        colors = as_colors(color, len(places)).copy()
        radii = np.broadcast_to(as_array(radius).reshape(-1), len(places)).copy()
        self._drawn.append(lambda target: _paint_discs(target, places * target.shape[:2], radii, colors))

    def lines(self, begin: Any, end: Any, radius: float, color: Any) -> None:
        """Draw lines with a width."""
        first, last = as_array(begin, 2), as_array(end, 2)
        colors = as_colors(color, len(first)).copy()

        def paint(target: Array) -> None:
            size = target.shape[:2]
            length = np.ceil(np.abs((last - first) * size).max(axis=1, initial=0)).clip(0, 4 * max(size)).astype(int) + 1
            which = np.repeat(np.arange(len(first)), length)
            step = np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length)
            part = (step / np.maximum(length - 1, 1)[which])[:, None]
            places = (first[which] * (1 - part) + last[which] * part) * size
            _paint_discs(target, places, np.full(len(which), radius, np.float32), colors[which])

        self._drawn.append(paint)

    def triangles(self, a: Any, b: Any, c: Any, color: Any) -> None:
        """Draw filled triangles, given three arrays of corners."""
        corners = np.stack([as_array(each, 2) for each in (a, b, c)], 1)
        colors = as_colors(color, len(corners)).copy()
        self._drawn.append(lambda target: _paint_triangles(target, corners * target.shape[:2], colors))

    def painted(self) -> Array:
        """Return the picture as RGB from 0 to 1, indexed by x and y from the bottom left."""
        target = np.empty((self.width, self.height, 3), np.float32)
        target[:] = as_colors(self.background, 1)[0]
        for paint in self._drawn:
            paint(target)
        return target.clip(0, 1, out=target)

    def as_rgba(self) -> Array:
        """Return the picture as bytes, row by row from the top."""
        painted = self.painted()
        pixels = np.full((self.height, self.width, 4), 255, np.uint8)
        painted *= 255
        painted += 0.5
        pixels[:, :, :3] = painted.astype(np.uint8).swapaxes(0, 1)[::-1]
        return pixels


def _put(target: Array, x: Array, y: Array, shown: Array, colors: Array) -> None:
    inside = shown & (x >= 0) & (y >= 0) & (x < target.shape[0]) & (y < target.shape[1])
    target[x[inside], y[inside]] = colors[inside]


def _paint_discs(target: Array, places: Array, radii: Array, colors: Array) -> None:
    seen = np.isfinite(places).all(axis=1) & (np.abs(places) < 1e6).all(axis=1)
    places, radii, colors = places[seen], radii[seen], colors[seen]
    reach = int(np.ceil(radii.max(initial=0)))
    if reach > _SMALL // 2:
        for place, radius, color in zip(places, radii, colors, strict=True):
            low = np.maximum(np.floor(place - radius), 0).astype(int)
            x, y = np.ogrid[low[0] : max(int(place[0] + radius) + 1, 0), low[1] : max(int(place[1] + radius) + 1, 0)]
            part = target[low[0] : low[0] + x.size, low[1] : low[1] + y.size]
            near = (x + 0.5 - place[0]) ** 2 + (y + 0.5 - place[1]) ** 2 <= radius * radius
            part[near[: part.shape[0], : part.shape[1]]] = color
        return
    corner = np.floor(places).astype(int)
    for dx in range(-reach, reach + 1):
        for dy in range(-reach, reach + 1):
            x, y = corner[:, 0] + dx, corner[:, 1] + dy
            distance = (x + 0.5 - places[:, 0]) ** 2 + (y + 0.5 - places[:, 1]) ** 2
            _put(target, x, y, (distance <= radii * radii) | (dx == dy == 0), colors)


def _paint_triangles(target: Array, corners: Array, colors: Array) -> None:
    seen = np.isfinite(corners).all(axis=(1, 2))
    corners, colors = corners[seen], colors[seen]
    low = np.floor(corners.min(axis=1, initial=1e6)).clip(0, max(target.shape)).astype(int)
    high = np.ceil(corners.max(axis=1, initial=0)).clip(0, max(target.shape)).astype(int)
    across = (high - low).max(initial=0)
    if across <= _SMALL:
        for dx in range(across + 1):
            for dy in range(across + 1):
                x, y = low[:, 0] + dx, low[:, 1] + dy
                _put(target, x, y, _inside(corners, x + 0.5, y + 0.5), colors)
        return
    for corner, begin, end, color in zip(corners, low, high, colors, strict=True):
        x, y = np.meshgrid(np.arange(begin[0], end[0]), np.arange(begin[1], end[1]), indexing="ij")
        x, y = x.ravel(), y.ravel()
        _put(target, x, y, _inside(corner[None], x + 0.5, y + 0.5), np.broadcast_to(color, (len(x), 3)))


def _inside(corners: Array, x: Array, y: Array) -> Array:
    """Return which points are on the same side of all three edges."""
    sides = []
    for first, second in ((0, 1), (1, 2), (2, 0)):
        a, b = corners[:, first], corners[:, second]
        sides.append((b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (b[:, 1] - a[:, 1]) * (x - a[:, 0]))
    return (np.minimum.reduce(sides) >= 0) | (np.maximum.reduce(sides) <= 0)
