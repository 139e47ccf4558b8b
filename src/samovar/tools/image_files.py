"""Images in files: PNG and BMP are written, and PNG is read, without other libraries than NumPy; others by Pillow."""

from __future__ import annotations

import io
import os
import struct
from importlib import import_module
from typing import Any

from samovar.errors import SamovarError, SamovarTypeError
from samovar.system import write_file


def imwrite(image: Any, path: str | os.PathLike[str], xy: bool = False) -> None:
    """Write an image to a file: an array or a field of shape height × width, for shades of gray, or × 1 to 4 channels.

    Integers are colors from 0 to the largest number of their type, floats from 0 to 1. The first row is the top one; with
    `xy=True` the image is indexed by x and y from the bottom left, as in windows. The name says the format: PNG (and BMP)
    are written by themselves, others by Pillow.

    >>> import os, tempfile
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "gray.png")
    >>> gray = sv.full((48, 64), 0.5)
    >>> sv.tools.imwrite(gray, path)
    >>> sv.tools.imread(path).shape
    (48, 64)
    """
    rows = as_bytes(image, xy)
    path = os.fspath(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    kind = os.path.splitext(path)[1].lower()
    if kind == ".png":
        from samovar.tools.png_files import encoded

        write_file(path, *encoded(rows))
    elif kind == ".bmp":
        write_file(path, *_bitmap(rows))
    else:
        pillow = needs_pillow(f"writing {path}")
        pillow.init()
        if kind not in pillow.EXTENSION:
            raise SamovarError(f"{path}: Pillow does not support files that end with {kind!r}")
        content = io.BytesIO()
        shown = rows[:, :, :3] if kind in (".jpg", ".jpeg") else rows
        pillow.fromarray(shown[:, :, 0] if shown.shape[2] == 1 else shown).save(content, pillow.EXTENSION[kind])
        write_file(path, content.getvalue())


def imread(path: str | os.PathLike[str], channels: int = 0, xy: bool = False) -> Any:
    """Read an image as a NumPy array of bytes: height × width for shades of gray, × channels for colors.

    `channels` converts it: 1 gray, 3 RGB, 4 RGBA. With `xy=True` it is indexed by x and y from the bottom left. PNG files
    are read by themselves, others by Pillow. A 16-bit PNG file is returned as 16-bit integers.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "red.png")
    >>> sv.tools.imwrite(np.array([[[255, 0, 0]]], np.uint8), path)
    >>> sv.tools.imread(path).tolist()
    [[[255, 0, 0]]]
    """
    import numpy

    if channels not in (0, 1, 3, 4):
        raise SamovarTypeError(f"channels is 1 for gray, 3 for RGB or 4 for RGBA, not {channels!r}")
    path = os.fspath(path)
    found = _read(path)
    if channels:
        found = converted(found, channels)
    if xy:
        return numpy.ascontiguousarray(found.swapaxes(0, 1)[:, ::-1])
    return found[:, :, 0] if found.shape[2] == 1 else found


def _read(path: str) -> Any:
    """The pixels of a file, with an axis of channels."""
    import numpy

    from samovar.tools.png_files import SIGNATURE, NotReadable, RareKind, decoded

    with open(path, "rb") as file:
        content = file.read()
    what = f"reading {path}"
    if content.startswith(SIGNATURE):
        try:
            return decoded(content)
        except NotReadable as error:
            raise SamovarError(f"{path} cannot be read: {error}") from None
        except RareKind as error:
            what = f"reading {path}, because {error}"
    pillow = needs_pillow(what)
    try:
        picture = pillow.open(io.BytesIO(content))
        if picture.mode in ("P", "CMYK", "YCbCr"):
            picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
        found = numpy.array(picture)
    except (OSError, ValueError, SyntaxError) as error:
        raise SamovarError(f"{path} cannot be read as an image: {error}") from None
    return found if found.ndim == 3 else found[:, :, None]


def converted(pixels: Any, channels: int) -> Any:
    """Pixels with another number of channels: gray of colors is their luminance (BT.601)."""
    import numpy

    count = pixels.shape[2]
    largest = numpy.iinfo(pixels.dtype).max
    colors, alpha = (pixels[:, :, : count - 1], pixels[:, :, -1:]) if count in (2, 4) else (pixels, None)
    if channels == 1 and colors.shape[2] == 3:
        colors = (colors @ numpy.array([299, 587, 114]) + 500) // 1000
        colors = colors[:, :, None].astype(pixels.dtype)
    elif channels > 1 and colors.shape[2] == 1:
        colors = numpy.repeat(colors, 3, axis=2)
    if channels == 4:
        alpha = numpy.full((*pixels.shape[:2], 1), largest, pixels.dtype) if alpha is None else alpha
        colors = numpy.concatenate([colors, alpha], axis=2)
    return numpy.ascontiguousarray(colors)


def as_bytes(image: Any, xy: bool = False) -> Any:
    """An image as contiguous bytes of shape height × width × channels, top row first."""
    import numpy

    found = image.to_numpy() if hasattr(image, "to_numpy") else numpy.asarray(image)
    if found.ndim == 2:
        found = found[:, :, None]
    if found.ndim != 3 or not 1 <= found.shape[2] <= 4 or 0 in found.shape:
        raise SamovarTypeError(
            f"an image has the shape height × width, or height × width × 1 to 4 channels, not {found.shape}\n"
            "  help: for a field of vectors, the channels are the components"
        )
    if found.dtype.kind == "b":
        found = found.astype("u1") * numpy.uint8(255)
    elif found.dtype.kind in "iu":
        if found.dtype != "u1":
            largest = int(numpy.iinfo(found.dtype).max)
            found = (found.clip(0).astype("f8") * (255 / largest) + 0.5).astype("u1")
    elif found.dtype.kind == "f":
        colors = numpy.nan_to_num(found.astype("f4", copy=False)).clip(0, 1)
        found = (colors * 255 + numpy.float32(0.5)).astype("u1")
    else:
        raise SamovarTypeError(f"the pixels of an image are integers or floats, not {found.dtype}")
    return numpy.ascontiguousarray(found.swapaxes(0, 1)[::-1] if xy else found)


def _bitmap(rows: Any) -> tuple[bytes, ...]:
    import numpy

    rows = converted(rows, 3)
    height, width, _ = rows.shape
    # Bottom row first, blue first, each row padded to four bytes.
    content = numpy.pad(rows[::-1, :, ::-1].reshape(height, -1), ((0, 0), (0, -3 * width % 4))).tobytes()
    head = struct.pack("<2sIII", b"BM", 54 + len(content), 0, 54)
    return head, struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(content), 0, 0, 0, 0), content


def needs_pillow(what: str) -> Any:
    """The module `PIL.Image`, or an error that says what it is needed for."""
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise SamovarError(
            f"{what}: this needs Pillow\n  help: pip install Pillow; PNG files are read and written without it"
        ) from None
