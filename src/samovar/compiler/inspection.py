"""All stages of a kernel in one compile, as plain data for `samovar view`: the IR after each pass, loops, and code."""

from __future__ import annotations

from difflib import unified_diff
from functools import partial
from typing import Any

from samovar import passes
from samovar.artifact import as_text
from samovar.backends import backend
from samovar.compiler.array_questions import ask_about_arrays
from samovar.compiler.driver import Clock, staged, without_collector
from samovar.compiler.fallback import Job, made
from samovar.compiler.graph_nodes import graph_nodes
from samovar.ir import Function, Kernel, KernelHistory, ParallelFor, Task, print_with_lines, walk, walk_kernel
from samovar.lens import Lens, raised_recursion_limit

#: A longer change of a pass is cut.
_LONGEST_CHANGE = 4000


def inspect_stages(lens: Lens) -> dict[str, Any]:
    """Compile a kernel, and return every stage. Nothing is cached."""
    with raised_recursion_limit(lens.kernel.name), without_collector():
        lowered = staged(lens, Clock(lens.kernel.name))
        kernel = lowered.kernel
        found: dict[str, Any] = {"graph": as_text(kernel.name, graph_nodes(kernel)), "passes": []}
        _link_to_calls(kernel)
        found["staged"], found["staged lines"] = print_with_lines(kernel)
        loops = _lines_of_loops(kernel)
        ask = lambda kernel: ask_about_arrays(lens, kernel)  # noqa: E731
        history = KernelHistory()
        before = history.text(kernel)
        for step in passes.pipeline(lens.options, ask, backend().target().plans_for()):
            step(kernel)
            now = history.text(kernel)
            found["passes"].append(
                {"name": "ask_about_arrays" if step is ask else _name(step), "change": _change(before, now)}
            )
            before = now
            if step is passes.place_safepoints:
                found["loops"], found["loops lines"] = print_with_lines(kernel, notes=True)
                found["tasks"] = _tasks(kernel, loops)
        found["ir"], found["ir lines"] = print_with_lines(kernel)
        compiling = backend()
        assemble = lambda text: made(Job(kernel.name, text, compiling.target(), "assembly")).code.decode()  # noqa: E731
        for stage, listing in compiling.listings(kernel, lens.options, assemble).items():
            found[stage], found[f"{stage} lines"] = listing
        return found


def _link_to_calls(kernel: Kernel) -> None:
    """Give the operations of a func the line of the kernel that calls it, directly or through others: its own lines are
    those of another function, perhaps in another file. A func that is called on several lines has none."""
    lines: dict[Function, set[int]] = {}
    pending = [(operation, operation.line) for operation in walk(kernel.body)]
    while pending:
        operation, line = pending.pop()
        called = operation.payload
        if operation.code == "call" and isinstance(called, Function) and line not in lines.setdefault(called, set()):
            lines[called].add(line)
            pending += [(inner, line) for inner in walk(called.body)]
    for function in kernel.functions:
        found = lines.get(function, set())
        for operation in walk(function.body):
            operation.line = min(found) if len(found) == 1 else 0


def _name(step: Any) -> str:
    return str((step.func if isinstance(step, partial) else step).__name__)


def _change(before: str, now: str) -> str:
    """What a pass changed, as a unified diff."""
    if before == now:
        return ""
    lines = list(unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=2))[2:]
    left_out = len(lines) - _LONGEST_CHANGE
    return "\n".join([*lines[:_LONGEST_CHANGE], *([f"… {left_out} more lines"] if left_out > 0 else [])])


def _lines_of_loops(kernel: Kernel) -> dict[int, set[int]]:
    """The lines of the program that each parallel loop consists of, by its first line."""
    loops = [operation for operation in walk(kernel.body) if isinstance(operation, ParallelFor)]
    return {loop.line: {loop.line, *(each.line for each in walk(loop.body) if each.line)} for loop in loops}


def _tasks(kernel: Kernel, loops: dict[int, set[int]]) -> list[dict[str, Any]]:
    """The parallel loops with their lines."""
    tasks = [operation for operation in walk_kernel(kernel) if isinstance(operation, Task)]
    return [{"name": task.name, "line": task.line, "lines": sorted(loops.get(task.line, {task.line}))} for task in tasks]
