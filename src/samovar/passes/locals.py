"""Locals: atomics on thread-private locals become plain, and loads of locals are forwarded from the last store or load.

Backends keep locals in registers anyway; the purpose is to expose an index or the location of a reduction that went through
a local to the analyses that follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from samovar import _native
from samovar._native import DType, u1
from samovar.ir import (
    Array,
    Atomic,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Value,
    While,
    bodies,
    fix_conditions,
    memory,
    regions,
    rewrite,
    substitute,
    tasks,
    walk,
)


def demote_atomics(kernel: Kernel) -> None:
    """Turn atomics on locals into loads and stores if no other iteration sees the local."""
    in_tasks = {operation for task in tasks(kernel) for operation in walk(task.body)}
    replacements: dict[Value, Value] = {}

    def expand(operation: Operation) -> Sequence[Operation]:
        payload = operation.payload
        if operation.code not in ("atomic", "update") or not isinstance(payload, Atomic):
            return (operation,)
        if isinstance(payload.target, Array):
            operation.code = "update" if payload.target.private else operation.code
            return (operation,)
        if payload.target.shared and operation in in_tasks:
            return (operation,)
        steps = plain_update(operation, payload.operation, payload.target)
        replacements[operation] = steps[0]
        return steps

    for body in bodies(kernel):
        rewrite(body, expand, replacements)


def plain_update(operation: Operation, action: str, target: Local) -> list[Operation]:
    """An update of a local as load, combination and store; the first operation is the old value."""
    type, line = target.type, operation.line
    old = target.load(line)
    steps = [old]
    if action == "exchange":
        new: Value = operation.operands[0]
    elif action == "cas":
        expected, value = operation.operands
        equal = _same_bits(old, expected, type, line)
        new = Operation("select", type, (equal[-1], value, old), None, line)
        steps += [*equal, new]
    else:
        new = Operation(action, type, (old, operation.operands[0]), None, line)
        steps.append(new)
    return [*steps, target.store(new, line)]


def _same_bits(a: Value, b: Value, type: DType, line: int) -> list[Operation]:
    """Compare bitwise, as a compare-and-swap does: a NaN equals itself, and the two zeros differ."""
    if type.kind != "float":
        return [Operation("eq", u1, (a, b), None, line)]
    bits: DType = getattr(_native, f"u{type.bits}")
    left, right = (Operation("bitcast", bits, (value,), None, line) for value in (a, b))
    return [left, right, Operation("eq", u1, (left, right), None, line)]


def forward(kernel: Kernel) -> None:
    """Replace loads of locals by the last value stored or loaded before, if it is known."""
    for body in bodies(kernel):
        forward_in(body)


def forward_in(region: Region) -> None:
    """Forward locals in one region, regardless of its context."""
    _Forwarding(region)


class _Forwarding:
    """A single walk over a body in program order that tracks the known value of each local.

    A region may or may not run, and a loop may run again: after a control operation nothing is known about the locals
    assigned inside, and at the start of a loop nothing about those assigned in its body. The log undoes what a region
    learned.
    """

    def __init__(self, body: Region) -> None:
        self._known: dict[Local, Value] = {}
        self._log: list[tuple[Local, Value | None]] = []
        self._replacements: dict[Value, Value] = {}
        self._assigned: dict[Operation, set[Local]] = {}
        self._in_task = False
        self._collect(body)
        self._region(body)
        fix_conditions(body, self._replacements)

    def _collect(self, region: Region) -> set[Local]:
        """Find the locals that each control operation assigns anywhere inside."""
        result: set[Local] = set()
        for operation in region.operations:
            inner = regions(operation)
            if inner:
                assigned = self._assigned[operation] = set()
                for each in inner:  # not by a generator: CPython 3.12 allows few calls by way of C nested
                    assigned |= self._collect(each)
                result |= assigned
            elif operation.code != "load_local" and isinstance(target := memory(operation), Local):
                result.add(target)
        return result

    def _set(self, local: Local, value: Value | None) -> None:
        before = self._known.get(local)
        if before is value:
            return
        self._log.append((local, before))
        if value is None:
            del self._known[local]
        else:
            self._known[local] = value

    def _undo(self, mark: int) -> None:
        while len(self._log) > mark:
            local, before = self._log.pop()
            if before is None:
                del self._known[local]
            else:
                self._known[local] = before

    def _forget(self, locals: Iterable[Local]) -> None:
        for local in locals:
            self._set(local, None)

    def _region(self, region: Region) -> None:
        kept: list[Operation] = []
        for operation in region.operations:
            substitute(operation, self._replacements)
            if operation.code == "load_local" and operation.payload in self._known:
                self._replacements[operation] = self._known[operation.payload]
                continue
            kept.append(operation)
            if operation in self._assigned:
                self._control(operation)
            elif isinstance(target := memory(operation), Local):
                # Another iteration may overwrite a shared local between this one's store and its next load.
                lasts = operation.code in ("load_local", "store_local") and not (target.shared and self._in_task)
                self._set(target, (*operation.operands, operation)[0] if lasts else None)
        region.operations = kept

    def _control(self, operation: Operation) -> None:
        self._in_task |= isinstance(operation, ParallelFor)
        if operation.code != "if":
            self._forget(self._assigned[operation])
        mark = len(self._log)
        for inner in regions(operation):
            self._region(inner)
            if not isinstance(operation, While) or inner is operation.body:
                self._undo(mark)
        self._in_task &= not isinstance(operation, ParallelFor)
        self._forget(self._assigned[operation])
