"""The plan of loops: for each nest, which of its loops becomes one of vectors, by price.

A loop can be left as it is, with the best that can be done to the loops inside of it; its iterations can run side by side in
the lanes of vectors, if they do not depend on each other (`samovar.passes.loops.dependence`); or, if there is no loop inside
and nothing in it that needs masks, it is left to the vectorizer of the backend. What costs least is done. A loop that nobody
understands is left as it is: to plan is optional.
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
    Constant,
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
    regions,
    walk,
)
from samovar.passes.loops.dependence import Independence, gathered_in, independence
from samovar.passes.loops.divergence import FARTHEST, Access, Divergence, Refused
from samovar.passes.loops.emit import Vectors, is_short, vectorized
from samovar.passes.loops.price import (
    ALIKE,
    BRANCH,
    GUESSED,
    LOCAL_BYTES,
    TOGETHER,
    Price,
    alike,
    carried_latency,
    code_size,
    is_unrolled,
    local_bytes,
)
from samovar.passes.loops.sink import sink_stores

#: A loop of more operations is not looked at: it would take long to compile, and hardly be faster.
LARGEST = 1500
#: So many operations may all vectorized loops of a body have together when they are written, and those of all pieces that
#: long code was cut into. The backend writes a loop that it makes vectors of about so many times.
LARGEST_TOTAL, BY_BACKEND = 8000, 8
#: Vectors of our own have to be so much cheaper than what they replace.
GAIN = 0.8
#: And the backend makes none where they would be so much dearer.
LOSS = 1.2
#: Registers of each vector at most: a step of a loop inside waits for the one before, so several are worked on by turns, as
#: long as there are enough. Where lanes leave a loop one by one, more of them wait for the last. What is left over has few.
STEADY, RAGGED, REST = 8, 4, 2
#: More loops inside are not written once more for what is left over.
SEVERAL = 2
#: So many elements, at most, are touched one by one in several registers: each is code of its own.
ONE_BY_ONE = 64
#: A loop of more operations has enough to do by turns in as few registers as what is left over, and is written once less.
LONG = 120
#: Registers that a sum is gathered in, each of which waits for itself.
SUMS = 4
#: A loop of no more operations than this may be plain.
PLAIN = 32


@dataclass(frozen=True)
class Choice:
    """What is done to a loop: what it costs, once, and the vectors if it becomes one of them, or has some `by_backend`; and
    why, for a note. `hints` tell the backend more than those of the loop."""

    cost: float
    reason: str
    vectors: Vectors | None = None
    by_backend: bool = False
    hints: Hints | None = None


def plan_loops(kernel: Kernel, machine: Machine, fast_math: bool) -> None:
    """Plan the loops of a kernel and its functions, in place."""
    if not machine.vector_bits:
        return
    if not fast_math:  # functions of the C library are then computed as it does, one by one
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
    """Plans the loops of one body. `locals` takes the variables that vectors need, `owned` are arrays whose elements no
    other thread sees meanwhile."""

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
        #: What loops around the one at hand store, but for loops in them.
        self.stored: list[set[object]] = []
        self.left = LARGEST_TOTAL
        self.owned = owned

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        sink_stores(self.body, self.affine, self.locals)
        self._cost(self.body)
        self._apply(self.body)

    # --- what costs least

    def _cost(self, region: Region) -> float:
        """What a region costs with the best plan of each loop in it."""
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
        straight = () if loop.hints.parallel else _straight(loop.body)
        self.stored.append({memory(each) for each in straight if each.code == "store"})
        once = self._cost(loop.body) * (ALIKE if alike(loop.body, self.affine) else 1)
        waits = carried_latency(loop, gathered_in(loop, self.fast_math))
        plain = self.price.turns(loop) * max(once + BRANCH, waits)
        self.stored.pop()
        found = self._vectors(loop)
        best = self.choices[loop] = Choice(plain, found) if isinstance(found, str) else self._better(loop, plain, found)
        return best

    def _better(self, loop: For, plain: float, found: Vectors) -> Choice:
        """Vectors, ours or those of the backend, or the loop as it is."""
        cost, found = min(((self._in_lanes(loop, each), each) for each in self._others(found)), key=itemgetter(0))
        if self._suits_backend(found.plan, found.found):
            scattered = any(_is_scattered(*each) for each in found.plan.accesses.items())
            updates = any(each.code == "update" for each in found.plan.accesses)
            if (cost >= plain * GAIN and scattered) or (cost > plain * LOSS and not updates):
                return Choice(plain, "scalar: vectors do not pay", hints=replace(loop.hints, vectors=0))
            note = "left to the backend to vectorize: no branches, loops or reductions inside"
            hints = None
            if not self.stored and _is_plain(loop, found.plan):
                # The backend would weigh lengths, and write what is left over in vectors too: ranges of tasks are long,
                # other than rows in a nest.
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
        """What a loop costs in lanes."""
        rounds, body = self.price.rounds(loop, vectors.width), self.price.vector(loop.body, vectors.plan, vectors.width)
        return rounds * body + TOGETHER * len(vectors.found.gathered)

    def _others(self, vectors: Vectors) -> Iterator[Vectors]:
        """Vectors, and others of fewer or more lanes: elements that are a row apart are not better off in many, and those
        of rows that an inner loop jumps between not in few."""
        yield vectors
        if vectors.width == vectors.tail:
            inner = [each.variable for each in walk(vectors.plan.loop.body) if isinstance(each, For)]
            if any(vectors.plan.jumps(each, variable) for each in vectors.plan.accesses for variable in inner):
                yield replace(vectors, width=vectors.width * 2)
        width = vectors.width // 2
        while width >= self.machine.lanes(64) // 2 and any(access.even for access in vectors.plan.accesses.values()):
            yield replace(vectors, width=width, tail=min(width, vectors.tail))
            width //= 2

    def _vectors(self, loop: For) -> Vectors | str:
        """A loop in lanes, or why they cannot be, or are not needed."""
        size = code_size(loop.body)
        step = loop.operands[2]
        if loop.hints.vectors is not None:
            return ""
        if size > LARGEST:
            return f"scalar: {size} operations are too many to vectorize"
        if not self.price.turns(loop):
            return "scalar: there are no iterations"
        if is_unrolled(loop):
            return f"left to the backend to unroll: {loop.trip_count()} iterations"
        if not isinstance(step, Constant) or step.value < 1:
            return "scalar: the step is not a positive constant"
        try:
            found = independence(loop, self.body, self.affine, self.fast_math)
            plan = Divergence(loop, self.affine, found.private, set(found.gathered))
        except Refused as reason:
            return f"scalar: {reason}"
        width, tail = self._widths(plan, found)
        if width * local_bytes(loop.body) > LOCAL_BYTES:
            return "scalar: local arrays for all lanes would not fit on the stack"
        if width == 1:
            return "scalar: one element fills a vector"
        masked = self._masks_tail(plan)
        several = sum(isinstance(each, (For, While)) for each in plan.inside) > SEVERAL
        return Vectors(plan, found, width, tail, masked, self.owned, masked and several and self.machine.masks)

    def _masks_tail(self, plan: Divergence) -> bool:
        """Whether what is left over at the end is done with a mask. Not where masks are slow, as for elements that lie
        anywhere; nor where a loop around this one stores single elements that this one loads: a vector has to wait until
        they have left the store buffer."""
        moving = {operation: memory(operation) for operation, access in plan.accesses.items() if access.step}
        if not self.machine.masks and any(array.dtype.bits < 32 for array in moving.values() if isinstance(array, Array)):
            return False
        innermost = not any(isinstance(each, (For, While)) for each in plan.inside)
        if innermost and any(access.step is None for access in plan.accesses.values()):
            return False
        loaded = {array for operation, array in moving.items() if operation.code == "load"}
        return loaded.isdisjoint(self.stored[-1] if self.stored else ())

    def _suits_backend(self, plan: Divergence, found: Independence) -> bool:
        """Whether the vectorizer of the backend does as well: elements side by side, and nothing that needs masks, in the
        loop over the axis of a task. Other loops are repeated, so that it counts how they begin and end."""
        if plan.stride != 1 or any(isinstance(each, (For, While)) and not is_unrolled(each) for each in plan.inside):
            return False
        if not plan.loop.hints.parallel or found.gathered:
            return False
        return not any(isinstance(each, If) for each in plan.inside)

    def _widths(self, plan: Divergence, found: Independence) -> tuple[int, int]:
        """How many iterations run side by side, and how many of those that are left over."""
        bits = _bits(plan)
        if found.gathered and not any(isinstance(each, (For, While)) for each in plan.inside):
            return SUMS * self.machine.lanes(bits), self.machine.lanes(bits)
        registers = self.machine.registers // max(1, self.price.pressure(plan.loop.body, plan))
        loops = any(isinstance(each, (For, While)) and not is_unrolled(each) for each in plan.inside)
        most = (STEADY if not plan.ragged else RAGGED) if loops else bits // _narrowest(plan, bits)
        if plan.stride > 1:
            most = 1  # what is some places apart fills several registers by itself
        if code_size(plan.loop.body) > LONG:
            most = min(most, REST)
        scattered = sum(access.step is None for access in plan.accesses.values())
        if scattered:
            most = min(most, max(1, ONE_BY_ONE // (scattered * self.machine.lanes(bits))))
        width = self.machine.lanes(bits) * (1 << min(max(registers, 1), most).bit_length() - 1)
        return width, min(width, self.machine.lanes(bits) * (1 if is_short(plan.loop.body) else REST))

    def lanes_of(self, first: Value) -> int:
        """How many units of a task run side by side, of which `first` is the number of the first one: the iterations of the
        outermost loop are its units, or along an axis, of which there may be several, a run of them."""
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

    # --- doing it

    def _apply(self, region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            choice = self.choices.get(operation)
            if isinstance(operation, For) and choice is not None:
                reason = choice.reason
                if choice.vectors is not None and self.left > 0:
                    written = vectorized(operation, choice.vectors, reason, self.machine, self.locals)
                    self.left -= code_size(Region(written))
                    result += written
                    continue
                if not any(isinstance(each, (For, While)) for each in walk(operation.body)):
                    self.left -= BY_BACKEND * code_size(operation.body)
                operation.hints = choice.hints or operation.hints
                if self.left <= 0:
                    reason = "scalar: other loops have used up what may be vectorized"
                    operation.hints = replace(operation.hints, vectors=0, unroll=1)
                operation.note = "; ".join(each for each in (operation.note, reason) if each)
            elif isinstance(operation, While) and not operation.note:
                operation.note = "scalar: nobody knows how many iterations there are"
            for inner in _inside(operation):
                self._apply(inner)
            result.append(operation)
        region.operations = result


def _narrowest(plan: Divergence, bits: int) -> int:
    """The bits of the smallest elements that lie side by side, or those of what is computed with them."""
    arrays = [memory(operation) for operation, access in plan.accesses.items() if access.step]
    return min([bits, *(max(8, array.dtype.bits) for array in arrays if isinstance(array, Array))])


def _straight(region: Region) -> Iterator[Operation]:
    """The operations of a region, those in loops left out."""
    for operation in region.operations:
        yield operation
        if isinstance(operation, If):
            yield from _straight(operation.then)
            yield from _straight(operation.orelse)


def _bits(plan: Divergence) -> int:
    """The size of the widest number that lanes have."""
    varying = (each.type for each in plan.varying if isinstance(each, (Operation, Local)))
    return max([32, *(type.bits for type in varying if type is not None)])


def _is_plain(loop: For, plan: Divergence) -> bool:
    """Whether it is known what the best vectors of a short loop are: it takes neighbors of arrays that do not overlap, and
    computes little with them that is not one instruction."""
    if _executed(loop.body) > PLAIN:
        return False
    arrays = [memory(each) for each in plan.accesses]
    return (
        all(isinstance(each, Array) and each.alone and each.dtype.bits in (32, 64) for each in arrays)
        and all(access.step in (0, 1) for access in plan.accesses.values())
        and not any(OPCODES[each.code].library for each in plan.inside if each.code in OPCODES)
    )


def _executed(region: Region) -> int:
    """How many operations of a region are executed, if loops have a constant length."""
    count = len(region.operations)
    for operation in region.operations:
        turns = operation.trip_count() if isinstance(operation, For) else 1
        count += (turns or 1) * sum(map(_executed, regions(operation)))
    return count


def _is_scattered(operation: Operation, access: Access) -> bool:
    """Whether what lanes write is far apart."""
    return operation.code != "load" and (access.step is None or abs(access.step) > FARTHEST)


def _inside(operation: Operation) -> tuple[Region, ...]:
    """The regions inside of an operation. Tasks and sections are bodies of their own."""
    return () if isinstance(operation, (Task, Sections)) else regions(operation)
