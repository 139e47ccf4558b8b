"""Inlining of functions that compute, into tasks whose iterations can then be lanes (see `samovar.passes.lanes`).

LLVM inlines what it likes when it is given the code, and lanes are decided before that: a call is a wall to them. So calls
are replaced in tasks that have a loop of their own in each iteration, or in what they call, if nothing that is called keeps
iterations from running side by side, and if the task stays of a reasonable size. What reads and writes arrays in loops and
under conditions is left alone: elements that are not side by side would have to be fetched one by one there.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar.ir import Array, For, Function, If, Kernel, Operation, Region, While, callees, memory, regions, tasks, walk
from samovar.passes.inline import MOST_RETURNS, replace_calls
from samovar.passes.lanes import LARGEST_TASK, can_be_in_lanes, could_be_lanes, is_unrolled


@dataclass
class _Facts:
    """What is known of a region, with all that is called in it."""

    size: int = 0
    has_loop: bool = False
    touches_arrays: bool = False
    #: In a loop or under a condition, but for what stands in the region of a task itself.
    touches_inside: bool = False

    def add(self, other: _Facts) -> None:
        self.size += other.size
        self.has_loop |= other.has_loop
        self.touches_arrays |= other.touches_arrays
        self.touches_inside |= other.touches_inside


def inline_for_lanes(kernel: Kernel, fast_math: bool) -> None:
    """Replace calls in tasks that lanes can be made of, in place."""
    if not kernel.functions:
        return
    known: dict[Function, _Facts | None] = {}
    for function in kernel.functions:  # callees first
        known[function] = _of_function(function, known)
    for task in tasks(kernel):
        facts = _of(task.body, known, in_task=True)
        if facts is None or not facts.has_loop or facts.touches_inside or facts.size > LARGEST_TASK:
            continue
        called = set(callees(task.body))
        if not could_be_lanes(task, called, fast_math):
            continue
        while called:
            replace_calls(task.body, task.locals, called)
            called = set(callees(task.body))


def _of_function(function: Function, known: dict[Function, _Facts | None]) -> _Facts | None:
    returns = sum(operation.code == "return" for operation in walk(function.body))
    if function.outlined or returns > MOST_RETURNS:
        return None
    return _of(function.body, known)


def _of(region: Region, known: dict[Function, _Facts | None], in_task: bool = False, inside: bool = False) -> _Facts | None:
    """None where something keeps iterations from being lanes."""
    facts = _Facts()
    for operation in region.operations:
        found = _of_operation(operation, known, in_task)
        if found is None:
            return None
        facts.add(found)
        own = in_task and operation.code != "call"
        facts.touches_inside |= inside and found.touches_arrays and not own
    return facts


def _of_operation(operation: Operation, known: dict[Function, _Facts | None], in_task: bool) -> _Facts | None:
    if operation.code == "call":
        return known[operation.payload]
    if not isinstance(operation, (If, For, While)):
        if operation.code not in ("extract", "return") and not can_be_in_lanes(operation):
            return None
        return _Facts(1, touches_arrays=isinstance(memory(operation), Array))
    total = _Facts(1)
    for each in regions(operation):
        found = _of(each, known, in_task, inside=True)
        if found is None:
            return None
        total.add(found)
    if isinstance(operation, (For, While)):
        total.has_loop |= isinstance(operation, While) or not is_unrolled(operation, total.size)
    return total
