"""Walking the IR: nested regions, operations in order, what they use, and rewriting in place.

Shared by the passes, the printer and the verifier. Everything here is linear in the number of operations and keeps its own
stack, so that a long `elif` chain (deeply nested regions) is no problem. Values compare by identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from samovar._native import walk_operations
from samovar.ir.graph import Checkpoint, Sections
from samovar.ir.structure import (
    Atomic,
    Captured,
    For,
    Function,
    If,
    Kernel,
    ParallelFor,
    Reduction,
    Region,
    Scatter,
    Task,
    Touch,
    While,
)
from samovar.ir.values import Array, Local, LoopVariable, Operation, Value, VectorOperation


def regions(operation: Operation) -> tuple[Region, ...]:
    """The regions inside an operation, in the order of the text; none for what is not control flow."""
    if operation.__class__ is Operation:
        return ()
    if isinstance(operation, If):
        return (operation.then, operation.orelse)
    if isinstance(operation, While):
        return (operation.head, operation.body)
    if isinstance(operation, (For, ParallelFor, Task, Checkpoint)):
        return (operation.body,)
    if isinstance(operation, Sections):
        return tuple(part.body for part in operation.parts)
    return ()


def variables(operation: Operation) -> tuple[LoopVariable, ...]:
    """The loop variables that an operation defines for its body."""
    if isinstance(operation, For):
        return (operation.variable,)
    if isinstance(operation, ParallelFor):
        return tuple(operation.variables)
    return ()


def bodies(kernel: Kernel) -> list[Region]:
    """The outermost regions: those of the functions (callees first), then the kernel's own."""
    return [*(function.body for function in kernel.functions), kernel.body]


def walk(region: Region) -> Iterator[Operation]:
    """Every operation of a region and of the regions inside, each before what it contains.

    The lists must not change length while the walk is on them; to insert or remove operations, use `rewrite`.
    """
    return walk_operations(region, Operation, regions)


def walk_regions(region: Region) -> Iterator[Region]:
    """The region and every region inside, outer ones first."""
    stack = [region]
    while stack:
        current = stack.pop()
        yield current
        for operation in reversed(current.operations):
            stack.extend(reversed(regions(operation)))


def walk_kernel(kernel: Kernel) -> Iterator[Operation]:
    """Every operation of a kernel, those of its functions first."""
    for body in bodies(kernel):
        yield from walk(body)


def serial(kernel: Kernel) -> Iterator[Operation]:
    """The operations of a kernel outside its tasks, and the tasks themselves."""
    pending = [iter(kernel.body.operations)]
    while pending:
        for operation in pending[-1]:
            yield operation
            if operation.__class__ is not Operation and operation.code not in ("parallel", "task"):
                pending.extend(iter(each.operations) for each in reversed(regions(operation)))
                break
        else:
            pending.pop()


def tasks(kernel: Kernel) -> Iterator[ParallelFor]:
    """The parallel loops of a kernel that are not outlined yet, in order."""
    return (operation for operation in serial(kernel) if isinstance(operation, ParallelFor))


def sections(kernel: Kernel) -> Iterator[Sections]:
    """The parts of a kernel that run side by side, in order."""
    return (operation for operation in serial(kernel) if isinstance(operation, Sections))


def outlined(kernel: Kernel) -> Iterator[Task]:
    """The tasks of a kernel, in order: what its parallel loops have become."""
    return (operation for operation in serial(kernel) if isinstance(operation, Task))


def scopes(kernel: Kernel) -> Iterator[tuple[Region, list[Local]]]:
    """What is a function of its own in the end, or part of the kernel's: the bodies of tasks, outlined or not, of functions
    (callees first) and of the kernel, each with its locals."""
    for task in serial(kernel):
        if isinstance(task, (ParallelFor, Task)):
            yield task.body, task.locals
    for function in kernel.functions:
        yield function.body, function.locals
    yield kernel.body, kernel.locals


