"""Windows that nobody sees: what programs draw is in the pictures that they write."""

import os
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv
import samovar.compat.taichi as ti
from samovar.ui import Picture, as_colors, as_pixels

RED, GREEN, BLUE = 0xFF0000, 0x00FF00, 0x0000FF


def pixels_of(path):
    """The pixels of a PNG file that was written here: rows from above."""
    import zlib

    data = path.read_bytes()
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    begin = data.index(b"IDAT")
    size = int.from_bytes(data[begin - 4 : begin], "big")
    rows = np.frombuffer(zlib.decompress(data[begin + 4 : begin + 4 + size]), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_shapes_are_in_the_picture(tmp_path):
    gui = ti.GUI("shapes", res=(40, 20), background_color=0x101010)
    gui.circle((0.25, 0.5), color=RED, radius=4)
    gui.line((0.5, 0.25), (0.975, 0.25), radius=1, color=GREEN)
    gui.triangle((0.5, 0.5), (0.9, 0.5), (0.5, 0.95), color=BLUE)
    gui.text("not drawn", (0, 0))
    gui.show(str(tmp_path / "inner" / "frame.png"))
    rows = pixels_of(tmp_path / "inner" / "frame.png")
    assert rows.shape == (20, 40, 3)
    assert rows[0, 0].tolist() == [16, 16, 16]
    assert rows[10, 10].tolist() == [255, 0, 0]
    disc = (rows == [255, 0, 0]).all(axis=2).sum()
    assert abs(disc - np.pi * 16) < 8
    assert rows[14, 30].tolist() == [0, 255, 0]
    assert rows[8, 22].tolist() == [0, 0, 255]
    assert rows[8, 38].tolist() == [16, 16, 16]


def test_a_frame_begins_empty_and_a_cleared_one_too(tmp_path):
    gui = ti.GUI(res=8)
    gui.circle((0.5, 0.5), radius=3)
    gui.show(str(tmp_path / "1.png"))
    gui.circle((0.5, 0.5), radius=3)
    gui.clear(GREEN)
    gui.show(str(tmp_path / "2.png"))
    assert pixels_of(tmp_path / "1.png").any()
    assert (pixels_of(tmp_path / "2.png") == [0, 255, 0]).all()


@pytest.mark.parametrize("radius", [2, 20])
def test_discs_are_round_in_both_ways_of_painting(radius):
    picture = Picture(64, 64)
    picture.discs([[0.5, 0.5], [2.0, 0.5], [np.nan, 0.5]], radius, [RED, GREEN, BLUE])
    painted = picture.painted()
    x, y = np.mgrid[:64, :64] + 0.5
    inside = (x - 32) ** 2 + (y - 32) ** 2 <= radius**2
    assert (painted[inside] == [1, 0, 0]).all()
    assert (~inside & (painted != 0).any(axis=2)).sum() <= 4


@pytest.mark.parametrize("scale", [0.1, 0.9])
def test_triangles_are_full_in_both_ways_of_painting(scale):
    picture = Picture(100, 100)
    picture.triangles([[0, 0]], [[scale, 0]], [[0, scale]], GREEN)
    found = picture.painted()[:, :, 1].sum()
    assert abs(found - (100 * scale) ** 2 / 2) <= 100 * scale


def test_fields_are_drawn(tmp_path):
    image, places = sv.Vector.field(3, sv.f32, (8, 4)), sv.Vector.field(2, sv.f32, 3)
    image.fill(0.5)
    image[7, 3] = [1, 0, 0]
    gui = ti.GUI(res=(16, 8))
    gui.set_image(image)
    gui.circles(places, radius=0.5, palette=[RED, GREEN, BLUE], palette_indices=np.array([2, 2, 2]))
    gui.show(str(tmp_path / "frame.png"))
    rows = pixels_of(tmp_path / "frame.png")
    assert rows[0, 15].tolist() == [255, 0, 0]  # of the upper right
    assert rows[7, 0].tolist() == [0, 0, 255]
    assert rows[3, 3].tolist() == [128, 128, 128]


def test_colors_and_images_of_several_kinds():
    assert as_colors(0x336699, 2).tolist() == pytest.approx(np.array([[0.2, 0.4, 0.6]] * 2))
    assert as_colors([RED, BLUE], 2).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert as_colors((0.1, 0.2, 0.3), 1).tolist() == [pytest.approx([0.1, 0.2, 0.3])]
    assert as_pixels(np.full((2, 3), 255, np.uint8)).tolist() == np.ones((2, 3, 3)).tolist()
    assert as_pixels(np.zeros((2, 3, 4), np.float32)).shape == (2, 3, 3)


def test_a_window_closes_after_some_frames(monkeypatch):
    monkeypatch.setenv("SAMOVAR_FRAMES", "3")
    gui, frames = ti.GUI(res=4), 0
    while gui.running:
        assert not gui.get_event()
        assert not gui.is_pressed(ti.GUI.ESCAPE)
        assert gui.get_events() == []
        gui.show()
        frames += 1
    assert frames == 3
    for _ in range(26):
        gui.show()
    with pytest.raises(SystemExit):
        gui.show()
    monkeypatch.setenv("SAMOVAR_FRAMES", "many")
    with pytest.raises(sv.SamovarError, match="SAMOVAR_FRAMES has to be the number of frames"):
        ti.GUI(res=4)


def test_frames_that_are_kept_do_not_count(monkeypatch, tmp_path):
    monkeypatch.setenv("SAMOVAR_FRAMES", "1")
    gui = ti.GUI(res=4)
    for frame in range(5):
        gui.show(str(tmp_path / f"{frame}.png"))
    assert gui.running
    assert len(list(tmp_path.iterdir())) == 5


def test_a_scene_is_seen_through_its_camera():
    window = ti.ui.Window("scene", (60, 60), show_window=False)
    canvas, scene, camera = window.get_canvas(), window.get_scene(), ti.ui.Camera()
    camera.position(0, 0, 5)
    camera.lookat(0, 0, 0)
    scene.set_camera(camera)
    scene.ambient_light((1, 1, 1))
    scene.point_light(pos=(0, 1, 2), color=(1, 1, 1))
    two = np.array([[0, 0, 0], [0, 0, -9]], np.float32)
    scene.particles(two, radius=0.5, per_vertex_color=np.array([[1, 0, 0], [0, 1, 0]]))
    scene.mesh(np.array([[1, 1, 0], [2, 1, 0], [1, 2, 0]], np.float32), np.array([0, 1, 2]), color=(0, 0, 1))
    scene.lines(np.array([[-2, -1, 0], [2, -1, 0]], np.float32), width=2, color=(1, 1, 0))
    canvas.set_background_color((0.1, 0.1, 0.1))
    canvas.scene(scene)
    found = window.get_image_buffer_as_numpy()
    assert found.shape == (60, 60, 4)
    assert found[30, 30, :3].tolist() == [1, 0, 0]  # the nearer one hides the other
    right_of_center, above = found[48, 48, :3], found[5, 30, :3]
    assert right_of_center[2] > 0.9
    assert right_of_center[0] == 0
    assert above.tolist() == pytest.approx([0.1, 0.1, 0.1])
    assert (found[:, :, 0] == 1).any(axis=1).sum() > 30  # the line goes across
    window.show()
    assert window.get_image_buffer_as_numpy()[30, 30, 0] != 1


def test_widgets_keep_what_they_are_given():
    window = ti.ui.Window("widgets", (8, 8))
    with window.get_gui().sub_window("one", 0, 0, 1, 1) as group:
        assert group.slider_float("x", 0.5, 0, 1) == 0.5
        assert group.checkbox("y", True) is True
        assert group.button("z") is False
    slider = ti.GUI(res=4).slider("w", 2, 5)
    slider.value += 1
    assert slider.value == 3


def test_images_in_files(tmp_path):
    image = np.zeros((3, 2, 3), np.uint8)
    image[2, 1] = [10, 20, 30]
    ti.tools.imwrite(image, str(tmp_path / "a.png"))
    assert pixels_of(tmp_path / "a.png")[0, 2].tolist() == [10, 20, 30]
    ti.tools.imwrite(image, tmp_path / "a.bmp")
    data = (tmp_path / "a.bmp").read_bytes()
    assert data[:2] == b"BM"
    assert len(data) == 54 + 2 * 12
    assert data[54 + 12 + 6 : 54 + 12 + 9] == bytes([30, 20, 10])
    assert ti.tools.imresize(image, 6, 4).shape == (6, 4, 3)
    video = ti.tools.VideoManager(output_dir=str(tmp_path / "video"))
    video.write_frame(image)
    assert (tmp_path / "video" / "frames" / "000000.png").exists()


PROGRAM = """
import taichi as ti
from taichi.math import *

ti.init(arch=ti.gpu)
x = ti.Vector.field(2, ti.f32, 64)

@ti.kernel
def move(t: ti.f32):
    for i in x:
        x[i] = vec2(i / 64, 0.5 + 0.4 * sin(t + i * 0.1))

gui = ti.GUI("waves", res=64)
frame = 0
while gui.running:
    move(0.1 * frame)
    gui.circles(x.to_numpy(), radius=2, color=0x66CCFF)
    gui.show()
    frame += 1
print(frame)
"""


def test_a_program_with_a_window_ends(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "samovar", "run", "--as", "taichi", "program.py"]
    environment = {**os.environ, "SAMOVAR_FRAMES": "4", "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


def test_colors_are_numbers_or_channels():
    assert ti.rgb_to_hex((1.0, 0.5, 0.0)) == 0xFF7F00
    assert ti.rgb_to_hex(np.array([[0.0, 1.0], [2.0, -1.0], [0.2, 0.2]])).tolist() == [0x00FF33, 0xFF0033]
    assert ti.hex_to_rgb(0x336699) == pytest.approx((0.2, 0.4, 0.6))
