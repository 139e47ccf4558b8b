"""The argument block: where a kernel finds its arguments and leaves its results. Everything is a slot of eight bytes.

An array takes a slot for the data pointer, one per axis for its extents, and one per axis for its strides (in elements)
unless it is contiguous. A scalar takes one slot, its value in the lowest bytes. The results follow the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar.ir.structure import Kernel
from samovar.ir.values import Array

SLOT = 8


@dataclass(frozen=True)
class Layout:
    """Byte offsets of the parameters and of the results, and the size of the whole block."""

    parameters: tuple[int, ...]
    results: tuple[int, ...]
    size: int


def layout_of(kernel: Kernel) -> Layout:
    """The argument block of a kernel."""
    offset = 0
    parameters: list[int] = []
    for parameter in kernel.parameters:
        parameters.append(offset)
        slots = 1
        if isinstance(parameter, Array):
            slots = 1 + parameter.ndim * (1 if parameter.contiguous else 2)
        offset += slots * SLOT
    results = tuple(offset + SLOT * index for index in range(len(kernel.returns)))
    return Layout(tuple(parameters), results, offset + SLOT * len(kernel.returns))
