"""Meshes and points in files of other programs: `read_mesh` and `write_mesh`, by the ending of the name."""

from __future__ import annotations

import os
from typing import Any

from samovar.errors import SamovarError, SamovarTypeError, not_one_of
from samovar.tools.meshes import Mesh, as_rows

FORMATS = (".obj", ".ply", ".vtk")


def write_mesh(path: str | os.PathLike[str], vertices: Any, faces: Any = None, **channels: Any) -> None:
    """Write points, or a mesh, to an OBJ, PLY or VTK file, chosen by the ending of the name.

    `vertices` is an array or field of positions in two or three dimensions, `faces` the indices of triangles or quads.
    `channels` are numbers or vectors of each point by name; programs know `normal` and `color` (from 0 to 1). An OBJ file
    has only these two.

    >>> import os, tempfile
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "triangle.ply")
    >>> sv.tools.write_mesh(path, [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], heat=[0.0, 0.5, 1.0])
    >>> mesh = sv.tools.read_mesh(path)
    >>> mesh.faces.tolist(), mesh.channels["heat"].tolist()
    ([[0, 1, 2]], [0.0, 0.5, 1.0])
    """
    import numpy

    places = as_rows(vertices, "vertices", "f4")
    if places.shape[1] not in (2, 3):
        raise SamovarTypeError(f"vertices have the shape n × 3, or n × 2, not {places.shape}")
    if places.shape[1] == 2:
        places = numpy.concatenate([places, numpy.zeros((len(places), 1), places.dtype)], axis=1)
    corners = numpy.zeros((0, 3), "i4") if faces is None else as_rows(faces, "faces", "i4")
    if corners.shape[1] not in (3, 4):
        if corners.shape[1] != 1 or corners.size % 3:
            raise SamovarTypeError(f"faces have the shape m × 3, or m × 4 for quads, not {corners.shape}")
        corners = corners.reshape(-1, 3)  # a flat list, as for drawing
    if corners.size and not 0 <= corners.min() <= corners.max() < len(places):
        wrong = int(corners.max() if corners.min() >= 0 else corners.min())
        raise SamovarError(f"a face has the point {wrong}, but the points are 0 to {len(places) - 1}")
    columns = {name: as_rows(value, name, None) for name, value in channels.items()}
    for name, column in columns.items():
        if len(column) != len(places):
            raise SamovarError(f"{name} has {len(column)} values for {len(places)} points")
    _format_of(path).write(path, places, corners, columns)


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """Read an OBJ, PLY or (legacy) VTK file. Faces with more than three points become triangles.

    >>> import os, pathlib, tempfile
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "square.obj")
    >>> _ = pathlib.Path(path).write_text("v 0 0 0\\nv 1 0 0\\nv 1 1 0\\nv 0 1 0\\nf 1 2 3 4\\n")
    >>> sv.tools.read_mesh(path).faces.tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    reader = _format_of(path)
    with open(path, "rb") as file:
        content = file.read()
    try:
        mesh: Mesh = reader.read(content)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise SamovarError(f"{os.fspath(path)} cannot be read: {error or 'it ends early'}") from None
    if mesh.faces.size and not 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices):
        raise SamovarError(f"{os.fspath(path)} cannot be read: a face has a point that is not in the file")
    return mesh


def _format_of(path: str | os.PathLike[str]) -> Any:
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".obj":
        from samovar.tools import obj_files

        return obj_files
    if ending == ".ply":
        from samovar.tools import ply_meshes

        return ply_meshes
    if ending == ".vtk":
        from samovar.tools import vtk_meshes

        return vtk_meshes
    raise SamovarError(not_one_of("the ending of a mesh file", ending, FORMATS))
