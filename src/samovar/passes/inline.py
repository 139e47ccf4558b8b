"""Inlining of functions that write arrays, so that all writes of a task are in the task.

Ownership, reductions and scatters analyze the indices that a task writes; an index that is a parameter is opaque to them.
Only functions reached by a task are inlined, and only while the kernel stays of reasonable size; the rest is called as
before, and its arrays stay atomic. A function that writes only arrays without atomic updates gains nothing: it is inlined
if it is small.

Structured code has no early `return`. Code after a branch that returns moves into the other branch; a `return` inside a
loop sets a flag and leaves the loop, and code after the loop tests the flag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from samovar._native import DType, u1
from samovar.ir import (
    Array,
    Clone,
    Constant,
    Function,
    If,
    Kernel,
    Local,
    Operation,
    Region,
    Value,
    callees,
    functions_touch,
    inside,
    is_own,
    memory,
    reached_from_tasks,
    regions,
    rewrite,
    scopes,
    walk,
    walk_kernel,
)

#: Operations that one copy may add to the kernel, and all copies together. A function with a single call costs nothing.
LARGEST_COPY = 300
LARGEST_GROWTH = 20_000
#: The maximum size in bytes of the local arrays of a function that is inlined in several places.
LARGEST_LOCAL_COPY = 4096
#: The maximum size of a function that gains nothing from inlining.
SMALL_COPY = 40
#: Each early return nests the code after it one level deeper.
MOST_RETURNS = 8


def inline(kernel: Kernel) -> None:
    """Replace calls of functions that write arrays, in tasks and in the functions they call, by the function bodies."""
    if not kernel.functions:
        return
    writing = [function for function, touched in functions_touch(kernel).items() if touched.written]
    reached = reached_from_tasks(kernel)
    gaining = _gaining(kernel)
    chosen = _choose(kernel, [function for function in writing if function in reached], gaining)
    if not chosen:
        return
    # Callees first: a copied body is already processed.
    for body, locals in list(scopes(kernel)):
        replace_calls(body, locals, chosen)


def _gaining(kernel: Kernel) -> set[Function]:
    """The functions that write to an array parameter that is updated atomically somewhere in the kernel."""
    if not any(operation.code == "atomic" and isinstance(memory(operation), Array) for operation in walk_kernel(kernel)):
        return set()
    origins: dict[Array, set[Array]] = {array: {array} for array in kernel.parameters if isinstance(array, Array)}
    # Callers first: the arguments of a function are known before its body is examined.
    bodies = [kernel.body, *(function.body for function in reversed(kernel.functions))]
    updated: set[Array] = set()
    for body in bodies:
        for operation in walk(body):
            if operation.code == "call":
                for parameter, operand in zip(operation.payload.parameters, operation.operands, strict=True):
                    if isinstance(operand, Array):
                        origins.setdefault(parameter, set()).update(origins.get(operand, ()))
            elif operation.code == "atomic" and isinstance(target := memory(operation), Array):
                updated |= origins.get(target, set())
    touched = functions_touch(kernel)
    return {
        function
        for function in kernel.functions
        if any(not updated.isdisjoint(origins.get(array, ())) for array in touched[function].written)
    }


def _choose(kernel: Kernel, candidates: Iterable[Function], gaining: set[Function]) -> set[Function]:
    calls = Counter(callees(kernel.body))
    for function in kernel.functions:
        calls.update(callees(function.body))
    chosen: set[Function] = set()
    sizes: dict[Function, int] = {}
    growth = 0
    for function in candidates:
        if function.outlined:
            continue
        operations = list(walk(function.body))
        # Chosen callees become part of the copy.
        size = len(operations) + sum(sizes.get(each.payload, 0) for each in operations if each.code == "call")
        if sum(1 for each in operations if each.code == "return") > MOST_RETURNS:
            continue
        if function not in gaining and size > SMALL_COPY:
            continue
        single = calls[function] == 1
        if not single and sum(each.payload.byte_size for each in operations if each.code == "reserve") > LARGEST_LOCAL_COPY:
            continue  # each copy would use its own stack memory
        if single or (size <= LARGEST_COPY and growth + size * calls[function] <= LARGEST_GROWTH):
            growth += 0 if single else size * calls[function]
            chosen.add(function)
            sizes[function] = size
    return chosen


def replace_calls(body: Region, locals: list[Local], chosen: set[Function]) -> None:
    """Replace the calls of some functions in a scope by their bodies."""
    if chosen.isdisjoint(callees(body)):
        return
    replacements: dict[Value, Value] = {}
    results: dict[Value, tuple[Value, ...]] = {}

    def expand(operation: Operation) -> Sequence[Operation]:
        if operation.code == "extract" and operation.operands[0] in results:
            replacements[operation] = results[operation.operands[0]][operation.payload]
            return ()
        if operation.code != "call" or operation.payload not in chosen:
            return (operation,)
        copy = _Copy(operation, operation.payload)
        locals.extend(copy.locals.values())
        results[operation] = copy.results
        if len(copy.results) == 1:
            replacements[operation] = copy.results[0]
        return copy.operations

    rewrite(body, expand, replacements, enters=is_own)


class _Copy:
    """The body of a function, with the arguments of a call instead of parameters, and without returns."""

    def __init__(self, call: Operation, function: Function) -> None:
        given: dict[Value, Value] = dict(zip(function.parameters, call.operands, strict=True))
        self.locals = {local: Local(local.name, local.type) for local in function.locals}
        targets: dict[object, Array | Local] = dict(self.locals.items())
        targets.update((own, each) for own, each in given.items() if isinstance(each, Array))
        body = Clone(given, targets, function).region(function.body)
        returns = sum(operation.code == "return" for operation in walk(body))
        self.results: tuple[Value, ...] = ()
        if not returns:
            self.operations = body.operations
        elif returns == 1 and body.operations[-1].code == "return":
            self.results = body.operations[-1].operands
            self.operations = body.operations[:-1]
        else:
            removed = Returns(body, function.name, function.returns, call.line)
            self.locals.update((local, local) for local in (*removed.results, removed.returned))
            removed.lower(body)
            loads = [local.load(call.line) for local in removed.results]
            self.operations = [removed.begin(), *body.operations, *loads]
            self.results = tuple(loads)


class Returns:
    """Removes the returns of a body: results go through locals, and a flag says that the function has returned."""

    def __init__(self, body: Region, name: str, types: Sequence[DType], line: int) -> None:
        self._line = line
        self._returns = {operation for operation in walk(body) if operation.code == "return"}
        self._returning = {each for each in walk(body) if not self._returns.isdisjoint(inside(each))}
        self.results = [Local(f"{name}.result", type) for type in types]
        self.returned = Local(f"{name}.returned", u1)

    def begin(self) -> Operation:
        """The operation before all others: nothing has returned."""
        return self.returned.store(Constant(False, u1), self._line)

    def is_among(self, operation: Operation) -> bool:
        """Whether an operation returns, or contains one that does."""
        return operation in self._returns or operation in self._returning

    def lower(self, region: Region, in_loop: bool = False) -> None:
        """Remove the returns of a region, in place."""
        operations = region.operations
        result: list[Operation] = []
        region.operations = result
        for position, operation in enumerate(operations):
            if operation in self._returns:
                values = zip((*self.results, self.returned), (*operation.operands, Constant(True, u1)), strict=True)
                result += (local.store(value, self._line) for local, value in values)
                if in_loop:
                    result.append(Operation("break", None, (), None, self._line))
                return
            result.append(operation)
            if operation not in self._returning:
                continue
            rest = operations[position + 1 :]
            if isinstance(operation, If):
                if not in_loop and self._always_returns(operation.then):
                    operation.orelse.operations += rest
                    rest = []
                elif not in_loop and self._always_returns(operation.orelse):
                    operation.then.operations += rest
                    rest = []
                self.lower(operation.then, in_loop)
                self.lower(operation.orelse, in_loop)
                if in_loop:
                    # The branch that returns has left the loop.
                    continue
            else:
                self.lower(regions(operation)[-1], in_loop=True)
                if in_loop:
                    leave = Region([Operation("break", None, (), None, self._line)])
                    result += self._if_returned(leave, Region())
                    continue
            if rest:
                remaining = Region(rest)
                result += self._if_returned(Region(), remaining)
                self.lower(remaining, in_loop)
            return

    def _if_returned(self, then: Region, orelse: Region) -> list[Operation]:
        returned = self.returned.load(self._line)
        return [returned, If(returned, then, orelse, self._line)]

    def _always_returns(self, region: Region) -> bool:
        if not region.operations:
            return False
        last = region.operations[-1]
        if isinstance(last, If):
            return self._always_returns(last.then) and self._always_returns(last.orelse)
        return last in self._returns
