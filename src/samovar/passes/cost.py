"""A static estimate of what code costs, in nanoseconds: enough to tell work for one thread from work for many.

Counts operations by a table of rough latencies and throughputs of vectorised code; loops with constant bounds multiply,
loops of unknown length count as a few iterations and are flagged. The runtime corrects the estimate by measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar.ir import Constant, For, Function, If, Operation, ParallelFor, Region, While, walk

#: Iterations assumed of a loop whose length is not known.
GUESSED_ITERATIONS = 16

_CHEAP = 0.05
_COSTS: dict[str, float] = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "abs", "min", "max", "and", "or", "xor", "not", "shl", "shr"), _CHEAP),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "select", "cast", "fma", "copysign"), _CHEAP),
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "popcnt", "clz", "ffs"), 0.1),
    **dict.fromkeys(("div", "sqrt", "rsqrt"), 0.5),
    **dict.fromkeys(("floordiv", "mod", "fmod"), 3.0),
    **dict.fromkeys(("sin", "cos", "exp", "log", "exp2", "log2", "log10", "expm1", "log1p"), 2.0),
    **dict.fromkeys(("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 4.0),
    **dict.fromkeys(("cbrt", "erf", "erfc", "atan2", "hypot", "pow"), 5.0),
    **dict.fromkeys(("bitcast", "shape", "extract", "load_local", "store_local", "break", "continue", "return"), 0.0),
    **dict.fromkeys(("load", "store", "accumulate"), 0.1),
    "update": 0.2,
    "scatter": 1.0,
    "atomic": 6.0,
    "random": 4.0,
    "check": 0.2,
    "print": 100.0,
    **dict.fromkeys(("watch", "report"), 0.0),
    **dict.fromkeys(("iteration", "touch"), 20.0),
    "call": 1.0,
}


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
        self.functions[function] = self.region(function.body)
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
            return Cost(GUESSED_ITERATIONS * (head.nanoseconds + body.nanoseconds + _CHEAP), True)
        if isinstance(operation, For):
            body = self.region(operation.body, skip_tasks)
            count = _constant_count(operation)
            known = count is not None and not body.unknown
            return Cost((GUESSED_ITERATIONS if count is None else count) * (body.nanoseconds + _CHEAP), not known)
        if isinstance(operation, ParallelFor):
            return Cost(0.0, False) if skip_tasks else Cost(self.region(operation.body).nanoseconds, True)
        cost = _COSTS[operation.code]
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
            conditions += _CHEAP
            dearest = max(dearest, conditions + then.nanoseconds)
            conditions += orelse.nanoseconds
            if chain is None:
                return Cost(max(dearest, conditions), unknown)
            operation = chain


def _constant_count(loop: For) -> int | None:
    begin, end, step = loop.operands
    if isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant):
        stride = int(step.value)
        return len(range(int(begin.value), int(end.value), stride)) if stride else 0
    return None


def _prints(region: Region, printers: set[Function]) -> bool:
    return any(op.code == "print" or (op.code == "call" and op.payload in printers) for op in walk(region))
