"""VTK files: fields on a grid."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from samovar.errors import SamovarError


def write_vtk(scalar_field: Any, filename: str) -> None:
    """Write a 2-D or 3-D field of numbers to a VTK file. Requires `pyevtk`.

    >>> import samovar as sv
    >>> sv.tools.write_vtk(sv.field(sv.f32, 4), "grid")
    Traceback (most recent call last):
    ...
    ValueError: sv.tools.write_vtk expects a 2-D or 3-D field, not a 1-D one
    """
    import numpy

    values = scalar_field.to_numpy()
    if values.ndim not in (2, 3):
        raise ValueError(f"sv.tools.write_vtk expects a 2-D or 3-D field, not a {values.ndim}-D one")
    try:
        library: Any = import_module("pyevtk.hl")
    except ImportError as error:
        raise SamovarError("sv.tools.write_vtk needs pyevtk\n  help: pip install pyevtk") from error
    cells = values.reshape(*values.shape, *(1,) * (3 - values.ndim))
    x, y, z = (numpy.arange(extent + 1, dtype=numpy.float64) for extent in cells.shape)
    library.gridToVTK(filename, x, y, z, cellData={os.path.basename(filename): numpy.ascontiguousarray(cells)})
