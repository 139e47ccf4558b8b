"""Every file in examples/ runs alone, without an error and without a warning, and draws the picture that it should."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
#: Small copies of the pictures that examples draw: each pixel is the mean of a square of SQUARE × SQUARE.
COPIES = Path(__file__).parent / "pictures"
SQUARE = 8
DRAWN = sorted(path.stem for path in COPIES.glob("*.png"))

# The demo takes its size from the command line; everything else runs as it is.
ARGUMENTS = {
    "robot.py": ("--steps", "3"),
    "steam.py": ("--steps", "5", "--height", "96", "--output", "steam.png"),
}


def run_example(name: str, directory: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error", "TMPDIR": str(directory)}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_png(path: Path) -> np.ndarray:
    """The pixels of a picture that `examples/png.py` has written."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    start = content.index(b"IDAT") + 4
    length = int.from_bytes(content[start - 8 : start - 4], "big")
    rows = np.frombuffer(zlib.decompress(content[start : start + length]), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def smaller(pixels: np.ndarray) -> np.ndarray:
    height, width, _ = pixels.shape
    return pixels.reshape(height // SQUARE, SQUARE, width // SQUARE, SQUARE, 3).mean(axis=(1, 3))


@pytest.mark.parametrize("name", DRAWN)
def test_example_draws_its_picture(name: str, tmp_path: Path) -> None:
    run_example(f"{name}.py", tmp_path)
    found, expected = smaller(read_png(tmp_path / "out" / f"{name}.png")), read_png(COPIES / f"{name}.png")
    assert found.shape == expected.shape
    difference = np.abs(found - expected)
    assert difference.mean() < 3.0, f"another picture: {difference.mean():.2f} of 255 off on average"
    assert np.quantile(difference, 0.95) < 16.0, "a part of the picture is another one"


@pytest.mark.parametrize("name", sorted({path.name for path in EXAMPLES.glob("*.py")} - {f"{name}.py" for name in DRAWN}))
def test_example_runs_alone(name: str, tmp_path: Path) -> None:
    run_example(name, tmp_path, *ARGUMENTS.get(name, ()))


def test_demo_writes_a_picture_and_says_what_launches_cost(tmp_path: Path) -> None:
    printed = run_example("steam.py", tmp_path, *ARGUMENTS["steam.py"])
    pixels = read_png(tmp_path / "steam.png")
    assert pixels.shape == (2 * 96, 2 * 72, 3)
    assert len(np.unique(pixels)) > 64, "the picture has hardly any colors"
    assert "import samovar" in printed
    assert "launch overhead" in printed
