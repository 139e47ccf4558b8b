"""Image files: PNG and BMP are written here; reading and other formats need Pillow."""

from __future__ import annotations

import io
import os
import struct
import zlib
from importlib import import_module

import numpy as np

from samovar.compat.drawing.picture import as_pixels
from samovar.errors import SamovarError
from samovar.system import write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _pillow(what: str) -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise SamovarError(f"{what} needs Pillow: `pip install Pillow`; PNG and BMP files are written without it") from None


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def imwrite(img: Any, filename: str | os.PathLike[str]) -> None:
    """Write an image, indexed by x and y from the bottom left, with colors from 0 to 1 or as bytes."""
    rows = np.ascontiguousarray((as_pixels(img).clip(0, 1) * 255 + 0.5).astype(np.uint8).swapaxes(0, 1)[::-1])
    path = os.fspath(filename)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    kind = os.path.splitext(path)[1].lower()
    height, width, _ = rows.shape
    if kind == ".bmp":
        # Bottom row first, blue first, each row padded to four bytes.
        content = np.pad(rows[::-1, :, ::-1].reshape(height, -1), ((0, 0), (0, -3 * width % 4))).tobytes()
        head = struct.pack("<2sIII", b"BM", 54 + len(content), 0, 54)
        write_file(path, head, struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(content), 0, 0, 0, 0), content)
        return
    if kind != ".png":
        encoded = io.BytesIO()
        pillow = _pillow(f"writing {path}")
        pillow.init()
        if kind not in pillow.EXTENSION:
            raise SamovarError(f"{path}: Pillow does not support files that end with {kind!r}")
        pillow.fromarray(rows).save(encoded, pillow.EXTENSION[kind])
        write_file(path, encoded.getvalue())
        return
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # Each row starts with its filter; 0 is none.
    content = b"".join(b"\0" + row.tobytes() for row in rows)
    image = _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(content, 6)), _chunk(b"IEND", b"")
    write_file(path, b"\x89PNG\r\n\x1a\n", *image)


def imread(filename: str | os.PathLike[str], channels: int = 0) -> Any:
    """Read an image as bytes, indexed by x and y from the bottom left."""
    image = _pillow(f"reading {os.fspath(filename)}").open(filename)
    if channels:
        image = image.convert({1: "L", 3: "RGB", 4: "RGBA"}[channels])
    found = np.array(image)
    return np.ascontiguousarray((found if found.ndim == 3 else found[:, :, None]).swapaxes(0, 1)[:, ::-1])


def imresize(img: Any, w: int, h: int | None = None) -> Any:
    """Resize an image; `h` defaults to `w`."""
    found = img.to_numpy() if hasattr(img, "to_numpy") else np.asarray(img)
    columns = np.arange(w) * found.shape[0] // w
    rows = np.arange(h or w) * found.shape[1] // (h or w)
    return found[columns][:, rows]


def imshow(img: Any, title: str = "imshow") -> None:
    """Write an image to a file with the title as its name, because there is no window."""
    imwrite(img, f"{title}.png")


def imdisplay(img: Any) -> None:
    """Show an image in a notebook."""
    image = _pillow("showing an image")
    rows = (as_pixels(img).clip(0, 1) * 255 + 0.5).astype(np.uint8).swapaxes(0, 1)[::-1]
    import_module("IPython.display").display(image.fromarray(rows))


IMAGE_TOOLS: dict[str, Any] = {each.__name__: each for each in (imdisplay, imread, imresize, imshow, imwrite)}