def used(operation: Operation) -> tuple[Value, ...]:
    """The values that an operation itself uses (not the operations inside it): operands and the like."""
    if operation.__class__ is Operation:
        return operation.operands
    if isinstance(operation, VectorOperation):
        return operation.operands if operation.mask is None else (*operation.operands, operation.mask)
    if isinstance(operation, While):
        return (*operation.operands, operation.condition)
    if isinstance(operation, ParallelFor):
        return (*operation.operands, *(index for reduction in operation.reductions for index in reduction.indices))
    if isinstance(operation, Task):
        return (*operation.operands, *(each.source for each in operation.captures if isinstance(each, Captured)))
    return operation.operands


def use_counts(regions: Iterable[Region]) -> Counter[Value]:
    """How often each value is used in the regions and everything inside them."""
    counts: Counter[Value] = Counter()
    for region in regions:
        counts.update(chain.from_iterable(map(used, walk(region))))
    return counts


def users(regions: Iterable[Region]) -> dict[Value, list[Operation]]:
    """The operations that use each value, in the order of the text; once per use."""
    found: dict[Value, list[Operation]] = {}
    for region in regions:
        for operation in walk(region):
            for value in used(operation):
                found.setdefault(value, []).append(operation)
    return found


def memory(operation: Operation) -> Array | Local | None:
    """The array or local whose contents an operation reads or writes itself; None for all others, calls included."""
    payload = operation.payload
    if payload is None:
        return None
    if operation.code in ("load", "store", "load_local", "store_local"):
        assert isinstance(payload, (Array, Local))
        return payload
    if isinstance(payload, (Atomic, Reduction)):
        return payload.target
    if isinstance(payload, Scatter):
        return payload.array
    return None


def indices(operation: Operation) -> tuple[Value, ...]:
    """The indices of a memory operation on an array; empty for all other operations."""
    target = memory(operation)
    if not isinstance(target, Array) or operation.code == "accumulate":
        return ()
    return operation.operands[: target.ndim]


def callees(region: Region) -> Iterator[Function]:
    """The functions called in a region, once per call."""
    for operation in walk(region):
        if operation.code == "call":
            yield operation.payload
        elif operation.payload.__class__ is Atomic and operation.payload.step is not None:
            yield operation.payload.step


def substitute(operation: Operation, replacements: Mapping[Value, Value]) -> None:
    """Use other values instead: every used value that is a key becomes what it maps to, in the operation itself."""
    if not replacements.keys().isdisjoint(operation.operands):
        operation.operands = tuple(replacements.get(value, value) for value in operation.operands)
    if operation.__class__ is Operation:
        return
    if isinstance(operation, VectorOperation):
        if operation.mask is not None:
            operation.mask = replacements.get(operation.mask, operation.mask)
    elif isinstance(operation, While):
        operation.condition = replacements.get(operation.condition, operation.condition)
    elif isinstance(operation, ParallelFor):
        for reduction in operation.reductions:
            reduction.indices = tuple(replacements.get(value, value) for value in reduction.indices)
    elif isinstance(operation, Task):
        for each in operation.captures:
            if isinstance(each, Captured):
                each.source = replacements.get(each.source, each.source)


def retarget(operation: Operation, targets: Mapping[object, Array | Local]) -> None:
    """Work on other arrays and locals instead: those that the payload names and that are keys."""
    payload = operation.payload
    if payload is None:
        return
    if isinstance(payload, (Array, Local)):
        operation.payload = targets.get(payload, payload)
    elif isinstance(payload, (Atomic, Touch)):
        if payload.target in targets:
            operation.payload = replace(payload, target=targets[payload.target])
    elif operation.code == "shape":
        array, axis = payload
        operation.payload = (targets.get(array, array), axis)


def rewrite(region: Region, expand: Callable[[Operation], Sequence[Operation]]) -> None:
    """Replace each operation by what `expand` gives for it, in place, in a region and every region inside.

    `expand` sees each operation once, in the order of the text, outer ones before what they contain. An operation that it
    returns is not expanded again; if it is the one it was given, the regions inside it are entered.
    """
    stack: list[tuple[Region, Iterator[Operation], list[Operation]]] = [(region, iter(region.operations), [])]
    while stack:
        current, remaining, result = stack[-1]
        for operation in remaining:
            replacements = expand(operation)
            result.extend(replacements)
            if operation.__class__ is not Operation and any(each is operation for each in replacements):
                inner = regions(operation)
                stack.extend((each, iter(each.operations), []) for each in reversed(inner))
                break
        else:
            current.operations = result
            stack.pop()
