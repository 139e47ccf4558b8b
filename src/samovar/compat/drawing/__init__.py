"""Windows and images under the names of Taichi."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.compat.drawing.colors import hex_to_rgb as hex_to_rgb
    from samovar.compat.drawing.colors import rgb_to_hex as rgb_to_hex
    from samovar.compat.drawing.image_files import IMAGE_TOOLS as IMAGE_TOOLS
    from samovar.compat.drawing.video import VideoManager as VideoManager
    from samovar.compat.drawing.window_names import WINDOW_NAMES as WINDOW_NAMES
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "colors": "hex_to_rgb rgb_to_hex",
            "image_files": "IMAGE_TOOLS",
            "video": "VideoManager",
            "window_names": "WINDOW_NAMES",
        },
    )
