"""Artifacts: the result of a compile, as plain data that another process can launch.

The compiler creates them, the cache stores them, the runtime launches them. Nothing here knows the IR or LLVM.
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


#: Code that could not be linked into an image starts with this, the name of the backend that loads it, and a newline.
UNLINKED = b"code for the backend "
#: The prefix of code for a part of a kernel, which becomes an image only together with others.
UNIT = b"code of a unit\n"


class Fill:
    """How one slot of the argument block is filled: the path of an argument, its offset, and how it is stored."""

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
    """What is checked before a launch, and how the argument block is filled, as plain data.

    `instructions` are those of `_native.Specialization`, with (..., what, number, …) in place of objects. In an artifact
    from the cache they are encoded, which takes less space. Numbers refer to `paths`.
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
    """A compiled kernel and everything that a launch needs.

    `image` is a flat image, or see `UNLINKED`; `fills` describe the argument block (packed in an artifact from the cache)
    and `results` what a launch returns; a task is (name, nanoseconds per iteration, flags). `notices` are its warnings.
    Results are a tree from which native code creates objects: None, ("scalar", name of the dtype, offset in the block), or
    ("tuple", (result, …)). `sections` are plain data by name, for features that only some kernels use; readers ignore
    unknown ones.
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
