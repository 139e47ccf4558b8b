"""Creating fields. `sv.field` with a shape gives a field its own memory, in any order of dimensions; fields without a shape
are placed in trees, see `dense_trees`.

The field itself is native (`samovar._native.Field`).
"""

from __future__ import annotations

from math import prod

from samovar._native import DType, Field, new_field, plain_api_boundary
from samovar.errors import SamovarFieldError
from samovar.runtime.dense_trees import MOST_PIECES, lay_out
from samovar.runtime.dimensions import LETTERS, numbers_of
from samovar.runtime.tangents import companions, give_tangent, offer_gradient, require_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.runtime.dense_trees import Layout as FieldLayout
    from samovar.runtime.dimensions import Shape

__all__ = ["Field", "Layout", "field"]


@plain_api_boundary
def field(
    dtype: Any,
    shape: Shape | None = None,
    order: str | None = None,
    offset: Shape | None = None,
    needs_grad: bool = False,
    name: str = "",
    layout: str = "aos",
    needs_dual: bool = False,
) -> Field:
    """Create a field of zeros: an array whose shape and layout are compile-time constants of the kernels that use it.

    With `order="ji"` the first dimension varies fastest in memory; `offset` is the first index of each dimension. Without a
    shape, place it in a tree: `sv.root.dense(sv.i, 8).place(f)`. `needs_grad=True` (floats only) adds a `grad` with the
    same layout, `needs_dual=True` a `dual`, for forward mode.

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

        return field_of_structs(dtype, shape, order, offset, needs_grad, name, layout, needs_dual)  # type: ignore[return-value]
    if not isinstance(dtype, DType):
        from samovar.runtime.arrays import element_type

        dtype, inner = element_type(dtype)
    require_float(dtype, needs_grad, needs_dual)
    made = new_field(dtype, new_field(dtype, None, len(inner)) if needs_grad else None, len(inner))
    if needs_dual:
        give_tangent(made, new_field(dtype, None, len(inner)))
    if inner:
        for each in (made, *companions(made)):
            each.wanted_element_shape = inner  # for the node that it is placed in
    if name:
        made.name = name
    if shape is None:
        if order is not None or offset is not None:
            raise SamovarFieldError("order= and offset= require a shape; a field without one takes them when it is placed")
        if dtype.kind == "float" and not needs_grad:
            offer_gradient(made, inner)
        return made
    outer = numbers_of(shape)
    placed = with_elements(outer, layout_in_order(outer, axes_of_order(order, len(outer)), offset), inner, layout)
    lay_out(made, placed)
    for each in companions(made):
        lay_out(each, placed)
    return made


def with_elements(shape: tuple[int, ...], outer: FieldLayout, inner: tuple[int, ...], layout: str) -> FieldLayout:
    """The layout of a field of vectors or matrices: element by element (AoS), or component by component (SoA)."""
    check_layout(layout)
    if not inner:
        return outer
    first, axes = outer
    count, entries = prod(max(extent, 1) for extent in shape), prod(inner)
    between, scale = (count, 1) if layout == "soa" else (1, entries)
    moved = tuple(tuple((extent, stride * scale) for extent, stride in pieces) for pieces in axes)
    own = tuple(((extent, prod(inner[axis + 1 :]) * between),) for axis, extent in enumerate(inner))
    return (*first, *(0,) * len(inner)), (*moved, *own)


def check_layout(layout: str) -> None:
    """Raise an error if it is not a layout of elements."""
    if layout not in ("aos", "soa"):
        from samovar.errors import not_one_of

        raise ValueError(not_one_of("layout=…", layout, ("sv.Layout.AOS", "sv.Layout.SOA")))


class Layout:
    """How the elements of a field of vectors or matrices are stored: `AOS`, one element after the other, or `SOA`, all first
    components, then all second ones.

    >>> import samovar as sv
    >>> sv.field(sv.math.vec3, 4, layout=sv.Layout.SOA).to_numpy(copy=False).strides
    (4, 16)
    """

    AOS = "aos"
    SOA = "soa"


def layout_in_order(shape: tuple[int, ...], order: tuple[int, ...] | None, offset: Shape | None) -> FieldLayout:
    """The layout of a field with its own memory, with dimensions from the outermost to the innermost as listed."""
    if len(shape) > MOST_PIECES:
        raise ValueError(f"a field has at most {MOST_PIECES} dimensions, not {len(shape)}")
    if min(shape, default=0) < 0:
        raise SamovarFieldError(f"negative extent in the shape {shape}")
    first = (0,) * len(shape) if offset is None else numbers_of(offset)
    if len(first) != len(shape):
        raise SamovarFieldError(f"offset={first} for a {len(shape)}-D field: expected one number per dimension")
    strides = [1] * len(shape)
    stride = 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return first, tuple(((extent, stride),) for extent, stride in zip(shape, strides, strict=True))


def axes_of_order(order: str | None, count: int) -> tuple[int, ...] | None:
    """The dimensions that the letters of `order=` name."""
    letters = LETTERS[:count]
    if order is None or count > len(LETTERS):
        return None
    if sorted(order) != list(letters):
        raise SamovarFieldError(f"order={order!r} for a {count}-D field: expected a permutation of {letters!r}")
    return tuple(map(letters.index, order))
