"""`sv.simt`: what the threads of a GPU do together. The names are here for programs that choose by `sv.static`; a kernel
that reaches one of them is refused, because it is compiled for the CPU."""

from typing import Any

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS
from samovar.simt import block, grid, subgroup, warp

Tile16x16: Any  # which are there when the names below are
Tile32x32: Any
globals().update(_FUNCTIONS[""])

__all__ = [*_FUNCTIONS[""], "block", "grid", "subgroup", "warp"]
