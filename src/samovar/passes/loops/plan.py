"""The loop planner: for each nest, which of its loops is vectorized, by cost.

A loop can stay scalar, with the best plan of the loops inside; its iterations can run in SIMD lanes, if they are independent
(`samovar.passes.loops.dependence`); or, without inner loops and anything that needs masks, it can be left to the vectorizer
of the backend. The cheapest alternative is chosen. A loop that cannot be analyzed stays as it is: planning is optional.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from samovar.ir import (
    LANES,
    OPCODES,
    Affine,
    Array,
    For,
    Hints,
    If,
    Kernel,
    Local,
    Machine,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    While,
    memory,
    outlined,
    outside_loops,
    regions,
    walk,
)
from samovar.passes.loops.dependence import Independence, independence, reductions_in
from samovar.passes.loops.divergence import FARTHEST, Access, Divergence, Refused
from samovar.passes.loops.emit import Vectors, is_short, vectorized
from samovar.passes.loops.price import (
    BRANCH,
    CHECK,
    COMBINE,
    GATHERED,
    GUESSED,
    LOCAL_BYTES,
    Price,
    carried_latency,
    code_size,
    is_unrolled,
    local_bytes,
    packed,
)

#: A loop of more operations is not planned: it would take long to compile, with hardly any speedup.
LARGEST = 1500
#: The budget in operations for all vectorized loops of a body together, and of all pieces that long code was split into.
#: The last number is about how often the backend copies a loop that it vectorizes.
LARGEST_TOTAL, BY_BACKEND = 8000, 8
#: Our vectors have to be cheaper than the alternative by this factor.
GAIN = 0.8
#: The backend must not vectorize if vectors are more expensive by this factor.
LOSS = 1.2
#: The maximum number of registers per vector: an inner loop carries a dependence, so several are interleaved, as long as
#: there are enough. In divergent loops, more lanes wait for the last one. Remainders have few iterations.
CONVERGENT, DIVERGENT, REST = 8, 4, 2
#: More inner loops are not copied for the remainder.
SEVERAL = 2
#: The maximum number of elements of a gather or scatter in several registers: each is separate code. A reduction needs
#: fewer: loading the elements of a register takes longer than adding it.
ONE_BY_ONE, ONE_BY_ONE_SUMMED = 64, 16
#: A larger loop has enough instruction-level parallelism with as few registers as the remainder, and needs one copy less.
LONG = 120
#: The number of accumulator registers of a reduction, each with its own dependence.
SUMS = 4
_LOCAL = frozenset(("load_local", "store_local"))
#: The maximum number of operations of a plain loop.
PLAIN = 32


@dataclass(frozen=True)
class Choice:
    """The plan of a loop: its cost per execution, the vectors if it is vectorized, or whether it is `by_backend`; and the
    reason, for the note. `hints` add to those of the loop."""

    cost: float
    reason: str
    vectors: Vectors | None = None
    by_backend: bool = False
    hints: Hints | None = None


def plan_loops(kernel: Kernel, machine: Machine, fast_math: bool) -> None:
    """Plan the loops of a kernel and its functions, in place."""
    if not machine.vector_bits:
        return
    if not fast_math:  # calls of the C library are then scalar
        machine = replace(machine, functions=frozenset())
    for task in outlined(kernel):
        planner = Planner(task.body, task.locals, machine, fast_math, task.owned)
        planner.run()
        task.flags |= planner.lanes_of(task.first).bit_length() - 1 << LANES
    left = LARGEST_TOTAL
    for function in kernel.functions:
        planner = Planner(function.body, function.locals, machine, fast_math, ())
        if function.separate:
            planner.left = left
        planner.run()
        if function.separate:
            left = planner.left
    alone = [each for each in kernel.parameters if isinstance(each, Array)]
    Planner(kernel.body, kernel.locals, machine, fast_math, alone).run()


class Planner:
    """Plans the loops of one body. `locals` receives the variables that vectors need; no other thread sees the elements of
    `owned` arrays meanwhile."""

    def __init__(
        self, body: Region, locals: list[Local], machine: Machine, fast_math: bool, owned: Container[Array]
    ) -> None:
        self.body = body
        self.locals = locals
        self.machine = machine
        self.fast_math = fast_math
        self.affine = Affine(body)
        self.price = Price(machine, self.affine)
        self.choices: dict[Operation, Choice] = {}
        #: The enclosing loops of the current one.
        self.around: list[For | While] = []
        #: Initialization and combination of reductions of inner loops, moved before and after an outer one.
        self.hoisted: dict[Operation, tuple[list[Operation], list[Operation]]] = {}
        self.left = LARGEST_TOTAL
        self.owned = owned

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        self._cost(self.body)
        self._apply(self.body)

    # --- costs

    def _cost(self, region: Region) -> float:
        """The cost of a region with the best plan of each loop in it."""
        return self.price.region(region, self._control)

    def _control(self, operation: Operation) -> float:
        if isinstance(operation, For):
            return self._choose(operation).cost
        if isinstance(operation, While):
            once = self._cost(operation.head) + self._cost(operation.body) + BRANCH
            return GUESSED * max(once, carried_latency(operation))
        assert isinstance(operation, If)
        return max(self._cost(operation.then), self._cost(operation.orelse)) + BRANCH

    def _choose(self, loop: For) -> Choice:
        """The best plan of a loop."""
        self.around.append(loop)
        once = packed(self._cost(loop.body), loop.body, self.affine)
        waits = carried_latency(loop, reductions_in(loop, self.fast_math))
        plain = self.price.trip_count(loop) * max(once + BRANCH, waits)
        self.around.pop()
        found = self._vectors(loop)
        best = self.choices[loop] = Choice(plain, found) if isinstance(found, str) else self._better(loop, plain, found)
        return best

    def _better(self, loop: For, plain: float, found: Vectors) -> Choice:
        """The choice between our vectors, those of the backend, and the scalar loop."""
        cost, found = min(((self._in_lanes(loop, each), each) for each in self._others(found)), key=itemgetter(0))
        if self._suits_backend(found.plan, found.found):
            scattered = any(_is_scattered(*each) for each in found.plan.accesses.items())
            updates = any(each.code == "update" for each in found.plan.accesses)
            if (cost >= plain * GAIN and scattered) or (cost > plain * LOSS and not updates):
                return Choice(plain, "scalar: vectors are not profitable", hints=replace(loop.hints, vectors=0))
            note = "left to the backend to vectorize: no branches, loops or reductions inside"
            hints = None
            if not self.around and _is_plain(loop, found.plan):
                # The backend would check lengths, and vectorize the remainder too: ranges of tasks are long, unlike rows in
                # a nest.
                lanes = self.machine.lanes(_bits(found.plan))
                hints = replace(loop.hints, vectors=lanes, interleave=2, unroll=1)
            return Choice(min(cost, plain), note, by_backend=True, hints=hints)
        inner = [self.choices[each] for each in walk(loop.body) if isinstance(each, For)]
        other = "vectorized inner loops" if any(each.vectors or each.by_backend for each in inner) else "scalar"
        price = f"price {cost / plain:.2f} of {other}"
        if cost < plain * GAIN:
            return Choice(cost, f"vectorized: {found}, {price}", found)
        return Choice(plain, f"not vectorized: {found}, {price}")

    def _in_lanes(self, loop: For, vectors: Vectors) -> float:
        """The cost of a loop in lanes."""
        count = self.price.vector_trip_count(loop, vectors.width, vectors.tail, vectors.masked)
        body = self.price.vector(loop.body, vectors.plan, vectors.width)
        combined = 0 if self._home(loop, vectors.hoistable()) else len(vectors.found.reductions)
        return count * body + COMBINE * combined + CHECK * len(vectors.found.distances)

    def _others(self, vectors: Vectors) -> Iterator[Vectors]:
        """The vectors, and variants with fewer or more lanes: many lanes are no gain for elements a row apart, and few are
        none for rows that an inner loop jumps between."""
        yield vectors
        if vectors.width == vectors.tail:
            inner = [each.variable for each in walk(vectors.plan.loop.body) if isinstance(each, For)]
            if any(vectors.plan.jumps(each, variable) for each in vectors.plan.accesses for variable in inner):
                yield replace(vectors, width=vectors.width * 2)
        width = vectors.width // 2
        crowded = vectors.plan.gathers * vectors.width > GATHERED
        few = crowded or any(access.even for access in vectors.plan.accesses.values())
        while few and width >= self.machine.lanes(64) // 2:
            yield replace(vectors, width=width, tail=min(width, vectors.tail))
            width //= 2

    def _vectors(self, loop: For) -> Vectors | str:
        """The plan of a loop in lanes, or the reason why it is impossible or unnecessary."""
        size = code_size(loop.body)
        if loop.hints.vectors is not None:
            return ""
        if size > LARGEST:
            return f"scalar: {size} operations are too many to vectorize"
        if not self.price.trip_count(loop):
            return "scalar: there are no iterations"
        if is_unrolled(loop):
            return f"left to the backend to unroll: {loop.trip_count()} iterations"
        if not loop.stride:
            return "scalar: the step is not a constant"
        try:
            found = independence(loop, self.body, self.affine, self.fast_math)
            plan = Divergence(loop, self.affine, found.private, set(found.reductions))
        except Refused as reason:
            return f"scalar: {reason}"
        width, tail = self._widths(plan, found)
        if width * local_bytes(loop.body) > LOCAL_BYTES:
            return "scalar: local arrays for all lanes would not fit on the stack"
        if width == 1:
            return "scalar: one element fills a vector"
        masked = self._masks_tail(plan)
        several = sum(isinstance(each, (For, While)) for each in plan.inside) > SEVERAL
        once = masked and several and self.machine.masks
        rows = not loop.hints.parallel and any(isinstance(each, For) and each.hints.parallel for each in self.around)
        doubled = rows and width == tail and not found.reductions and is_short(plan.loop.body)
        return Vectors(plan, found, width << doubled, tail, masked, self.owned, once, doubled)

    def _masks_tail(self, plan: Divergence) -> bool:
        """Whether the remainder is masked. Not if masks are slow, as for gathers; nor if an enclosing loop stores single
        elements that this one loads: a vector load has to wait until they have left the store buffer (no store
        forwarding)."""
        moving = {operation: memory(operation) for operation, access in plan.accesses.items() if access.step}
        if not self.machine.masks and any(array.dtype.bits < 32 for array in moving.values() if isinstance(array, Array)):
            return False
        innermost = not any(isinstance(each, (For, While)) for each in plan.inside)
        if innermost and any(access.step is None for access in plan.accesses.values()):
            return False
        loaded = {array for operation, array in moving.items() if operation.code == "load"}
        around = [each for each in self.around[-1:] if isinstance(each, While) or not each.hints.parallel]
        straight = (each for loop in around for each in outside_loops(loop.body))
        return loaded.isdisjoint(memory(each) for each in straight if each.code == "store")

    def _suits_backend(self, plan: Divergence, found: Independence) -> bool:
        """Whether the vectorizer of the backend does as well: no gathers and no masks, in the loop over the
        dimension of a task. Other loops run repeatedly, so their prologue and epilogue matter."""
        if plan.stride != 1 or any(isinstance(each, (For, While)) and not is_unrolled(each) for each in plan.inside):
            return False
        if not plan.loop.hints.parallel or found.reductions or plan.gathers:
            return False
        return not any(isinstance(each, If) for each in plan.inside)

    def _widths(self, plan: Divergence, found: Independence) -> tuple[int, int]:
        """The number of lanes of the main loop and of the remainder."""
        bits = _bits(plan)
        scattered = sum(access.step is None for access in plan.accesses.values())
        if found.reductions and not any(isinstance(each, (For, While)) for each in plan.inside):
            sums = min(SUMS, max(1, ONE_BY_ONE_SUMMED // (scattered * self.machine.lanes(bits)))) if scattered else SUMS
            return sums * self.machine.lanes(bits), self.machine.lanes(bits)
        registers = self.machine.registers // max(1, self.price.pressure(plan.loop.body, plan))
        loops = any(isinstance(each, (For, While)) and not is_unrolled(each) for each in plan.inside)
        most = (CONVERGENT if not plan.divergent_loops else DIVERGENT) if loops else bits // _narrowest(plan, bits)
        if plan.stride > 1:
            most = 1  # strided accesses fill several registers by themselves
        if code_size(plan.loop.body) > LONG:
            most = min(most, REST)
        if scattered:
            most = min(most, max(1, ONE_BY_ONE // (scattered * self.machine.lanes(bits))))
        width = self.machine.lanes(bits) * (1 << min(max(registers, 1), most).bit_length() - 1)
        return width, min(width, self.machine.lanes(bits) * (1 if is_short(plan.loop.body) else REST))

    def lanes_of(self, first: Value) -> int:
        """The number of units of a task per vector, if `first` is its first unit: the iterations of the outermost loop are
        units, or runs of them along one of several dimensions."""
        found = 1
        loops = [loop for loop in self.choices if isinstance(loop, For) and loop.hints.parallel]
        inner = {each for loop in loops for each in walk(loop.body)}
        for loop in loops:
            vectors = self.choices[loop].vectors
            if vectors is not None and loop not in inner:
                terms = self.affine.form(loop.operands[0]).terms
                factors = [factor for symbol, factor in terms if symbol.identity is first]
                if factors == [1] or (terms and not factors):
                    found = vectors.width
        return found

    # --- writing

    def _apply(self, region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            choice = self.choices.get(operation)
            if isinstance(operation, For) and choice is not None:
                reason = choice.reason
                if choice.vectors is not None and self.left > 0:
                    home = self._home(operation, choice.vectors.hoistable())
                    before, written, after = vectorized(
                        operation, choice.vectors, reason, self.machine, self.locals, home is not None
                    )
                    self.left -= code_size(Region(written))
                    result += written
                    if home is not None:
                        begins, ends = self.hoisted.setdefault(home, ([], []))
                        begins += before
                        ends += after
                    continue
                if not any(isinstance(each, (For, While)) for each in walk(operation.body)):
                    self.left -= BY_BACKEND * code_size(operation.body)
                operation.hints = choice.hints or operation.hints
                inner = any(isinstance(each, (For, While)) and not is_unrolled(each) for each in walk(operation.body))
                if inner and not is_unrolled(operation):
                    operation.hints = replace(operation.hints, unroll=1)
                if self.left <= 0:
                    reason = "scalar: the budget for vectorized loops is used up"
                    operation.hints = replace(operation.hints, vectors=0, unroll=1)
                operation.note = "; ".join(each for each in (operation.note, reason) if each)
            elif isinstance(operation, While) and not operation.note:
                operation.note = "scalar: the trip count is unknown"
            depth = len(self.around)
            self.around += [operation] if isinstance(operation, (For, While)) else []
            for side in _inside(operation):
                self._apply(side)
            del self.around[depth:]
            before, after = self.hoisted.pop(operation, ([], []))
            result += [*before, operation, *after]
        region.operations = result

    def _home(self, loop: For, reductions: Container[Local]) -> Operation | None:
        """The outermost enclosing loop that uses the reductions of a loop for nothing else."""
        home: Operation | None = None
        own = set(walk(loop.body)) if reductions else set()
        for around in reversed(self.around if reductions else []):
            others = [each for region in _inside(around) for each in walk(region) if each not in own]
            if any(each.code == "return" or (each.code in _LOCAL and each.payload in reductions) for each in others):
                break
            home = around
        return home


def _narrowest(plan: Divergence, bits: int) -> int:
    """The bits of the smallest contiguous elements, or of the values computed from them."""
    arrays = [memory(operation) for operation, access in plan.accesses.items() if access.step]
    return min([bits, *(max(8, array.dtype.bits) for array in arrays if isinstance(array, Array))])


def _bits(plan: Divergence) -> int:
    """The bits of the widest value in lanes."""
    varying = (each.type for each in plan.varying if isinstance(each, (Operation, Local)))
    return max([32, *(type.bits for type in varying if type is not None)])


def _is_plain(loop: For, plan: Divergence) -> bool:
    """Whether the best vectors of a short loop are known: it accesses contiguous elements of arrays that do not alias, and
    consists of single instructions."""
    if _executed(loop.body) > PLAIN:
        return False
    arrays = [memory(each) for each in plan.accesses]
    return (
        all(isinstance(each, Array) and each.alone and each.dtype.bits in (32, 64) for each in arrays)
        and all(access.step in (0, 1) for access in plan.accesses.values())
        and not any(OPCODES[each.code].library for each in plan.inside if each.code in OPCODES)
    )


def _executed(region: Region) -> int:
    """The number of operations that a region executes, if its loops have constant trip counts."""
    count = len(region.operations)
    for operation in region.operations:
        times = operation.trip_count() if isinstance(operation, For) else 1
        count += (times or 1) * sum(map(_executed, regions(operation)))
    return count


def _is_scattered(operation: Operation, access: Access) -> bool:
    """Whether an access is a scatter."""
    return operation.code != "load" and (access.step is None or abs(access.step) > FARTHEST)


def _inside(operation: Operation) -> tuple[Region, ...]:
    """The regions inside an operation, except tasks and sections."""
    return () if isinstance(operation, (Task, Sections)) else regions(operation)
