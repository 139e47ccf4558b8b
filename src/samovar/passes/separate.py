"""Which functions and tasks are compiled apart, as units of their own: the last pass.

A unit is compiled once for all kernels that have it, is kept by itself, and after an edit only those that changed are
compiled. A function that is not a unit goes into every unit that calls it, where the backend inlines it as it likes.

Small functions are never units, and large ones always, but for one case: a straight function that a short loop calls in one
place, because that loop becomes vectors only with the function in it. Tasks are units where the kernel as a whole is large.

A backend that compiles a unit does not see its callers. What helps most is told here: a bound of a loop that is the same
constant in every call becomes that constant. Other constants stay arguments, so that kernels share the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from samovar.artifact import Site
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

#: A function of so many operations is a unit, with those of the functions that go into it.
LARGE_FUNCTION = 200
#: So many operations of a kernel, without those of functions that are units, and its tasks are units too; each of at least
#: this many.
LARGE_KERNEL = 1000
LEAST_TASK = 60
#: A loop of more operations is not made vectors of, or it does not help.
LONGEST_VECTOR_LOOP = 1000

#: What executes its body again and again.
_REPEATING = (For, While, Task)

#: What a straight function does not do: repeat, write, speak, fail, or depend on more than its arguments.
_NOT_STRAIGHT = frozenset("for while store atomic update print check random touch".split())


def separate(kernel: Kernel) -> None:
    """Mark the functions and tasks of a kernel that are units."""
    sizes = _Sizes()
    for function in kernel.functions:
        sizes.add(function)
    if kernel.functions:
        kept = _kept_for_vectors(kernel, sizes)
        # Callees first: what a caller is made of depends on what does not go into it.
        for function in kernel.functions:
            size = sizes.of(function.body)
            function.separate |= size >= LARGE_FUNCTION and function not in kept
            sizes.functions[function] = 1 if function.separate else size
        _fix_constants(kernel)
        _mark_once(kernel)
    if sizes.of(kernel.body) >= LARGE_KERNEL:
        for task in outlined(kernel):
            task.separate = sizes.of(task.body) >= LEAST_TASK


class _Sizes:
    """How many operations there are, with those of functions that are called."""

    def __init__(self) -> None:
        self.functions: dict[Function, int] = {}

    def add(self, function: Function) -> None:
        self.functions[function] = 1 if function.separate else self.of(function.body)

    def of(self, region: Region) -> int:
        functions = self.functions
        return sum(functions[operation.payload] if operation.code == "call" else 1 for operation in walk(region))


def _kept_for_vectors(kernel: Kernel, sizes: _Sizes) -> set[Function]:
    """Large functions that have to go into the loop that calls them."""
    large = {function for function in kernel.functions if sizes.functions[function] >= LARGE_FUNCTION}
    if not large:
        return set()
    straight: set[Function] = set()
    calls: dict[Function, int] = {}
    for body in bodies(kernel):
        for function in callees(body):
            calls[function] = calls.get(function, 0) + 1
    for function in kernel.functions:
        if not function.separate and _is_straight(function.body, straight):
            straight.add(function)
    kept: set[Function] = set()

    def keep(called: Iterable[Function]) -> None:
        for function in called:
            if function in large and calls[function] == 1:
                kept.add(function)

    for body in bodies(kernel):
        for loop in walk(body):
            if isinstance(loop, (For, Task)) and sizes.of(loop.body) <= LONGEST_VECTOR_LOOP:
                inside = [*callees(loop.body)]
                if straight.issuperset(inside) and not any(isinstance(each, (For, While)) for each in walk(loop.body)):
                    keep(inside)
    # What such a function calls goes with it.
    for function in reversed(kernel.functions):
        if function in kept:
            keep(callees(function.body))
    return kept


def _is_straight(body: Region, straight: set[Function]) -> bool:
    for operation in walk(body):
        if operation.code == "call":
            if operation.payload not in straight:
                return False
        elif operation.code in _NOT_STRAIGHT or isinstance(operation.payload, Site):
            return False
    return True


def _fix_constants(kernel: Kernel) -> None:
    """Arguments of units that are bounds of loops, and the same constant in every call."""
    calls: dict[Function, list[Operation]] = {}
    for body in bodies(kernel):
        for operation in walk(body):
            if operation.code == "call" and operation.payload.separate:
                calls.setdefault(operation.payload, []).append(operation)
    # Callers first: what they are given, they may pass on.
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
    """Mark the functions of which everything is executed at most once in a launch: called from one place, without a loop
    around it or in them."""
    calls: Counter[Function] = Counter(callees(kernel.body))
    calls.update(_repeated(kernel.body))
    for function in reversed(kernel.functions):  # callers first
        executed_once = calls[function] == 1
        function.runs_once = executed_once and not any(isinstance(each, _REPEATING) for each in walk(function.body))
        calls.update(callees(function.body))
        calls.update(_repeated(function.body) if executed_once else callees(function.body))


def _repeated(body: Region) -> Iterator[Function]:
    """The functions that are called in loops, at least once per call."""
    for operation in walk(body):
        if isinstance(operation, _REPEATING):
            for region in regions(operation):
                yield from callees(region)


def _constant(value: Value) -> tuple[object, str] | None:
    """A constant as something to compare: the two zeros differ, and a NaN is itself."""
    return (value.type, repr(value.value)) if isinstance(value, Constant) else None
