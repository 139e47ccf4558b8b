"""Partitioning into compile units: which functions and tasks are compiled separately. The last pass.

A unit is compiled once for all kernels that contain it and cached by itself; after an edit only changed units are compiled.
A function that is not a unit goes into every unit that calls it, where the backend may inline it.

Small functions are never units, and large ones always are; those that loops need inlined for vectorization already are
(`samovar.passes.loops.inline_calls`). Tasks are units if the kernel as a whole is large.

A backend that compiles a unit does not see its callers. The most useful fact is propagated here: a loop bound that is the
same constant in every call becomes that constant. Other constants stay arguments, so that kernels can share the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from samovar.ir import (
    Constant,
    For,
    Function,
    Kernel,
    Operation,
    Parameter,
    Region,
    Task,
    Value,
    While,
    bodies,
    callees,
    outlined,
    regions,
    substitute,
    walk,
)

#: A function with so many operations is a unit, including the functions that go into it.
LARGE_FUNCTION = 200
#: If a kernel has so many operations, without functions that are units, its tasks are units too; each of at least this
#: many.
LARGE_KERNEL = 1000
LEAST_TASK = 60

#: Operations that repeat their body.
_REPEATING = (For, While, Task)


def partition(kernel: Kernel) -> None:
    """Mark the functions and tasks of a kernel that are compile units."""
    sizes: dict[Function, int] = {}
    for function in kernel.functions:  # callees first: units do not count in the size of a caller
        size = _size(function.body, sizes)
        function.separate |= size >= LARGE_FUNCTION
        sizes[function] = 1 if function.separate else size
    if kernel.functions:
        _fix_constants(kernel)
        _mark_once(kernel)
    if _size(kernel.body, sizes) >= LARGE_KERNEL:
        for task in outlined(kernel):
            task.separate = _size(task.body, sizes) >= LEAST_TASK


def _size(region: Region, sizes: dict[Function, int]) -> int:
    """The number of operations in a region, including called functions."""
    return sum(sizes[operation.payload] if operation.code == "call" else 1 for operation in walk(region))


def _fix_constants(kernel: Kernel) -> None:
    """Replace parameters of units that are loop bounds, and the same constant in every call."""
    calls: dict[Function, list[Operation]] = {}
    for body in bodies(kernel):
        for operation in walk(body):
            if operation.code == "call" and operation.payload.separate:
                calls.setdefault(operation.payload, []).append(operation)
    # Callers first: they may pass on their own arguments.
    for function in reversed(kernel.functions):
        given = calls.get(function)
        if given is None:
            continue
        known: dict[Value, Value] = {}
        bounds = {value for operation in walk(function.body) if isinstance(operation, For) for value in operation.operands}
        for position, parameter in enumerate(function.parameters):
            if parameter not in bounds:
                continue
            constants = {_constant(call.operands[position]) for call in given}
            if isinstance(parameter, Parameter) and len(constants) == 1 and None not in constants:
                known[parameter] = given[0].operands[position]
        if not known:
            continue
        kept = [parameter not in known for parameter in function.parameters]
        function.parameters = [parameter for parameter in function.parameters if parameter not in known]
        for call in given:
            call.operands = tuple(operand for operand, keep in zip(call.operands, kept, strict=True) if keep)
        for operation in walk(function.body):
            substitute(operation, known)


def _mark_once(kernel: Kernel) -> None:
    """Mark the functions whose operations run at most once in a launch: called from one place, without a loop
    around it or in them."""
    calls: Counter[Function] = Counter(callees(kernel.body))
    calls.update(_repeated(kernel.body))
    for function in reversed(kernel.functions):  # callers first
        executed_once = calls[function] == 1
        function.runs_once = executed_once and not any(isinstance(each, _REPEATING) for each in walk(function.body))
        calls.update(callees(function.body))
        calls.update(_repeated(function.body) if executed_once else callees(function.body))


def _repeated(body: Region) -> Iterator[Function]:
    """The functions that are called in loops, possibly many times per call."""
    for operation in walk(body):
        if isinstance(operation, _REPEATING):
            for region in regions(operation):
                yield from callees(region)


def _constant(value: Value) -> tuple[object, str] | None:
    """A comparable key of a constant: the two zeros differ, and a NaN equals itself."""
    return (value.type, repr(value.value)) if isinstance(value, Constant) else None
