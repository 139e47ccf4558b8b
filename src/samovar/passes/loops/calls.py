"""Calls in loops become copies of what they call, where iterations can run in lanes then.

A backend inlines what it likes when it is given the code, and loops are planned before that: to them a call is a wall. So
calls are replaced in tasks and in loops of serial code that have loops or branches, in each iteration or in what it calls,
if nothing in there keeps iterations from running side by side, and if the body stays small enough to be planned: functions
that are called share their memory, and copies do not. Straight code is left to the backend.
"""

from __future__ import annotations

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
    Sections,
    Task,
    While,
    callees,
    memory,
    regions,
    tasks,
    walk,
)
from samovar.passes.inline import MOST_RETURNS, replace_calls
from samovar.passes.loops.divergence import computes
from samovar.passes.loops.plan import LARGEST
from samovar.passes.loops.price import LOCAL_BYTES

#: Operations that copies may add to the kernel.
LARGEST_GROWTH = 6000
_IN_LANES = frozenset(("random", "load_local", "store_local", "reserve", "extract", "return", "break", "continue"))


def inline_calls(kernel: Kernel, machine: Machine) -> None:
    """Replace calls in loops that may be vectorized, in place."""
    if not kernel.functions or not machine.vector_bits:
        return
    search = _Search()
    for task in tasks(kernel):
        search.replace(task.body, task.locals)
    for function in kernel.functions:  # callees first
        search.replace_in_loops(function.body, function.locals)
    search.replace_in_loops(kernel.body, kernel.locals)


@dataclass
class _Found:
    """What is in some code: how many operations, those of functions that it calls included, how many of these there are, the
    bytes of all local arrays, and whether there are loops or branches among all of them."""

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
    """Looks through code until something is found that keeps iterations from running side by side: then there is None."""

    def __init__(self) -> None:
        self._functions: dict[Function, _Found | None] = {}
        self._left = LARGEST_GROWTH

    def replace(self, body: Region, locals: list[Local]) -> bool:
        """Replace the calls in the body of a loop, if that is worth it. Whether nothing is left to be done."""
        called = set(callees(body))
        found = self.region(body) if called else None
        if found is None or not found.branches or found.copied > self._left:
            return not called
        self._left -= found.copied
        while called:
            replace_calls(body, locals, called)
            called = set(callees(body))
        return True

    def replace_in_loops(self, region: Region, locals: list[Local]) -> None:
        """The same for the loops of serial code, outer ones first."""
        for operation in region.operations:
            if not isinstance(operation, (Task, Sections)) and not (
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
                if target.shared and operation.code != "atomic":  # which may be gathered
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
