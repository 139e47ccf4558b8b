"""The plan of loops: for each nest, which of its loops becomes one of vectors, by price.

A loop can be left as it is, with the best that can be done to the loops inside of it; its iterations can run side by side in
the lanes of vectors, if they do not depend on each other (`samovar.passes.loops.dependence`); or, if there is no loop inside
and nothing in it that needs masks, it is left to the vectorizer of the backend. What costs least is done. A loop that nobody
understands is left as it is: to plan is optional.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from samovar.ir import (
    LANES,
    Affine,
    Array,
    Constant,
    For,
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
from samovar.passes.locals import forward_in
from samovar.passes.loops.dependence import Independence, independence
from samovar.passes.loops.divergence import Divergence, Refused
from samovar.passes.loops.emit import Vectors, vectorized
from samovar.passes.loops.peel import peel
from samovar.passes.loops.price import BRANCH, GUESSED, TOGETHER, Price, trip_count
from samovar.passes.loops.reuse import reuse_loads
from samovar.passes.loops.sink import sink_stores
from samovar.passes.prune import drop_unused, fold

#: A loop of more operations is not looked at: it would take long to compile, and hardly be faster.
LARGEST = 1500
#: So many operations may all vectorized loops of a function have together.
LARGEST_TOTAL = 6000
#: Vectors of our own have to be so much cheaper than what they replace.
GAIN = 0.8
#: And the backend makes none where they would be so much dearer.
LOSS = 1.2
#: Registers of each vector at most: a step of a loop inside waits for the one before, so several are worked on by turns, as
#: long as there are enough. Where lanes leave a loop one by one, more of them wait for the last. What is left over has few.
STEADY, RAGGED, REST = 8, 4, 2
#: Registers that a sum is gathered in, each of which waits for itself.
SUMS = 4
#: A loop of constant length that executes no more operations than this is unrolled.
UNROLLED = 256


@dataclass(frozen=True)
class Choice:
    """What is done to a loop: what it costs, once, and the vectors if it becomes one of them."""

    cost: float
    vectors: Vectors | None = None


def plan_loops(kernel: Kernel, machine: Machine, fast_math: bool) -> None:
    """Plan the loops of a kernel and its functions, in place."""
    if not machine.vector_bits:
        return
    for task in outlined(kernel):
        planner = Planner(task.body, task.locals, machine, fast_math)
        planner.run()
        task.flags |= planner.lanes_of(task.first).bit_length() - 1 << LANES
    for function in kernel.functions:
        Planner(function.body, function.locals, machine, fast_math).run()
    Planner(kernel.body, kernel.locals, machine, fast_math).run()


class Planner:
    """Plans the loops of one body. `locals` takes the variables that vectors need."""

    def __init__(self, body: Region, locals: list[Local], machine: Machine, fast_math: bool) -> None:
        self.body = body
        self.locals = locals
        self.machine = machine
        self.fast_math = fast_math
        self.affine = Affine(body)
        self.price = Price(machine, self.affine)
        self.choices: dict[Operation, Choice] = {}
        self.scalar: list[For] = []
        #: What loops around the one at hand store, but for loops in them.
        self.stored: list[set[object]] = []
        self.left = LARGEST_TOTAL

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        reuse_loads(self.body, self.affine)
        sink_stores(self.body, self.affine, self.locals)
        self._peel(self.body)
        self._cost(self.body)
        for loop in self.scalar:
            loop.hints = replace(loop.hints, vectors=0)
        self._apply(self.body)

    def _peel(self, region: Region) -> None:
        """Peel loops, the innermost ones first."""
        result: list[Operation] = []
        for operation in region.operations:
            for inner in _inside(operation):
                self._peel(inner)
            peeled = peel(operation, self.affine) if isinstance(operation, For) else None
            if peeled is None:
                result.append(operation)
            else:
                result += self._simplified(peeled)
        region.operations = result

    def _simplified(self, operations: list[Operation]) -> list[Operation]:
        """Code with conditions that are known, without what they decide."""
        region = Region(operations)
        forward_in(region)
        fold(region)
        drop_unused(region)
        self.affine.look_into(region)
        return region.operations

    # --- what costs least

    def _cost(self, region: Region) -> float:
        """What a region costs with the best plan of each loop in it."""
        total = 0.0
        for operation in region.operations:
            if isinstance(operation, For):
                total += self._choose(operation).cost
            elif isinstance(operation, While):
                total += GUESSED * (self._cost(operation.head) + self._cost(operation.body) + BRANCH)
            elif isinstance(operation, If):
                total += max(self._cost(operation.then), self._cost(operation.orelse)) + BRANCH
            else:
                total += self.price.scalar(operation)
        return total

    def _choose(self, loop: For) -> Choice:
        """The best plan of a loop."""
        straight = () if loop.hints.parallel else _straight(loop.body)
        self.stored.append({memory(each) for each in straight if each.code == "store"})
        plain = self.price.turns(loop) * (self._cost(loop.body) + BRANCH)
        self.stored.pop()
        best = Choice(plain)
        found = self._vectors(loop)
        if found is not None:
            cost = self.price.rounds(loop, found.width) * self.price.vector(loop.body, found.plan, found.width)
            cost += TOGETHER * len(found.found.gathered)
            suits = self._suits_backend(found.plan, found.found)
            if cost < plain * GAIN:
                best = Choice(cost, None if suits else found)
            elif suits and cost > plain * LOSS and not any(each.code == "update" for each in found.plan.accesses):
                self.scalar.append(loop)
        self.choices[loop] = best
        return best

    def _vectors(self, loop: For) -> Vectors | None:
        """A loop in lanes; None where they cannot be, or are not needed."""
        size = sum(1 for _ in walk(loop.body))
        step = loop.operands[2]
        if size > LARGEST or not isinstance(step, Constant) or step.value != 1 or loop.hints.vectors is not None:
            return None
        count = trip_count(loop)
        if count is not None and count * size <= UNROLLED:
            return None
        try:
            found = independence(loop, self.body, self.affine, self.fast_math)
            plan = Divergence(loop, self.affine, found.private, set(found.gathered))
        except Refused:
            return None
        width, tail = self._widths(plan, found)
        return Vectors(plan, found, width, tail, self._masks_tail(plan)) if width > 1 else None

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
        """Whether the vectorizer of the backend does as well: elements side by side, and nothing that needs masks."""
        if any(isinstance(each, (For, While)) and not self._is_unrolled(each) for each in plan.inside):
            return False
        return not found.gathered and not any(isinstance(each, If) for each in plan.inside)

    def _is_unrolled(self, loop: Operation) -> bool:
        if not isinstance(loop, For):
            return False
        count = trip_count(loop)
        return count is not None and count * sum(1 for _ in walk(loop.body)) <= UNROLLED

    def _widths(self, plan: Divergence, found: Independence) -> tuple[int, int]:
        """How many iterations run side by side, and how many of those that are left over."""
        types = [
            each.type
            for each in plan.varying
            if isinstance(each, (Operation, Local)) and each.type is not None and each.type.kind != "bool"
        ]
        bits = max(32, *(type.bits for type in types)) if types else 32
        if found.gathered and not any(isinstance(each, (For, While)) for each in plan.inside):
            return SUMS * self.machine.lanes(bits), self.machine.lanes(bits)
        registers = self.machine.registers // max(1, self.price.pressure(plan.loop.body, plan))
        loops = any(isinstance(each, (For, While)) and not self._is_unrolled(each) for each in plan.inside)
        most = STEADY if loops and not plan.ragged else RAGGED
        width = self.machine.lanes(bits) * min(1 << max(registers, 1).bit_length() - 1, most)
        return width, min(width, self.machine.lanes(bits) * REST)

    def lanes_of(self, first: Value) -> int:
        """How many units of a task run side by side, of which `first` is the number of the first one."""
        found = 1
        for loop, choice in self.choices.items():
            if choice.vectors is not None and isinstance(loop, For) and loop.hints.parallel:
                terms = self.affine.form(loop.operands[0]).terms
                if any(symbol.identity is first and factor == 1 for symbol, factor in terms):
                    found = choice.vectors.width
        return found

    # --- doing it

    def _apply(self, region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            choice = self.choices.get(operation)
            if isinstance(operation, For) and choice is not None and choice.vectors is not None and self.left > 0:
                self.left -= 2 * sum(1 for _ in walk(operation.body))
                result += vectorized(operation, choice.vectors, self.machine, self.locals)
                continue
            for inner in _inside(operation):
                self._apply(inner)
            result.append(operation)
        region.operations = result


def _straight(region: Region) -> Iterator[Operation]:
    """The operations of a region, those in loops left out."""
    for operation in region.operations:
        yield operation
        if isinstance(operation, If):
            yield from _straight(operation.then)
            yield from _straight(operation.orelse)


def _inside(operation: Operation) -> tuple[Region, ...]:
    """The regions inside of an operation. Tasks and sections are bodies of their own."""
    return () if isinstance(operation, (Task, Sections)) else regions(operation)


