"""Lanes: several neighbouring iterations of a task in one thread, one in each element of a vector.

LLVM makes vectors of innermost loops. Where an iteration of a task has a loop of its own, that one is the innermost: steps
of a simulation, a series, a search, a recurrence along a column. Each of its steps waits for the one before, so it stays
scalar, although the iterations around it have nothing to do with each other. Here those are found whose steps can be taken
for neighbours at once; a backend then writes the vectors itself.

A value is varying if it differs between neighbours. What does not vary stays scalar. A loop that some neighbours leave
before others goes on until the last has left it, with the results of the others held back. In loops, and where not all
neighbours are, memory is touched only as the same element or elements side by side; what could be seen from outside
(`print`, atomic operations) is left alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from samovar._native import DType
from samovar.ir import (
    OPCODES,
    Array,
    Atomic,
    Constant,
    For,
    Function,
    If,
    Lanes,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    ReadAnyway,
    ReadFlag,
    Reduction,
    Region,
    Value,
    While,
    memory,
    regions,
    walk,
)
from samovar.language import integer_range
from samovar.passes.accesses import MAY_WRAP

#: A loop of constant length is left to LLVM, which unrolls it, if it executes no more operations than this.
UNROLLED = 256
#: Elements that are not side by side are fetched one by one: so many accesses at most, or one for so many operations that
#: loops execute, and none in a loop.
MOST_APART = 12
WORK_OF_ONE_APART = 16
#: The bits of the vectors, by how many variables vary: a step waits for the one before, so several registers of each are
#: worked on by turns, as long as there are enough. (A register of most processors has 256 bits, and there are sixteen.)
BITS = ((3, 1024), (6, 512))
LEAST_BITS = 256
#: A loop that goes from row to row touches a cache line of each.
CACHE_LINE = 512

#: Sums of sums are followed so far.
_DEPTH = 32

#: Operations of a task that is kept in one piece, or made one, so that its iterations can be lanes.
LARGEST_TASK = 1500

_MOVES = frozenset(("load", "store", "load_local", "store_local", "shape", "break", "continue"))
_UPDATES = frozenset(("add", "sub", "mul", "min", "max", "and", "or", "xor"))


def lanes(task: ParallelFor, fast_math: bool) -> Lanes | None:
    """How neighbouring iterations of a task run side by side; None where they do not."""
    loops = [operation for operation in walk(task.body) if _is_long(operation)]
    if task.watched or task.scatters or not loops:
        return None
    body = _Body(task)
    if not body.search() or all(body.suits_llvm(loop, fast_math) for loop in loops):
        return None
    if len(body.apart) > max(MOST_APART, _work(task.body) // WORK_OF_ONE_APART):
        return None
    types = [each.type for each in body.varying if isinstance(each, (Operation, Local)) and each.type is not None]
    bits = max((type.bits for type in types if type.kind != "bool"), default=32)
    variables = sum(isinstance(each, Local) for each in body.varying)
    wide = next((wide for most, wide in BITS if variables <= most), LEAST_BITS)
    if body.walks_over_rows:
        wide = min(wide, CACHE_LINE)
    ragged, apart = frozenset(body.ragged), frozenset(body.apart)
    width = wide // max(bits, 32)
    return Lanes(width, frozenset(body.varying), body.loose(), ragged, apart, body.walks(), body.can_be_partly())


def are_lanes(task: ParallelFor, fast_math: bool) -> bool:
    """Whether the iterations of a task run side by side, and it is short enough to be compiled in one piece."""
    size = sum(1 for _ in walk(task.body))
    return size <= LARGEST_TASK and lanes(task, fast_math) is not None


def could_be_lanes(task: ParallelFor, computing: Container[Function], fast_math: bool) -> bool:
    """Whether the iterations of a task seem to fit side by side if calls of some functions were not in the way, and its own
    loops are not such that LLVM does as well. Atomic operations in loops, which may be settled later, do not."""
    body = _Body(task, computing)
    loops = [operation for operation in walk(task.body) if isinstance(operation, (For, While))]
    return body.search() and (not loops or not all(body.suits_llvm(loop, fast_math) for loop in loops))


def can_be_in_lanes(operation: Operation) -> bool:
    """Whether lanes can have an operation at all; where it stands and what it is given counts too."""
    if _is_half(operation.type) or isinstance(memory(operation), LocalArray):
        return False
    if operation.code == "atomic":
        return isinstance(operation.payload, Atomic) and operation.payload.step is None
    return operation.code in _MOVES or _only_computes(operation)


def is_unrolled(loop: For, size: int) -> bool:
    """Whether LLVM unrolls a loop over so many operations."""
    count = _count(loop)
    return count is not None and count * size <= UNROLLED


def _is_long(operation: Operation) -> bool:
    """Whether an operation is a loop that LLVM does not unroll."""
    if isinstance(operation, While):
        return True
    return isinstance(operation, For) and _executed(operation) is None


def _executed(loop: For) -> int | None:
    """How many operations a loop executes; None if that is not known, or too many to unroll."""
    count = _count(loop)
    if count is None:
        return None
    total = 0
    for operation in loop.body.operations:
        if isinstance(operation, While):
            return None
        inside = _executed(operation) if isinstance(operation, For) else 1
        if inside is None:
            return None
        total += inside
    return count * total if count * total <= UNROLLED else None


def _count(loop: For) -> int | None:
    begin, end, step = loop.operands
    if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
        return None
    return len(range(int(begin.value), int(end.value), int(step.value))) if step.value else 0


class _Unsuitable(Exception):
    """The iterations cannot be lanes."""


class _Body:
    """Looks through the body of a task until nothing more is found to vary."""

    def __init__(self, task: ParallelFor, computing: Container[Function] = ()) -> None:
        self.task = task
        self.computing = computing
        self.variable = task.variables[-1]
        self.begin = task.axes()[-1][0]
        self.own = set(task.locals)
        self.varying: set[Value | Local] = {self.variable}
        #: Loops that some lanes may leave, or begin anew, before others.
        self.ragged: set[Operation] = set()
        self.loops: list[Operation] = []
        #: What loops inside change from step to step, and does not vary.
        self.stepping: set[Value] = set()
        self.walks_over_rows = False
        #: Accesses whose elements are not side by side.
        self.apart: set[Operation] = set()
        self.touches_bytes = False

    def search(self) -> bool:
        try:
            known = -1
            while known != len(self.varying) + len(self.ragged):
                known = len(self.varying) + len(self.ragged)
                self._region(self.task.body, False)
        except _Unsuitable:
            return False
        return True

    def loose(self) -> frozenset[Local]:
        """The locals that are read in one outermost loop only: nobody asks what a lane that has left it would find there."""
        readers: dict[Local, set[Operation | None]] = {}
        for operation in self.task.body.operations:
            loop = operation if isinstance(operation, (For, While)) else None
            for each in (operation, *_inside(operation)):
                if each.code == "load_local":
                    readers.setdefault(each.payload, set()).add(loop)
        return frozenset(local for local, loops in readers.items() if len(loops) == 1 and None not in loops)

    def walks(self) -> tuple[Operation, ...]:
        """The loops that go from row to row, if all loops do and nothing else decides what is run."""
        steps = self.task.body.operations
        loops = [each for each in steps if isinstance(each, For)]
        if not self.walks_over_rows or any(isinstance(each, (If, While)) for each in steps):
            return ()
        inside = [each for loop in loops for each in _inside(loop)]
        return () if any(each.code in ("for", "while", "break", "continue") for each in inside) else tuple(loops)

    def can_be_partly(self) -> bool:
        """Whether some of the lanes can be left out: what they would touch is elements side by side that can be masked."""
        return not self.apart and not self.touches_bytes

    def suits_llvm(self, loop: Operation, fast_math: bool) -> bool:
        """Whether LLVM makes vectors of a loop, and they are as good: it adds up (or the like) what is the same for all
        lanes, so that elements side by side are those of the loop."""
        if not isinstance(loop, For) or loop in self.ragged:
            return False
        inside = [*_inside(loop)]
        if any(isinstance(each, (For, While)) for each in inside):
            return False
        loads = [each for each in inside if each.code == "load"]
        if not loads or any(each in self.varying or each.operands[-1] is not loop.variable for each in loads):
            return False
        stored = {each.payload: each.operands[0] for each in inside if each.code == "store_local"}
        read = {each.payload for each in inside if each.code == "load_local"}
        return all(_adds_up(local, stored[local], inside, fast_math) for local in stored.keys() & read)

    def _region(self, region: Region, divided: bool) -> bool:
        """`divided`: not all lanes may be here. Gives whether that is so at the end."""
        for operation in region.operations:
            divided = self._operation(operation, divided)
        return divided

    def _operation(self, operation: Operation, divided: bool) -> bool:
        if isinstance(operation, If):
            inside = divided or operation.operands[0] in self.varying
            after = [self._region(each, inside) for each in (operation.then, operation.orelse)]
            return divided or (any(after) and any(each.code in ("break", "continue") for each in _inside(operation)))
        if isinstance(operation, (For, While)):
            self._loop(operation, divided)
            return divided
        if operation.code in ("break", "continue"):
            if not self.loops:
                raise _Unsuitable
            if divided:
                self.ragged.add(self.loops[-1])
            return divided
        self._step(operation, divided)
        return divided

    def _loop(self, loop: For | While, divided: bool) -> None:
        if any(operand in self.varying for operand in loop.operands):
            raise _Unsuitable
        self.loops.append(loop)
        if isinstance(loop, For):
            self.stepping.add(loop.variable)
        else:
            self._region(loop.head, divided or loop in self.ragged)
            if loop.condition in self.varying:
                self.ragged.add(loop)
        self._region(loop.body, divided or loop in self.ragged)
        self.loops.pop()

    def _step(self, operation: Operation, divided: bool) -> None:
        code, payload = operation.code, operation.payload
        varies = any(operand in self.varying for operand in operation.operands)
        if code == "load_local":
            varies = payload in self.varying
            if payload.shared:
                raise _Unsuitable
        elif code == "store_local":
            if payload not in self.own or payload.shared:
                raise _Unsuitable
            if varies or divided:
                self.varying.add(payload)
            return
        elif code == "accumulate":
            if not isinstance(payload, Reduction):
                raise _Unsuitable
            return
        elif code in ("load", "store", "update"):
            varies = self._access(operation, divided)
        elif code == "atomic" and self.computing and not self.loops:
            pass
        elif code != "shape" and not self._is_of_function(operation):
            self._computes(operation, varies, divided)
            if any(operand in self.stepping for operand in operation.operands):
                self.stepping.add(operation)
        if _is_half(operation.type):
            raise _Unsuitable
        if varies:
            self.varying.add(operation)

    def _is_of_function(self, operation: Operation) -> bool:
        """Whether an operation is a call of a function that only computes, or a result of one."""
        return operation.code == "extract" or (operation.code == "call" and operation.payload in self.computing)

    def _access(self, operation: Operation, divided: bool) -> bool:
        """Whether what is read varies."""
        array, indices = operation.payload, operation.operands
        if operation.code == "update":
            if not isinstance(array, Atomic) or array.step is not None or array.operation not in _UPDATES:
                raise _Unsuitable
            array = array.target
        if not isinstance(array, Array) or isinstance(array, LocalArray) or isinstance(operation, (ReadAnyway, ReadFlag)):
            raise _Unsuitable
        if _is_half(array.dtype) or (divided and array.dtype.bits < 32):
            raise _Unsuitable
        if operation.code != "load":
            indices = indices[:-1]
        apart = distance(array, indices, self.varying, self.variable, self.begin)
        if apart == 0 and operation.code != "load":
            raise _Unsuitable
        if apart == 1 and array.dtype.bits < 32:
            self.touches_bytes = True
        if apart is None:
            self.apart.add(operation)
            if self.loops or divided or operation.code == "update":
                raise _Unsuitable
        if apart == 1 and any(index in self.stepping for index in indices[:-1]):
            self.walks_over_rows = True
        return apart != 0

    def _computes(self, operation: Operation, varies: bool, divided: bool) -> None:
        if not _only_computes(operation):
            raise _Unsuitable
        if operation.code in ("quotient", "remainder", "fmod") and (varies or divided):
            divisor = operation.operands[1]
            if not isinstance(divisor, Constant) or not divisor.value:
                raise _Unsuitable


def _only_computes(operation: Operation) -> bool:
    row = OPCODES.get(operation.code)
    return row is not None and row.effect == "pure" and not row.library and isinstance(operation.payload, (str, type(None)))


def _work(region: Region, count: int = 0) -> int:
    """How many operations the loops in a region execute, as far as that is known: others count as if they ran once."""
    total = 0
    for operation in region.operations:
        total += count
        inside = count
        if isinstance(operation, (For, While)):
            turns = _count(operation) if isinstance(operation, For) else 1
            inside = max(count, 1) * (1 if turns is None else turns)
        for each in regions(operation):
            total += _work(each, inside)
    return total


def _adds_up(local: Local, value: Value, inside: list[Operation], fast_math: bool) -> bool:
    """Whether a loop only adds to a variable, or the like, in an order that does not matter."""
    if not isinstance(value, Operation) or value.code not in _UPDATES or sum(each.payload is local for each in inside) > 2:
        return False
    floating = value.type is not None and value.type.kind == "float"
    if floating and not fast_math and value.code not in ("min", "max"):
        return False
    return any(isinstance(each, Operation) and each.payload is local for each in value.operands)


def _inside(operation: Operation) -> Iterator[Operation]:
    """What is in the regions of an operation."""
    for region in regions(operation):
        yield from walk(region)


def _is_half(type: DType | None) -> bool:
    return type is not None and type.name == "f16"


def distance(
    array: Array, indices: tuple[Value, ...], varying: set[Value | Local], variable: LoopVariable, begin: Value
) -> int | None:
    """How far apart the elements of neighbouring lanes are: 0, 1, or None for anything else. Lanes are iterations of a loop
    over `variable`, from `begin` on."""
    sums = _Sums(varying, variable, begin)
    steps = [sums.step(index) for index in indices]
    if not any(step is None or step for step in steps):
        return 0
    # The axis that varies fastest.
    last = len(steps) - 1 - array.apart if array.order is None else array.order[-1]
    if (array.contiguous or array.apart or array.order is not None) and last >= 0 and steps.pop(last) == 1:
        return None if any(step is None or step for step in steps) else 1
    return None


class _Sums:
    """Indices as sums of the variable of a loop and others, each of which is looked at once."""

    def __init__(self, varying: set[Value | Local], variable: LoopVariable, begin: Value) -> None:
        self.varying = varying
        self.variable = variable
        self.begin = begin
        self._steps: dict[Value, int | None] = {variable: 1}
        self._bounds: dict[Value, tuple[int, int] | None] = {}

    def step(self, index: Value, depth: int = _DEPTH) -> int | None:
        """How an index changes from lane to lane; that of the first one need not be in bounds (see `MAY_WRAP`)."""
        if index not in self.varying:
            return 0
        if index not in self._steps:
            self._steps[index] = self._step_of(index, depth - 1) if depth else None
        return self._steps[index]

    def _step_of(self, index: Value, depth: int) -> int | None:
        if not isinstance(index, Operation) or index.code not in ("add", "sub", "cast") or index.type is None:
            return None
        source = index.operands[0].type
        if source is None or source.kind not in ("int", "uint"):
            return None
        if (index.type not in MAY_WRAP or index.type.bits > source.bits) and self.bounds(index, depth) is None:
            return None
        first, *others = (self.step(operand, depth) for operand in index.operands)
        if first is None or None in others:
            return None
        return first + sum(step if index.code == "add" else -step for step in others if step is not None)

    def bounds(self, value: Value, depth: int) -> tuple[int, int] | None:
        """Bounds of an integer, if neither sums nor casts on the way from the variable to it can wrap."""
        if value not in self._bounds:
            self._bounds[value] = self._bounds_of(value, depth - 1) if depth else None
        return self._bounds[value]

    def _bounds_of(self, value: Value, depth: int) -> tuple[int, int] | None:
        assert value.type is not None
        least, greatest = integer_range(value.type)
        if isinstance(value, Constant):
            return int(value.value), int(value.value)
        if value is self.variable:
            return (int(self.begin.value) if isinstance(self.begin, Constant) else least), greatest - 1
        if not isinstance(value, Operation) or value.code not in ("shape", "add", "sub", "cast"):
            return least, greatest
        if value.code == "shape":
            return 0, greatest
        if any(operand.type is None or operand.type.kind == "float" for operand in value.operands):
            return least, greatest
        bounds = [self.bounds(operand, depth) for operand in value.operands]
        if bounds[0] is None or bounds[-1] is None:
            return None
        (low, high), (other_low, other_high) = bounds[0], bounds[-1]
        if value.code == "add":
            low, high = low + other_low, high + other_high
        elif value.code == "sub":
            low, high = low - other_high, high - other_low
        return (low, high) if least <= low and high <= greatest else None
