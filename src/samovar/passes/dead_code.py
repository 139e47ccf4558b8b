"""Dead-code elimination: remove unreachable code and operations without an observable effect.

Unreachable: the other branch of an `if` with a known condition, loops without iterations, code after a jump. Without effect:
values and loads without users, locals that are never read, empty branches and loops, functions without callers. Stores to
arrays, calls, prints and checks (including overflow checks) always stay. Kernel parameters stay too: their order is the
argument block.
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
    While,
    callees,
    constant_integer,
    memory,
    named,
    regions,
    use_counts,
    used,
    walk,
    walk_regions,
)

JUMPS = ("break", "continue", "return")


def sweep(region: Region) -> None:
    """Remove unobservable code from a region."""
    _sweep(region, _Marking(region).live)


def eliminate_dead_code(kernel: Kernel) -> None:
    """Remove unreachable and unobservable code from a kernel and its functions."""
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
    """Remove the locals that no operation names."""
    seen: set[Array | Local | None] = set()
    holders: list[ParallelFor | Section] = []
    for operation in walk(owner.body):
        seen.add(named(operation))
        if isinstance(operation, ParallelFor):
            holders.append(operation)
        elif isinstance(operation, Sections):
            holders.extend(operation.parts)
    for holder in (owner, *holders):
        holder.locals = [local for local in holder.locals if local in seen]


# Unreachable code.


def fold(region: Region) -> bool:
    """Remove unreachable code from a region; return whether control never reaches its end."""
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
    """Remove pure operations and loads from a region that are not used in it."""
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
    """False if the body of a loop is known never to run."""
    if isinstance(operation, While):
        return constant_integer(operation.condition) != 0
    if isinstance(operation, For):
        return operation.trip_count() != 0 and constant_integer(operation.operands[2]) != 0
    if isinstance(operation, ParallelFor):
        bounds = [(constant_integer(begin), constant_integer(end)) for begin, end in operation.axes()]
        return not any(begin is not None and end is not None and begin >= end for begin, end in bounds)
    return True


# Unobservable code.


#: Operations that are live by themselves. A `while` is: it may never end, which is observable.
_EFFECTIVE = frozenset(code for code, row in OPCODES.items() if row.effect in ("write", "control"))


class _Marking:
    """The live operations of a body, found from those with an effect of their own."""

    def __init__(self, body: Region) -> None:
        self.live: set[Operation] = set()
        self._pending: list[Operation] = []
        self._around: dict[Operation, Operation] = {}  # the control operation that contains an operation
        self._jumps: dict[Operation, list[Operation]] = {}  # the jumps that belong to a loop
        self._assignments: dict[Local, list[Operation]] = {}
        # Each region, with the control operation and the loop directly around it.
        nested: list[tuple[Region, Operation | None, Operation | None]] = [(body, None, None)]
        for region, around, loop in nested:  # which grows during the iteration
            if around is not None:
                self._around.update(dict.fromkeys(region.operations, around))
            for operation in region.operations:
                if operation.__class__ is not Operation:
                    inside = loop if isinstance(operation, If) else operation
                    nested.extend((inner, operation, inside) for inner in regions(operation))
                elif operation.payload is None and operation.code not in _EFFECTIVE:
                    continue  # pure operations, the most common case
                self._begin(operation, loop)
        while self._pending:
            self._spread(self._pending.pop())

    def _begin(self, operation: Operation, loop: Operation | None) -> None:
        """Record the relation of an operation to others; mark it if it has an effect."""
        code = operation.code
        if code in ("break", "continue"):
            assert loop is not None
            self._jumps.setdefault(loop, []).append(operation)
        elif code != "load_local" and isinstance(target := memory(operation), Local):
            self._assignments.setdefault(target, []).append(operation)
        elif isinstance(operation, (If, For, ParallelFor, Sections)):
            return  # its contents may be live
        elif code in _EFFECTIVE or isinstance(operation.payload, Site):
            self._mark(operation)

    def _mark(self, operation: Operation) -> None:
        if operation not in self.live:
            self.live.add(operation)
            self._pending.append(operation)

    def _spread(self, operation: Operation) -> None:
        """Mark the operations that a live operation needs."""
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
                used = {inner.payload for inner in walk(operation.body) if inner in live and inner.code == "accumulate"}
                operation.reductions = [reduction for reduction in operation.reductions if reduction in used]
            pending.extend(regions(operation))
