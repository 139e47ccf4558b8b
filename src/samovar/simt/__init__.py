"""`sv.simt`: GPU thread cooperation. The names exist for programs that select code with `sv.static`; a kernel that uses one
of them is rejected, because kernels are compiled for the CPU."""

from typing import Any

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS
from samovar.simt import block, grid, subgroup, warp

Tile16x16: Any  # defined along with the names below
Tile32x32: Any
globals().update(_FUNCTIONS[""])

__all__ = [*_FUNCTIONS[""], "block", "grid", "subgroup", "warp"]


def __dir__() -> list[str]:
    return __all__
