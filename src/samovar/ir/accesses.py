"""Which arrays and locals each task and each function accesses, including calls, and the symbols of an index."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from samovar.ir.affine import Affine
from samovar.ir.structure import Function, Kernel, ParallelFor, Region
from samovar.ir.traversal import bodies, callees, memory, sections, tasks, use_counts, walk
from samovar.ir.values import Array, Local, Operation, Value


@dataclass(frozen=True)
class Facts:
    """Shared analyses of the passes over atomics: forms of indices, uses of values, accesses of tasks. They stay valid while
    atomics are replaced."""

    affine: Affine
    uses: Counter[Value]
    accesses: dict[ParallelFor, Accesses]

    @staticmethod
    def of(kernel: Kernel) -> Facts:
        """The facts of a kernel in its current state."""
        return Facts(Affine(kernel.body), use_counts(bodies(kernel)), task_accesses(kernel))


@dataclass
class Touched:
    """Arrays by kind of access. For a function: its array parameters and the arrays of the kernel that it names."""

    read: set[Array] = field(default_factory=set)
    written: set[Array] = field(default_factory=set)


@dataclass
class Accesses:
    """The memory accesses of a task: its own operations by target, in program order, and what its calls access.
    `contested` arrays are accessed by other sections while it runs."""

    operations: dict[Array | Local, list[Operation]] = field(default_factory=dict)
    called: Touched = field(default_factory=Touched)
    contested: frozenset[Array] = frozenset()


def functions_touch(kernel: Kernel) -> dict[Function, Touched]:
    """The accesses of each function, itself or through the functions it calls (which are listed before it)."""
    found: dict[Function, Touched] = {}
    for function in kernel.functions:
        found[function] = _touched(accesses_of(function.body, found))
    return found


def _call_touches(call: Operation, inner: Touched, touched: Touched) -> None:
    """Add the accesses of a call, in terms of the caller's arrays."""
    if inner.read or inner.written:
        arguments = dict(zip(call.payload.parameters, call.operands, strict=True))
        touched.read.update(arguments.get(array, array) for array in inner.read)
        touched.written.update(arguments.get(array, array) for array in inner.written)


def accesses_of(region: Region, functions: dict[Function, Touched]) -> Accesses:
    """The memory accesses of the operations of a region, including nested regions."""
    accesses = Accesses()
    for operation in walk(region):
        if operation.code == "call":
            _call_touches(operation, functions[operation.payload], accesses.called)
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
    """The functions that an iteration of a task, or a section, may call."""
    reached: set[Function] = set()
    if not kernel.functions:
        return reached
    for task in tasks(kernel):
        reached.update(callees(task.body))
    for each in sections(kernel):
        for part in each.parts:
            reached.update(callees(part.body))
    # Callers come after their callees, so one backward pass closes the set.
    for function in reversed(kernel.functions):
        if function in reached:
            reached.update(callees(function.body))
    return reached


def contested(kernel: Kernel) -> dict[Operation, frozenset[Array]]:
    """For each operation in a section: the arrays that other sections access concurrently, if one of them writes.

    Updates of these always stay atomic.
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
    """All arrays of some accesses, including those of calls."""
    touched = Touched(set(accesses.called.read), set(accesses.called.written))
    for target, operations in accesses.operations.items():
        if isinstance(target, Array):
            for operation in operations:
                (touched.read if operation.code == "load" else touched.written).add(target)
    return touched
