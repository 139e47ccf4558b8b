"""Full unrolling: short loops of constant length are unrolled, and small local arrays become variables.

The variable of such a loop is a constant in each copy of its body, so the bounds of inner loops that depend on it are known
too, conditions on it are decided, and indices are constants. A local array whose indices are all constants becomes a set of
variables. The result is straight-line code with loads and stores that are easy to analyze, and the enclosing loop can be
vectorized.

A nest is unrolled as a whole or not at all. Loops with an unused variable gain nothing, and loops that fill a vector by
themselves are faster as loops; both are left alone, with everything inside.
"""

from __future__ import annotations

from math import prod

from samovar.ir import (
    Array,
    Atomic,
    Clone,
    Constant,
    For,
    If,
    Kernel,
    Local,
    LocalArray,
    Machine,
    Operation,
    Region,
    Value,
    While,
    indices,
    is_own,
    memory,
    rewrite,
    scopes,
    use_counts,
    used,
    walk,
)
from samovar.passes.constants import known_result
from samovar.passes.dead_code import drop_unused
from samovar.passes.locals import forward_in, plain_update

#: A nest that would be longer is left alone.
LARGEST = 800
#: How many operations may be examined for each that may be written: conditions may decide about the rest of a loop.
LOOKED_AT = 16
#: The maximum number of operations written in one body.
LARGEST_TOTAL = 4000
#: A local array with more elements stays in memory.
MOST_ELEMENTS = 64


class _TooLong(Exception):
    """A nest cannot be unrolled, or would be too long."""


def unroll_loops(kernel: Kernel, machine: Machine) -> None:
    """Unroll the short loops of a kernel and its functions, in place."""
    for body, locals in list(scopes(kernel)):
        _Body(body, locals, machine).run()


class _Body:
    """The body of a task, a function or a kernel."""

    def __init__(self, body: Region, locals: list[Local], machine: Machine) -> None:
        self.body = body
        self.locals = locals
        #: The number of iterations that fill a vector.
        self.lanes = max(machine.lanes(32), 8)
        self.left = LARGEST_TOTAL
        self.found = False

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        self.used = use_counts([self.body])
        rewrite(self.body, self._expand, enters=is_own)
        if self.found:
            self._scalarize()
            forward_in(self.body)
            drop_unused(self.body)

    def _expand(self, operation: Operation) -> list[Operation]:
        """The replacement of a loop that can be unrolled."""
        if not isinstance(operation, For) or constant_range(operation) is None:
            return [operation]
        copies = _Copies(min(LARGEST, self.left), self.lanes, self.used)
        try:
            result = copies.loop(operation)
        except _TooLong:
            return [operation]
        self.left -= copies.count
        self.found = True
        return result

    def _scalarize(self) -> None:
        """Replace local arrays whose indices are all constants by a local per element (scalar replacement)."""
        touched: set[LocalArray] = set()
        kept: set[object] = set()
        for operation in walk(self.body):
            array = memory(operation)
            if isinstance(array, LocalArray) and array.private:
                touched.add(array)
                if not _is_element(operation, array):
                    kept.add(array)
            elif operation.payload is not None and operation.code != "reserve":
                kept.add(operation.payload[0] if operation.code == "shape" else operation.payload)
            kept.update(each for each in used(operation) if isinstance(each, Array))
        reserved = {each.payload for each in walk(self.body) if each.code == "reserve"}
        chosen = [array for array in touched if array in reserved and array not in kept]
        if chosen:
            _Elements(self.body, chosen, self.locals)


def constant_range(loop: For) -> range | None:
    """The values of a loop's variable, if they are known."""
    begin, end, step = loop.operands
    if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
        return None
    return range(int(begin.value), int(end.value), int(step.value)) if step.value else range(0)


class _Copies(Clone):
    """Copies a nest with its loops unrolled, at most `most` operations."""

    def __init__(self, most: int, lanes: int, used: dict[Value, int]) -> None:
        super().__init__()
        self.most = most
        self.lanes = lanes
        self.used = used
        self.count = 0
        self.left = LOOKED_AT * most

    def loop(self, loop: For) -> list[Operation]:
        bounds = [self.value(operand) for operand in loop.operands]
        variable, hints = loop.variable, loop.hints
        values = constant_range(For(variable, bounds[0], bounds[1], bounds[2], loop.body))
        innermost = not any(isinstance(each, For) for each in walk(loop.body))
        if values is None or not self.used[variable] or (innermost and values[self.lanes - 1 :]) or hints.vectors:
            raise _TooLong
        result: list[Operation] = []
        for value in values:
            self._look()
            self.values[variable] = Constant(value, variable.type)
            result += self.region(loop.body).operations
        return result

    def region(self, region: Region) -> Region:
        result: list[Operation] = []
        for operation in region.operations:
            self._look()
            if isinstance(operation, For):
                result += self.loop(operation)
                continue
            if isinstance(operation, While) or operation.code in ("break", "continue", "return", "call"):
                raise _TooLong
            if isinstance(operation, If):
                condition = self.value(operation.operands[0])
                if isinstance(condition, Constant):
                    result += self.region(operation.then if condition.value else operation.orelse).operations
                    continue
            known = known_result(operation, [self.value(each) for each in operation.operands])
            if known is not None:
                self.values[operation] = known
                continue
            self.count += 1
            if self.count > self.most:
                raise _TooLong
            result.append(self.operation(operation))
        return Region(result)

    def _look(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooLong


def _is_element(operation: Operation, array: LocalArray) -> bool:
    """Whether an operation is a plain load or store of one known element."""
    if operation.code not in ("load", "store", "update") or prod(array.shape) > MOST_ELEMENTS:
        return False
    at = indices(operation)
    return all(
        isinstance(index, Constant) and 0 <= index.value < extent for index, extent in zip(at, array.shape, strict=True)
    )


class _Elements:
    """Rewrites accesses to elements as accesses to locals."""

    def __init__(self, body: Region, arrays: list[LocalArray], locals: list[Local]) -> None:
        self.arrays: dict[LocalArray, dict[tuple[int, ...], Local]] = {array: {} for array in arrays}
        self.locals = locals
        self.replacements: dict[Value, Value] = {}
        rewrite(body, self._expand, self.replacements)

    def _expand(self, operation: Operation) -> list[Operation]:
        if operation.code == "reserve" and operation.payload in self.arrays:
            return []
        array = memory(operation)
        if not isinstance(array, LocalArray) or array not in self.arrays:
            return [operation]
        local = self._local(array, tuple(int(index.value) for index in indices(operation) if isinstance(index, Constant)))
        values = operation.operands[array.ndim :]
        if operation.code == "load":
            steps = [local.load(operation.line)]
        elif operation.code == "store":
            steps = [local.store(values[0], operation.line)]
        else:
            assert isinstance(operation.payload, Atomic)
            update = Operation(operation.code, operation.type, values, operation.payload, operation.line)
            steps = plain_update(update, operation.payload.operation, local)
        for step in steps:
            step.origin = operation.origin
        self.replacements[operation] = steps[0]
        return steps

    def _local(self, array: LocalArray, at: tuple[int, ...]) -> Local:
        elements = self.arrays[array]
        if at not in elements:
            elements[at] = Local("_".join([array.name, *map(str, at)]), array.dtype)
            self.locals.append(elements[at])
        return elements[at]
