"""Arrays and fields under one name: which of them an object is, is decided where it is made."""

from __future__ import annotations

import enum

from samovar._native import Tensor, plain_entrance
from samovar.runtime.arrays import ndarray
from samovar.runtime.fields import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.runtime.dense_trees import Shape

__all__ = ["Backend", "Tensor", "tensor"]


class Backend(enum.Enum):
    """What `sv.tensor` makes: an array, whose kernels serve every shape, or a field, whose shape is baked into them.

    >>> import samovar as sv
    >>> isinstance(sv.tensor(sv.f32, 2, backend=sv.Backend.NDARRAY), sv.Ndarray)
    True
    """

    NDARRAY = "ndarray"
    FIELD = "field"


@plain_entrance
def tensor(
    dtype: object,
    shape: Shape,
    backend: Backend = Backend.NDARRAY,
    *,
    order: str | None = None,
    offset: Shape | None = None,
    needs_grad: bool = False,
    layout: Sequence[int] | None = None,
) -> Tensor:
    """A new array or field of zeros. `order` and `offset` are those of a field.

    `layout` is the order of the axes in memory, the outermost first: `(1, 0)` has the first axis innermost. An array has its
    axes in the order in which they are indexed, so with another layout a field is made.

    >>> import samovar as sv
    >>> sv.tensor(sv.f32, 2, backend=sv.Backend.FIELD)
    field([0.0, 0.0], dtype=f32, shape=(2,))
    >>> sv.tensor(sv.f32, (2, 3), layout=(1, 0)).to_numpy(copy=False).strides
    (4, 8)
    """
    if layout is not None:
        letters = _axis_letters(layout, shape)
        if order not in (None, letters):
            raise ValueError(f"order={order!r} and layout={tuple(layout)!r} say different things: give one of them")
        if list(layout) != sorted(layout):
            backend, order = Backend.FIELD, letters
    if backend is Backend.FIELD:
        return field(dtype, shape, order, offset, needs_grad)
    if backend is not Backend.NDARRAY:
        raise TypeError(f"backend has to be sv.Backend.NDARRAY or sv.Backend.FIELD, not {backend!r}")
    if order is not None or offset is not None:
        raise ValueError("an array is in C order, and its indices begin at 0: order= and offset= are for sv.Backend.FIELD")
    return ndarray(dtype, shape, needs_grad)


def _axis_letters(layout: Sequence[int], shape: Shape) -> str:
    """An order of axes as `order=` writes it: `(1, 0)` is "ji"."""
    axes: object = shape
    count = len(axes) if isinstance(axes, (tuple, list)) else 1
    if sorted(layout) != list(range(count)):
        raise ValueError(f"layout has to name each of the {count} axes once, from 0, not {tuple(layout)!r}")
    return "".join("ijklmnop"[axis] for axis in layout)
