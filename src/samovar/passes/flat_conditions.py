"""`and` and `or` without branches: where what is asked on the right costs next to nothing, it is asked in any case.

`a <= x <= b and c <= y <= d` is a nest of branches, which LLVM flattens only as far as it finds cheap; what is left keeps a
loop from becoming one of vectors. In iterations without loops, branches that do nothing but decide a condition are written
as arithmetic on conditions. Relies on `ahead`, which has taken the elements out of them.
"""

from __future__ import annotations

from collections import Counter

from samovar._native import u1
from samovar.ir import For, If, Kernel, Local, Operation, Value, While, tasks, walk

#: What may be computed for nothing, and how many operations of it in one nest.
_CHEAP = frozenset("add sub mul neg abs min max lt le gt ge eq ne and or xor not select cast isnan load_local".split())
_MOST = 48


def flatten_conditions(kernel: Kernel) -> None:
    """Write branches that only decide conditions without branches, in place."""
    for task in tasks(kernel):
        nests = [each for each in task.body.operations if isinstance(each, If)]
        if task.watched or not nests or any(isinstance(each, (For, While)) for each in walk(task.body)):
            continue
        accesses = Counter(local for each in walk(task.body) if (local := _local(each)) is not None)
        steps: list[Operation] = []
        stored: set[Local] = set()
        for operation in task.body.operations:
            if isinstance(operation, If) and _only_decides(operation, accesses, stored):
                _write(operation, None, steps, stored)
                continue
            steps.append(operation)
            if operation.code == "store_local":
                stored.add(operation.payload)
        task.body.operations = steps


def _local(step: Operation) -> Local | None:
    return step.payload if step.code in ("load_local", "store_local") else None


def _only_decides(choice: If, accesses: Counter[Local], stored: set[Local]) -> bool:
    """Does a nest of branches only decide conditions, that have a value before or are its own?"""
    inside = [step for branch in (choice.then, choice.orelse) for step in walk(branch)]
    if len(inside) > _MOST or not all(map(_is_harmless, inside)):
        return False
    here = Counter(local for step in inside if (local := _local(step)) is not None)
    return all(local in stored or accesses[local] == count for local, count in here.items())


def _is_harmless(step: Operation) -> bool:
    if isinstance(step, If):
        return True
    if step.code == "store_local":
        return step.payload.type is u1 and not step.payload.shared
    return step.code in _CHEAP and (step.payload is None or step.code == "load_local")


def _write(choice: If, around: Value | None, steps: list[Operation], stored: set[Local]) -> None:
    """Both branches, one after the other; what they store is stored only if their conditions hold. What has no value yet is
    stored in any case: it must not wait for the iteration before."""
    (condition,) = choice.operands
    for branch, negated in ((choice.then, False), (choice.orelse, True)):
        if not branch.operations:
            continue
        holds = condition
        if negated:
            holds = _add(steps, Operation("not", u1, (condition,)))
        if around is not None:
            holds = _add(steps, Operation("and", u1, (around, holds)))
        for step in branch.operations:
            if isinstance(step, If):
                _write(step, holds, steps, stored)
            elif step.code == "store_local" and step.payload in stored:
                before = _add(steps, Operation("load_local", u1, (), step.payload))
                chosen = _add(steps, Operation("select", u1, (holds, step.operands[0], before)))
                steps.append(Operation("store_local", None, (chosen,), step.payload, step.line))
            else:
                steps.append(step)
                stored.update([step.payload] if step.code == "store_local" else ())


def _add(steps: list[Operation], operation: Operation) -> Operation:
    steps.append(operation)
    return operation
