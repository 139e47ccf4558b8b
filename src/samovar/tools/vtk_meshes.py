"""Legacy VTK files (`.vtk`) of points and polygons, as ParaView reads and writes them."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

from samovar.system import write_file
from samovar.tools.meshes import Mesh, fans, triangles

_TYPES = {
    "char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4", "unsigned_int": "u4",
    "long": "i8", "unsigned_long": "u8", "vtktypeint64": "i8", "float": "f4", "double": "f8",
}  # fmt: skip
#: What a legacy file has no name for, and what is written instead.
_WRITTEN = {"f2": "f4", "b1": "u1", "i8": "i4", "u8": "i4"}


def write(path: str | os.PathLike[str], places: Any, corners: Any, channels: dict[str, Any]) -> None:
    """Write a binary file: points alone become vertices, so that they are visible."""
    import numpy

    count = len(places)
    pieces = [f"# vtk DataFile Version 3.0\ncreated by Samovar\nBINARY\nDATASET POLYDATA\nPOINTS {count} ".encode()]
    pieces += _numbers(places)
    if len(corners):
        cells, kind = corners, "POLYGONS"
    else:
        cells, kind = numpy.arange(count, dtype="i4").reshape(-1, 1), "VERTICES"
    rows = numpy.concatenate([numpy.full((len(cells), 1), cells.shape[1]), cells], axis=1)
    pieces += [f"{kind} {len(cells)} {rows.size}\n".encode(), rows.astype(">i4").tobytes(), b"\n"]
    if channels:
        pieces.append(f"POINT_DATA {count}\nFIELD channels {len(channels)}\n".encode())
    for name, column in channels.items():
        head = f"{name.replace(' ', '_')} {column.shape[1]} {count} "
        pieces += [head.encode(), *_numbers(column)]
    write_file(path, *pieces)


def _numbers(rows: Any) -> list[bytes]:
    """The name of a type, and the elements."""
    text = f"{rows.dtype.kind}{rows.dtype.itemsize}"
    text = _WRITTEN.get(text, text)
    name = next(name for name, own in _TYPES.items() if own == text)
    return [f"{name}\n".encode(), rows.astype(f">{text}").tobytes(), b"\n"]


def read(content: bytes) -> Mesh:
    """Read points, polygons, triangle strips and numbers of points."""
    import numpy

    reader = _Reader(content)
    if not reader.line().startswith("# vtk DataFile"):
        raise ValueError("it is not a legacy VTK file")
    reader.line()
    reader.is_text = reader.line().strip().upper() == "ASCII"
    places = numpy.zeros((0, 3), "f4")
    faces = [numpy.zeros((0, 3), "i4")]
    channels: dict[str, Any] = {}
    is_of_points = False
    while words := reader.words():
        kind = words[0].upper()
        if kind == "DATASET" and words[1].upper() not in ("POLYDATA", "UNSTRUCTURED_GRID"):
            raise ValueError(f"it has {words[1]}, and only POLYDATA is read")
        if kind == "POINTS":
            places = reader.numbers(int(words[1]) * 3, words[2]).reshape(-1, 3)
        elif kind in ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS"):
            found = reader.cells(int(words[1]), int(words[2]))
            if kind == "POLYGONS":
                faces.append(found if isinstance(found, numpy.ndarray) else triangles(found))
            elif kind == "CELLS":
                raise ValueError("it has cells of an unstructured grid, and only polygons are read")
        elif kind in ("POINT_DATA", "CELL_DATA"):
            is_of_points, count = kind == "POINT_DATA", int(words[1])
        elif kind in ("SCALARS", "VECTORS", "NORMALS"):
            width = 3
            if kind == "SCALARS":
                width = int(words[3]) if len(words) > 3 else 1
                reader.words()  # the lookup table
            rows = reader.numbers(count * width, words[2]).reshape(count, width)
            if is_of_points:
                channels["normal" if kind == "NORMALS" else words[1]] = rows[:, 0] if width == 1 else rows
        elif kind == "FIELD":
            for _ in range(int(words[2])):
                name, components, tuples, type_name = reader.words()[:4]
                rows = reader.numbers(int(components) * int(tuples), type_name).reshape(int(tuples), int(components))
                if is_of_points:
                    channels[name] = rows[:, 0] if rows.shape[1] == 1 else rows
        elif kind == "METADATA":
            while reader.line().strip():
                pass
        elif kind != "DATASET":
            raise ValueError(f"it has {words[0]}, which is not read")
    return Mesh(places, numpy.concatenate(faces), channels)


class _Reader:
    """The lines and numbers of a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0
        self.is_text = False

    def line(self) -> str:
        """The next line."""
        end = self._content.find(b"\n", self._at)
        end = len(self._content) if end < 0 else end
        found = self._content[self._at : end].decode("ascii", "replace")
        self._at = end + 1
        return found

    def words(self) -> list[str]:
        """The words of the next line that has some; an empty list at the end."""
        while self._at < len(self._content):
            words = self.line().split()
            if words:
                return words
        return []

    def numbers(self, count: int, name: str) -> Any:
        """So many numbers of a type."""
        import numpy

        kind = _TYPES[name.lower()]
        if count < 0 or count > len(self._content):
            raise ValueError("it ends early")
        if self.is_text:
            found: list[str] = []
            while len(found) < count:
                words = self.words()
                if not words:
                    raise ValueError("it ends early")
                found += words
            return numpy.array(found[:count], "f8").astype(kind)
        size = count * int(kind[1])
        if self._at + size > len(self._content):
            raise ValueError("it ends early")
        elements = numpy.frombuffer(self._content, f">{kind}", count, self._at).astype(kind)
        self._at += size
        return elements

    def cells(self, count: int, size: int) -> Any:
        """Polygons: triangles if all have the same number of corners, otherwise a list of lists."""
        start = self._at
        words = self.words()
        if words and words[0].upper() == "OFFSETS":  # version 5
            offsets = self.numbers(count, words[1])
            words = self.words()
            flat = self.numbers(size, words[1]).tolist()
            return [flat[first:last] for first, last in pairwise(offsets)]
        self._at = start
        flat = self.numbers(size, "int")
        width = int(flat[0]) + 1 if size else 1
        if count and size == count * width and (flat[::width] == width - 1).all():
            rows = flat.reshape(count, width)[:, 1:]
            return fans(rows) if width > 3 else [each.tolist() for each in rows]
        found, at, numbers = [], 0, flat.tolist()
        for _ in range(count):
            found.append(numbers[at + 1 : at + 1 + numbers[at]])
            at += numbers[at] + 1
        return found
