"""Images are written and read: PNG alone, others by Pillow."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import samovar as sv


@pytest.fixture
def path(tmp_path):
    return tmp_path / "image.png"


def noise(*shape, dtype=np.uint8):
    return np.random.default_rng(1).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (5, 7, 1), (5, 7, 2), (5, 7, 3), (5, 7, 4)])
def test_bytes_come_back(path, shape):
    image = noise(*shape)
    sv.tools.imwrite(image, path)
    found = sv.tools.imread(path)
    assert np.array_equal(found, image.reshape(found.shape))


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (np.array([[0.0, 0.5, 1.0, 2.0, -1.0, np.nan]]), [[0, 128, 255, 255, 0, 0]]),
        (np.array([[0, 0x80FF, 0xFFFF]], np.uint16), [[0, 128, 255]]),
        (np.array([[True, False]]), [[255, 0]]),
        (sv.full((1, 2), 1.0), [[255, 255]]),
    ],
)
def test_numbers_become_bytes(path, given, stored):
    sv.tools.imwrite(given, path)
    assert sv.tools.imread(path).tolist() == stored


def test_a_field_of_vectors_is_an_image_of_colors(path):
    image = sv.field(sv.math.vec3, (2, 3))
    image[0, 2] = [1, 0, 0]
    sv.tools.imwrite(image, path)
    assert sv.tools.imread(path)[0, 2].tolist() == [255, 0, 0]
    sv.tools.imwrite(image, path, xy=True)  # x=0, y=2 is the top left
    assert sv.tools.imread(path)[0, 0].tolist() == [255, 0, 0]
    assert sv.tools.imread(path, xy=True)[0, 2].tolist() == [255, 0, 0]


def test_channels_are_converted(path):
    sv.tools.imwrite(np.array([[[255, 0, 0, 7]]], np.uint8), path)
    assert sv.tools.imread(path, 1).tolist() == [[76]]
    assert sv.tools.imread(path, 3).tolist() == [[[255, 0, 0]]]
    sv.tools.imwrite(np.array([[9]], np.uint8), path)
    assert sv.tools.imread(path, 4).tolist() == [[[9, 9, 9, 255]]]


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width, height, depth, color, rows, *others, interlaced=0):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    pieces = [chunk(b"IHDR", header), *others, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(pieces)


def filtered(image, filters):
    """The rows of an image after each of the five filters of PNG, in plain Python."""
    height, width, step = image.shape
    flat = image.reshape(height, -1).astype(int)
    lines = []
    for y in range(height):
        line = bytearray([filters[y]])
        for x in range(width * step):
            left = flat[y, x - step] if x >= step else 0
            above = flat[y - 1, x] if y else 0
            corner = flat[y - 1, x - step] if y and x >= step else 0
            estimate = left + above - corner
            nearest = min((left, above, corner), key=lambda each: abs(estimate - each))
            predicted = (0, left, above, (left + above) // 2, nearest)[filters[y]]
            line.append((flat[y, x] - predicted) % 256)
        lines.append(bytes(line))
    return b"".join(lines)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_all_filters_are_undone(path, channels):
    image = noise(15, 11, channels)
    image[3:9] //= 8  # ties between neighbors
    rows = filtered(image, [y % 5 for y in range(15)])
    path.write_bytes(png(11, 15, 8, {1: 0, 3: 2, 4: 6}[channels], rows))
    found = sv.tools.imread(path)
    assert np.array_equal(found.reshape(image.shape), image)


def test_depths_and_palettes(path):
    path.write_bytes(png(2, 1, 16, 0, b"\0\x01\x02\xff\xff"))
    assert sv.tools.imread(path).tolist() == [[0x0102, 0xFFFF]]
    path.write_bytes(png(3, 1, 2, 0, b"\0\b00011011"[:1] + bytes([0b00011100])))
    assert sv.tools.imread(path).tolist() == [[0, 85, 255]]
    palette = chunk(b"PLTE", bytes([1, 2, 3, 4, 5, 6]))
    path.write_bytes(png(2, 1, 1, 3, b"\0" + bytes([0b01000000]), palette))
    assert sv.tools.imread(path).tolist() == [[[1, 2, 3], [4, 5, 6]]]
    path.write_bytes(png(2, 1, 8, 3, b"\0\x01\x00", palette, chunk(b"tRNS", b"\x07")))
    assert sv.tools.imread(path).tolist() == [[[4, 5, 6, 255], [1, 2, 3, 7]]]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (png(2, 1, 8, 0, b"\0\1"), "it ends early"),
        (png(2, 1, 8, 0, b"\5\1\2"), "an unknown filter"),
        (png(2**31, 2**31, 8, 0, b"\0"), "its header is wrong"),
        (png(2, 1, 8, 0, b"\0\1\2")[:-20], "a checksum is wrong"),
        (png(2, 1, 8, 3, b"\0\1\1", chunk(b"PLTE", b"\1\2\3")), "its palette is too small"),
    ],
)
def test_a_damaged_file_is_an_error(path, content, why):
    path.write_bytes(content)
    with pytest.raises(sv.SamovarError, match=why):
        sv.tools.imread(path)


def test_an_interlaced_file_needs_pillow(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    path.write_bytes(png(2, 1, 8, 0, b"\0\1\2", interlaced=1))
    with pytest.raises(sv.SamovarError, match=r"because it is interlaced: this needs Pillow\n  help: pip install Pillow"):
        sv.tools.imread(path)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 5), (0, 3)])
def test_what_is_no_image_is_told(path, shape):
    with pytest.raises(sv.SamovarTypeError, match="an image has the shape height × width"):
        sv.tools.imwrite(np.zeros(shape), path)


def test_other_formats_say_what_they_need(tmp_path):
    program = """
