"""Data race detection: every access of a task to memory shared by its iterations is reported to the runtime, which finds
conflicting pairs (`samovar._native`, races.c).

Two accesses to one element by different iterations conflict if one of them writes and they are not both atomic. Writing the
same constant is not a conflict: the element holds it in any order. The same applies to parallel sections, including their
tasks.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from samovar._native import DType, i64
from samovar.ir import (
    Array,
    Atomic,
    Constant,
    Function,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    ScratchArray,
    Touch,
    Value,
    indices,
    memory,
    rewrite,
    sections,
    serial,
    tasks,
    walk,
)
from samovar.passes.checks import site_of

#: Kinds of accesses, as numbered by the runtime.
READ, WRITE, ATOMIC, WRITE_CONSTANT = range(4)


def check_races(kernel: Kernel) -> None:
    """Report the memory accesses of tasks, and of the functions they call, to the runtime."""
    in_sections = [each for found in sections(kernel) for part in found.parts for each in serial(part.body)]
    targets = _targets(kernel, in_sections)
    sizes = [target.dtype.itemsize if isinstance(target, Array) else target.type.itemsize for target in targets]
    if not sizes:
        return
    granule = min(sizes)
    for function in kernel.functions:
        rewrite(function.body, lambda operation, owner=function: [*_touches(operation, owner), operation])  # type: ignore[misc]
    _check_sections(kernel, granule, set(in_sections))
    for task in list(tasks(kernel)):
        rewrite(task.body, lambda operation: [*_touches(operation, kernel), operation])
        task.body.operations.insert(0, Operation("iteration", None, tuple(task.variables)))
        task.race_checked = True
    rewrite(kernel.body, lambda operation: _around(operation, kernel, granule))


def _check_sections(kernel: Kernel, granule: int, serial: set[Operation]) -> None:
    """Report to the runtime which section runs, and the memory accesses of its serial code."""
    around: dict[Operation, list[Operation]] = {}
    for each in list(sections(kernel)):
        site = site_of("sections", [", ".join(str(part.line) for part in each.parts)], (), each, kernel, marked=False)
        begin = Operation("watch_sections", None, (), (site, len(each.parts), granule))
        around[each] = [begin, each, Operation("report_sections", None)]
        each.race_checked = True
        for number, part in enumerate(each.parts):
            part.body.operations.insert(0, Operation("section", None, (), number))

    def expand(operation: Operation) -> Sequence[Operation]:
        touches = _touches(operation, kernel) if operation in serial else []
        return [*touches, *around.get(operation, [operation])]

    if around:
        rewrite(kernel.body, expand)


def _targets(kernel: Kernel, others: Sequence[Operation]) -> list[Array | Local]:
    bodies = [*(function.body for function in kernel.functions), *(task.body for task in tasks(kernel))]
    targets = [memory(operation) for body in bodies for operation in walk(body)]
    targets += [memory(operation) for operation in others]
    return [target for target in targets if target is not None and _is_seen(target)]


def _is_seen(target: Array | Local) -> bool:
    """Whether another iteration can access it."""
    return target.shared if isinstance(target, Local) else not (target.private or isinstance(target, ScratchArray))


def _around(operation: Operation, kernel: Kernel, granule: int) -> Sequence[Operation]:
    """A task between the operations that begin and end its race check."""
    if not isinstance(operation, ParallelFor):
        return [operation]
    steps: list[Operation] = []
    bounds: list[Value] = []
    stepping = operation.stepping
    for begin, end in operation.axes():
        wide_begin, wide_end = (_as_i64(value, steps) for value in (begin, end))
        first, step = (wide_begin, Constant(1, i64)) if stepping is None else stepping
        bounds += [wide_begin, wide_end, first, step]
    names = tuple(variable.name for variable in operation.variables)
    site = site_of("task", [", ".join(names)], (), operation, kernel)
    begin = Operation("watch", None, tuple(bounds), (site, granule))
    return [*steps, begin, operation, Operation("report", None)]


def _as_i64(value: Value, steps: list[Operation]) -> Value:
    if isinstance(value, Constant):
        return Constant(value.value, i64)
    if value.type is not i64:
        value = Operation("cast", i64, (value,))
        steps.append(value)
    return value


def _touches(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    target = memory(operation)
    if target is None or not _is_seen(target):
        return []
    kind, constant = _access(operation)
    word = {READ: "reads", ATOMIC: "updates"}.get(kind, "writes")
    site = site_of("race", [target.name, word], (), operation, owner, marked=False)
    return [Operation("touch", None, indices(operation), Touch(site, kind, target, constant), operation.line)]


def _access(operation: Operation) -> tuple[int, int]:
    """The kind of an access, and the bits of the constant that it writes."""
    if operation.code in ("load", "load_local"):
        return READ, 0
    if isinstance(operation.payload, Atomic):
        return ATOMIC, 0
    value = operation.operands[-1]
    if isinstance(value, Constant) and value.type is not None:
        return WRITE_CONSTANT, _bits(value.value, value.type)
    return WRITE, 0


def _bits(value: bool | int | float, dtype: DType) -> int:
    """A key that distinguishes constants of one type, as an i64."""
    packed = struct.pack("<d", value) if dtype.kind == "float" else (int(value) & (1 << 64) - 1).to_bytes(8, "little")
    return int.from_bytes(packed, "little", signed=True)
