"""Making fields that have memory of their own, in any order of their axes. Others are placed in trees, see `dense_trees`.

The field itself is native (`samovar._native.Field`).
"""

from __future__ import annotations

from samovar._native import DType, Field, new_field
from samovar.runtime.dense_trees import LETTERS, MOST_PIECES, lay_out, numbers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.runtime.dense_trees import Layout, Shape

__all__ = ["Field", "field"]


def field(
    dtype: object,
    shape: Shape | None = None,
    order: str | None = None,
    offset: Shape | None = None,
    needs_grad: bool = False,
    name: str = "",
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
    if not isinstance(dtype, DType):
        from samovar.language import as_dtype
        from samovar.runtime.configuration import current_options

        dtype = as_dtype(dtype, current_options())
    if needs_grad and dtype.kind != "float":
        raise TypeError(f"only floats have gradients: needs_grad=True with dtype {dtype.name}")
    made = new_field(dtype, new_field(dtype) if needs_grad else None)
    if name:
        made.name = name
    if shape is None:
        if order is not None or offset is not None:
            raise ValueError("order= and offset= go with a shape; a field without one gets them where it is placed")
        return made
    layout = layout_in_order(numbers_of(shape), order, offset)
    lay_out(made, layout)
    if isinstance(made.grad, Field):
        lay_out(made.grad, layout)
    return made


def layout_in_order(shape: tuple[int, ...], order: str | None, offset: Shape | None) -> Layout:
    """The layout of a field of its own, its axes from the outermost to the innermost as their letters say."""
    letters = LETTERS[: len(shape)]
    if len(shape) > MOST_PIECES:
        raise ValueError(f"a field has at most {MOST_PIECES} axes, not {len(shape)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"negative extent in the shape {shape}")
    if sorted(order or letters) != list(letters):
        raise ValueError(f"order={order!r} of a field with {len(shape)} axes: a permutation of {letters!r} is expected")
    first = (0,) * len(shape) if offset is None else numbers_of(offset)
    if len(first) != len(shape):
        raise ValueError(f"offset={first} of a field with {len(shape)} axes: one number for each")
    strides: dict[str, int] = {}
    stride = 1
    for letter in reversed(order or letters):
        strides[letter] = stride
        stride *= max(shape[letters.index(letter)], 1)
    return first, tuple(((extent, strides[letter]),) for letter, extent in zip(letters, shape, strict=True))
