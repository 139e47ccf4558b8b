"""Arrays and fields under one name: the backend is chosen where an object is created."""

from __future__ import annotations

import enum

from samovar._native import Tensor, plain_api_boundary
from samovar.runtime.arrays import element_type, laid_out, ndarray
from samovar.runtime.dimensions import LETTERS, numbers_of
from samovar.runtime.fields import field
from samovar.runtime.tangents import with_tangents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.runtime.dimensions import Shape

__all__ = ["Backend", "Tensor", "tensor"]


class Backend(enum.IntEnum):
    """The backend of `sv.tensor`: an array, whose kernels work for every shape, or a field, with a compile-time shape.

    >>> import samovar as sv
    >>> isinstance(sv.tensor(sv.f32, 2, backend=sv.Backend.NDARRAY), sv.Ndarray)
    True
    """

    FIELD = 0
    NDARRAY = 1


@plain_api_boundary
def tensor(
    dtype: object,
    shape: Shape,
    backend: Backend | int = Backend.NDARRAY,
    *,
    order: str | None = None,
    offset: Shape | None = None,
    needs_grad: bool = False,
    layout: Sequence[int] | None = None,
    needs_dual: bool = False,
) -> Tensor:
    """Create an array or field of zeros. `order` and `offset` are for fields.

    `layout` is the order of the dimensions in memory, the outermost first: `(1, 0)` makes the first dimension innermost. It
    does not affect indexing in kernels; other libraries see the strides.

    >>> import samovar as sv
    >>> sv.tensor(sv.f32, 2, backend=sv.Backend.FIELD)
    field([0.0, 0.0], dtype=f32, shape=(2,))
    >>> sv.tensor(sv.f32, (2, 3), layout=(1, 0)).to_numpy(copy=False).strides
    (4, 8)
    """
    if backend not in tuple(Backend):
        raise TypeError(f"backend must be sv.Backend.NDARRAY or sv.Backend.FIELD, not {backend!r}")
    backend, axes = Backend(backend), None
    if layout is not None:
        axes = _axes(layout, shape)
        letters = "".join(LETTERS[axis] for axis in axes)
        if order not in (None, letters):
            raise ValueError(f"order={order!r} and layout={axes!r} contradict each other: pass one of them")
        if backend is Backend.FIELD:
            order = letters
    if backend is Backend.FIELD:
        return field(dtype, shape, order, offset, needs_grad, needs_dual=needs_dual)
    if (order is not None and axes is None) or offset is not None:
        raise ValueError(
            "an array is in C order or that of layout=, and its indices begin at 0: order= and offset= are for"
            " sv.Backend.FIELD"
        )
    if axes is None or list(axes) == sorted(axes):
        return ndarray(dtype, shape, needs_grad, needs_dual=needs_dual)
    if getattr(dtype, "is_struct", False):
        raise ValueError("layout= is for numbers, vectors and matrices: an array of structs is in C order")
    numbers, inner = element_type(dtype)
    made = laid_out(numbers, shape, inner, needs_grad, "aos", axes)
    return with_tangents(made) if needs_dual else made


def _axes(layout: Sequence[int], shape: Shape) -> tuple[int, ...]:
    """The dimensions that a layout lists, each once."""
    count, axes = len(numbers_of(shape)), tuple(layout)
    if sorted(axes) != list(range(count)):
        raise ValueError(f"layout must be a permutation of the {count} dimensions, from 0, not {axes!r}")
    return axes
