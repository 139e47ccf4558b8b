"""Creating arrays: new ones, and ones that share or copy the memory of other libraries.

The array itself is native (`samovar._native.Ndarray`). NumPy and torch are imported by callers, never here.
"""

from __future__ import annotations

import sys

from samovar._native import DType, Ndarray, array_within, as_ndarray, from_dlpack, plain_api_boundary, u8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, SupportsIndex

    import numpy

__all__ = ["Ndarray", "from_dlpack", "from_numpy", "from_torch", "ndarray"]


@plain_api_boundary
def ndarray(
    dtype: Any,
    shape: SupportsIndex | Iterable[SupportsIndex],
    needs_grad: bool = False,
    layout: str = "aos",
    needs_dual: bool = False,
) -> Ndarray:
    """Create an array of zeros; `shape` is an integer or a tuple, `()` for a single element.

    `int` and `float` are the default types of `sv.init`, `bool` is `u1`, and NumPy and torch dtypes are accepted. A vector
    or matrix type makes an array of vectors or matrices; other libraries see the dimensions of the elements last. The
    elements are contiguous (`layout=sv.Layout.AOS`), or stored component by component (`SOA`), which others see as strides.
    A struct type makes an array of structs, contiguous or member by member.
    With `needs_grad=True` (floats only) the array has a `grad` of the same shape, with `needs_dual=True` a `dual`.

    >>> import samovar as sv
    >>> x = sv.ndarray(sv.math.vec3, 4)
    >>> x[1].y = 2
    >>> x.shape, x.element_shape, x[1]
    ((4,), (3,), Vector([0.0, 2.0, 0.0], dt=f32))
    >>> a = sv.ndarray(sv.f32, (2, 3))
    >>> a[1, 2] = 5
    >>> a
    ndarray([[0.0, 0.0, 0.0],
             [0.0, 0.0, 5.0]], dtype=f32, shape=(2, 3))
    """
    inner: tuple[int, ...] = ()
    if needs_dual:
        from samovar.runtime.tangents import with_tangents

        with_tangent: Ndarray = with_tangents(ndarray(dtype, shape, needs_grad, layout))
        return with_tangent
    if getattr(dtype, "is_struct", False):
        from samovar.runtime.struct_arrays import ndarray_of_structs

        return ndarray_of_structs(dtype, shape, needs_grad, layout)  # type: ignore[return-value]
    if not isinstance(dtype, DType):
        dtype, inner = element_type(dtype)
    if layout != "aos":
        from samovar.runtime.fields import check_layout

        check_layout(layout)
        return component_wise(dtype, shape, inner, needs_grad)
    if inner:
        outer: Any = shape
        shape = (*(outer if hasattr(outer, "__iter__") else (outer,)), *inner)
    return Ndarray(dtype, shape, needs_grad, len(inner))


def component_wise(dtype: DType, shape: Any, inner: tuple[int, ...], needs_grad: bool = False) -> Ndarray:
    """An array of vectors or matrices, stored component by component."""
    if not inner:
        raise ValueError(
            f"layout=sv.Layout.SOA is for arrays of vectors, matrices and structs; those of {dtype.name} are in C order"
        )
    return laid_out(dtype, shape, inner, needs_grad, "soa", None)


def laid_out(
    dtype: DType, shape: Any, inner: tuple[int, ...], needs_grad: bool, layout: str, order: tuple[int, ...] | None
) -> Ndarray:
    """An array that is not in C order: stored component by component, or with its dimensions in another order."""
    from math import prod

    from samovar.runtime.dimensions import numbers_of
    from samovar.runtime.fields import layout_in_order, with_elements

    if needs_grad and dtype.kind != "float":
        raise TypeError(f"only floats have gradients: needs_grad=True with dtype {dtype.name}")
    outer = numbers_of(shape)
    placed = with_elements(outer, layout_in_order(outer, order, None), inner, layout)

    def made(grad: Ndarray | None) -> Ndarray:
        memory = Ndarray(u8, prod((*outer, *inner)) * dtype.itemsize)
        return array_within(dtype, placed, memory, 0, len(inner), layout == "soa", grad)

    return made(made(None) if needs_grad else None)


def element_type(dtype: Any) -> tuple[DType, tuple[int, ...]]:
    """The dtype of numbers, and the shape of vector or matrix elements."""
    from samovar.language import Annotation, as_dtype
    from samovar.runtime.configuration import current_options

    options = current_options()
    if isinstance(dtype, Annotation) and dtype.is_matrix:
        return dtype.resolved(options), dtype.shape  # type: ignore[attr-defined]
    return as_dtype(dtype, options), ()


@plain_api_boundary
def from_numpy(array: numpy.ndarray[Any, Any], copy: bool | None = None) -> Ndarray:
    """Create an array with the elements of a NumPy array.

    `copy=True` copies them, `copy=False` shares the memory or raises, `copy=None` shares it if possible: if it is
    writable, aligned, in C order and in native byte order.

    >>> import numpy as np
    >>> import samovar as sv
    >>> x = np.zeros(3, np.int32)
    >>> sv.from_numpy(x)[1] = 7
    >>> x.tolist()
    [0, 7, 0]
    """
    library: Any = sys.modules.get("numpy")
    if library is None or not isinstance(array, library.ndarray):
        raise TypeError(f"from_numpy takes a NumPy array, not {type(array).__name__}")
    if copy is not False and not (array.flags.aligned and array.dtype.isnative):
        # NumPy converts arrays that no kernel could use.
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    return as_ndarray(array, copy)


@plain_api_boundary
def from_torch(tensor: Any, copy: bool | None = None) -> Ndarray:
    """Create an array with the elements of a torch CPU tensor, detached from its graph.

    `copy=True` copies them, `copy=False` shares the memory or raises, `copy=None` shares it if possible.

    >>> import torch  # doctest: +SKIP
    >>> import samovar as sv
    >>> sv.from_torch(torch.ones(2))  # doctest: +SKIP
    ndarray([1.0, 1.0], dtype=f32, shape=(2,))
    """
    library: Any = sys.modules.get("torch")
    if library is None or not isinstance(tensor, library.Tensor):
        raise TypeError(f"from_torch takes a torch tensor, not {type(tensor).__name__}")
    return as_ndarray(tensor, copy)
