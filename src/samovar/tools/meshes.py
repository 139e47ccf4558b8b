"""Meshes: points, triangles between them, and numbers of each point."""

from __future__ import annotations

from typing import Any, NamedTuple

from samovar.errors import SamovarTypeError


class Mesh(NamedTuple):
    """Points, triangles between them, and numbers of each point by name, as NumPy arrays.

    >>> import samovar as sv
    >>> sv.tools.Mesh(sv.zeros((3, 3)), sv.array([[0, 1, 2]])).faces.shape
    (1, 3)
    """

    #: Positions: n × 3.
    vertices: Any
    #: The indices of the points of each triangle: m × 3. m is 0 for points alone.
    faces: Any
    #: Numbers of each point, such as `normal` (n × 3), `color` (n × 3, from 0 to 1) and any others (n, or n × k).
    channels: dict[str, Any] = {}  # noqa: RUF012 — never changed


Mesh.__module__ = "samovar.tools"


def as_rows(values: Any, name: str, dtype: str | None) -> Any:
    """An array, a field or a list as rows of numbers, one row for each element of the first dimensions."""
    import numpy

    given = values.to_numpy() if hasattr(values, "to_numpy") else numpy.asarray(values)
    if given.dtype.kind not in "fiub":
        raise SamovarTypeError(f"{name} are numbers, not {given.dtype}")
    if dtype is not None and not (dtype == "f4" and given.dtype == "f8"):
        given = given.astype(dtype)
    return given.reshape(-1, given.shape[-1]) if given.ndim > 1 else given.reshape(-1, 1)


def triangles(polygons: Any) -> Any:
    """Triangles from polygons, as fans."""
    import numpy

    found = [(each[0], each[at], each[at + 1]) for each in polygons for at in range(1, len(each) - 1)]
    return numpy.array(found, "i4").reshape(-1, 3)


def fans(corners: Any) -> Any:
    """Triangles from polygons with the same number of corners, given as rows."""
    import numpy

    count = corners.shape[1]
    parts = [corners[:, [0, at, at + 1]] for at in range(1, count - 1)]
    return numpy.ascontiguousarray(numpy.stack(parts, axis=1).reshape(-1, 3).astype("i4"))
