"""The argument block: where a kernel finds its arguments and stores its results. Everything is a slot of eight bytes.

An array takes a slot for the pointer, one per dimension for its extents, and one per dimension for its strides (in elements)
unless it is contiguous or its layout is known. A scalar takes one slot, with its value in the lowest bytes. The results
follow the parameters. `_native/launch/block.h` has the same layout for the launcher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Value

SLOT = 8


class ArraySlots(NamedTuple):
    """The slots of an array: of its pointer, its first extent and its first stride, and their total number."""

    pointer: int
    extent: int
    stride: int
    total: int


def array_slots(ndim: int, strided: bool) -> ArraySlots:
    """The slots of an array."""
    pointer, extent = 0, 1
    stride = extent + ndim
    return ArraySlots(pointer, extent, stride, stride + (ndim if strided else 0))


def part_offset(array: Array, part: str, axis: int) -> int:
    """The offset in bytes of the `pointer`, an `extent` or a `stride` from the first slot of an array."""
    first: int = getattr(array_slots(array.ndim, array.brings_strides), part)
    return SLOT * (first + axis)


@dataclass(frozen=True)
class Layout:
    """Byte offsets of the parameters and of the results, and the size of the whole block."""

    parameters: dict[Value, int]
    results: tuple[int, ...]
    size: int


def layout_of(kernel: Kernel) -> Layout:
    """The argument block of a kernel."""
    offset = 0
    parameters: dict[Value, int] = {}
    for parameter in kernel.parameters:
        parameters[parameter] = offset
        slots = 1
        if isinstance(parameter, Array):
            slots = array_slots(parameter.ndim, parameter.brings_strides).total
        offset += slots * SLOT
    results = tuple(offset + SLOT * index for index in range(len(kernel.returns)))
    return Layout(parameters, results, offset + SLOT * len(kernel.returns))
