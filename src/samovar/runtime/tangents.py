"""Tangents of arrays, `x.dual`: created with `needs_dual=True`, or when forward mode needs them."""

from __future__ import annotations

from _weakref import ref

from samovar._native import BufferView, Field, base_of, differentiable, give_gradient, new_field, reshaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType

#: The arrays that have a tangent, by identity.
_having: dict[int, Any] = {}


def give_tangent(array: Any, tangent: Any) -> None:
    """Make an array the tangent of another one."""
    number = id(array)
    array.dual = tangent
    _having[number] = ref(array, lambda _: _having.pop(number, None))


def tangent_of(array: Any) -> Any:
    """The tangent of an array, created if needed: with the same layout, and its own memory. Arrays that share memory share
    that of their tangents."""
    found = getattr(array, "dual", None)
    if found is not None:
        return found
    whole, indices = getattr(array, "entry_of", (None, ()))
    base: Any = base_of(array)
    if whole is not None:
        found = tangent_of(whole).get_scalar_field(*indices)
        if array.grad is not None and array.grad.dual is None:
            give_tangent(array.grad, tangent_of(whole.grad).get_scalar_field(*indices))
    elif isinstance(array, BufferView):
        found = BufferView(tangent_of(array.array), array.offset, array.size)
    elif base is not array and base.dtype is array.dtype:
        found = reshaped(tangent_of(base), (*array.shape, *array.element_shape), len(array.element_shape))
    else:
        found = (array if array.grad is None else array.grad).__copy__()
        found.fill(0)
    give_tangent(array, found)
    return found


def give_second_tangents() -> None:
    """Give a tangent to all arrays with a gradient, and to their gradients."""
    for each in differentiable():
        tangent_of(each)  # first: that of the gradient of a component comes with it
        tangent_of(each.grad)


def offer_gradient(field: Any, inner: tuple[int, ...]) -> None:
    """Make a field that becomes the gradient of another one if it is placed: `node.place(x, x.grad)`."""
    made: Any = new_field(field.dtype, None, len(inner))
    if inner:
        made.wanted_element_shape = inner
    made.gradient_of = ref(field)
    field.offered_grad = made


def accept_gradient(made: Any) -> None:
    """Make a field that is placed the gradient of the one that offered it."""
    field = made.gradient_of() if hasattr(made, "gradient_of") else None
    if field is not None and not field.needs_grad:
        give_gradient(field, made)


def with_tangents(array: Any) -> Any:
    """A new array, with a tangent; one of structs with those of its members that are floats."""
    if not hasattr(array, "parts"):
        require_float(array.dtype, False, True)
    for each in getattr(array, "parts", (array,)):
        if each.dtype.kind == "float":
            tangent_of(each)
    return array


def require_float(dtype: DType, needs_grad: bool, needs_dual: bool) -> None:
    """Raise an error for derivatives of integers."""
    if dtype.kind != "float" and (needs_grad or needs_dual):
        what, option = ("gradients", "needs_grad") if needs_grad else ("tangents", "needs_dual")
        raise TypeError(f"only floats have {what}: {option}=True with dtype {dtype.name}")


def all_tangents() -> list[Any]:
    """The arrays that have a tangent. Arrays with a gradient get one."""
    for each in differentiable():
        tangent_of(each)
    found = [each() for each in tuple(_having.values())]
    return [each for each in found if each is not None]


def companions(field: Field) -> list[Field]:
    """The gradient and the tangent of a field, as far as it has them."""
    beside = (field.grad if field.needs_grad else None, getattr(field, "dual", None))
    return [each for each in beside if isinstance(each, Field)]
