"""Artifacts: what a compile leaves behind, as plain data that another process can launch.

The compiler makes them, the cache keeps them, the runtime launches them. Nothing here knows the IR or LLVM.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samovar._native import DType
    from samovar.artifact.notices import Notice
    from samovar.artifact.sites import Site
    from samovar.lens import Path


#: Code that could not be linked is not an image: it begins with this, the name of the backend that loads it, and a line end.
UNLINKED = b"code for the backend "
#: Code of a part of a kernel, which becomes an image only together with others, is kept with this before it.
UNIT = b"code of a unit\n"


class Fill:
    """What goes into the argument block: the path of an argument, its place, and how it is stored."""

    __slots__ = ("dtype", "is_array", "name", "offset", "path", "strided", "written")

    def __init__(
        self, path: Path, offset: int, dtype: DType, name: str, *, is_array: bool, strided: bool, written: bool
    ) -> None:
        self.path = path
        self.offset = offset
        self.dtype = dtype
        self.name = name
        self.is_array = is_array
        self.strided = strided
        self.written = written


class Guards:
    """What is asked before a launch, and what goes into the argument block, as plain data.

    `instructions` are those of `_native.Specialisation`, with (..., what, number, …) where an object is to be put in; those
    of an artifact from the cache are encoded, which takes less room. Numbers are those of `paths`.
    """

    __slots__ = ("instructions", "paths", "registers")

    def __init__(
        self, instructions: tuple[tuple[Any, ...], ...] | bytes, registers: int, paths: tuple[Path, ...]
    ) -> None:
        self.instructions = instructions
        self.registers = registers
        self.paths = paths


_NO_SECTIONS: Mapping[str, Any] = {}


class Artifact:
    """A compiled kernel and all that a launch needs to know about it.

    `image` is a flat image, or see `UNLINKED`; `fills` say what goes into the argument block (those of an artifact from the
    cache are packed) and `results` what a launch returns; a task is (name, nanoseconds per iteration, flags). `notices` are
    the warnings about it. Results are a tree that native code makes objects of: None, ("scalar", name of the dtype, offset
    in the block), or ("tuple", (result, …)). `sections` are plain data by name, for what only some kernels have; who does
    not know one leaves it alone.
    """

    __slots__ = ("block_size", "fills", "image", "notices", "results", "sections", "sites", "slow_serial", "tasks")

    def __init__(
        self,
        image: bytes,
        fills: tuple[Fill, ...] | bytes,
        block_size: int,
        results: tuple[Any, ...] | None = None,
        tasks: tuple[tuple[str, float, int], ...] = (),
        slow_serial: bool = False,
        sites: tuple[Site, ...] = (),
        notices: tuple[Notice, ...] = (),
        sections: Mapping[str, Any] | None = None,
    ) -> None:
        self.image = image
        self.fills = fills
        self.block_size = block_size
        self.results = results
        self.tasks = tasks
        self.slow_serial = slow_serial
        self.sites = sites
        self.notices = notices
        self.sections = sections or _NO_SECTIONS
