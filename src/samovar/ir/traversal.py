"""Walking the IR: nested regions, operations in order, their uses, and rewriting in place.

Shared by the passes, the printer and the verifier. Everything here is linear in the number of operations and keeps its own
stack, so deeply nested regions (a long `elif` chain) are safe. Values compare by identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from samovar.ir.graph import Checkpoint, Sections
from samovar.ir.opcodes import CELL_OPERATIONS
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
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Value, VectorOperation


def regions(operation: Operation) -> tuple[Region, ...]:
    """The regions inside an operation, in program order; empty unless it is control flow."""
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
    """Every operation of a region and of the regions inside, in pre-order.

    The lists must not change length during the walk; to insert or remove operations, use `rewrite`.
    """
    pending = [iter(region.operations)]
    while pending:
        for operation in pending[-1]:
            yield operation
            if operation.__class__ is not Operation:
                pending.extend([iter(each.operations) for each in reversed(regions(operation))])
                break
        else:
            pending.pop()


def inside(operation: Operation) -> Iterator[Operation]:
    """The operations in the regions of an operation."""
    for region in regions(operation):
        yield from walk(region)


def outside_loops(region: Region) -> Iterator[Operation]:
    """The operations of a region and of its branches, except those in loops."""
    for operation in region.operations:
        yield operation
        if isinstance(operation, If):
            yield from outside_loops(operation.then)
            yield from outside_loops(operation.orelse)


def defined_in(region: Region) -> set[Value]:
    """All values that a region defines, including loop variables and nested regions."""
    found: set[Value] = set()
    for operation in walk(region):
        found.add(operation)
        found.update(variables(operation))
        if operation.code == "reserve":
            found.add(operation.payload)
    return found


def taken_by(body: Region) -> list[Value | Local]:
    """The values that operations use or name but do not define, without constants, each once, in program order."""
    found: dict[Value | Local, None] = {}
    for operation in walk(body):
        found.update(dict.fromkeys(used(operation)))
        target = named(operation)
        if target is not None:
            found[target] = None
    defined = defined_in(body)
    return [each for each in found if each not in defined and not isinstance(each, Constant)]


def walk_regions(region: Region) -> Iterator[Region]:
    """The region and every region inside, outer ones first."""
    stack = [region]
    while stack:
        current = stack.pop()
        yield current
        for operation in reversed(current.operations):
            stack.extend(reversed(regions(operation)))


def walk_kernel(kernel: Kernel) -> Iterator[Operation]:
    """Every operation of a kernel, functions first."""
    for body in bodies(kernel):
        yield from walk(body)


def serial(region: Region) -> Iterator[Operation]:
    """The operations of a region outside tasks, and the tasks themselves."""
    pending = [iter(region.operations)]
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
    return (operation for operation in serial(kernel.body) if isinstance(operation, ParallelFor))


def sections(kernel: Kernel) -> Iterator[Sections]:
    """The parallel sections of a kernel, in order."""
    return (operation for operation in serial(kernel.body) if isinstance(operation, Sections))


def outlined(kernel: Kernel) -> Iterator[Task]:
    """The outlined tasks of a kernel, in order."""
    return (operation for operation in serial(kernel.body) if isinstance(operation, Task))


def scopes(kernel: Kernel) -> Iterator[tuple[Region, list[Local]]]:
    """The regions that become functions, each with its locals: the bodies of functions (callees first), of tasks (outlined
    or not), of sections and of the kernel."""
    for function in kernel.functions:
        yield function.body, function.locals
    for operation in serial(kernel.body):
        if isinstance(operation, (ParallelFor, Task)):
            yield operation.body, operation.locals
        elif isinstance(operation, Sections):
            yield from ((part.body, part.locals) for part in operation.parts)
    yield kernel.body, kernel.locals


def used(operation: Operation) -> tuple[Value, ...]:
    """The values that an operation itself uses (not the operations inside it): its operands, indices and condition."""
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
    """The number of uses of each value in the regions and everything inside them."""
    counts: Counter[Value] = Counter()
    for region in regions:
        counts.update(chain.from_iterable(map(used, walk(region))))
    return counts


def users(regions: Iterable[Region]) -> dict[Value, list[Operation]]:
    """The operations that use each value, in program order; once per use."""
    found: dict[Value, list[Operation]] = {}
    for region in regions:
        for operation in walk(region):
            for value in used(operation):
                found.setdefault(value, []).append(operation)
    return found


def operands_first(values: Iterable[Value], counts: Callable[[Value], bool]) -> Iterator[Value]:
    """Some values and their transitive operands, in post-order, each once. Values that do not count are omitted, with their
    operands."""
    # An explicit stack: an expression may be as long as a program.
    stack = list(values)
    done: set[Value] = set()
    while stack:
        current = stack[-1]
        if current in done or not counts(current):
            stack.pop()
            continue
        operands = current.operands if isinstance(current, Operation) else ()
        missing = [each for each in operands if each not in done and counts(each)]
        if missing:
            stack.extend(missing)
        else:
            done.add(current)
            yield current


def memory(operation: Operation) -> Array | Local | None:
    """The array or local whose contents an operation itself reads or writes; None for all others, including calls."""
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


def named(operation: Operation) -> Array | Local | None:
    """The array or local that an operation names, whether or not it accesses the contents."""
    payload = operation.payload
    if operation.code == "shape":
        array: Array = payload[0]
        return array
    if operation.code in CELL_OPERATIONS:
        sparse: Array = payload
        return sparse
    return payload.target if isinstance(payload, Touch) else memory(operation)


def array_of(operation: Operation) -> Array:
    """The array of an array access."""
    array = memory(operation)
    assert isinstance(array, Array)
    return array


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
    """Replace each used value that is a key by the value it maps to, in the operation itself."""
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
    """Replace the arrays and locals that the payload names, if they are keys."""
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


def is_own(operation: Operation) -> bool:
    """Whether the regions of an operation belong to the enclosing scope; those of tasks and sections do not (`scopes`)."""
    return not isinstance(operation, (ParallelFor, Task, Sections))


def rewrite(
    region: Region,
    expand: Callable[[Operation], Sequence[Operation]],
    replacements: Mapping[Value, Value] | None = None,
    enters: Callable[[Operation], bool] | None = None,
) -> None:
    """Replace each operation by the result of `expand`, in place, in a region and every region inside.

    `expand` sees each operation once, in pre-order. The operations that it returns are not expanded again; if one of them
    is the given operation, and `enters` accepts it, its regions are entered. `replacements` are applied to each operation
    before it is expanded; `expand` may add to them.
    """
    stack: list[tuple[Region, Iterator[Operation], list[Operation]]] = [(region, iter(region.operations), [])]
    while stack:
        current, remaining, result = stack[-1]
        for operation in remaining:
            if replacements:
                substitute(operation, replacements)
            expanded = expand(operation)
            result.extend(expanded)
            if operation.__class__ is not Operation and any(each is operation for each in expanded):
                if enters is None or enters(operation):
                    stack.extend((each, iter(each.operations), []) for each in reversed(regions(operation)))
                elif replacements:
                    for each in inside(operation):
                        substitute(each, replacements)
                break
        else:
            current.operations = result
            stack.pop()
    if replacements:
        fix_conditions(region, replacements)


def fix_conditions(body: Region, replacements: Mapping[Value, Value]) -> None:
    """Replace conditions at the end: a `While` precedes its head in program order."""
    for operation in walk(body):
        if isinstance(operation, While):
            substitute(operation, replacements)
