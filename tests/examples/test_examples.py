"""Every file in examples/ runs alone, without an error and without a warning."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

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


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example_runs_alone(name: str, tmp_path: Path) -> None:
    run_example(name, tmp_path, *ARGUMENTS.get(name, ()))


def test_demo_writes_a_picture_and_says_what_launches_cost(tmp_path: Path) -> None:
    printed = run_example("steam.py", tmp_path, *ARGUMENTS["steam.py"])
    picture = (tmp_path / "steam.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(picture[16:20], "big") == 2 * 72
    assert int.from_bytes(picture[20:24], "big") == 2 * 96
    start = picture.index(b"IDAT") + 4
    length = int.from_bytes(picture[start - 8 : start - 4], "big")
    pixels = zlib.decompress(picture[start : start + length])
    assert len(set(pixels)) > 64, "the picture has hardly any colours"
    assert "import samovar" in printed
    assert "a launch itself" in printed
