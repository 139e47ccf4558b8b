"""Write PNG files with the standard library alone.

Run on its own, it writes a small gradient: `python examples/png.py`.
"""

import os
import struct
import zlib


def chunk(kind: bytes, content: bytes) -> bytes:
    """One PNG chunk: length, kind, content, checksum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def write_png(path: str | os.PathLike[str], pixels: bytes, width: int, height: int) -> None:
    """Write `pixels`: RGB bytes, row by row from the top."""
    stride = 3 * width
    if len(pixels) != stride * height:
        raise ValueError(f"{width} × {height} pixels need {stride * height} bytes, there are {len(pixels)}")
    # Each row starts with its filter type; 0 means unfiltered.
    rows = b"".join(b"\0" + pixels[row * stride : (row + 1) * stride] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    import tempfile

    gradient = bytes(value for y in range(64) for x in range(96) for value in (x * 2, y * 3, 160))
    target = os.path.join(tempfile.gettempdir(), "gradient.png")
    write_png(target, gradient, 96, 64)
    print(f"Wrote {target}")
