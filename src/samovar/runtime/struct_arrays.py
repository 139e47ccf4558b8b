"""Creating arrays and fields of structs: the location of each member of each struct.

With `layout="aos"` structs are contiguous, each as in C, and the arrays of the members are parts of one memory block: they
never count as overlapping (see `_native/guards/overlap.c`). With `layout="soa"` each member has its own memory.
"""

from __future__ import annotations

from math import prod

from samovar._native import Ndarray, new_field, place_field, u8
from samovar.errors import SamovarFieldError
from samovar.runtime.configuration import current_options
from samovar.runtime.dense_trees import lay_out
from samovar.runtime.dimensions import numbers_of
from samovar.runtime.field_memory import field_memory
from samovar.runtime.fields import axes_of_order, check_layout, layout_in_order, with_elements
from samovar.runtime.tangents import companions, give_tangent
from samovar.values import MemoryLayout, StructField, StructNdarray, over_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import Field
    from samovar.runtime.dense_trees import Layout
    from samovar.runtime.dimensions import Shape
    from samovar.values import StructType


def ndarray_of_structs(struct: StructType, shape: Shape, needs_grad: bool, layout: str) -> StructNdarray:
    """A new array of structs, filled with zeros."""
    check_layout(layout)
    struct = struct.resolved(current_options())
    placed, outer = MemoryLayout(struct), numbers_of(shape)
    if min(outer, default=0) < 0:
        raise SamovarFieldError(f"negative extent in the shape {outer}")
    if layout == "soa":
        arrays = [
            Ndarray(leaf.dtype, (*outer, *leaf.shape), needs_grad and leaf.dtype.kind == "float", len(leaf.shape))
            for leaf in placed.leaves
        ]
        return StructNdarray(struct, tuple(arrays), layout, {"needs_grad": needs_grad})
    if needs_grad:
        raise ValueError(
            "needs_grad=True: the members of an array of structs have gradients only if each has its own memory\n"
            "  help: pass layout=sv.Layout.SOA"
        )
    memory = Ndarray(u8, placed.size * prod(outer))
    return over_memory(struct, outer, memory)


def field_of_structs(
    struct: StructType,
    shape: Shape | None,
    order: str | None,
    offset: Shape | None,
    needs_grad: bool,
    name: str,
    layout: str,
    needs_dual: bool,
) -> StructField:
    """A field of structs, filled with zeros; without a shape, its members are placed in a tree."""
    check_layout(layout)
    struct = struct.resolved(current_options())
    placed = MemoryLayout(struct)
    fields: list[Field] = []
    for leaf in placed.leaves:
        inner = len(leaf.shape)
        is_float = leaf.dtype.kind == "float"
        field = new_field(leaf.dtype, new_field(leaf.dtype, None, inner) if needs_grad and is_float else None, inner)
        if needs_dual and is_float:
            give_tangent(field, new_field(leaf.dtype, None, inner))
        for each in (field, *companions(field)):
            if inner:
                each.wanted_element_shape = leaf.shape  # for the node that it is placed in
        if name:
            field.name = ".".join((name, *leaf.names))
        fields.append(field)
    if shape is None:
        if order is not None or offset is not None:
            raise SamovarFieldError("order= and offset= require a shape; a field without one takes them when it is placed")
        return StructField(struct, tuple(fields), layout)
    outer = numbers_of(shape)
    in_order = layout_in_order(outer, axes_of_order(order, len(outer)), offset)
    memory = field_memory(placed.size * prod(outer)) if layout == "aos" else None
    for leaf, field in zip(placed.leaves, fields, strict=True):
        separate = with_elements(outer, in_order, leaf.shape, layout)
        if memory is None:
            lay_out(field, separate)
        else:
            place_field(field, in_structs(in_order, placed.size, leaf), memory, leaf.offset if prod(outer) else 0)
        for each in companions(field):
            lay_out(each, separate)
    in_c_order = order is None or list(order) == sorted(order)
    options = {"order": order, "offset": offset, "needs_grad": needs_grad, "needs_dual": needs_dual}
    return StructField(struct, tuple(fields), layout, options, memory, pitched=memory is not None and in_c_order)


def in_structs(outer: Layout, size: int, leaf: Any) -> Layout:
    """The layout of a member in structs of a given size in bytes, from that of the structs."""
    first, axes = outer
    step = size // leaf.dtype.itemsize
    moved = tuple(tuple((extent, stride * step) for extent, stride in pieces) for pieces in axes)
    own = tuple(((extent, prod(leaf.shape[axis + 1 :])),) for axis, extent in enumerate(leaf.shape))
    return (*first, *(0,) * len(leaf.shape)), (*moved, *own)
