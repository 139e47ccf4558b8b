"""Prices: about how many cycles code takes, one iteration at a time or in vectors.

The figures are rough, and they are what plans are compared by: each is the time of one instruction on a processor of today
that has others to do meanwhile. What is computed in lanes costs as many instructions as its vectors fill registers. Loops of
unknown length count as some iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping

from samovar._native import DType, u1
from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Constant,
    For,
    If,
    Local,
    LoopVariable,
    Machine,
    Operation,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    walk,
)
from samovar.passes.loops.dependence import recurring
from samovar.passes.loops.divergence import Access, Divergence, inside

#: Iterations assumed of a loop whose length is not known.
GUESSED = 24
#: And of a row of a parallel loop.
AXIS = 256
#: What an operation costs that is not listed.
SIMPLE = 0.5
#: A branch that a processor guesses right most of the time, and one that depends on data.
BRANCH, GUESS = 0.5, 4.0

_COSTS: Mapping[str, float] = {
    "load": 0.5, "store": 1.0, "update": 1.5, "atomic": 18.0, "div": 4.0, "sqrt": 5.0, "rsqrt": 4.0, "floordiv": 8.0,
    "mod": 8.0, "quotient": 6.0, "remainder": 6.0, "fmod": 20.0, "load_local": 0.0, "store_local": 0.0, "shape": 0.0,
    "reserve": 0.0, "lane_numbers": 0.0, "select": 0.7, "min": 0.7, "max": 0.7, "call": 5.0, "print": 1000.0,
}  # fmt: skip
#: A function of the C library: of one number, and of a register full of them.
LIBRARY, VECTOR_LIBRARY = 25.0, 16.0
#: Integers are divided one by one.
_ONE_BY_ONE = frozenset(("floordiv", "mod", "quotient", "remainder", "fmod"))
#: To take a number out of a vector, or put one in.
MOVE = 1.0
#: What is left of code whose neighbours are computed alike, in vectors of them.
ALIKE = 0.45
#: To take an element into its lane that is some places from the one before.
APART = 0.2
#: The same, if it is in another row: a line for each lane.
ROW = 0.4
#: To put together what the lanes of a sum have gathered, at the end of a loop.
TOGETHER = 10.0
#: Rows that lanes walk along side by side may begin in one set of the first cache. More lines at a time than it surely holds
#: may push each other out, and an element costs so much then.
LINES, EVICTED = 48, 1.0
#: To go on in another row in each iteration of a loop, where nothing is there yet.
JUMP = 4.0
#: Where lanes are left out.
BLEND = 0.7

#: What loops are written several times, or for several lanes, for local arrays of so many bytes in all.
LOCAL_BYTES = 32 << 10
#: What a loop two loops deep adds to the size of code.
DEEP = 4


def local_bytes(region: Region) -> int:
    """What the local arrays take that a region reserves."""
    return sum(each.payload.byte_size for each in walk(region) if each.code == "reserve")


#: A loop of constant length that executes no more operations than this the backend unrolls.
UNROLLED = 256


def is_unrolled(loop: Operation) -> bool:
    """Whether an operation is a loop that the backend unrolls."""
    count = loop.trip_count() if isinstance(loop, For) else None
    return count is not None and count * sum(1 for _ in inside(loop)) <= UNROLLED


def code_size(region: Region, depth: int = 0) -> int:
    """What a region takes to compile, in operations. A backend copies a nest once more for each loop around one that may
    have no iteration: what is more than one loop deep counts with the square of its `depth`."""
    size = 0
    for operation in region.operations:
        loops = isinstance(operation, (For, While))
        size += 1 + (DEEP * max(depth - 1, 0) ** 2 if loops else 0)
        for inner in regions(operation):
            size += code_size(inner, depth + loops)
    return size


class Price:
    """What code costs on a machine."""

    def __init__(self, machine: Machine, affine: Affine) -> None:
        self.machine = machine
        #: The variables of the loops around what is priced, inside of the one that is in lanes.
        self._around: list[LoopVariable] = []
        self.affine = affine

    def turns(self, loop: For) -> int:
        """How many iterations a loop has, about: no more than its bounds are apart for certain."""
        begin, end, step = loop.operands
        if isinstance(step, Constant) and step.value < 0:
            begin, end = end, begin
        apart = AXIS if loop.hints.parallel else GUESSED
        if loop.hints.expected is not None:
            apart = loop.hints.expected
        for low in _limits(begin, "max"):
            for high in _limits(end, "min"):
                distance = self.affine.form(high).plus(self.affine.form(low), -1)
                if not distance.terms:
                    apart = min(apart, max(0, distance.constant))
        known = loop.trip_count()
        return apart if known is None else known

    def rounds(self, loop: For, width: int) -> float:
        """How many times that is in lanes: a vector that is not filled takes as long as one that is."""
        turns = self.turns(loop)
        return turns / width if turns == GUESSED else -(-turns // width)

    # --- one iteration at a time

    def scalar(self, operation: Operation) -> float:
        """One operation that is no control flow."""
        row = OPCODES[operation.code]
        if row.library and not (operation.code == "pow" and operation.type is not None and operation.type.kind != "float"):
            return LIBRARY
        if operation.code in _COSTS:
            if operation.code in _ONE_BY_ONE and isinstance(operation.operands[1], Constant):
                return 2.0  # a product and a shift
            return _COSTS[operation.code]
        return SIMPLE if row.effect == "pure" else max(SIMPLE, row.cost * 3)

    def region(self, region: Region, of: Callable[[Operation], float]) -> float:
        """A straight region, with `of` for the operations that are control flow."""
        divides = set(region.operations) if any(each.code == "div" for each in region.operations) else ()
        total = 0.0
        for operation in region.operations:
            if isinstance(operation, (For, If, While)):
                total += of(operation)
            elif operation.code == "div" and operation.operands[1] not in divides:
                total += SIMPLE  # a product with what is computed once
            else:
                total += self.scalar(operation)
        return total

    # --- in lanes

    def vector(self, region: Region, plan: Divergence, width: int, divided: bool = False) -> float:
        """A region for all lanes at once."""
        total = 0.0
        for operation in region.operations:
            if isinstance(operation, If):
                varies = plan.varies(operation.operands[0])
                sides = [self.vector(side, plan, width, divided or varies) for side in (operation.then, operation.orelse)]
                total += sum(sides) + SIMPLE if varies else max(sides) + BRANCH
            elif isinstance(operation, For):
                within = divided or operation in plan.ragged or any(plan.bounds_vary(operation))
                turns = self.turns(operation) + self._waiting(operation, plan, width)
                self._around.append(operation.variable)
                inside = self.vector(operation.body, plan, width, within) + BRANCH
                self._around.pop()
                total += turns * max(inside, carried_latency(operation))
            elif isinstance(operation, While):
                within = divided or operation in plan.ragged
                inside = self.vector(operation.head, plan, width, within) + self.vector(operation.body, plan, width, within)
                total += GUESSED * max(inside + BRANCH, carried_latency(operation))
            else:
                total += self._in_lanes(operation, plan, width, divided)
        return total

    def _waiting(self, loop: For, plan: Divergence, width: int) -> float:
        """How many iterations lanes wait for others whose bounds are farther apart."""
        waiting = 0.0
        for bound in loop.operands[:2] if self.turns(loop) == GUESSED else ():
            if plan.varies(bound):
                step = self.affine.step(bound, plan.loop.variable, plan.varying)
                waiting += GUESSED / 4 if step is None else abs(step) * width / 2
        return waiting

    def _in_lanes(self, operation: Operation, plan: Divergence, width: int, divided: bool) -> float:
        access = plan.accesses.get(operation)
        if access is not None:
            return self._access(operation, access, plan, width, divided)
        if operation.code == "store_local":
            return BLEND if divided and operation.payload in plan.varying else 0.0
        cost = self.scalar(operation)
        if not plan.varies(operation):
            return cost
        row, dtype = OPCODES[operation.code], _widest(operation)
        if row.library and dtype.kind == "float":
            if self.machine.computes(row.library, dtype):
                return VECTOR_LIBRARY * self.registers(dtype, width)
            return width * (LIBRARY + 2 * MOVE)
        if operation.code == "div" and not plan.varies(operation.operands[1]):
            cost = SIMPLE
        if operation.code in _ONE_BY_ONE and dtype.kind != "float" and not isinstance(operation.operands[1], Constant):
            return width * (cost + 2 * MOVE)
        return cost * self.registers(dtype, width)

    def _access(self, operation: Operation, access: Access, plan: Divergence, width: int, divided: bool) -> float:
        array = memory(operation)
        assert isinstance(array, Array)
        cost, registers = _COSTS[operation.code], self.registers(array.dtype, width)
        step = access.step
        if access.even and not divided and operation.code != "atomic":
            return width * (cost + (ROW if width * plan.rows() <= LINES else EVICTED))
        if step is None or operation.code == "atomic":
            guarded = GUESS if divided and operation.code != "load" else MOVE if divided else 0.0
            moves = sum(plan.varies(operand) for operand in operation.operands) + (operation.code == "load")
            return width * (cost + moves * MOVE + guarded)
        if step == 0:
            return cost if operation.code == "load" else cost + 4.0
        if abs(step) != 1:
            # All that is between is loaded, and put in place; far apart, they are loaded one by one.
            return registers * (cost + APART) * min(abs(step), width / registers)
        if self._around and plan.jumps(operation, self._around[-1]):
            cost += JUMP / registers
        if divided and not self.machine.masks:
            return width * (cost + MOVE + GUESS) if array.dtype.bits < 32 else 3 * registers * cost
        return registers * cost

    def pressure(self, region: Region, plan: Divergence) -> int:
        """About how many vectors are live at once: variables that vary, and what is computed from them and still needed."""
        order = [each for each in walk(region) if each in plan.varying and each.code != "load_local" and not _is_mask(each)]
        last = {value: each for each in walk(region) for value in each.operands}
        live: set[Value] = set()
        most = 0
        ending: dict[Operation, list[Value]] = {}
        for value in order:
            if value in last:
                ending.setdefault(last[value], []).append(value)
        computed = set(order)
        for each in walk(region):
            live.difference_update(ending.get(each, ()))
            if each in computed and each in last:
                live.add(each)
                most = max(most, len(live))
        return most + sum(isinstance(each, Local) and each.type is not u1 for each in plan.varying)

    def registers(self, dtype: DType, width: int) -> float:
        """How many registers a vector fills: half a register is as slow as a whole one."""
        return max(1.0, width * max(dtype.bits, 8) / self.machine.vector_bits)


def _limits(bound: Value, chosen: str) -> tuple[Value, ...]:
    """What a bound of a loop lies beyond, or before."""
    return bound.operands if isinstance(bound, Operation) and bound.code == chosen else (bound,)


def _is_mask(operation: Operation) -> bool:
    return operation.type is not None and operation.type.kind == "bool"


def latency(operation: Operation) -> float:
    """About how many cycles after its operands an operation is there. A product is mostly fused with a sum."""
    code = operation.code
    if code in _LATENCIES:
        return _LATENCIES[code]
    if OPCODES[code].library:
        return LIBRARY
    return 4.0 if operation.type is not None and operation.type.kind == "float" else 1.0


_LATENCIES: Mapping[str, float] = {
    "load_local": 0.0, "store_local": 0.0, "shape": 0.0, "mul": 1.0, "div": 12.0, "sqrt": 14.0, "load": 5.0, "abs": 1.0,
    "neg": 1.0,
}  # fmt: skip


def carried_latency(loop: For | While, excluded: Container[Local] = ()) -> float:
    """How long an innermost loop waits for what the iteration before has stored in variables, other than some."""
    operations = list(inside(loop))
    if any(isinstance(each, (For, While)) for each in operations):
        return 0.0
    stored = {local for local in recurring(operations) if local not in excluded}
    late: dict[Value, float] = {}
    longest = 0.0
    for operation in operations:
        if operation.code == "load_local" and operation.payload in stored:
            late[operation] = 0.0
        waits = [late[operand] for operand in operation.operands if operand in late]
        if waits:
            late[operation] = max(waits) + latency(operation)
            if operation.code == "store_local" and operation.payload in stored:
                longest = max(longest, late[operation])
    return longest


def alike(region: Region, affine: Affine) -> bool:
    """Whether straight code computes alike what it stores in neighbouring elements, so that a backend makes vectors of these
    (superword-level parallelism)."""
    shapes: dict[Value, int] = {}
    groups: dict[Hashable, set[int]] = {}
    stores = 0
    for operation in region.operations:
        if operation.__class__ is not Operation:
            return False
        array = memory(operation)
        of = (operation.code, operation.type, array if operation.code == "load" else None)
        operands = () if array is not None else operation.operands
        shapes[operation] = hash((of, *(shapes.get(each, 0) for each in operands)))
        if operation.code in ("store", "update", "atomic") and indices(operation):
            *others, last = map(affine.form, indices(operation))
            places = tuple((each.base(), each.constant) for each in others)
            key = (array, last.base(), shapes.get(operation.operands[-1], 0), places)
            groups.setdefault(key, set()).add(last.constant)
            stores += 1
    fours = sum(1 for group in groups.values() for first in group if {first + 1, first + 2, first + 3} <= group)
    return stores > 0 and fours * 4 >= stores


def _widest(operation: Operation) -> DType:
    """The type that says how many registers an operation takes."""
    types = [each.type for each in (operation, *operation.operands) if each.type is not None and each.type.kind != "bool"]
    return max(types, key=lambda each: each.bits) if types else operation.type  # type: ignore[return-value]
