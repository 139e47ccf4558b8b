"""PNG files, with the standard library and NumPy."""

from __future__ import annotations

import struct
import zlib
from typing import Any

SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Color type → channels.
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_COLORS = {1: 0, 2: 4, 3: 2, 4: 6}
#: Images of more pixels are damage, or would not fit.
_MOST_PIXELS = 1 << 30


class NotReadable(Exception):
    """The file is damaged."""


class RareKind(Exception):
    """The file is of a kind that this reader does not know, but others do."""


def encoded(rows: Any) -> tuple[bytes, ...]:
    """The pieces of a file with bytes of shape height, width and channels."""
    import numpy

    height, width, channels = rows.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLORS[channels], 0, 0, 0)
    # Each row starts with its filter; 0 is none.
    flat = rows.reshape(height, width * channels)
    content = zlib.compress(numpy.concatenate([numpy.zeros((height, 1), "u1"), flat], axis=1).tobytes(), 6)
    return SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", content), _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def decoded(file: bytes) -> Any:
    """The pixels of a file: height, width and channels, of bytes or 16-bit numbers."""
    import numpy

    chunks = list(_chunks(file))
    if not chunks or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13:
        raise NotReadable("it has no header")
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if interlaced:
        raise RareKind("it is interlaced")
    if color not in _CHANNELS or depth not in (1, 2, 4, 8, 16) or not 0 < width * height <= _MOST_PIXELS:
        raise NotReadable("its header is wrong")
    channels = _CHANNELS[color]
    stride = (width * channels * depth + 7) // 8
    stored = _inflated(b"".join(content for kind, content in chunks if kind == b"IDAT"), height * (stride + 1))
    rows = _reconstructed(numpy.frombuffer(stored, "u1").reshape(height, stride + 1), max(1, channels * depth // 8))
    if depth == 16:
        pixels = rows.view(">u2").astype("u2")
    elif depth == 8:
        pixels = rows
    else:
        pixels = numpy.unpackbits(rows, axis=1).reshape(height, -1, depth) @ (1 << numpy.arange(depth)[::-1])
        pixels = pixels[:, : width * channels].astype("u1") * (1 if color == 3 else 255 // ((1 << depth) - 1))
    pixels = pixels.reshape(height, width, channels)
    named = dict(chunks)
    return _from_palette(pixels[:, :, 0], named) if color == 3 else pixels


def _chunks(file: bytes) -> Any:
    at = len(SIGNATURE)
    while at + 12 <= len(file):
        (length,) = struct.unpack_from(">I", file, at)
        kind, content = file[at + 4 : at + 8], file[at + 8 : at + 8 + length]
        if file[at + 8 + length : at + 12 + length] != struct.pack(">I", zlib.crc32(kind + content)):
            raise NotReadable("a checksum is wrong")
        yield kind, content
        at += 12 + length


def _inflated(content: bytes, size: int) -> bytes:
    """Decompress exactly so many bytes, and never more."""
    try:
        found = zlib.decompressobj().decompress(content, size)
    except zlib.error as error:
        raise NotReadable(str(error)) from None
    if len(found) != size:
        raise NotReadable("it ends early")
    return found


def _reconstructed(stored: Any, step: int) -> Any:
    import numpy

    if not stored[:, 0].any():
        return numpy.ascontiguousarray(stored[:, 1:])
    from samovar.tools.png_filters import reconstruct

    rows = numpy.empty((stored.shape[0], stored.shape[1] - 1), "u1")
    wrong = numpy.zeros((), "i4")
    reconstruct(stored, rows, step, wrong)
    if wrong:
        raise NotReadable("it has an unknown filter")
    return rows


def _from_palette(indices: Any, chunks: dict[bytes, bytes]) -> Any:
    import numpy

    colors = numpy.frombuffer(chunks.get(b"PLTE", b""), "u1").reshape(-1, 3)
    if len(colors) == 0 or indices.max(initial=0) >= len(colors):
        raise NotReadable("its palette is too small")
    if b"tRNS" in chunks:
        alpha = numpy.full(len(colors), 255, "u1")
        given = numpy.frombuffer(chunks[b"tRNS"], "u1")[: len(colors)]
        alpha[: len(given)] = given
        colors = numpy.concatenate([colors, alpha[:, None]], axis=1)
    return colors[indices]