import sys
sys.modules["PIL"] = sys.modules["imageio_ffmpeg"] = None
import samovar as sv
for name, call in [("a.jpg", sv.tools.imwrite), ("a.gif", None), ("a.mp4", None)]:
    try:
        call(sv.ones((2, 2)), name) if call else sv.tools.VideoWriter(name)
    except sv.SamovarError as error:
        assert "pip install" in str(error), error
    else:
        raise SystemExit(name)
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def test_other_formats_by_pillow(tmp_path):
    pytest.importorskip("PIL")
    image = np.zeros((16, 16, 3), np.uint8)
    image[:, 8:] = 200
    for ending in ("jpg", "tiff", "webp"):
        sv.tools.imwrite(image, tmp_path / f"a.{ending}")
        assert np.abs(sv.tools.imread(tmp_path / f"a.{ending}").astype(int) - image).mean() < 5
    sv.tools.imwrite(image, tmp_path / "a.bmp")
    assert np.array_equal(sv.tools.imread(tmp_path / "a.bmp"), image)


def test_an_animation(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    with sv.tools.VideoWriter(tmp_path / "a.gif", fps=10) as video:
        for step in range(5):
            video.add(sv.full((16, 20), step / 4))
    with pillow.open(tmp_path / "a.gif") as found:
        assert (found.n_frames, found.size, found.info["duration"]) == (5, (20, 16), 100)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # imageio's
def test_a_video(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    import imageio

    with sv.tools.VideoWriter(tmp_path / "a.mp4", fps=10) as video:
        for step in range(10):
            video.add(sv.full((33, 64), step / 9))
    with imageio.get_reader(tmp_path / "a.mp4") as found:
        frames = [frame.mean() for frame in found]
    assert len(frames) == 10
    assert frames[0] < 10
    assert frames[9] > 240
    assert [each.name for each in tmp_path.iterdir()] == ["a.mp4"]


def test_a_video_is_not_written_after_an_error(tmp_path):
    pytest.importorskip("PIL")
    with pytest.raises(sv.SamovarError, match=r"frame 1 has the size \(3, 3\)"):
        write_frames(tmp_path / "a.gif", sv.ones((2, 2)), sv.ones((3, 3)))
    assert list(tmp_path.iterdir()) == []


def write_frames(path, *frames):
    with sv.tools.VideoWriter(path) as video:
        for frame in frames:
            video.add(frame)
