"""Torch functions that launch kernels. torch is imported when one is called."""

from __future__ import annotations

from functools import wraps
from importlib import import_module

from samovar._native import Ndarray
from samovar.runtime.arrays import from_torch
from samovar.runtime.arrays import ndarray as new_array
from samovar.runtime.functional_derivatives import several, vjp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def torch_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """Make a differentiable function of torch tensors from a function of arrays that launches kernels.

    `f` gets a copy of each tensor as an array, with a gradient if its elements are floats, and other arguments as they are.
    It returns arrays, whose contents become tensors. So it may write to its arguments, and gradients flow through it like
    through any operation of torch.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def square(x: sv.types.NDArray[sv.f32, 1]):
    ...     for i in x:
    ...         x[i] *= x[i]
    >>> @sv.ad.torch_function
    ... def layer(x):
    ...     square(x)
    ...     return x
    >>> import torch  # doctest: +SKIP
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)  # doctest: +SKIP
    >>> layer(x).sum().backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([2., 4.])
    """

    @wraps(f)
    def run(*arguments: Any) -> Any:
        found = _function(import_module("torch")).apply(f, *arguments)
        return found[0] if len(found) == 1 else found

    return run


def _array(tensor: Any) -> Ndarray:
    """A copy of a tensor as an array, with a gradient if it may have one."""
    shared = from_torch(tensor.detach().contiguous())
    made = new_array(shared.dtype, shared.shape, needs_grad=shared.dtype.kind == "float")
    made.copy_from(shared)
    return made


def _function(torch: Any) -> Any:
    """The `torch.autograd.Function`, which is made once."""
    if "function" in _made:
        return _made["function"]

    class SamovarFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, f: Callable[..., Any], *arguments: Any) -> Any:
            ctx.tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
            arrays = {at: _array(each) for at, each in enumerate(arguments) if isinstance(each, torch.Tensor)}
            active = [array for array in arrays.values() if array.grad is not None]
            given = [arrays.get(at, each) for at, each in enumerate(arguments)]
            if any(ctx.needs_input_grad):
                results, ctx.pull = vjp(lambda *_: f(*given), *active)
            else:
                results = f(*given)
            tensors = tuple(each.to_torch() for each in several(results))
            ctx.mark_non_differentiable(*(each for each in tensors if not each.is_floating_point()))
            ctx.places = [None if at not in arrays or arrays[at].grad is None else at for at in range(len(arguments))]
            ctx.floats = [each.is_floating_point() for each in tensors]
            return tensors

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            floats = [weight.contiguous() for weight, is_float in zip(weights, ctx.floats, strict=True) if is_float]
            with torch.no_grad():
                found = iter([each.to_torch() for each in several(ctx.pull(*floats))])
            gradients = [None if at is None else next(found) for at in ctx.places]
            if torch.is_grad_enabled():  # the gradient may be differentiated in turn
                gradients = [each if each is None else Once.apply(each, *ctx.tensors, *weights) for each in gradients]
            return (None, *gradients)

    class Once(torch.autograd.Function):  # type: ignore[misc]
        """A gradient that depends on tensors. `once_differentiable` knows of the weights only."""

        @staticmethod
        def forward(ctx: Any, gradient: Any, *tensors: Any) -> Any:
            return gradient.clone()

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            raise RuntimeError(
                "a torch function of Samovar is differentiated twice, which torch cannot do\n  help: use `sv.ad.hvp`"
            )

    _made["function"] = SamovarFunction
    return SamovarFunction


_made: dict[str, Any] = {}
