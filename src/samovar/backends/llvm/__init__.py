"""The LLVM backend: IR → text (`render`, `for_target`) → object (`generate`) → image (`link`), or where that cannot be,
`load_object`.

The names are loaded when they are used: the worker processes need `generate` alone, a warm start needs nothing of this.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.backends.llvm.elf import ObjectError
    from samovar.backends.llvm.image import ImageParts
    from samovar.backends.llvm.kernel import Rendered, RenderedTask, render
    from samovar.backends.llvm.linker import link
    from samovar.backends.llvm.object_loader import load_object
    from samovar.backends.llvm.renaming import canonical
    from samovar.backends.llvm.target import Target, host_target
    from samovar.backends.llvm.vectors import for_target

__all__ = [
    "ImageParts",
    "ObjectError",
    "Rendered",
    "RenderedTask",
    "Target",
    "canonical",
    "for_target",
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
    "canonical": "renaming",
    "Target": "target",
    "host_target": "target",
    "for_target": "vectors",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(__import__(f"{__name__}.{home}", fromlist=["*"]), name)
