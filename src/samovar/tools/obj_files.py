"""OBJ files: positions with optional colors, normals, and faces; materials and texture coordinates are not read."""

from __future__ import annotations

import os
from typing import Any

from samovar.system import write_file
from samovar.tools.meshes import Mesh, triangles


def write(path: str | os.PathLike[str], places: Any, corners: Any, channels: dict[str, Any]) -> None:
    """Write a mesh. Channels other than `normal` and `color` are an error."""
    import numpy

    from samovar.errors import SamovarError

    others = [name for name in channels if name not in ("normal", "color")]
    if others:
        raise SamovarError(f"an OBJ file has no {others[0]!r}, only normal and color\n  help: write a .ply or .vtk file")
    rows = numpy.concatenate([places, channels["color"]], axis=1) if "color" in channels else places
    lines = [f"v {' '.join(map(repr, row))}" for row in rows.tolist()]
    if "normal" in channels:
        lines += [f"vn {' '.join(map(repr, row))}" for row in channels["normal"].tolist()]
    form = "{0}//{0}" if "normal" in channels else "{0}"
    lines += [f"f {' '.join(form.format(index + 1) for index in face)}" for face in corners.tolist()]
    write_file(path, "\n".join([*lines, ""]).encode())


def read(content: bytes) -> Mesh:
    """Read a mesh."""
    import numpy

    places: list[list[float]] = []
    normals: list[list[float]] = []
    polygons: list[list[int]] = []
    #: The normal of each point; the last face that names one decides.
    chosen: dict[int, int] = {}
    for line in content.decode("utf-8", "replace").replace("\\\n", " ").splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "v":
            places.append([float(word) for word in words[1:7]])
        elif words[0] == "vn":
            normals.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            face = []
            for word in words[1:]:
                parts = word.split("/")
                point = _index(parts[0], len(places))
                face.append(point)
                if len(parts) > 2 and parts[2]:
                    chosen[point] = _index(parts[2], len(normals))
            polygons.append(face)
    rows = numpy.array([each[:3] for each in places], "f4").reshape(-1, 3)
    channels: dict[str, Any] = {}
    if places and all(len(each) == 6 for each in places):
        channels["color"] = numpy.array([each[3:] for each in places], "f4")
    if normals and (chosen or len(normals) == len(places)):
        others = {point: point for point in range(len(places))} if len(normals) == len(places) else {}
        which = [chosen.get(point, others.get(point, -1)) for point in range(len(places))]
        known = numpy.array([*normals, [0.0, 0.0, 0.0]], "f4")
        channels["normal"] = known[which]
    return Mesh(rows, triangles(polygons), channels)


def _index(word: str, count: int) -> int:
    """A position from one that counts from 1, or from the end."""
    number = int(word)
    if number == 0 or number < -count:
        raise ValueError(f"there is no point {number}")
    return number - 1 if number > 0 else count + number
