"""A static estimate of running time in nanoseconds: enough to tell work for one thread from work for many.

Sums the rough costs of the operation table, for vectorized code. Constant trip counts multiply; loops of unknown length
count as a few iterations and are flagged. The runtime corrects the estimate by measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import For, Function, If, ParallelFor, Region, While
from samovar.ir.traversal import regions, walk
from samovar.ir.values import Operation

#: The assumed trip count of a loop of unknown length.
GUESSED_ITERATIONS = 16

#: The overhead of a loop iteration, and of a branch.
_STEP = 0.05


@dataclass(frozen=True)
class Cost:
    """Nanoseconds, and whether they include a loop of unknown length."""

    nanoseconds: float = 0.0
    unknown: bool = False

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.nanoseconds + other.nanoseconds, self.unknown or other.unknown)


@dataclass
class Estimator:
    """Estimates regions; functions must be added callees first, or a call counts without its callee. A loop of unknown
    length counts as `iterations`."""

    functions: dict[Function, Cost] = field(default_factory=dict)
    printers: set[Function] = field(default_factory=set)
    iterations: int = GUESSED_ITERATIONS

    def function(self, function: Function) -> None:
        """Record the cost of a call of the function, and whether it prints."""
        known = function.cost
        self.functions[function] = self.region(function.body) if known is None else Cost(known)
        if self.prints(function.body):
            self.printers.add(function)

    def prints(self, region: Region) -> bool:
        """Whether a region, or a function it calls, contains `print`."""
        return any(each.code == "print" or (each.code == "call" and each.payload in self.printers) for each in walk(region))

    def region(self, region: Region, skip_tasks: bool = False) -> Cost:
        """The cost of one execution of a region; with `skip_tasks`, of its serial code only."""
        total = Cost()
        for operation in region.operations:
            total += self._operation(operation, skip_tasks)
        return total

    def _operation(self, operation: Operation, skip_tasks: bool) -> Cost:
        if isinstance(operation, If):
            return self._either(operation, skip_tasks)
        if isinstance(operation, ParallelFor):
            return Cost() if skip_tasks else Cost(self.region(operation.body).nanoseconds, True)
        cost = Cost(OPCODES[operation.code].cost)
        if operation.code == "call":
            cost += self.functions.get(operation.payload, Cost())
        for each in regions(operation):
            cost += self.region(each, skip_tasks)
        if not isinstance(operation, (For, While)):
            return cost
        count = operation.trip_count() if isinstance(operation, For) else None
        times = self.iterations if count is None else count
        return Cost(times * (cost.nanoseconds + _STEP), cost.unknown or count is None)

    def _either(self, operation: If, skip_tasks: bool) -> Cost:
        """The most expensive branch, plus every condition before it: an elif chain is followed without recursion."""
        conditions, dearest = Cost(), 0.0
        while True:
            steps = operation.orelse.operations
            chain = steps[-1] if steps and isinstance(steps[-1], If) else None
            then = self.region(operation.then, skip_tasks)
            dearest = max(dearest, conditions.nanoseconds + _STEP + then.nanoseconds)
            conditions += Cost(_STEP, then.unknown)
            conditions += self.region(Region(steps[:-1]) if chain else operation.orelse, skip_tasks)
            if chain is None:
                return Cost(max(dearest, conditions.nanoseconds), conditions.unknown)
            operation = chain
