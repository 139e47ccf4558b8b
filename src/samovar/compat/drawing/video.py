"""`ti.tools.VideoManager`: frames are images in a folder, which ffmpeg, if installed, encodes as a video."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib import import_module

from samovar.compat.drawing.image_files import imwrite
from samovar.errors import SamovarError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class VideoManager:
    """Collects the frames of a video."""

    def __init__(
        self, output_dir: str, width: int | None = None, height: int | None = None, post_processor: Any = None,
        framerate: int = 24, automatic_build: bool = True,
    ) -> None:  # fmt: skip
        self.directory = output_dir
        self.frame_directory = os.path.join(output_dir, "frames")
        os.makedirs(self.frame_directory, exist_ok=True)
        self.framerate = framerate
        self.automatic_build = automatic_build
        self.post_processor = post_processor
        self.frame_counter = 0

    def get_output_filename(self, suffix: str) -> str:
        """Return the file name of a video."""
        return os.path.join(self.directory, f"video{suffix}")

    def write_frame(self, img: Any) -> None:
        """Add a frame."""
        if self.post_processor is not None:
            img = self.post_processor.process(img)
        imwrite(img, os.path.join(self.frame_directory, f"{self.frame_counter:06d}.png"))
        self.frame_counter += 1

    def make_video(self, mp4: bool = True, gif: bool = True) -> None:
        """Encode the frames as a video with ffmpeg."""
        ffmpeg = shutil.which("ffmpeg") or _packaged_ffmpeg()
        if ffmpeg is None:
            raise SamovarError(
                f"make_video needs ffmpeg; the frames are in {self.frame_directory}\n  help: pip install imageio-ffmpeg"
            )
        frames = os.path.join(self.frame_directory, "%06d.png")
        for suffix in (".mp4",) * mp4 + (".gif",) * gif:
            target = self.get_output_filename(suffix)
            options = ["-y", "-loglevel", "error", "-framerate", str(self.framerate)]
            subprocess.run([ffmpeg, *options, "-i", frames, target], check=True)


def _packaged_ffmpeg() -> str | None:
    """The ffmpeg of the package `imageio-ffmpeg`, if that is installed."""
    try:
        found: str = import_module("imageio_ffmpeg").get_ffmpeg_exe()
    except ImportError:
        return None
    return found
