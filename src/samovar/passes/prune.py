"""Prune: remove what never runs and what nobody can see.

Never runs: the other branch of an `if` whose condition is known, loops over nothing, what follows a jump. Cannot be seen:
values and loads without users, locals that nobody reads, branches and loops without content, functions without callers.
Stores to arrays, calls, prints and checks (overflow checks included) always stay. Kernel parameters stay too: their order is
the argument block.
"""

from __future__ import annotations

from samovar.artifact import Site
from samovar.ir import (
    OPCODES,
    Array,
    Constant,
    For,
    Function,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Section,
    Sections,
    Touch,
    While,
    callees,
    constant_integer,
    memory,
    regions,
    use_counts,
    used,
    walk,
    walk_regions,
)

JUMPS = ("break", "continue", "return")


def prune(kernel: Kernel) -> None:
    """Remove from a kernel and its functions what never runs or cannot be seen."""
    owners: list[Function | Kernel] = [kernel, *kernel.functions]
    for owner in owners:
        fold(owner.body)
        live = _Marking(owner.body).live
        _sweep(owner.body, live)
        _keep_named_locals(owner)
    called = set(callees(kernel.body))
    for function in reversed(kernel.functions):
        if function in called:
            called.update(callees(function.body))
    kernel.functions = [function for function in kernel.functions if function in called]


def _keep_named_locals(owner: Function | Kernel) -> None:
    """Remove the locals that no operation names, whether it looks at them or not."""
    seen: set[Array | Local | None] = set()
    holders: list[ParallelFor | Section] = []
    for operation in walk(owner.body):
        payload = operation.payload
        if payload is not None:
            seen.add(payload.target if isinstance(payload, Touch) else memory(operation))
        if isinstance(operation, ParallelFor):
            holders.append(operation)
        elif isinstance(operation, Sections):
            holders.extend(operation.parts)
    for holder in (owner, *holders):
        holder.locals = [local for local in holder.locals if local in seen]


# What never runs.


def fold(region: Region) -> bool:
    """Cut what never runs from a region; whether control never reaches its end."""
    result: list[Operation] = []
    ends = False
    for operation in region.operations:
        if operation.__class__ is Operation:
            result.append(operation)
            ends = operation.code in JUMPS
        elif isinstance(operation, If) and isinstance(operation.operands[0], Constant):
            chosen = operation.then if operation.operands[0].value else operation.orelse
            ends = fold(chosen)
            result.extend(chosen.operations)
        elif _runs(operation):
            outcomes = [fold(inner) for inner in regions(operation)]
            result.append(operation)
            ends = isinstance(operation, If) and all(outcomes)
        elif isinstance(operation, While):
            fold(operation.head)
            result.extend(operation.head.operations)
        if ends:
            break
    region.operations = result
    return ends


def drop_unused(region: Region) -> None:
    """Remove from a region what only computes, or reads, and is not used in it."""
    counts = use_counts([region])
    for each in reversed(list(walk_regions(region))):
        kept: list[Operation] = []
        for operation in reversed(each.operations):
            if operation.__class__ is Operation and not counts[operation] and not _is_effective(operation):
                counts.subtract(operation.operands)
            else:
                kept.append(operation)
        each.operations = kept[::-1]


def _is_effective(operation: Operation) -> bool:
    return operation.code in _EFFECTIVE or isinstance(operation.payload, Site)


def _runs(operation: Operation) -> bool:
    """False where it is known that the body of a loop never runs."""
    if isinstance(operation, While):
        return constant_integer(operation.condition) != 0
    if isinstance(operation, For):
        begin, end, step = (constant_integer(operand) for operand in operation.operands)
        if begin is None or end is None or step is None:
            return step != 0
        return begin < end if step > 0 else step < 0 and begin > end
    if isinstance(operation, ParallelFor):
        bounds = [(constant_integer(begin), constant_integer(end)) for begin, end in operation.axes()]
        return not any(begin is not None and end is not None and begin >= end for begin, end in bounds)
    return True


# What cannot be seen.


#: Operations that matter by themselves. A `while` does: it may never end, which a program may want to show.
_EFFECTIVE = frozenset(code for code, row in OPCODES.items() if row.effect in ("write", "control"))


class _Marking:
    """The operations of a body that matter, found from those that have an effect of their own."""

    def __init__(self, body: Region) -> None:
        self.live: set[Operation] = set()
        self._pending: list[Operation] = []
        self._around: dict[Operation, Operation] = {}  # the control operation that contains an operation
        self._jumps: dict[Operation, list[Operation]] = {}  # the jumps that belong to a loop
        self._assignments: dict[Local, list[Operation]] = {}
        # Each region, with the control operation and the loop directly around it.
        nested: list[tuple[Region, Operation | None, Operation | None]] = [(body, None, None)]
        for region, around, loop in nested:  # which grows meanwhile
            if around is not None:
                self._around.update(dict.fromkeys(region.operations, around))
            for operation in region.operations:
                if operation.__class__ is not Operation:
                    inside = loop if isinstance(operation, If) else operation
                    nested.extend((inner, operation, inside) for inner in regions(operation))
                elif operation.payload is None and operation.code not in _EFFECTIVE:
                    continue  # most of them compute something
                self._begin(operation, loop)
        while self._pending:
            self._spread(self._pending.pop())

    def _begin(self, operation: Operation, loop: Operation | None) -> None:
        """Note what an operation is to others; mark one that has an effect."""
        code = operation.code
        if code in ("break", "continue"):
            assert loop is not None
            self._jumps.setdefault(loop, []).append(operation)
        elif code != "load_local" and isinstance(target := memory(operation), Local):
            self._assignments.setdefault(target, []).append(operation)
        elif isinstance(operation, (If, For, ParallelFor, Sections)):
            return  # what is in it may matter
        elif code in _EFFECTIVE or isinstance(operation.payload, Site):
            self._mark(operation)

    def _mark(self, operation: Operation) -> None:
        if operation not in self.live:
            self.live.add(operation)
            self._pending.append(operation)

    def _spread(self, operation: Operation) -> None:
        """Mark what an operation that matters needs."""
        live, pending = self.live, self._pending
        for value in operation.operands if operation.__class__ is Operation else used(operation):
            if isinstance(value, Operation) and value not in live:
                live.add(value)
                pending.append(value)
        if operation in self._around:
            self._mark(self._around[operation])
        for jump in self._jumps.get(operation, ()):
            self._mark(jump)
        if operation.payload is not None and operation.code != "store_local":
            target = memory(operation)
            if isinstance(target, Local):
                for assignment in self._assignments.pop(target, ()):
                    self._mark(assignment)


def _sweep(body: Region, live: set[Operation]) -> None:
    pending = [body]
    while pending:
        region = pending.pop()
        region.operations = [operation for operation in region.operations if operation in live]
        for operation in region.operations:
            if operation.__class__ is Operation:
                continue
            if isinstance(operation, ParallelFor):
                gathered = {inner.payload for inner in walk(operation.body) if inner in live and inner.code == "accumulate"}
                operation.reductions = [reduction for reduction in operation.reductions if reduction in gathered]
            pending.extend(regions(operation))
