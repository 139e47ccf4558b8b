"""Meshes and points are written to files of each format and read from them."""

import numpy as np
import pytest

import samovar as sv

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7]], np.int32)


@pytest.mark.parametrize("ending", ["obj", "ply", "vtk"])
def test_a_mesh_comes_back(tmp_path, ending):
    path = tmp_path / f"mesh.{ending}"
    color, normal = CUBE * np.float32(0.5), CUBE - np.float32(0.5)
    sv.tools.write_mesh(path, CUBE, FACES, color=color, normal=normal)
    found = sv.tools.read_mesh(path)
    assert np.array_equal(found.vertices, CUBE)
    assert np.array_equal(found.faces, FACES)
    assert np.array_equal(found.channels["color"], color)
    assert np.array_equal(found.channels["normal"], normal)


@pytest.mark.parametrize("ending", ["ply", "vtk"])
def test_other_numbers_come_back(tmp_path, ending):
    path = tmp_path / f"points.{ending}"
    channels = {"id": np.arange(8, dtype=np.int32), "speed": CUBE.astype(np.float64) / 3}
    channels["wide"] = np.ones((8, 4), np.float32)
    sv.tools.write_mesh(path, CUBE, **channels)
    found = sv.tools.read_mesh(path)
    assert found.faces.shape == (0, 3)
    for name, values in channels.items():
        assert np.array_equal(found.channels[name], values)
        assert found.channels[name].dtype == values.dtype


def test_fields_are_written(tmp_path):
    points, corners = sv.field(sv.math.vec2, 3), sv.field(sv.i32, 3)
    points[1], points[2], corners[1], corners[2] = [1, 0], [0, 1], 1, 2
    sv.tools.write_mesh(tmp_path / "a.obj", points, corners)
    found = sv.tools.read_mesh(tmp_path / "a.obj")
    assert found.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert found.faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("ending", ["obj", "ply", "vtk"])
def test_quads_become_triangles(tmp_path, ending):
    path = tmp_path / f"quads.{ending}"
    sv.tools.write_mesh(path, CUBE, [[0, 1, 3, 2], [4, 5, 7, 6]])
    assert sv.tools.read_mesh(path).faces.tolist() == [[0, 1, 3], [0, 3, 2], [4, 5, 7], [4, 7, 6]]


OBJ = """# a
mtllib a.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vn 0 0 1
g b
f 1/1/1 2/1/1 3/1/1
f -4//-1 -2//-1 -1//-1
"""
PLY = """ply
format ascii 1.0
comment x
element vertex 4
property double x
property double y
property double z
property uchar red
property uchar green
property uchar blue
element face 2
property list uchar int vertex_index
end_header
0 0 0 255 0 0
1 0 0 0 255 0
1 1 0 0 0 255
0 1 0 0 0 0
3 0 1 2
4 0 1 2 3
"""
VTK = """# vtk DataFile Version 5.1
title
ASCII
DATASET POLYDATA
POINTS 4 float
0 0 0 1 0 0
1 1 0 0 1 0
METADATA
INFORMATION 0

POLYGONS 3 7
OFFSETS vtktypeint64
0 3 7
CONNECTIVITY vtktypeint64
0 1 2 0 1 2 3
CELL_DATA 2
SCALARS id int
LOOKUP_TABLE default
1 2
POINT_DATA 4
VECTORS v float
0 0 0 1 1 1 2 2 2 3 3 3
"""


@pytest.mark.parametrize(
    ("name", "text", "faces", "channel", "first"),
    [
        ("a.obj", OBJ, [[0, 1, 2], [0, 2, 3]], "normal", [0, 0, 1]),
        ("a.ply", PLY, [[0, 1, 2], [0, 1, 2], [0, 2, 3]], "color", [1, 0, 0]),
        ("a.vtk", VTK, [[0, 1, 2], [0, 1, 2], [0, 2, 3]], "v", [0, 0, 0]),
    ],
)
def test_files_of_other_programs(tmp_path, name, text, faces, channel, first):
    (tmp_path / name).write_text(text)
    found = sv.tools.read_mesh(tmp_path / name)
    assert found.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert found.faces.tolist() == faces
    assert list(found.channels) == [channel]
    assert found.channels[channel][0].tolist() == first


def test_a_big_endian_file_with_mixed_faces(tmp_path):
    header = "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    header += "element face 2\nproperty list uchar int vertex_indices\nproperty uchar flags\nend_header\n"
    body = CUBE[:4].astype(">f4").tobytes()
    for face in ([0, 1, 2], [0, 1, 2, 3]):
        body += bytes([len(face)]) + np.array(face, ">i4").tobytes() + b"\x01"
    (tmp_path / "a.ply").write_bytes(header.encode() + body)
    assert sv.tools.read_mesh(tmp_path / "a.ply").faces.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a.stl", CUBE), r"the ending of a mesh file.*'\.stl'.*'\.obj'"),
        (("a.ply", np.zeros(3)), r"vertices have the shape n × 3"),
        (("a.ply", CUBE, [[0, 1, 8]]), "a face has the point 8, but the points are 0 to 7"),
        (("a.ply", CUBE, [[0, 1]]), r"faces have the shape m × 3"),
        (("a.ply", [["a"]]), "vertices are numbers"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, arguments, says):
    with pytest.raises(sv.SamovarError, match=says):
        sv.tools.write_mesh(tmp_path / arguments[0], *arguments[1:])


def test_channels_that_do_not_fit_are_told(tmp_path):
    with pytest.raises(sv.SamovarError, match="heat has 2 values for 8 points"):
        sv.tools.write_mesh(tmp_path / "a.ply", CUBE, heat=[1.0, 2.0])
    with pytest.raises(sv.SamovarError, match=r"an OBJ file has no 'heat'.*\n  help: write a \.ply"):
        sv.tools.write_mesh(tmp_path / "a.obj", CUBE, heat=np.zeros(8))


@pytest.mark.parametrize("ending", ["obj", "ply", "vtk"])
def test_a_damaged_file_is_an_error_or_a_mesh(tmp_path, ending):
    path = tmp_path / f"mesh.{ending}"
    sv.tools.write_mesh(path, CUBE, FACES, color=CUBE)
    content = path.read_bytes()
    told = 0
    for size in range(0, len(content), 5):
        path.write_bytes(content[:size])
        try:
            assert len(sv.tools.read_mesh(path).vertices) <= 8
        except sv.SamovarError as error:
            told += str(error).startswith(str(path))
    assert told or ending == "obj"
