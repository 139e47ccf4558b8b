"""`sv.tools`: images, videos, points, meshes and grids in files of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING  # not a constant of its own, which jedi takes at its word

from samovar import _lazy_exports

if TYPE_CHECKING:
    from samovar.tools.image_files import imread, imwrite
    from samovar.tools.mesh_files import read_mesh, write_mesh
    from samovar.tools.meshes import Mesh
    from samovar.tools.ply_files import PLYWriter
    from samovar.tools.video_files import VideoWriter
    from samovar.tools.vtk_files import write_vtk
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "image_files": "imread imwrite",
            "mesh_files": "read_mesh write_mesh",
            "meshes": "Mesh",
            "ply_files": "PLYWriter",
            "video_files": "VideoWriter",
            "vtk_files": "write_vtk",
        },
        (),
    )

__all__ = [
    "Mesh",
    "PLYWriter",
    "VideoWriter",
    "imread",
    "imwrite",
    "read_mesh",
    "write_mesh",
    "write_vtk",
]
