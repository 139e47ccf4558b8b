"""Running minima and maxima of floats: loops that do nothing but keep the least or the greatest of what they come across.

Of a NaN and a number the number is kept, which takes LLVM three instructions for each vector, because the vector that is
kept may be one of NaN. It cannot if it begins with infinity: then one comparison that fails for NaN is enough, and
processors have an instruction for just that. Whether there was a number at all is not known any more only if infinity is
what comes out; then the loop is run once more, with care. That does no harm, because to see a number twice changes neither
extreme, and the loops that are found here do nothing else: no sums, no stores.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar.ir import (
    OPCODES,
    Array,
    For,
    Lanes,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    Value,
    walk,
)
from samovar.passes.lanes import distance

#: Four registers of 512 bits are filled by turns, since each comparison waits for the one before.
_BITS = 2048
_FREE = frozenset(("shape", "load_local"))


def extremes(task: ParallelFor) -> tuple[tuple[Operation | None, Lanes], ...]:
    """The loops of a task that keep extremes in vectors, each with its lanes; None stands for the task's own last axis."""
    if task.watched or task.scatters:
        return ()
    return tuple(_found(task))


def _found(task: ParallelFor) -> Iterator[tuple[Operation | None, Lanes]]:
    if task.reductions:
        lanes = _lanes(task.variables[-1], task.axes()[-1][0], task.body)
        if lanes is not None:
            yield None, lanes
            return
    for operation in walk(task.body):
        if isinstance(operation, For):
            lanes = _lanes(operation.variable, operation.operands[0], operation.body)
            if lanes is not None:
                yield operation, lanes


def _is_kept(type: object) -> bool:
    return getattr(type, "kind", "") == "float" and getattr(type, "bits", 0) >= 32


def _lanes(variable: LoopVariable, begin: Value, body: Region) -> Lanes | None:
    """What differs between neighbouring iterations of a loop that only keeps extremes; None of any other loop."""
    varying: set[Value | Local] = {variable}
    kept: set[Local] = {step.payload for step in body.operations if step.code == "store_local"}
    varying |= kept
    finds, gathers, bits = False, False, 32
    for step in body.operations:
        if step.code == "load":
            apart = _distance(step, varying, variable, begin)
            if apart is None:
                return None
            if apart:
                varying.add(step)
                finds, bits = True, max(bits, step.payload.dtype.bits)
        elif step.code == "load_local":
            if step.payload in kept:
                varying.add(step)
        elif step.code == "store_local":
            if not _keeps(step, body.operations):
                return None
        elif step.code == "accumulate":
            if step.payload.operation not in ("min", "max") or not _is_kept(step.payload.type):
                return None
            gathers = True
        elif not _computes(step):
            return None
        elif any(operand in varying for operand in step.operands):
            varying.add(step)
    if not finds or not (kept or gathers):
        return None
    return Lanes(_BITS // bits, frozenset(varying), frozenset(), frozenset(), frozenset(), ())


def _distance(load: Operation, varying: set[Value | Local], variable: LoopVariable, begin: Value) -> int | None:
    array = load.payload
    if not isinstance(array, Array) or isinstance(array, LocalArray) or array.dtype.bits < 32 or array.dtype.name == "f16":
        return None
    return distance(array, load.operands, varying, variable, begin)


def _keeps(store: Operation, steps: list[Operation]) -> bool:
    """Whether a variable becomes the extreme of itself and something else, and is used for nothing beside."""
    value, local = store.operands[0], store.payload
    if not isinstance(value, Operation) or value.code not in ("min", "max") or value not in steps:
        return False
    if not _is_kept(value.type):
        return False
    loads = [step for step in steps if step.code == "load_local" and step.payload is local]
    if len(loads) != 1 or local.shared or sum(step.code == "store_local" and step.payload is local for step in steps) != 1:
        return False
    users = [step for step in steps if loads[0] in step.operands]
    return users == [value] and value.operands.count(loads[0]) == 1 and not any(
        value in step.operands for step in steps if step is not store
    )


def _computes(step: Operation) -> bool:
    if step.code in _FREE:
        return True
    row = OPCODES.get(step.code)
    if row is None or row.effect != "pure" or row.library or not isinstance(step.payload, (str, type(None))):
        return False
    return step.code not in ("quotient", "remainder", "fmod", "random") and (step.type is None or step.type.name != "f16")
