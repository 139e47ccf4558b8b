"""Reading and writing PLY files as meshes."""

from __future__ import annotations

import os
from typing import Any

from samovar.tools.meshes import Mesh, fans, triangles
from samovar.tools.ply_files import TYPES, PLYWriter

#: The names of columns that belong together.
_GROUPS: dict[str, tuple[str, ...]] = {"normal": ("nx", "ny", "nz"), "color": ("red", "green", "blue")}
_KINDS = {"f2": "float", "f4": "float", "f8": "double", "b1": "uchar", "i8": "double", "u8": "double"}


def write(path: str | os.PathLike[str], places: Any, corners: Any, channels: dict[str, Any]) -> None:
    """Write a mesh as a binary file."""
    writer = PLYWriter(len(places), len(corners), "quad" if corners.shape[1] == 4 else "tri", "created by Samovar")
    for name, column in {"position": places, **channels}.items():
        names: tuple[str, ...] = ("x", "y", "z") if name == "position" else _GROUPS.get(name, ())
        if len(names) != column.shape[1]:
            names = (name,) if column.shape[1] == 1 else tuple(f"{name}_{at}" for at in range(column.shape[1]))
        for at, each in enumerate(names):
            writer.add_vertex_channel(each, _kind(column.dtype), column[:, at])
    if len(corners):
        writer.add_faces(corners)
    writer.export(path)


def _kind(dtype: Any) -> str:
    text = f"{dtype.kind}{dtype.itemsize}"
    return _KINDS.get(text) or next(kind for kind, own in TYPES.items() if own == text)


def read(content: bytes) -> Mesh:
    """Read a mesh from a text file or a binary one."""
    import numpy

    head, found, body = content.partition(b"end_header")
    if not head.startswith(b"ply") or not found:
        raise ValueError("it is not a PLY file")
    body = body[2:] if body.startswith(b"\r\n") else body[1:]
    form = ""
    elements: list[tuple[str, int, list[tuple[str, list[str]]]]] = []
    for line in head.decode("ascii", "replace").splitlines()[1:]:
        words = line.split()
        if words[:1] == ["format"]:
            form = words[1]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append((words[-1], words[1:-1]))
    reader = _Text(body) if form == "ascii" else _Binary(body, ">" if form == "binary_big_endian" else "<")
    columns: dict[str, Any] = {}
    faces = numpy.zeros((0, 3), "i4")
    for name, count, properties in elements:
        if any(kind[0] == "list" for _, kind in properties):
            polygons = reader.lists(count, properties)
            if name == "face":
                faces = polygons
        else:
            rows = reader.rows(count, properties)
            if name == "vertex":
                columns = rows
    return Mesh(_joined(columns, ("x", "y", "z")), faces, _channels(columns))


def _joined(columns: dict[str, Any], names: tuple[str, ...]) -> Any:
    import numpy

    found = [columns.pop(name) for name in names]
    rows = numpy.stack(found, axis=1)
    return rows.astype("f4") if rows.dtype.kind != "f" else rows


def _channels(columns: dict[str, Any]) -> dict[str, Any]:
    channels: dict[str, Any] = {}
    for name, names in _GROUPS.items():
        if all(each in columns for each in names):
            is_bytes = columns[names[0]].dtype.kind in "iu"
            rows = _joined(columns, names)
            channels[name] = rows / 255 if is_bytes and name == "color" else rows
    for name in list(columns):
        stem, _, number = name.rpartition("_")
        if number == "0" and stem:
            names = tuple(f"{stem}_{at}" for at in range(len(columns)) if f"{stem}_{at}" in columns)
            channels[stem] = _joined(columns, names)
    return channels | columns


class _Text:
    """The body of a text file."""

    def __init__(self, body: bytes) -> None:
        self._words = iter(body.split())

    def rows(self, count: int, properties: list[Any]) -> dict[str, Any]:
        import numpy

        words = [next(self._words, b"") for _ in range(count * len(properties))]
        columns = {}
        for at, (name, kind) in enumerate(properties):
            column = numpy.array([float(word) for word in words[at :: len(properties)]])
            columns[name] = column.astype(TYPES[kind[0]])
        return columns

    def lists(self, count: int, properties: list[Any]) -> Any:
        polygons = []
        for _ in range(count):
            for name, kind in properties:
                length = int(next(self._words)) if kind[0] == "list" else 1
                words = [next(self._words, b"") for _ in range(length)]
                if name in ("vertex_indices", "vertex_index"):
                    polygons.append([int(word) for word in words])
        return triangles(polygons)


class _Binary:
    """The body of a binary file."""

    def __init__(self, body: bytes, order: str) -> None:
        self._body = body
        self._order = order
        self._at = 0

    def _table(self, fields: list[Any], count: int) -> Any:
        import numpy

        dtype = numpy.dtype(fields)
        if self._at + dtype.itemsize * count > len(self._body):
            raise ValueError("it ends early")
        return numpy.frombuffer(self._body, dtype, count, self._at)

    def rows(self, count: int, properties: list[Any]) -> dict[str, Any]:
        fields = [(name, self._order + TYPES[kind[0]]) for name, kind in properties]
        table = self._table(fields, count)
        self._at += table.nbytes
        return {name: table[name].astype(TYPES[kind[0]]) for name, kind in properties}

    def lists(self, count: int, properties: list[Any]) -> Any:
        """Polygons: at once if all have as many corners as the first one, otherwise one by one."""
        import numpy

        if count:
            first = self._body[self._at]
            fields: list[Any] = []
            for name, kind in properties:
                if kind[0] == "list":
                    fields += [(f"{name} n", self._order + TYPES[kind[1]]), (name, self._order + TYPES[kind[2]], (first,))]
                else:
                    fields.append((name, self._order + TYPES[kind[0]]))
            dtype = numpy.dtype(fields)
            if properties[0][1][0] == "list" and first > 2 and self._at + dtype.itemsize * count <= len(self._body):
                table = self._table(fields, count)
                names = [name for name, kind in properties if kind[0] == "list"]
                if len(names) == 1 and (table[f"{names[0]} n"] == first).all():
                    self._at += table.nbytes
                    return fans(table[names[0]])
        return self._one_by_one(count, properties)

    def _one_by_one(self, count: int, properties: list[Any]) -> Any:
        polygons = []
        for _ in range(count):
            for name, kind in properties:
                length = int(self._number(kind[1])) if kind[0] == "list" else 1
                values = [int(self._number(kind[-1])) for _ in range(length)]
                if name in ("vertex_indices", "vertex_index"):
                    polygons.append(values)
        return triangles(polygons)

    def _number(self, kind: str) -> Any:
        value = self._table([("value", self._order + TYPES[kind])], 1)[0]["value"]
        self._at += value.nbytes
        return value
