"""Arguments that nothing touches: a member that is passed from func to func and never read is not an argument of the kernel.

Staging adds an argument when the kernel mentions it. What became of it is known only at the end, so this comes last, and
goes through the funcs in the order of their calls, callees first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from samovar.frontend.stager import KernelContext
from samovar.ir import Array, Function, Region, Value, memory, used, walk

Item = TypeVar("Item")


def drop_untouched(context: KernelContext) -> None:
    """Remove parameters without a use from the funcs and from the kernel, and what calls pass for them."""
    kernel = context.kernel
    kept: dict[Function, list[bool]] = {}
    for function in kernel.functions:
        touched = touched_values(function.body, kept)
        kept[function] = [parameter in touched for parameter in function.parameters]
        function.parameters = chosen(function.parameters, kept[function])
    touched = touched_values(kernel.body, kept)
    needed = [parameter in touched for parameter in kernel.parameters]
    kernel.parameters = chosen(kernel.parameters, needed)
    context.sources = chosen(context.sources, needed)
    for calls in context.calls.values():
        calls[:] = [(callee, tuple(chosen(operands, kept[callee]))) for callee, operands in calls]


def touched_values(body: Region, kept: dict[Function, list[bool]]) -> set[Value]:
    """The values that a body uses. Calls lose the operands that their callee does not take any more."""
    touched: set[Value] = set()
    for operation in walk(body):
        if operation.code == "call":
            operation.operands = tuple(chosen(operation.operands, kept[operation.payload]))
        elif operation.code == "shape":
            touched.add(operation.payload[0])
        elif isinstance(target := memory(operation), Array):
            touched.add(target)
        touched.update(used(operation))
    return touched


def chosen(items: Iterable[Item], marks: Iterable[bool]) -> list[Item]:
    """The items that are marked."""
    return [item for item, mark in zip(items, marks, strict=True) if mark]
