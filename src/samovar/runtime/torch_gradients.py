"""Tensors of torch that require a gradient, as arguments of kernels, which use `tensor.grad` as it is."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass

from samovar import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def give_gradients(name: str, derivative: str, arguments: Mapping[str, Any]) -> None:
    """Create the gradients that tensors among the arguments of a kernel require and do not have yet."""
    torch = sys.modules["torch"]
    for spelled, tensor in _tensors(torch.Tensor, arguments):
        if not tensor.requires_grad:
            continue
        if derivative.startswith("forward"):
            raise errors.SamovarTypeError(
                f"{name}(): `{spelled}` is a tensor that requires a gradient, and forward mode has no tangent for it\n"
                f"  help: pass a Samovar array, `sv.ndarray(sv.f32, n, needs_grad=True)`, or `{spelled}.detach()`"
            )
        if not (tensor.is_leaf or tensor.retains_grad):
            raise errors.SamovarTypeError(
                f"{name}(): `{spelled}` was computed by torch, which does not see what happens to its gradient here\n"
                f"  help: launch the kernel in an `sv.ad.torch_function`, or pass `{spelled}.detach()`"
            )
        if tensor.grad is None:
            tensor.grad = torch.zeros_like(tensor)


def _tensors(kind: type, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All tensors among arguments and their members, with what the program calls them."""
    seen: set[int] = set()
    left = list(arguments.items())
    while left:
        name, value = left.pop()
        if isinstance(value, kind):
            yield name, value
        elif id(value) not in seen:
            seen.add(id(value))
            left += [(f"{name}{by}", each) for by, each in _members(value)]


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", each) for index, each in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", each) for key, each in value.items())
    elif is_dataclass(value):
        yield from ((f".{each.name}", getattr(value, each.name, None)) for each in fields(value))
    elif not isinstance(value, type):
        yield from ((f".{name}", each) for name, each in getattr(value, "__dict__", {}).items())
