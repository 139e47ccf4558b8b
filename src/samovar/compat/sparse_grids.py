"""Ready-made sparse grids: fields of structs on a bitmasked node."""

from __future__ import annotations

from math import prod

import samovar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def grid(field_dict: Mapping[str, Any], shape: Sequence[int]) -> Any:
    """A grid in two or three dimensions whose cells are structs with these members."""
    axes = {2: samovar.ij, 3: samovar.ijk}.get(len(shape))
    if axes is None:
        raise ValueError(f"a sparse grid has two or three dimensions, not {len(shape)}")
    made = samovar.types.struct(**field_dict).field()
    samovar.root.bitmasked(axes, tuple(shape)).place(made)
    return made


def usage(x: Any) -> float:
    """The part of the cells of a grid that is active."""
    node = x.parent()
    return float(node.active_count / prod(node.shape))


NAMES = {"grid": grid, "usage": usage}
