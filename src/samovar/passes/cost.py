"""A static estimate of what code costs, in nanoseconds: enough to tell work for one thread from work for many.

Adds up the rough costs that the table of operations gives, of vectorised code; loops with constant bounds multiply,
loops of unknown length count as a few iterations and are flagged. The runtime corrects the estimate by measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar.ir import OPCODES, For, Function, If, Operation, ParallelFor, Region, Sections, While, walk

#: Iterations assumed of a loop whose length is not known.
GUESSED_ITERATIONS = 16

#: What a loop takes to count, and a branch to decide.
_STEP = 0.05


@dataclass(frozen=True)
class Cost:
    """Nanoseconds, and whether a loop of unknown length is among them."""

    nanoseconds: float
    unknown: bool


@dataclass
class Estimator:
    """Estimates regions; functions must be given callees first."""

    functions: dict[Function, Cost] = field(default_factory=dict)
    printers: set[Function] = field(default_factory=set)

    def function(self, function: Function) -> None:
        """Remember what a call of the function costs, and whether it prints."""
        known = function.cost
        self.functions[function] = self.region(function.body) if known is None else Cost(known, False)
        if _prints(function.body, self.printers):
            self.printers.add(function)

    def region(self, region: Region, skip_tasks: bool = False) -> Cost:
        """The cost of running a region once. With `skip_tasks`, of its serial code only."""
        total, unknown = 0.0, False
        for operation in region.operations:
            cost = self._operation(operation, skip_tasks)
            total += cost.nanoseconds
            unknown = unknown or cost.unknown
        return Cost(total, unknown)

    def _operation(self, operation: Operation, skip_tasks: bool) -> Cost:
        if isinstance(operation, If):
            return self._either(operation, skip_tasks)
        if isinstance(operation, While):
            head, body = self.region(operation.head, skip_tasks), self.region(operation.body, skip_tasks)
            return Cost(GUESSED_ITERATIONS * (head.nanoseconds + body.nanoseconds + _STEP), True)
        if isinstance(operation, For):
            body = self.region(operation.body, skip_tasks)
            count = operation.trip_count()
            known = count is not None and not body.unknown
            return Cost((GUESSED_ITERATIONS if count is None else count) * (body.nanoseconds + _STEP), not known)
        if isinstance(operation, Sections):
            parts = [self.region(part.body, skip_tasks) for part in operation.parts]
            return Cost(sum(part.nanoseconds for part in parts), any(part.unknown for part in parts))
        if isinstance(operation, ParallelFor):
            return Cost(0.0, False) if skip_tasks else Cost(self.region(operation.body).nanoseconds, True)
        cost = OPCODES[operation.code].cost
        if operation.code != "call":
            return Cost(cost, False)
        called = self.functions[operation.payload]
        return Cost(cost + called.nanoseconds, called.unknown)

    def _either(self, operation: If, skip_tasks: bool) -> Cost:
        """The dearest branch, and every condition on the way: a chain of elif is followed without recursion."""
        conditions, dearest, unknown = 0.0, 0.0, False
        while True:
            steps = operation.orelse.operations
            chain = steps[-1] if steps and isinstance(steps[-1], If) else None
            then = self.region(operation.then, skip_tasks)
            orelse = self.region(Region(steps[:-1]) if chain else operation.orelse, skip_tasks)
            unknown = unknown or then.unknown or orelse.unknown
            conditions += _STEP
            dearest = max(dearest, conditions + then.nanoseconds)
            conditions += orelse.nanoseconds
            if chain is None:
                return Cost(max(dearest, conditions), unknown)
            operation = chain


def _prints(region: Region, printers: set[Function]) -> bool:
    return any(op.code == "print" or (op.code == "call" and op.payload in printers) for op in walk(region))
