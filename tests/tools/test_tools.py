"""`sv.tools`: files for other programs."""

import numpy as np
import pytest

import samovar as sv


def triangle():
    writer = sv.tools.PLYWriter(3, 1, comment="a triangle")
    x = sv.field(sv.f32, 3)
    x[1] = 1
    writer.add_vertex_pos(x, [0, 0, 1], np.zeros(3))
    writer.add_vertex_rgba(*np.full((4, 3), 0.5))
    writer.add_vertex_id()
    writer.add_faces([0, 1, 2])
    writer.add_face_piece([7])
    return writer


def test_a_text_file(tmp_path):
    triangle().export_frame_ascii(12, str(tmp_path / "mesh.ply"))
    lines = (tmp_path / "mesh_000012.ply").read_text().splitlines()
    assert lines[:4] == ["ply", "format ascii 1.0", "comment a triangle", "element vertex 3"]
    assert lines[lines.index("end_header") + 1 :] == [
        "0.0 0.0 0.0 0.5 0.5 0.5 0.5 0", "1.0 0.0 0.0 0.5 0.5 0.5 0.5 1", "0.0 1.0 0.0 0.5 0.5 0.5 0.5 2", "3 0 1 2 7",
    ]  # fmt: skip


def test_a_binary_file(tmp_path):
    triangle().export(tmp_path / "mesh.ply")
    header, _, data = (tmp_path / "mesh.ply").read_bytes().partition(b"end_header\n")
    assert b"format binary_little_endian 1.0" in header
    points = np.frombuffer(data[:96], "<f4").reshape(3, 8)
    assert points[1, 0] == 1
    assert data[96] == 3
    assert np.frombuffer(data[97:], "<i4").tolist() == [0, 1, 2, 7]


def test_what_does_not_fit_is_said():
    writer = sv.tools.PLYWriter(2, 1)
    with pytest.raises(sv.SamovarError, match="'x': expected 2 values, got 3"):
        writer.add_vertex_pos([1, 2, 3], [1, 2], [1, 2])
    with pytest.raises(sv.SamovarError, match="1 faces have 3 corners, not 2"):
        writer.add_faces([0, 1])
    with pytest.raises(sv.SamovarError, match="call add_vertex_pos first"):
        writer.export("nowhere.ply")
    with pytest.warns(sv.SamovarWarning, match="'t' is omitted: PLY files have no type 'half'"):
        writer.add_vertex_channel("t", "half", [1, 2])
    with pytest.raises(sv.SamovarError, match="is not one of 'tri', 'quad'"):
        sv.tools.PLYWriter(2, 1, "hexagon")
