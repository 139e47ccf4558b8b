"""Importing llvmlite in a compile worker, sooner than it is by itself."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Place:
    """A file or a directory, as much of it as llvmlite asks for."""

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
    """llvmlite asks `importlib.resources`, which knows about archives and all that, where its library is: importing that
    takes a third of the time until a worker is ready. It gets an answer that knows files only, if that will do."""
    resources: Any = type(sys)("importlib.resources")
    resources.files = lambda package: _Place(sys.modules[package].__path__[0])
    resources.as_file = lambda place: place
    sys.modules["importlib.resources"] = resources
    try:
        import llvmlite.binding  # noqa: F401
    except Exception:
        # Then as it is meant to be, when it is imported next.
        for name in [name for name in sys.modules if name.partition(".")[0] == "llvmlite"]:
            del sys.modules[name]
    finally:
        del sys.modules["importlib.resources"]


def version_of_llvmlite() -> bytes:
    """The text of the version of the llvmlite that was imported."""
    directory = os.path.dirname(sys.modules["llvmlite"].__file__ or "")
    with open(os.path.join(directory, "_version.py"), "rb") as file:
        return file.read()
