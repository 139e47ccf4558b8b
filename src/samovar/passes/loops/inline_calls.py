"""Inlining of calls in loops, where it enables vectorization.

A backend inlines later, at its own discretion, but loops are planned before that, and a call blocks the planner. So calls
are replaced in tasks and in loops of serial code that contain loops or branches, directly or in their callees, if nothing in
them prevents SIMD lanes, and if the body stays small enough to be planned: functions share their memory, and copies do not.
Straight-line code is left to the backend, unless it would be a compile unit of its own with a single call.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from samovar.ir import (
    Array,
    For,
    Function,
    If,
    Kernel,
    Local,
    Machine,
    Region,
    While,
    bodies,
    callees,
    is_own,
    memory,
    regions,
    tasks,
    walk,
)
from samovar.passes.inline import MOST_RETURNS, replace_calls
from samovar.passes.loops.divergence import computes
from samovar.passes.loops.plan import LARGEST
from samovar.passes.loops.price import LOCAL_BYTES
from samovar.passes.partition import LARGE_FUNCTION

#: Operations that copies may add to the kernel.
LARGEST_GROWTH = 6000
_IN_LANES = frozenset(("uniform", "load_local", "store_local", "reserve", "extract", "return", "break", "continue"))


def inline_calls(kernel: Kernel, machine: Machine) -> None:
    """Inline calls in loops that may be vectorized, in place."""
    if not kernel.functions or not machine.vector_bits:
        return
    search = _Search(Counter(each for body in bodies(kernel) for each in callees(body)))
    for task in tasks(kernel):
        if not search.replace(task.body, task.locals):
            search.replace_in_loops(task.body, task.locals)
    for function in kernel.functions:  # callees first
        search.replace_in_loops(function.body, function.locals)
    search.replace_in_loops(kernel.body, kernel.locals)


@dataclass
class _Found:
    """Properties of some code: the number of operations, including called functions, the number of these, the bytes of all
    local arrays, and whether any of them contains loops or branches."""

    size: int = 0
    copied: int = 0
    bytes: int = 0
    branches: bool = False

    def add(self, other: _Found) -> None:
        self.size += other.size
        self.copied += other.copied
        self.bytes += other.bytes
        self.branches |= other.branches


class _Search:
    """Searches code for anything that prevents SIMD lanes; the result is then None."""

    def __init__(self, calls: Counter[Function]) -> None:
        self._calls = calls
        self._functions: dict[Function, _Found | None] = {}
        self._left = LARGEST_GROWTH

    def replace(self, body: Region, locals: list[Local]) -> bool:
        """Inline the calls in the body of a loop, if that is worthwhile. Return whether nothing is left to do."""
        called = set(callees(body))
        found = self.region(body) if called else None
        if found is None or found.copied > self._left:
            return not called
        is_unit = found.copied >= LARGE_FUNCTION // 2  # they grow
        if not found.branches and not (is_unit and all(self._calls[each] == 1 for each in called)):
            return not called
        self._left -= found.copied
        while called:
            replace_calls(body, locals, called)
            called = set(callees(body))
        return True

    def replace_in_loops(self, region: Region, locals: list[Local]) -> None:
        """Inline calls in the loops of serial code, outer ones first."""
        for operation in region.operations:
            if is_own(operation) and not (
                isinstance(operation, For) and self.replace(operation.body, locals)
            ):
                for each in regions(operation):
                    self.replace_in_loops(each, locals)

    def region(self, region: Region) -> _Found | None:
        total = _Found(len(region.operations))
        for operation in region.operations:
            if isinstance(operation, (If, For, While)):
                total.branches = True
                for each in regions(operation):
                    inside = self.region(each)
                    if inside is None:
                        return None
                    total.add(inside)
            elif operation.code == "call":
                called = self._function(operation.payload)
                if called is None:
                    return None
                total.add(called)
                total.copied += called.size - called.copied
            elif isinstance(target := memory(operation), Local):
                if target.shared and operation.code != "atomic":  # which may be a reduction
                    return None
            elif not (operation.code in _IN_LANES or isinstance(target, Array) or computes(operation)):
                return None
            if operation.code == "reserve":
                total.bytes += operation.payload.byte_size
            if total.size > LARGEST or total.bytes > LOCAL_BYTES:
                return None
        return total

    def _function(self, function: Function) -> _Found | None:
        if function not in self._functions:
            returns = sum(operation.code == "return" for operation in walk(function.body))
            plain = not function.outlined and returns <= MOST_RETURNS
            self._functions[function] = self.region(function.body) if plain else None
        return self._functions[function]
