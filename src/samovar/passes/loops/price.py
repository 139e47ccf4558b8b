"""The cost model: the approximate number of cycles of code, scalar or in vectors.

The figures are rough and only serve to compare plans: each is the throughput of one instruction on a current processor with
other work in flight. An operation in lanes costs as many instructions as its vectors fill registers. Loops of unknown length
count as some iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Mapping

from samovar._native import DType, u1
from samovar.ir import (
    OPCODES,
    Affine,
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
    array_of,
    indices,
    inside,
    memory,
    regions,
    walk,
)
from samovar.passes.loops.dependence import first_touches, recurring
from samovar.passes.loops.divergence import Access, Divergence, exits

#: The assumed trip count of a loop of unknown length.
GUESSED = 24
#: And of a row of a parallel loop.
GUESSED_ROW = 256
#: The cost of an operation that is not listed.
SIMPLE = 0.5
#: A well-predicted branch, and one that depends on data.
BRANCH, GUESS = 0.5, 4.0

_COSTS: Mapping[str, float] = {
    "load": 0.5, "store": 1.0, "update": 1.5, "atomic": 18.0, "div": 4.0, "sqrt": 5.0, "rsqrt": 4.0, "floordiv": 8.0,
    "mod": 8.0, "quotient": 6.0, "remainder": 6.0, "fmod": 20.0, "load_local": 0.0, "store_local": 0.0, "shape": 0.0,
    "reserve": 0.0, "lane_numbers": 0.0, "select": 0.7, "min": 0.7, "max": 0.7, "call": 5.0, "print": 1000.0,
}  # fmt: skip
#: A function of the C library: of one number, and of a full register.
LIBRARY, VECTOR_LIBRARY = 25.0, 16.0
#: Integer division is scalar.
_ONE_BY_ONE = frozenset(("floordiv", "mod", "quotient", "remainder", "fmod"))
#: Extracting or inserting a lane.
MOVE = 1.0
#: The fraction that remains of code that the backend packs into vectors (SLP).
PACKED = 0.45
#: The number of elements gathered at a time whose addresses fit in registers; an element costs more beyond it.
GATHERED, SPILLED = 32, 0.3
#: Moving an element with a small stride into its lane.
STRIDED = 0.2
#: The same for elements in different rows: a cache line per lane.
ROW = 0.4
#: Combining the partial results of a reduction at the end of a loop.
COMBINE = 10.0
#: Checking distances when a loop begins.
CHECK = 2.0
#: Rows that lanes walk along may start in the same set of the L1 cache. More lines at a time than its associativity may
#: evict each other, and an element costs this much then.
LINES, EVICTED = 48, 1.0
#: Moving to another row in each iteration of a loop, where nothing is cached yet.
JUMP = 4.0
#: Masked accesses.
BLEND = 0.7

#: The maximum size in bytes of the local arrays of all copies of a loop, or of all lanes.
LOCAL_BYTES = 32 << 10
#: The growth of code size by a loop two loops deep.
DEEP = 4


def local_bytes(region: Region) -> int:
    """The size of the local arrays that a region reserves."""
    return sum(each.payload.byte_size for each in walk(region) if each.code == "reserve")


#: The backend unrolls a loop of constant length that executes at most this many operations.
UNROLLED = 256


def is_unrolled(loop: Operation) -> bool:
    """Whether an operation is a loop that the backend unrolls."""
    count = loop.trip_count() if isinstance(loop, For) else None
    return count is not None and count * sum(1 for _ in inside(loop)) <= UNROLLED


def code_size(region: Region, depth: int = 0) -> int:
    """The cost of compiling a region, in operations. A backend copies a nest once more for each loop around one that may
    have no iteration: code more than one loop deep counts with the square of its `depth`."""
    size = 0
    for operation in region.operations:
        loops = isinstance(operation, (For, While))
        size += 1 + (DEEP * max(depth - 1, 0) ** 2 if loops else 0)
        for inner in regions(operation):
            size += code_size(inner, depth + loops)
    return size


class Price:
    """The cost of code on a machine."""

    def __init__(self, machine: Machine, affine: Affine) -> None:
        self.machine = machine
        #: The variables of the loops around the current code, inside the vectorized one.
        self._around: list[LoopVariable] = []
        self.affine = affine

    def trip_count(self, loop: For) -> int:
        """The approximate trip count of a loop, at most the known distance of its bounds."""
        begin, end, step = loop.operands
        if isinstance(step, Constant) and step.value < 0:
            begin, end = end, begin
        count = GUESSED_ROW if loop.hints.parallel else GUESSED
        if loop.hints.expected is not None:
            count = loop.hints.expected
        for low in _limits(begin, "max"):
            for high in _limits(end, "min"):
                distance = self.affine.form(high).plus(self.affine.form(low), -1)
                if not distance.terms:
                    count = min(count, max(0, distance.constant))
        known = loop.trip_count()
        return count if known is None else known

    def vector_trip_count(self, loop: For, width: int, tail: int, masked: bool) -> float:
        """The trip count in vectors of `width` lanes. The remainder runs in vectors of `tail` lanes. If it is masked, the
        last one takes as long as a full one; if the length is unknown, half of it is empty."""
        count = self.trip_count(loop)
        if count == GUESSED:
            return (count + tail / 2 * masked) / width
        whole, left = divmod(count, width)
        return whole + (-(-left // tail) * tail / width if masked else left > 0)

    # --- scalar

    def scalar(self, operation: Operation) -> float:
        """The cost of one operation, not control flow."""
        row = OPCODES[operation.code]
        if row.library and not (operation.code == "pow" and operation.type is not None and operation.type.kind != "float"):
            return LIBRARY
        if operation.code in _COSTS:
            if operation.code in _ONE_BY_ONE and isinstance(operation.operands[1], Constant):
                return 2.0  # a multiplication and a shift
            return _COSTS[operation.code]
        return SIMPLE if row.effect == "pure" else max(SIMPLE, row.cost * 3)

    def region(self, region: Region, of: Callable[[Operation], float]) -> float:
        """The cost of a straight-line region, with `of` for control flow."""
        divides = set(region.operations) if any(each.code == "div" for each in region.operations) else ()
        total = 0.0
        for operation in region.operations:
            if isinstance(operation, (For, If, While)):
                total += of(operation)
            elif operation.code == "div" and operation.operands[1] not in divides:
                total += SIMPLE  # a multiplication by an invariant reciprocal
            else:
                total += self.scalar(operation)
        return total

    # --- in lanes

    def vector(self, region: Region, plan: Divergence, width: int, divergent: bool = False) -> float:
        """The cost of a region for all lanes at once."""
        total = 0.0
        for operation in region.operations:
            if isinstance(operation, If):
                varies = plan.varies(operation.operands[0])
                sides = [self.vector(side, plan, width, divergent or varies) for side in (operation.then, operation.orelse)]
                total += sum(sides) + SIMPLE if varies else max(sides) + BRANCH
            elif isinstance(operation, For):
                within = divergent or operation in plan.divergent_loops or any(plan.bounds_vary(operation))
                count = self.trip_count(operation) + self._waiting(operation, plan, width)
                self._around.append(operation.variable)
                inside = self.vector(operation.body, plan, width, within) + BRANCH
                if any(plan.bounds_vary(operation)):
                    inside += SIMPLE * self.registers(_widest(operation), width)  # the lanes still in range
                self._around.pop()
                total += count * max(inside, carried_latency(operation))
            elif isinstance(operation, While):
                within = divergent or operation in plan.divergent_loops
                inside = self.vector(operation.head, plan, width, within) + self.vector(operation.body, plan, width, within)
                total += GUESSED * max(inside + BRANCH, carried_latency(operation))
            else:
                total += self._in_lanes(operation, plan, width, divergent)
        return total

    def _waiting(self, loop: For, plan: Divergence, width: int) -> float:
        """The number of iterations that lanes wait for others with more distant bounds, or that leave later."""
        waiting = GUESSED / 4 if loop in plan.divergent_loops and exits(loop.body) else 0.0
        for bound in loop.operands[:2] if self.trip_count(loop) == GUESSED else ():
            if plan.varies(bound):
                step = self.affine.step(bound, plan.loop.variable, plan.varying)
                waiting += GUESSED / 4 if step is None else abs(step) * width / 2
        return waiting

    def _in_lanes(self, operation: Operation, plan: Divergence, width: int, divergent: bool) -> float:
        access = plan.accesses.get(operation)
        if access is not None:
            return self._access(operation, access, plan, width, divergent)
        if operation.code == "store_local":
            return BLEND if divergent and operation.payload in plan.varying else 0.0
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

    def _access(self, operation: Operation, access: Access, plan: Divergence, width: int, divergent: bool) -> float:
        array = array_of(operation)
        cost, registers = _COSTS[operation.code], self.registers(array.dtype, width)
        step = access.step
        length = plan.runs[operation][1] if operation in plan.runs else 1  # loaded at once, and shuffled
        shuffled = registers if length > 1 else 0.0
        if access.even and not divergent and operation.code != "atomic":
            return width * (cost + (ROW if width * plan.rows() <= LINES else EVICTED)) / length + shuffled
        if step is None or operation.code == "atomic":
            guarded = GUESS if divergent and operation.code != "load" else MOVE if divergent else 0.0
            # A gather extracts the number of an element, whatever its dimensions, and inserts the element.
            moves = 2 if operation.code == "load" else sum(plan.varies(operand) for operand in operation.operands)
            spilled = SPILLED if not self._around and plan.gathers * width > GATHERED else 0.0
            return width * (cost + moves * MOVE + guarded + spilled) / length + shuffled
        if step == 0:
            return cost if operation.code == "load" else cost + 4.0
        if abs(step) != 1:
            # Everything in between is loaded and shuffled; distant elements are loaded one by one.
            return registers * (cost + STRIDED) * min(abs(step), width / registers)
        if self._around and plan.jumps(operation, self._around[-1]):
            cost += JUMP / registers
        if divergent and not self.machine.masks:
            return width * (cost + MOVE + GUESS) if array.dtype.bits < 32 else 3 * registers * cost
        return registers * cost

    def pressure(self, region: Region, plan: Divergence) -> int:
        """The approximate number of live vectors: varying variables, and values that are still needed."""
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
        """The number of registers of a vector: half a register is as slow as a whole one."""
        return max(1.0, width * max(dtype.bits, 8) / self.machine.vector_bits)


def _limits(bound: Value, chosen: str) -> tuple[Value, ...]:
    """The values that limit a bound of a loop."""
    return bound.operands if isinstance(bound, Operation) and bound.code == chosen else (bound,)


def _is_mask(operation: Operation) -> bool:
    return operation.type is not None and operation.type.kind == "bool"


def latency(operation: Operation) -> float:
    """The approximate latency of an operation in cycles. A multiplication is mostly fused with an addition."""
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
    """The latency of the loop-carried dependences of an innermost loop through variables, except the `excluded` ones. A
    conditional assignment also waits for its condition: it is a select, or a mispredicted branch."""
    operations = list(inside(loop))
    if any(isinstance(each, (For, While)) for each in operations):
        return 0.0
    straight = [each for region in regions(loop) for each in region.operations]
    carried = (local for local in recurring(operations) if local not in excluded)
    stored = {local for local in carried if "read" in first_touches(straight, local)}
    conditions = {each: branch.operands[0] for branch in operations if isinstance(branch, If) for each in inside(branch)}
    late: dict[Value, float] = {}
    longest = 0.0
    for operation in operations:
        if operation.code == "load_local" and operation.payload in stored:
            late[operation] = 0.0
        waits = [late[operand] for operand in operation.operands if operand in late]
        if operation.code == "store_local" and conditions.get(operation) in late:
            waits.append(late[conditions[operation]] + SIMPLE)
        if waits:
            late[operation] = max(waits) + latency(operation)
            if operation.code == "store_local" and operation.payload in stored:
                longest = max(longest, late[operation])
    return longest


def packed(cost: float, region: Region, affine: Affine) -> float:
    """The cost of code whose scalar cost is known: less if straight-line code computes adjacent stored elements in the same
    way, so that a backend packs them into vectors (superword-level parallelism). Values unlike others are extracted from
    vectors and broadcast."""
    shapes: dict[Value, int] = {}
    groups: dict[Hashable, set[int]] = {}
    stores = 0
    for operation in region.operations:
        if operation.__class__ is not Operation:
            return cost
        array = memory(operation)
        of = (operation.code, operation.type, array if operation.code == "load" else None)
        operands = () if array is not None else operation.operands
        shapes[operation] = hash((of, *(shapes.get(each, 0) for each in operands)))
        if operation.code in ("store", "update", "atomic") and indices(operation):
            row, last = affine.row(operation)
            groups.setdefault((row, shapes.get(operation.operands[-1], 0)), set()).add(last.constant)
            stores += 1
    fours = sum(1 for group in groups.values() for first in group if {first + 1, first + 2, first + 3} <= group)
    if not stores or fours * 4 < stores:
        return cost
    single = sum(count for count in Counter(shapes.values()).values() if count < 4)
    return min(cost, cost * PACKED + 2 * MOVE * single)


def _widest(operation: Operation) -> DType:
    """The type that determines the number of registers of an operation."""
    types = [each.type for each in (operation, *operation.operands) if each.type is not None and each.type.kind != "bool"]
    return max(types, key=lambda each: each.bits) if types else operation.type  # type: ignore[return-value]
