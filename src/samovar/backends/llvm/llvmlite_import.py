"""A faster import of llvmlite for compile workers."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Place:
    """A file or a directory, with the methods that llvmlite uses."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __truediv__(self, name: str) -> _Place:
        return _Place(os.path.join(self.path, name))

    def __str__(self) -> str:
        return self.path

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *error: object) -> None:
        return


def import_llvmlite() -> None:
    """Import llvmlite without `importlib.resources`, which it only uses to find its library: that import, which supports
    archives and more, takes a third of a worker's startup. A replacement that supports files only is used if it suffices."""
    resources: Any = type(sys)("importlib.resources")
    resources.files = lambda package: _Place(sys.modules[package].__path__[0])
    resources.as_file = lambda place: place
    sys.modules["importlib.resources"] = resources
    try:
        import llvmlite.binding  # noqa: F401
    except Exception:
        # Later imports get the real module.
        for name in [name for name in sys.modules if name.partition(".")[0] == "llvmlite"]:
            del sys.modules[name]
    finally:
        del sys.modules["importlib.resources"]


def version_of_llvmlite() -> bytes:
    """The version of the imported llvmlite, as text."""
    directory = os.path.dirname(sys.modules["llvmlite"].__file__ or "")
    with open(os.path.join(directory, "_version.py"), "rb") as file:
        return file.read()
