"""The stack size of the local arrays of a kernel, checked so that no stack overflows.

Threads of the pool have stacks of 8 MiB (`_native/threads/pool.c`), and so have most others. Code that needs more than a
quarter of that is rejected here; if a thread has less left than a kernel needs, its launch is rejected
(`_native/threads/stack.c`).
"""

from __future__ import annotations

from typing import Any

from samovar.errors import SamovarCompilationError
from samovar.ir import Function, Kernel, LocalArray, Region, Task, regions

#: The maximum size of all local arrays that exist at one time, in bytes.
MOST = 2 << 20
#: A kernel that needs no more than this fits in the reserve of every stack.
SMALL = 64 << 10


class _Use:
    """The maximum stack use of a part of a kernel, its arrays, largest first, and the line of the loop that uses most."""

    def __init__(self, arrays: list[LocalArray], deepest: _Use | None, line: int) -> None:
        inner: list[LocalArray] = deepest.arrays if deepest is not None else []
        self.line: int = line or (deepest.line if deepest is not None else 0)
        self.bytes: int = sum(array.byte_size for array in arrays) + (deepest.bytes if deepest is not None else 0)
        self.arrays: list[LocalArray] = sorted([*arrays, *inner], key=lambda array: array.byte_size, reverse=True)


def local_bytes(kernel: Kernel) -> int:
    """The stack size of the local arrays of a kernel. Raises an error if it is too large."""
    called: dict[Function, _Use] = {}
    for function in kernel.functions:  # callees first
        called[function] = _use(function.body, called)
    use = _use(kernel.body, called)
    if use.bytes <= MOST:
        return use.bytes
    largest = use.arrays[0]
    shape = "×".join(map(str, largest.shape))
    place = f"{kernel.file}, the loop in line {use.line}" if use.line else kernel.file
    raise SamovarCompilationError(
        f"{kernel.name} ({place}): local arrays take {use.bytes:,} bytes at one time, but at most {MOST:,} fit on the stack"
        f" of a thread; there are {len(use.arrays)} of them, the largest is {shape} numbers of {largest.dtype.name}\n"
        "  help: pass an array with a row for each iteration, or reuse one local array for several purposes"
    )


def stack_section(kernel: Kernel) -> dict[str, Any]:
    """The entry of an artifact, if a stack could overflow."""
    taken = local_bytes(kernel)
    return {"stack": taken} if taken > SMALL else {}


def _use(region: Region, called: dict[Function, _Use], line: int = 0) -> _Use:
    """The stack use of a region: all memory of a function is reserved at its top, plus that of the deepest call or task."""
    arrays: list[LocalArray] = []
    deepest: list[_Use] = []
    pending = [region]
    while pending:
        for operation in pending.pop().operations:
            if operation.code == "reserve":
                arrays.append(operation.payload)
            elif operation.code == "call":
                deepest.append(called[operation.payload])
            if isinstance(operation, Task):
                deepest.append(_use(operation.body, called, operation.line))
            else:
                pending.extend(regions(operation))
    return _Use(arrays, max(deepest, key=lambda use: use.bytes, default=None), line)
