"""Splitting of long code: a region that is too long for a backend is cut into pieces, each a function that stays a call.

What a compiler does to one straight stretch of code (scheduling, vectors of neighbours, asking which accesses overlap) grows
with the square of its length. Pieces are short, so a body of any length takes a time in proportion, and they are compiled
side by side. A call costs a few nanoseconds, and a piece computes for many times as long.

A piece takes the values and arrays that it uses as parameters, and gives back the values that are used after it. Locals go
in and come back by value. What cannot leave its place (tasks, what they gather, `return`, `break` and `continue` of a loop
around it, locals that iterations share) stays where it is.

Runs after everything that looks at indices, and before parallel loops become tasks. Cuts are made where few values are
alive, and of those where what is near the cut says so: an edit moves the cuts next to it, and not all that follow.
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
    Touch,
    Value,
    While,
    callees,
    memory,
    regions,
    retarget,
    substitute,
    used,
    variables,
    walk,
)

#: A region of more weight is cut. An operation weighs 1, and one that a compiler has to compare with others more.
LIMIT = 2000
#: A piece weighs from so much to so much, if nothing in it is heavier. Less is not worth a call.
LIGHTEST_PIECE, HEAVIEST_PIECE = 500, 900
#: What is reached only under a condition is worth a call sooner.
LIGHTEST_BRANCH = 150
#: An access to an array: its address, and which other accesses it may be moved past.
ACCESS_WEIGHT = 8
#: A constant loop is unrolled if it becomes no heavier than this; any other loop becomes several.
UNROLLED_WEIGHT = 300
LOOP_COPIES = 2
#: What a loop weighs beside its body: how it begins, ends and asks whether to stop, in each of the forms that it gets.
LOOP_WEIGHT = 40
#: A function of no more weight is likely to become a part of its callers; the loops in it are then theirs.
INLINED_WEIGHT = 150

#: Operations that belong to the task or the function around them.
_STAY = frozenset(
    "parallel task accumulate scatter reserve return break continue watch iteration report"
    " sections section watch_sections report_sections checkpoint".split()
)
_ACCESSES = frozenset("load store atomic update touch".split())


def split(kernel: Kernel) -> None:
    """Cut what is too long in a kernel and its functions."""
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
    """An operation of a region that is to be cut, with what all that is in it uses. A local is listed once per use."""

    operation: Operation
    weight: int
    stays: bool
    uses: Sequence[Value]
    locals: Sequence[Local]
    stores: Collection[Local]


class _Splitting:
    """Cuts one body: that of a function, of a task, or of the kernel around its tasks. `locals` are the body's own;
    `callees` are functions with loops that are as good as inlined, with what they weigh."""

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

    def body(self, body: Region) -> int:
        """Cut a body if it is too long; gives what it weighed."""
        weight = self._weigh(body)
        if weight > LIMIT:
            self.cut(body)
        return weight

    def cut(self, body: Region) -> None:
        self.uses.update(local for operation in walk(body) for local in _locals(operation))
        # What is read only to be returned stays with the `return`: pieces would hand it on one by one.
        for operation in body.operations[-1:]:
            if operation.code == "return":
                read = [each for each in operation.operands if isinstance(each, Operation) and each.code == "load"]
                self.stay.update((each, {"return"}) for each in read)
        self._region(body, in_loop=False)
        # What goes into a piece has to have a value, also where the program gives it one only later.
        body.operations[:0] = [_store(local, _zero(local)) for local in self.incoming if local in self.own]
        self.locals[:] = [local for local in self.locals if local in self.own]

    # How heavy things are, and what in them has to stay.

    def _weigh(self, region: Region) -> int:
        weight = 0
        for operation in region.operations:  # not by `sum`: CPython 3.12 allows few calls by way of C inside of each other
            weight += self._weigh_operation(operation)
        return weight

    def _weigh_operation(self, operation: Operation) -> int:
        code = operation.code
        if operation.__class__ is Operation:
            if code in _ACCESSES and not isinstance(memory(operation), Local):
                return ACCESS_WEIGHT
            if code in _STAY:
                self.stay[operation] = {code}
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
        stay.discard("reserve")  # what is reserved inside ends there
        if isinstance(operation, (For, While)):
            weight = _repeated(operation, weight)
            stay -= {"break", "continue"}
        if stay:
            self.stay[operation] = stay
        self.weights[operation] = weight + 1
        return weight + 1

    # Cutting.

    def _region(self, region: Region, in_loop: bool) -> int:
        """Cut a region and what is inside of it; gives what it weighs then."""
        for operation in region.operations:
            if self.weights.get(operation, 0) <= LIMIT or isinstance(operation, ParallelFor):
                continue
            if isinstance(operation, If):
                self._branches(operation, in_loop)
                if self.weights[operation] <= LIMIT:
                    continue
            repeats = in_loop or isinstance(operation, (For, While))
            # The head of a loop gives the condition, and is short.
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
        """Make pieces of what a condition, or one of a chain of them, decides about: such a call costs something only where
        it is reached, while one of what follows in the chain would be on the way of all others."""
        chain = [operation]
        while chain[-1].orelse.operations and isinstance(following := chain[-1].orelse.operations[-1], If):
            chain.append(following)
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
            return 0  # a body of its own
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
        """Make a function of some operations, which gives some of their results; gives what stands in their place."""
        body = Region([step.operation for step in steps])
        taken = _taken(body)
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
        last = [_load(copies[local]) for local in outgoing]
        results: list[Value] = [*given, *last]
        begun = [_store(copies[local], value) for local, value in zip(incoming, arguments, strict=True)]
        # One that pieces inside of this one are given needs a value here, as in `body`.
        body.operations[:0] = [*begun, *(_store(local, _zero(local)) for local in self.incoming if local in own)]
        body.operations += [*last, *([Operation("return", None, tuple(results))] if results else [])]
        function = Function(
            name=f"{self.prefix}piece{len(self.pieces)}",
            parameters=[*parameters.values(), *arguments],
            returns=tuple(_type(result) for result in results),
            body=body,
            locals=[*(local for local in uses if local in own), *copies.values()],
            file=self.owner.file,
            frames=self.owner.frames if isinstance(self.owner, Function) else (),
            separate=True,
            piece_of=self.owner if isinstance(self.owner, Function) else None,
        )
        # What was cut from the inside of it is now called in it.
        for inner in callees(body):
            if inner.separate and inner in self.pieces:
                inner.piece_of = function
        self.pieces.append(function)
        loads = [_load(local) for local in incoming]
        called = _called(function, (*taken, *loads))
        values = called[-len(results) :] if results else []
        replacements.update(zip(given, values, strict=False))
        stores = [_store(local, value) for local, value in zip(outgoing, values[len(given) :], strict=True)]
        return [*loads, *called, *stores]


def _called(function: Function, operands: tuple[Value, ...]) -> list[Operation]:
    """A call, and what takes its results apart: as many operations at the end as there are results."""
    returns = function.returns
    call = Operation("call", returns[0] if len(returns) == 1 else None, operands, function)
    if len(returns) == 1:
        return [call]
    return [call, *(Operation("extract", dtype, (call,), position) for position, dtype in enumerate(returns))]


class _Places:
    """The places between the operations of a region: where it can be cut, and where best."""

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
        #: How many values are alive before each operation, and how many of them cannot be passed on.
        self.alive, self.fixed = [*accumulate(changes)], [*accumulate(fixed)]

    def cuts(self) -> list[tuple[int, int]]:
        """The ranges of operations that become pieces, in order. What has to stay is a range of its own."""
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
        """A number that depends on what stands on both sides of a place, and on nothing else."""
        near = [step.operation for step in self.steps[max(0, position - 3) : position + 3]]
        words = [f"{each.code} {[o.value for o in each.operands if isinstance(o, Constant)]}" for each in near]
        return crc32(" ".join(words).encode())


def _extend(counts: list[int], begin: int, end: int) -> None:
    """Something is alive after one operation and up to another."""
    counts[begin + 1] += 1
    counts[end + 1] -= 1


def _is_set_first(local: Local, steps: Sequence[_Step]) -> bool:
    """Whether the first thing that happens to a local is that it gets a value."""
    first = next(step.operation for step in steps if local in step.locals)
    return first.code == "store_local"


def _taken(body: Region) -> list[Value]:
    """What operations use and do not define, each once, in the order of the text."""
    defined: set[Value] = set()
    found: dict[Value, None] = {}
    for operation in walk(body):
        defined.add(operation)
        defined.update(variables(operation))
        if operation.code == "reserve":
            defined.add(operation.payload)
        found.update(dict.fromkeys(used(operation)))
        array = _array(operation)
        if array is not None:
            found[array] = None
    return [value for value in found if value not in defined and not isinstance(value, Constant)]


def _array(operation: Operation) -> Array | None:
    """The array that an operation names beside its operands."""
    payload = operation.payload
    if operation.code == "shape":
        array: Array = payload[0]
        return array
    target = payload.target if isinstance(payload, Touch) else memory(operation)
    return target if isinstance(target, Array) else None


def _locals(operation: Operation) -> tuple[Local, ...]:
    payload = operation.payload
    target = payload.target if isinstance(payload, Touch) else memory(operation)
    return (target,) if isinstance(target, Local) else ()


def _repeated(loop: For | While, weight: int) -> int:
    """What a loop weighs, given its body."""
    count = loop.trip_count() if isinstance(loop, For) else None
    if count is not None and weight * count <= UNROLLED_WEIGHT:
        return max(weight, weight * count)
    return weight * LOOP_COPIES + LOOP_WEIGHT


def _parameter(value: Value, position: int) -> Parameter | Array:
    if isinstance(value, Array):
        return value.as_parameter()
    return Parameter(getattr(value, "name", f"v{position}"), _type(value))


def _type(value: Value) -> DType:
    assert value.type is not None
    return value.type


def _zero(local: Local) -> Constant:
    return Constant(local.type(0), local.type)


def _store(local: Local, value: Value) -> Operation:
    return Operation("store_local", None, (value,), local)


def _load(local: Local) -> Operation:
    return Operation("load_local", local.type, (), local)
