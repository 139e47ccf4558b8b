"""Animations and videos: GIF, WebP and animated PNG by Pillow, others by imageio and ffmpeg."""

from __future__ import annotations

import os
from importlib import import_module
from types import TracebackType
from typing import Any

from samovar.errors import SamovarError
from samovar.system import write_file
from samovar.tools.image_files import as_bytes, converted, needs_pillow

#: What Pillow writes.
_ANIMATIONS = {".gif": "GIF", ".webp": "WEBP", ".png": "PNG"}


class VideoWriter:
    """Collects images as the frames of an animation or a video: `with VideoWriter("flow.gif") as video: video.add(image)`.

    The name says the format: `.gif`, `.webp` and `.png` (animated) need Pillow; `.mp4` and other videos need
    imageio and imageio-ffmpeg. Images are as for `sv.tools.imwrite`; all frames have one size. The file is written at the
    end of the block, unless the block raises an error.

    >>> import samovar as sv
    >>> with sv.tools.VideoWriter("flow.gif", fps=20) as video:  # doctest: +SKIP
    ...     for step in range(100):
    ...         video.add(sv.full((64, 64), step / 100))
    """

    __module__ = "samovar.tools"

    def __init__(self, path: str | os.PathLike[str], fps: float = 30, xy: bool = False) -> None:
        self.path = os.fspath(path)
        if not fps > 0:
            raise SamovarError(f"fps is the number of frames per second, not {fps!r}")
        self.fps = fps
        self.frames = 0
        self._xy = xy
        self._kind = os.path.splitext(self.path)[1].lower()
        self._shape: tuple[int, ...] | None = None
        self._animation: list[Any] = []
        self._video: Any = None
        self._temporary = ""
        if self._kind in _ANIMATIONS:
            self._pillow = needs_pillow(f"writing {self.path}")
        else:
            self._imageio = _imageio(self.path)

    def __enter__(self) -> VideoWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._discard()

    def add(self, image: Any) -> None:
        """Add a frame."""
        rows = as_bytes(image, self._xy)
        if self._shape is None:
            self._shape = rows.shape[:2]
        if rows.shape[:2] != self._shape:
            raise SamovarError(f"frame {self.frames} has the size {rows.shape[:2]}, but those before it {self._shape}")
        if self._kind in _ANIMATIONS:
            self._animation.append(self._pillow.fromarray(converted(rows, 4 if rows.shape[2] in (2, 4) else 3)))
        else:
            if self._video is None:
                self._temporary = f"{self.path}.{os.getpid()}.tmp{self._kind}"
                # Sizes that are odd are cut by ffmpeg's pixel format, not scaled.
                self._video = self._imageio.get_writer(self._temporary, fps=self.fps, macro_block_size=1)
            height, width = (extent - extent % 2 for extent in self._shape)
            self._video.append_data(converted(rows, 3)[:height, :width])
        self.frames += 1

    def close(self) -> None:
        """Write the file. A video of an odd width or height loses its last column or row."""
        if not self.frames:
            raise SamovarError(f"{self.path} has no frames\n  help: call add(image) for each frame")
        if self._video is not None:
            self._video.close()
            self._video = None
            os.replace(self._temporary, self.path)
        elif self._animation:
            import io

            content, first = io.BytesIO(), self._animation[0]
            options: dict[str, Any] = {"save_all": True, "append_images": self._animation[1:], "loop": 0}
            first.save(content, _ANIMATIONS[self._kind], duration=1000 / self.fps, **options)
            write_file(self.path, content.getvalue())
            self._animation = []

    def _discard(self) -> None:
        if self._video is not None:
            self._video.close()
            os.unlink(self._temporary)
            self._video = None
        self._animation = []


def _imageio(path: str) -> Any:
    try:
        import_module("imageio_ffmpeg")
        return import_module("imageio")
    except ImportError:
        raise SamovarError(
            f"writing {path} needs imageio\n  help: pip install imageio imageio-ffmpeg, or write a .gif with Pillow"
        ) from None
