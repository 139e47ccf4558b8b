"""Making fields that have memory of their own, in any order of their axes. Others are placed in trees, see `dense_trees`.

The field itself is native (`samovar._native.Field`).
"""

from __future__ import annotations

from math import prod

from samovar._native import DType, Field, new_field, plain_entrance
from samovar.errors import SamovarFieldError
from samovar.runtime.dense_trees import LETTERS, MOST_PIECES, lay_out, numbers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.runtime.dense_trees import Layout as FieldLayout
    from samovar.runtime.dense_trees import Shape

__all__ = ["Field", "Layout", "field"]


@plain_entrance
def field(
    dtype: Any,
    shape: Shape | None = None,
    order: str | None = None,
    offset: Shape | None = None,
    needs_grad: bool = False,
    name: str = "",
    layout: str = "aos",
) -> Field:
    """A field of zeros: an array whose shape and layout are baked into the kernels that use it.

    `order="ji"` lets the first axis vary fastest in memory; `offset` is the first index of each axis. Without a shape, it
    gets its place in a tree: `sv.root.dense(sv.i, 8).place(f)`. `needs_grad=True` (floats only) adds a `grad` that is laid
    out in the same way.

    >>> import samovar as sv
    >>> f = sv.field(sv.f32, (2, 3), order="ji")
    >>> f[1, 2] = 5
    >>> f
    field([[0.0, 0.0, 0.0],
           [0.0, 0.0, 5.0]], dtype=f32, shape=(2, 3))
    """
    inner: tuple[int, ...] = ()
    if getattr(dtype, "is_struct", False):
        from samovar.runtime.struct_arrays import field_of_structs

        return field_of_structs(dtype, shape, order, offset, needs_grad, name, layout)  # type: ignore[return-value]
    if not isinstance(dtype, DType):
        from samovar.runtime.arrays import element_type

        dtype, inner = element_type(dtype)
    if needs_grad and dtype.kind != "float":
        raise TypeError(f"only floats have gradients: needs_grad=True with dtype {dtype.name}")
    made = new_field(dtype, new_field(dtype, None, len(inner)) if needs_grad else None, len(inner))
    if inner:
        for each in (made, made.grad):
            if each is not None:
                each.wanted_element_shape = inner  # for who gives it a place
    if name:
        made.name = name
    if shape is None:
        if order is not None or offset is not None:
            raise SamovarFieldError("order= and offset= go with a shape; a field without one gets them where it is placed")
        return made
    outer = numbers_of(shape)
    placed = with_elements(outer, layout_in_order(outer, axes_of_order(order, len(outer)), offset), inner, layout)
    lay_out(made, placed)
    if isinstance(made.grad, Field):
        lay_out(made.grad, placed)
    return made


def with_elements(shape: tuple[int, ...], outer: FieldLayout, inner: tuple[int, ...], layout: str) -> FieldLayout:
    """The layout of a field of vectors or matrices: whole elements one after the other, or entry by entry."""
    check_layout(layout)
    if not inner:
        return outer
    first, axes = outer
    count, entries = prod(max(extent, 1) for extent in shape), prod(inner)
    apart, scale = (count, 1) if layout == "soa" else (1, entries)
    moved = tuple(tuple((extent, stride * scale) for extent, stride in pieces) for pieces in axes)
    own = tuple(((extent, prod(inner[axis + 1 :]) * apart),) for axis, extent in enumerate(inner))
    return (*first, *(0,) * len(inner)), (*moved, *own)


def check_layout(layout: str) -> None:
    """Raise an error for what is no layout of elements."""
    if layout not in ("aos", "soa"):
        from samovar.errors import not_one_of

        raise ValueError(not_one_of("layout=…", layout, ("sv.Layout.AOS", "sv.Layout.SOA")))


class Layout:
    """How the elements of a field of vectors or matrices lie in memory: `AOS`, one element after the other, or `SOA`, all
    first entries, then all second ones.

    >>> import samovar as sv
    >>> sv.field(sv.math.vec3, 4, layout=sv.Layout.SOA).to_numpy(copy=False).strides
    (4, 16)
    """

    AOS = "aos"
    SOA = "soa"


def layout_in_order(shape: tuple[int, ...], order: tuple[int, ...] | None, offset: Shape | None) -> FieldLayout:
    """The layout of a field of its own, its axes from the outermost to the innermost as they are listed."""
    if len(shape) > MOST_PIECES:
        raise ValueError(f"a field has at most {MOST_PIECES} axes, not {len(shape)}")
    if min(shape, default=0) < 0:
        raise SamovarFieldError(f"negative extent in the shape {shape}")
    first = (0,) * len(shape) if offset is None else numbers_of(offset)
    if len(first) != len(shape):
        raise SamovarFieldError(f"offset={first} of a field with {len(shape)} axes: one number for each")
    strides = [1] * len(shape)
    stride = 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return first, tuple(((extent, stride),) for extent, stride in zip(shape, strides, strict=True))


def axes_of_order(order: str | None, count: int) -> tuple[int, ...] | None:
    """The axes that the letters of `order=` name."""
    letters = LETTERS[:count]
    if order is None or count > len(LETTERS):
        return None
    if sorted(order) != list(letters):
        raise SamovarFieldError(f"order={order!r} of a field with {count} axes: a permutation of {letters!r} is wanted")
    return tuple(map(letters.index, order))
