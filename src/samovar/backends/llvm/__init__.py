"""The LLVM backend: IR → text (`render`) → object (`optimise`) → image (`link`), or where that cannot be, `load_object`.

The names are loaded when they are used: the worker processes need `optimise` alone, a warm start needs nothing of this.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samovar.backends.llvm.elf import ObjectError
    from samovar.backends.llvm.image import ImageParts
    from samovar.backends.llvm.kernel import Rendered, RenderedTask, render
    from samovar.backends.llvm.linker import link
    from samovar.backends.llvm.object_loader import load_object
    from samovar.backends.llvm.optimise import assembly
    from samovar.backends.llvm.renaming import canonical
    from samovar.backends.llvm.target import Target, host_target

__all__ = [
    "ImageParts",
    "ObjectError",
    "Rendered",
    "RenderedTask",
    "Target",
    "assembly",
    "canonical",
    "host_target",
    "link",
    "load_object",
    "render",
]

_HOMES = {
    "ObjectError": "elf",
    "ImageParts": "image",
    "Rendered": "kernel",
    "RenderedTask": "kernel",
    "render": "kernel",
    "link": "linker",
    "load_object": "object_loader",
    "assembly": "optimise",
    "canonical": "renaming",
    "Target": "target",
    "host_target": "target",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
