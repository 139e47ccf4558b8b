"""Inlining of functions that compute, into tasks whose iterations can then be lanes (see `samovar.passes.lanes`).

LLVM inlines what it likes when it is given the code, and lanes are decided before that: a call is a wall to them. So calls
are replaced in tasks that have a loop of their own in each iteration, or in what they call, if nothing that is called keeps
iterations from running side by side, and if the task stays of a reasonable size. What reads and writes arrays in loops and
under conditions is left alone: elements that are not side by side would have to be fetched one by one there.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar.ir import Array, For, Function, If, Kernel, Region, While, callees, memory, regions, tasks, walk
from samovar.passes.inline import MOST_RETURNS, replace_calls
from samovar.passes.lanes import LARGEST_TASK, can_be_in_lanes, could_be_lanes, is_unrolled


@dataclass
class _Facts:
    """What is known of code that lanes may have, with all that is called in it."""

    size: int = 0
    has_loop: bool = False
    touches_arrays: bool = False

    def add(self, other: _Facts) -> None:
        self.size += other.size
        self.has_loop |= other.has_loop
        self.touches_arrays |= other.touches_arrays


def inline_for_lanes(kernel: Kernel, fast_math: bool) -> None:
    """Replace calls in tasks that lanes can be made of, in place."""
    if not kernel.functions:
        return
    search = _Search()
    for task in tasks(kernel):
        called = set(callees(task.body))
        if not called:
            continue
        facts = search.region(task.body, in_task=True)
        if facts is None or not facts.has_loop or not could_be_lanes(task, called, fast_math):
            continue
        while called:
            replace_calls(task.body, task.locals, called)
            called = set(callees(task.body))


class _Search:
    """Looks through code until something is found that keeps iterations from being lanes: facts are None then. Most code has
    something of the kind, and soon."""

    def __init__(self) -> None:
        self._functions: dict[Function, _Facts | None] = {}

    def region(self, region: Region, in_task: bool = False, inside: bool = False) -> _Facts | None:
        """`inside`: of a loop or a condition. What stands in a task itself may touch arrays there."""
        total = _Facts(len(region.operations))
        for operation in region.operations:
            if operation.code == "call":
                found = self._function(operation.payload)
                if found is None or (inside and found.touches_arrays):
                    return None
            elif isinstance(operation, (If, For, While)):
                found = self._control(operation, in_task)
                if found is None:
                    return None
            elif operation.code in ("extract", "return"):
                continue
            elif not can_be_in_lanes(operation):
                return None
            elif isinstance(memory(operation), Array):
                if inside and not in_task:
                    return None
                total.touches_arrays = True
                continue
            else:
                continue
            total.add(found)
            if total.size > LARGEST_TASK:
                return None
        return total

    def _control(self, operation: If | For | While, in_task: bool) -> _Facts | None:
        total = _Facts()
        for each in regions(operation):
            found = self.region(each, in_task, inside=True)
            if found is None:
                return None
            total.add(found)
        if not isinstance(operation, If):
            total.has_loop |= isinstance(operation, While) or not is_unrolled(operation, total.size)
        return total

    def _function(self, function: Function) -> _Facts | None:
        if function not in self._functions:
            self._functions[function] = None if function.outlined else self.region(function.body)
            if sum(operation.code == "return" for operation in walk(function.body)) > MOST_RETURNS:
                self._functions[function] = None
        return self._functions[function]
