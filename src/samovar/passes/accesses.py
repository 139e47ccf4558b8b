"""Which arrays and locals each task and each function touches, calls included, and what an index is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar.ir import (
    Array,
    Function,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    callees,
    memory,
    sections,
    tasks,
    walk,
)


@dataclass
class Touched:
    """Arrays by how they are touched. Of a function: its array parameters and the arrays of the kernel that it names."""

    read: set[Array] = field(default_factory=set)
    written: set[Array] = field(default_factory=set)


@dataclass
class Accesses:
    """What a task does to memory: its own operations by target, in the order of the text, and what its calls touch.
    `contested` arrays are touched by others while it runs."""

    operations: dict[Array | Local, list[Operation]] = field(default_factory=dict)
    called: Touched = field(default_factory=Touched)
    contested: frozenset[Array] = frozenset()


def functions_touch(kernel: Kernel) -> dict[Function, Touched]:
    """What each function touches, itself or through the functions it calls (which are listed before it)."""
    found: dict[Function, Touched] = {}
    for function in kernel.functions:
        touched = found[function] = Touched()
        for operation in walk(function.body):
            if operation.code == "call":
                call_touches(operation, found, touched)
            elif isinstance(target := memory(operation), Array):
                (touched.read if operation.code == "load" else touched.written).add(target)
    return found


def call_touches(call: Operation, functions: dict[Function, Touched], touched: Touched) -> None:
    """Add what a call touches, in terms of the caller's arrays."""
    function = call.payload
    assert isinstance(function, Function)
    inner = functions[function]
    if not (inner.read or inner.written):
        return
    arguments = dict(zip(function.parameters, call.operands, strict=True))
    for arrays, into in ((inner.read, touched.read), (inner.written, touched.written)):
        for array in arrays:
            argument = arguments.get(array, array)
            assert isinstance(argument, Array)
            into.add(argument)


def accesses_of(region: Region, functions: dict[Function, Touched]) -> Accesses:
    """What the operations of a region do to memory, those of the regions inside included."""
    accesses = Accesses()
    for operation in walk(region):
        if operation.code == "call":
            call_touches(operation, functions, accesses.called)
        elif (target := memory(operation)) is not None:
            accesses.operations.setdefault(target, []).append(operation)
    return accesses


def task_accesses(kernel: Kernel) -> dict[ParallelFor, Accesses]:
    """The accesses of each task of a kernel."""
    functions, disputed = functions_touch(kernel), contested(kernel)
    found = {task: accesses_of(task.body, functions) for task in tasks(kernel)}
    for task, accesses in found.items() if disputed else ():
        accesses.contested = disputed.get(task, frozenset())
    return found


def reached_from_tasks(kernel: Kernel) -> set[Function]:
    """The functions that an iteration of a task, or a section, may run."""
    reached: set[Function] = set()
    if not kernel.functions:
        return reached
    for task in tasks(kernel):
        reached.update(callees(task.body))
    for each in sections(kernel):
        for part in each.parts:
            reached.update(callees(part.body))
    # Callers come after their callees, so one pass from the back closes the set.
    for function in reversed(kernel.functions):
        if function in reached:
            reached.update(callees(function.body))
    return reached


def contested(kernel: Kernel) -> dict[Operation, frozenset[Array]]:
    """For each operation in a section: the arrays that other sections touch meanwhile, where one of them writes.

    Updates of these stay atomic, whatever else is known of them.
    """
    found: dict[Operation, frozenset[Array]] = {}
    present = list(sections(kernel))
    functions = functions_touch(kernel) if present else {}
    for each in present:
        touched = [_touched(accesses_of(part.body, functions)) for part in each.parts]
        for position, part in enumerate(each.parts):
            mine, others = touched[position], [other for place, other in enumerate(touched) if place != position]
            written = set().union(*(other.written for other in others))
            read = set().union(*(other.read for other in others))
            disputed = frozenset((mine.written & (read | written)) | (mine.read & written))
            if disputed:
                found.update((operation, disputed) for operation in walk(part.body))
    return found


def _touched(accesses: Accesses) -> Touched:
    """All arrays of some accesses, those of calls included."""
    touched = Touched(set(accesses.called.read), set(accesses.called.written))
    for target, operations in accesses.operations.items():
        if isinstance(target, Array):
            for operation in operations:
                (touched.read if operation.code == "load" else touched.written).add(target)
    return touched
