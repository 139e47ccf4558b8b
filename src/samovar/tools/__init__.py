"""`sv.tools`: export of points, meshes and grids to files for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING  # not a constant of its own, which jedi takes at its word

from samovar import _lazy_exports

if TYPE_CHECKING:
    from samovar.tools.ply_files import PLYWriter
    from samovar.tools.vtk_files import write_vtk
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "ply_files": "PLYWriter",
            "vtk_files": "write_vtk",
        },
        (),
    )

__all__ = [
    "PLYWriter",
    "write_vtk",
]
