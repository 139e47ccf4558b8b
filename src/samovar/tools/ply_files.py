"""PLY files: points, and faces between them."""

from __future__ import annotations

import os
from typing import Any

from samovar.errors import SamovarError, not_one_of, warn_once
from samovar.system import write_file

#: Type name in the format → NumPy type.
TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4",
    "float64": "f8",
}  # fmt: skip
_CORNERS = {"tri": 3, "quad": 4}


class PLYWriter:
    """Writes points, and faces between them, to a PLY file: `add_vertex_pos(x, y, z)`, then `export("points.ply")`.

    >>> import os, pathlib, tempfile
    >>> import samovar as sv
    >>> writer = sv.tools.PLYWriter(num_vertices=2)
    >>> writer.add_vertex_pos([0.0, 1.0], [0.0, 0.0], [0.0, 2.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "points.ply")
    >>> writer.export_ascii(path)
    >>> pathlib.Path(path).read_text().splitlines()[-1]
    '1.0 0.0 2.0'
    """

    __module__ = "samovar.tools"  # its public name, in pickles and messages

    def __init__(
        self, num_vertices: int, num_faces: int = 0, face_type: str = "tri", comment: str = "created by PLYWriter"
    ) -> None:
        if face_type not in _CORNERS:
            raise SamovarError(not_one_of("face_type=…", face_type, _CORNERS))
        self.num_vertices = num_vertices
        self.num_faces = num_faces
        self.face_type = face_type
        self.comment = comment
        self._vertices: list[tuple[str, str, Any]] = []
        self._faces: list[tuple[str, str, Any]] = []
        self._corners: Any = None

    # --- points

    def add_vertex_channel(self, key: str, data_type: str, data: Any) -> None:
        """Add a named number for each point."""
        self._vertices.extend(self._channel(key, data_type, data, self.num_vertices))

    def add_vertex_pos(self, x: Any, y: Any, z: Any) -> None:
        """Set the positions of the points."""
        self._add_vertices("x y z", "float", x, y, z)

    def add_vertex_normal(self, nx: Any, ny: Any, nz: Any) -> None:
        """Set the normals."""
        self._add_vertices("nx ny nz", "float", nx, ny, nz)

    def add_vertex_vel(self, vx: Any, vy: Any, vz: Any) -> None:
        """Set the velocities."""
        self._add_vertices("vx vy vz", "float", vx, vy, vz)

    def add_vertex_color(self, r: Any, g: Any, b: Any) -> None:
        """Set the colors, from 0 to 1."""
        self._add_vertices("red green blue", "float", r, g, b)

    def add_vertex_alpha(self, alpha: Any) -> None:
        """Set the opacities, from 0 to 1."""
        self._add_vertices("Alpha", "float", alpha)

    def add_vertex_rgba(self, r: Any, g: Any, b: Any, a: Any) -> None:
        """Set colors and opacities, from 0 to 1."""
        self._add_vertices("red green blue Alpha", "float", r, g, b, a)

    def add_vertex_id(self) -> None:
        """Add the index of each point."""
        self._add_vertices("id", "int", range(self.num_vertices))

    def add_vertex_piece(self, piece: Any) -> None:
        """Set the piece that each point belongs to."""
        self._add_vertices("piece", "int", piece)

    def _add_vertices(self, names: str, data_type: str, *columns: Any) -> None:
        for name, column in zip(names.split(), columns, strict=True):
            self.add_vertex_channel(name, data_type, column)

    # --- faces

    def add_faces(self, indices: Any) -> None:
        """Set the points of each face, one face after the other."""
        import numpy

        count = _CORNERS[self.face_type]
        self._corners = numpy.asarray(indices, "i4").reshape(-1)
        if self._corners.size != count * self.num_faces:
            raise SamovarError(f"{self.num_faces} faces have {count * self.num_faces} corners, not {self._corners.size}")
        self._corners = self._corners.reshape(self.num_faces, count)

    def add_face_channel(self, key: str, data_type: str, data: Any) -> None:
        """Add a named number for each face."""
        self._faces.extend(self._channel(key, data_type, data, self.num_faces))

    def add_face_id(self) -> None:
        """Add the index of each face."""
        self.add_face_channel("id", "int", range(self.num_faces))

    def add_face_piece(self, piece: Any) -> None:
        """Set the piece that each face belongs to."""
        self.add_face_channel("piece", "int", piece)

    @staticmethod
    def _channel(key: str, data_type: str, data: Any, count: int) -> list[tuple[str, str, Any]]:
        """The column of a file; empty, with a warning, for a type that the format does not have."""
        import numpy

        if data_type not in TYPES:
            warn_once(f"{key!r} is omitted: PLY files have no type {data_type!r}\n  help: use one of {', '.join(TYPES)}")
            return []
        given = data.to_numpy() if hasattr(data, "to_numpy") else list(data) if isinstance(data, range) else data
        column = numpy.asarray(given).reshape(-1).astype(TYPES[data_type])
        if column.size != count:
            raise SamovarError(f"{key!r}: expected {count} values, got {column.size}")
        return [(key, data_type, column)]

    # --- files

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a binary file."""
        import numpy

        pieces = [self._header("binary_little_endian").encode(), _records(self._vertices, self.num_vertices).tobytes()]
        if self.num_faces:
            count = _CORNERS[self.face_type]
            corners = numpy.zeros(self.num_faces, [("n", "u1"), ("corners", "<i4", (count,))])
            corners["n"], corners["corners"] = count, self._corners
            rest = _records(self._faces, self.num_faces)
            pieces += [a.tobytes() + b.tobytes() for a, b in zip(corners, rest, strict=True)]
        write_file(path, *pieces)

    def export_ascii(self, path: str | os.PathLike[str]) -> None:
        """Write a text file."""
        lines = [" ".join(str(column[row].item()) for _, _, column in self._vertices) for row in range(self.num_vertices)]
        for row in range(self.num_faces):
            corners = [len(self._corners[row]), *self._corners[row]]
            rest = [column[row].item() for _, _, column in self._faces]
            lines.append(" ".join(map(str, [*corners, *rest])))
        write_file(path, self._header("ascii").encode("ascii"), "".join(f"{line}\n" for line in lines).encode("ascii"))

    def export_frame(self, series_num: int, path: str) -> None:
        """Write a binary file with a frame number in its name: `points_000012.ply`."""
        self.export(_numbered(path, series_num))

    def export_frame_ascii(self, series_num: int, path: str) -> None:
        """Write a text file with a frame number in its name."""
        self.export_ascii(_numbered(path, series_num))

    def _header(self, form: str) -> str:
        if not self._vertices:
            raise SamovarError("a PLY file needs points: call add_vertex_pos first")
        if self.num_faces and self._corners is None:
            raise SamovarError(f"num_faces is {self.num_faces}, but there are no faces: call add_faces first")
        lines = ["ply", f"format {form} 1.0", f"comment {self.comment}", f"element vertex {self.num_vertices}"]
        lines += [f"property {data_type} {key}" for key, data_type, _ in self._vertices]
        if self.num_faces:
            lines += [f"element face {self.num_faces}", "property list uchar int vertex_indices"]
            lines += [f"property {data_type} {key}" for key, data_type, _ in self._faces]
        return "\n".join([*lines, "end_header", ""])


def _records(channels: list[tuple[str, str, Any]], count: int) -> Any:
    import numpy

    made = numpy.zeros(count, [(f"{number}", "<" + TYPES[kind]) for number, (_, kind, _) in enumerate(channels)])
    for number, (_, _, column) in enumerate(channels):
        made[f"{number}"] = column
    return made


def _numbered(path: str, number: int) -> str:
    stem = path.removesuffix(".ply")
    return f"{stem}_{number:06d}.ply"
