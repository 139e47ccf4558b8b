"""Full unrolling: short loops of known length are written out, and small arrays of the code's own become variables.

The variable of such a loop is a constant in each copy of its body, so the bounds of loops inside that depend on it are known
too, conditions on it are decided, and indices are constants. A local array of which all indices are constants is a number of
variables. What is left is straight code, whose loads and stores everybody can follow, and whose surrounding loop can run in
vectors.

A nest is written out as a whole or not at all. Loops whose variable nobody uses gain nothing, and loops that fill a vector
by themselves are faster as such; both are left, with whatever is inside of them.
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
    ParallelFor,
    Region,
    Sections,
    Value,
    While,
    indices,
    memory,
    regions,
    rewrite,
    scopes,
    substitute,
    use_counts,
    used,
    walk,
)
from samovar.passes.constants import known_result
from samovar.passes.locals import forward_in, plain_update
from samovar.passes.prune import drop_unused

#: A nest that would be longer is left as it is.
LARGEST = 800
#: So many operations may be looked at for each that may be written: conditions may decide on all that is left of a loop.
LOOKED_AT = 16
#: So many operations may be written in all, in one body.
LARGEST_TOTAL = 4000
#: A local array with more elements stays in memory.
MOST_ELEMENTS = 64


class _TooLong(Exception):
    """A nest cannot be written out, or is too long for it."""


def unroll_loops(kernel: Kernel, machine: Machine) -> None:
    """Unroll the short loops of a kernel and its functions, in place."""
    for body, locals in list(scopes(kernel)):
        _Body(body, locals, machine).run()


class _Body:
    """The body of a task, a function or a kernel."""

    def __init__(self, body: Region, locals: list[Local], machine: Machine) -> None:
        self.body = body
        self.locals = locals
        #: As many iterations fill a vector.
        self.lanes = max(machine.lanes(32), 8)
        self.left = LARGEST_TOTAL

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        self.used = use_counts([self.body])
        if self._region(self.body):
            self._scalarize()
            forward_in(self.body)
            drop_unused(self.body)

    def _region(self, region: Region) -> bool:
        """Unroll what can be unrolled in a region; whether there was anything."""
        found, result = False, []
        for operation in region.operations:
            written = self._written(operation) if isinstance(operation, For) else None
            if written is None:
                result.append(operation)
                if not isinstance(operation, (ParallelFor, Sections)):
                    for inner in regions(operation):
                        found |= self._region(inner)
            else:
                found = True
                result += written
        region.operations = result
        return found

    def _written(self, loop: For) -> list[Operation] | None:
        """What takes the place of a loop; None if it stays."""
        if constant_range(loop) is None:
            return None
        copies = _Copies(min(LARGEST, self.left), self.lanes, self.used)
        try:
            result = copies.loop(loop)
        except _TooLong:
            return None
        self.left -= copies.count
        return result

    def _scalarize(self) -> None:
        """Replace local arrays of which all indices are constants by a local for each element."""
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
    """Copies a nest with its loops written out, `most` operations at most."""

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
        assert variable.type is not None
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
    """Whether an operation does nothing but to load or store one known element."""
    if operation.code not in ("load", "store", "update") or prod(array.shape) > MOST_ELEMENTS:
        return False
    at = indices(operation)
    return all(
        isinstance(index, Constant) and 0 <= index.value < extent for index, extent in zip(at, array.shape, strict=True)
    )


class _Elements:
    """Writes accesses of elements as those of locals."""

    def __init__(self, body: Region, arrays: list[LocalArray], locals: list[Local]) -> None:
        self.arrays: dict[LocalArray, dict[tuple[int, ...], Local]] = {array: {} for array in arrays}
        self.locals = locals
        self.replacements: dict[Value, Value] = {}
        rewrite(body, self._expand)

    def _expand(self, operation: Operation) -> list[Operation]:
        substitute(operation, self.replacements)
        if operation.code == "reserve" and operation.payload in self.arrays:
            return []
        array = memory(operation)
        if not isinstance(array, LocalArray) or array not in self.arrays:
            return [operation]
        local = self._local(array, tuple(int(index.value) for index in indices(operation) if isinstance(index, Constant)))
        values = operation.operands[array.ndim :]
        if operation.code == "load":
            steps = [Operation("load_local", array.dtype, (), local, operation.line)]
        elif operation.code == "store":
            steps = [Operation("store_local", None, values, local, operation.line)]
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
