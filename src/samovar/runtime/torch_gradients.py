"""Tensors of torch that require a gradient, as arrays of kernels, which use `tensor.grad` as it is.

A tensor that a kernel uses gets a gradient when it has none. Which ones it uses, a compile finds out, and later launches
and processes find in the paths of the kernel's decision tree; nothing else that arguments lead to is looked at.
"""

from __future__ import annotations

import sys

from samovar import errors
from samovar.lens import Replay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar import _native
    from samovar.runtime.lookup import Search


def give_gradient(name: str, spelled: str, tensor: Any) -> None:
    """Create the gradient that an array requires, if it is a tensor without one."""
    torch = sys.modules["torch"]
    if not isinstance(tensor, torch.Tensor) or not tensor.requires_grad:
        return
    if not (tensor.is_leaf or tensor.retains_grad):
        raise errors.SamovarTypeError(
            f"{name}(): `{spelled}` was computed by torch, which does not see what happens to its gradient here\n"
            f"  help: launch the kernel in an `sv.ad.torch_function`, or pass `{spelled}.detach()`"
        )
    if tensor.grad is None:
        tensor.grad = torch.zeros_like(tensor)


def give_known_gradients(search: Search) -> bool:
    """Create missing gradients of tensors that launches of the kernel have used. Return whether there were any."""
    kernel, paths = search.kernel, search.known.tree.paths
    tensor_type = sys.modules["torch"].Tensor
    replay = Replay(paths, kernel.__wrapped__, search.arguments, kernel.state.signature, search.options)
    found = False
    for parent, step, key in list(paths.rows):
        if step == "attribute" and key == "grad":
            tensor = replay.object(parent)
            # A tensor of another launch may be anything. Those of this one are checked by a compile.
            if isinstance(tensor, tensor_type) and tensor.requires_grad and tensor.is_leaf and tensor.grad is None:
                give_gradient(kernel.__qualname__, "", tensor)
                found = True
    return found


def compile_with_gradients(search: Search) -> _native.Specialization:
    """Compile a derivative, and create the gradients that are found to be missing."""
    from samovar.compiler import MissingGradients
    from samovar.runtime.install import compile_for

    try:
        return compile_for(search)
    except MissingGradients as error:
        missing = error.arrays
    for spelled, tensor in missing:
        give_gradient(search.kernel.__qualname__, spelled, tensor)
    return compile_for(search)
