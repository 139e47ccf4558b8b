"""`ti.tools` for images, which are indexed by x and y from the bottom left."""

from __future__ import annotations

import os
from importlib import import_module

import numpy as np

from samovar import tools
from samovar.ui import as_pixels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def imwrite(img: Any, filename: str | os.PathLike[str]) -> None:
    """Write an image, indexed by x and y from the bottom left, with colors from 0 to 1 or as bytes."""
    tools.imwrite(as_pixels(img), filename, xy=True)


def imread(filename: str | os.PathLike[str], channels: int = 0) -> Any:
    """Read an image as bytes, indexed by x and y from the bottom left."""
    return tools.imread(filename, channels, xy=True)


def imresize(img: Any, w: int, h: int | None = None) -> Any:
    """Resize an image; `h` defaults to `w`."""
    found = img.to_numpy() if hasattr(img, "to_numpy") else np.asarray(img)
    columns = np.arange(w) * found.shape[0] // w
    rows = np.arange(h or w) * found.shape[1] // (h or w)
    return found[columns][:, rows]


def imshow(img: Any, title: str = "imshow") -> None:
    """Write an image to a file with the title as its name, because there is no window."""
    imwrite(img, f"{title}.png")


def imdisplay(img: Any) -> None:
    """Show an image in a notebook."""
    import tempfile

    shown = import_module("IPython.display")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "image.png")
        imwrite(img, path)
        shown.display(shown.Image(filename=path))


IMAGE_TOOLS: dict[str, Any] = {each.__name__: each for each in (imdisplay, imread, imresize, imshow, imwrite)}
