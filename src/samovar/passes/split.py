"""Function splitting: a region that is too long for a backend is split into pieces, functions that are never inlined.

Compile time of straight-line code (scheduling, SLP vectorization, alias queries) grows with the square of its length. Pieces
are short, so a body of any length compiles in linear time, and pieces compile in parallel. A call costs a few nanoseconds, a
fraction of the time of a piece.

A piece takes the values and arrays that it uses as parameters, and returns the values that are used after it. Locals are
passed and returned by value. Operations that depend on their context (tasks, their reductions, `return`, `break` and
`continue` of an enclosing loop, locals shared by iterations) stay where they are.

Runs after all passes that analyze indices, and before outlining. Cuts are made where few values are live, and among those
where the operations near the cut say so: an edit moves the cuts next to it, and not all that follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from zlib import crc32

from samovar._native import DType
from samovar.ir import (
    Array,
    Constant,
    For,
    Function,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Parameter,
    Region,
    Value,
    While,
    callees,
    dtype_of,
    memory,
    named,
    regions,
    retarget,
    substitute,
    taken_by,
    used,
    walk,
)

#: A region of more weight is split. An operation weighs 1, and one that a compiler has to compare with others more.
LIMIT = 2000
#: The minimum and maximum weight of a piece, unless a single operation is heavier. Less is not worth a call.
LIGHTEST_PIECE, HEAVIEST_PIECE = 500, 900
#: Conditional code is worth a call sooner.
LIGHTEST_BRANCH = 150
#: An array access: its address, and the alias queries for reordering.
ACCESS_WEIGHT = 8
#: A division that rounds down: so many instructions, with conditions.
DIVISION_WEIGHT = 8
#: A constant loop is unrolled if it gets no heavier than this; any other loop gets several versions.
UNROLLED_WEIGHT = 300
LOOP_COPIES = 2
#: The weight of a loop besides its body: entry, exit and safepoint, in each of its versions.
LOOP_WEIGHT = 40
#: A function of at most this weight is likely to be inlined; its loops then count for the callers.
INLINED_WEIGHT = 150

#: Operations that belong to the enclosing task or function.
_STAY = frozenset(
    "parallel task accumulate scatter reserve return break continue watch iteration report"
    " sections section watch_sections report_sections checkpoint".split()
)
_ACCESSES = frozenset("load store atomic update touch".split())


def split(kernel: Kernel) -> None:
    """Split the long regions of a kernel and its functions."""
    functions: list[Function] = []
    callees: dict[Function, int] = {}
    for function in kernel.functions:  # callees first
        splitting = _Splitting(function, function.locals, callees, f"{function.name}.")
        weight = splitting.body(function.body)
        if weight <= INLINED_WEIGHT and any(isinstance(each, (For, While)) for each in walk(function.body)):
            callees[function] = weight
        functions += [*splitting.pieces, function]
    for operation in walk(kernel.body):
        if isinstance(operation, ParallelFor):
            splitting = _Splitting(kernel, operation.locals, callees, f"{operation.name}.")
            splitting.body(operation.body)
            functions += splitting.pieces
    splitting = _Splitting(kernel, kernel.locals, callees)
    splitting.body(kernel.body)
    kernel.functions = [*functions, *splitting.pieces]


@dataclass(slots=True)
class _Step:
    """An operation of a region to be split, with the uses of everything in it. A local is listed once per use."""

    operation: Operation
    weight: int
    stays: bool
    uses: Sequence[Value]
    locals: Sequence[Local]
    stores: Collection[Local]


class _Splitting:
    """Splits one body: of a function, of a task, or of the kernel around its tasks. `locals` are the body's own;
    `callees` are functions with loops that will be inlined, with their weights."""

    def __init__(
        self, owner: Function | Kernel, locals: list[Local], callees: Mapping[Function, int], prefix: str = ""
    ) -> None:
        self.owner = owner
        self.callees = callees
        self.prefix = prefix
        self.locals = locals
        self.own = set(locals)
        self.pieces: list[Function] = []
        self.weights: dict[Operation, int] = {}
        self.stay: dict[Operation, set[str]] = {}
        self.uses: Counter[Local] = Counter()
        self.incoming: dict[Local, None] = {}
        #: Conditions whose branches are pieces where that is worthwhile.
        self.branched: set[Operation] = set()

    def body(self, body: Region) -> int:
        """Split a body if it is too long; return its original weight."""
        weight = self._weigh(body)
        if weight > LIMIT:
            self.cut(body)
        return weight

    def cut(self, body: Region) -> None:
        self.uses.update(local for operation in walk(body) for local in _locals(operation))
        # Values that are only loaded to be returned stay with the `return`: pieces would pass them on one by one.
        for operation in body.operations[-1:]:
            if operation.code == "return":
                read = [each for each in operation.operands if isinstance(each, Operation) and each.code == "load"]
                self.stay.update((each, {"return"}) for each in read)
        self._region(body, in_loop=False)
        # The inputs of a piece must have a value, even if the program assigns one only later.
        body.operations[:0] = [local.store(local.zero()) for local in self.incoming if local in self.own]
        self.locals[:] = [local for local in self.locals if local in self.own]

    # Weights, and operations that cannot move.

    def _weigh(self, region: Region) -> int:
        weight = 0
        for operation in region.operations:  # not by `sum`: CPython 3.12 allows few calls by way of C nested
            weight += self._weigh_operation(operation)
        return weight

    def _weigh_operation(self, operation: Operation) -> int:
        code = operation.code
        if operation.__class__ is Operation:
            if code in _ACCESSES and not isinstance(memory(operation), Local):
                return ACCESS_WEIGHT
            if code in _STAY:
                self.stay[operation] = {code}
            if code in ("floordiv", "mod"):
                return DIVISION_WEIGHT
            if code == "call":
                return 1 + len(operation.operands) + self.callees.get(operation.payload, 0)
            return 1
        inside = regions(operation)
        weight = 0
        for region in inside:
            weight += self._weigh(region)
        stay = {code} & _STAY
        for region in inside:
            stay.update(*(self.stay.get(each, ()) for each in region.operations))
        stay.discard("reserve")  # its lifetime ends inside
        if isinstance(operation, (For, While)):
            weight = _repeated(operation, weight)
            stay -= {"break", "continue"}
        if stay:
            self.stay[operation] = stay
        self.weights[operation] = weight + 1
        return weight + 1

    # Splitting.

    def _region(self, region: Region, in_loop: bool) -> int:
        """Split a region and the regions inside; return its new weight."""
        for operation in region.operations:
            if self.weights.get(operation, 0) <= LIMIT or isinstance(operation, ParallelFor):
                continue
            if isinstance(operation, If):
                if operation not in self.branched:
                    self._branches(operation, in_loop)
                if self.weights[operation] <= LIMIT:
                    continue
            repeats = in_loop or isinstance(operation, (For, While))
            # The head of a loop computes the condition, and is short.
            inner = regions(operation)[1:] if isinstance(operation, While) else regions(operation)
            self.weights[operation] = 1 + sum(self._region(each, repeats) for each in inner)
        if sum(map(self._weight, region.operations)) <= LIMIT:
            return sum(map(self._weight, region.operations))
        steps = [self._step(operation) for operation in region.operations]
        places = _Places(steps)
        replacements: dict[Value, Value] = {}
        result: list[Operation] = []
        for begin, end in places.cuts():
            piece = steps[begin:end]
            if replacements:
                for operation in walk(Region([step.operation for step in piece])):
                    substitute(operation, replacements)
            if piece[0].stays or sum(step.weight for step in piece) < LIGHTEST_PIECE // 2:
                result += (step.operation for step in piece)
            else:
                given = [step.operation for step in piece if places.last.get(step.operation, -1) >= end]
                result += self._piece(piece, given, in_loop, replacements)
        region.operations = result
        return sum(map(self._weight, result))

    def _branches(self, operation: If, in_loop: bool) -> None:
        """Make pieces of the branches of a condition, or of a chain of them: such a call costs only where it is reached,
        while one for the rest of the chain would be on the path of all others."""
        chain = [operation]
        while chain[-1].orelse.operations and isinstance(following := chain[-1].orelse.operations[-1], If):
            chain.append(following)
        self.branched.update(chain)
        for branch in (*(each.then for each in chain), chain[-1].orelse):
            weight = sum(map(self._weight, branch.operations))
            if weight > LIMIT:
                weight = self._region(branch, in_loop)
            steps = [self._step(each) for each in branch.operations]
            if weight >= LIGHTEST_BRANCH and not any(step.stays for step in steps):
                branch.operations = self._piece(steps, (), in_loop, {})
        for each in reversed(chain):
            inside = (*each.then.operations, *each.orelse.operations)
            self.weights[each] = 1 + sum(map(self._weight, inside))

    def _weight(self, operation: Operation) -> int:
        if isinstance(operation, ParallelFor):
            return 0  # a separate body
        return self.weights.get(operation) or self._weigh_operation(operation)

    def _step(self, operation: Operation) -> _Step:
        weight, stays = self._weight(operation), operation in self.stay
        if operation.__class__ is Operation:
            locals = _locals(operation)
            stores: Collection[Local] = () if operation.code == "load_local" else locals
            step = _Step(operation, weight, stays, operation.operands, locals, stores)
        else:
            inside = [*walk(Region([operation]))]
            uses = [value for each in inside for value in used(each)]
            listed = [local for each in inside for local in _locals(each)]
            stored = {local for each in inside if each.code != "load_local" for local in _locals(each)}
            step = _Step(operation, weight, stays, uses, listed, stored)
        step.stays |= any(local.shared or not isinstance(local.type, DType) for local in step.locals)
        return step

    def _piece(
        self, steps: Sequence[_Step], given: Sequence[Operation], in_loop: bool, replacements: dict[Value, Value]
    ) -> list[Operation]:
        """Make a function of some operations, which returns some of their results; return its call."""
        body = Region([step.operation for step in steps])
        taken = [each for each in taken_by(body) if isinstance(each, Value)]
        uses: Counter[Local] = Counter()
        for step in steps:
            uses.update(step.locals)
        own = {
            local
            for local, count in uses.items()
            if local in self.own and count == self.uses[local] and (not in_loop or _is_set_first(local, steps))
        }
        passed = [local for local in uses if local not in own]
        incoming = [local for local in passed if not _is_set_first(local, steps)]
        outgoing = [local for local in passed if any(local in step.stores for step in steps)]
        self.incoming.update(dict.fromkeys(incoming))
        self.own -= own
        for local in passed:
            self.uses[local] -= uses[local]
        self.uses.update([*incoming, *outgoing])
        parameters: dict[Value, Parameter | Array] = {}
        for position, value in enumerate(taken):
            parameters[value] = _parameter(value, position)
        copies = {local: Local(local.name, local.type, local.line) for local in passed}
        targets: dict[object, Array | Local] = dict(copies.items())
        targets.update((array, each) for array, each in parameters.items() if isinstance(each, Array))
        for operation in walk(body):
            substitute(operation, parameters)
            retarget(operation, targets)
        arguments = [Parameter(local.name, local.type) for local in incoming]
        last = [copies[local].load() for local in outgoing]
        results: list[Value] = [*given, *last]
        begun = [copies[local].store(value) for local, value in zip(incoming, arguments, strict=True)]
        # An input of pieces inside this one needs a value here, as in `body`.
        body.operations[:0] = [*begun, *(local.store(local.zero()) for local in self.incoming if local in own)]
        body.operations += [*last, *([Operation("return", None, tuple(results))] if results else [])]
        function = Function(
            name=f"{self.prefix}piece{len(self.pieces)}",
            parameters=[*parameters.values(), *arguments],
            returns=tuple(dtype_of(result) for result in results),
            body=body,
            locals=[*(local for local in uses if local in own), *copies.values()],
            file=self.owner.file,
            frames=self.owner.frames if isinstance(self.owner, Function) else (),
            separate=True,
            piece_of=self.owner if isinstance(self.owner, Function) else None,
        )
        # Pieces split from the inside are now called here.
        for inner in callees(body):
            if inner.separate and inner in self.pieces:
                inner.piece_of = function
        self.pieces.append(function)
        loads = [local.load() for local in incoming]
        called = _called(function, (*taken, *loads))
        values = called[-len(results) :] if results else []
        replacements.update(zip(given, values, strict=False))
        stores = [local.store(value) for local, value in zip(outgoing, values[len(given) :], strict=True)]
        return [*loads, *called, *stores]


def _called(function: Function, operands: tuple[Value, ...]) -> list[Operation]:
    """A call and the operations that extract its results: the last ones, one per result."""
    returns = function.returns
    call = Operation("call", returns[0] if len(returns) == 1 else None, operands, function)
    if len(returns) == 1:
        return [call]
    return [call, *(Operation("extract", dtype, (call,), position) for position, dtype in enumerate(returns))]


class _Places:
    """The places between the operations of a region: where it can be split, and where best."""

    def __init__(self, steps: Sequence[_Step]) -> None:
        self.steps = steps
        first = {step.operation: position for position, step in enumerate(steps)}
        self.last: dict[Operation, int] = {}
        spans: dict[Local, tuple[int, int]] = {}
        for position, step in enumerate(steps):
            for value in step.uses:
                if isinstance(value, Operation) and value in first:
                    self.last[value] = position
            for local in step.locals:
                spans[local] = spans.get(local, (position, position))[0], position
        changes, fixed = [0] * (len(steps) + 2), [0] * (len(steps) + 2)
        for value, end in self.last.items():
            _extend(changes, first[value], end)
            if not isinstance(value.type, DType):
                _extend(fixed, first[value], end)
        for begin, end in spans.values():
            _extend(changes, begin, end)
        #: The number of live values before each operation, and how many of them cannot be passed on.
        self.alive, self.fixed = [*accumulate(changes)], [*accumulate(fixed)]

    def cuts(self) -> list[tuple[int, int]]:
        """The ranges of operations that become pieces, in order. An operation that must stay is a range of its own."""
        ranges: list[tuple[int, int]] = []
        begin = weight = position = 0
        best: tuple[int, int, int] | None = None
        while position < len(self.steps):
            step = self.steps[position]
            end = -1
            if step.stays:
                ranges += [(begin, position), (position, position + 1)]
                end = position + 1
            else:
                if weight >= LIGHTEST_PIECE and not self.fixed[position]:
                    alive = self.alive[position]
                    if best is None or alive <= best[0]:
                        rank = (alive, self._mark(position), position)
                        best = rank if best is None else min(best, rank)
                if weight + step.weight > HEAVIEST_PIECE and best is not None:
                    end = best[2]
                    ranges.append((begin, end))
            if end >= 0:
                begin = position = end
                weight, best = 0, None
            else:
                weight += step.weight
                position += 1
        ranges.append((begin, len(self.steps)))
        return [(begin, end) for begin, end in ranges if begin < end]

    def _mark(self, position: int) -> int:
        """A hash of only the operations on both sides of a place."""
        near = [step.operation for step in self.steps[max(0, position - 3) : position + 3]]
        words = [f"{each.code} {[o.value for o in each.operands if isinstance(o, Constant)]}" for each in near]
        return crc32(" ".join(words).encode())


def _extend(counts: list[int], begin: int, end: int) -> None:
    """Record that something is live from after one operation up to another."""
    counts[begin + 1] += 1
    counts[end + 1] -= 1


def _is_set_first(local: Local, steps: Sequence[_Step]) -> bool:
    """Whether a local is assigned before it is used."""
    first = next(step.operation for step in steps if local in step.locals)
    return first.code == "store_local"


def _locals(operation: Operation) -> tuple[Local, ...]:
    target = named(operation)
    return (target,) if isinstance(target, Local) else ()


def _repeated(loop: For | While, weight: int) -> int:
    """The weight of a loop, given its body."""
    count = loop.trip_count() if isinstance(loop, For) else None
    if count is not None and weight * count <= UNROLLED_WEIGHT:
        return max(weight, weight * count)
    return weight * LOOP_COPIES + LOOP_WEIGHT


def _parameter(value: Value, position: int) -> Parameter | Array:
    if isinstance(value, Array):
        return value.as_parameter()
    return Parameter(getattr(value, "name", f"v{position}"), dtype_of(value))
