"""The plan of loops: for each nest, which of its loops becomes one of vectors, by price.

A loop can be left as it is, with the best that can be done to the loops inside of it; its iterations can run side by side in
the lanes of vectors, if they do not depend on each other (`samovar.passes.loops.dependence`); or, if there is no loop inside
and nothing in it that needs masks, it is left to the vectorizer of the backend. What costs least is done. A loop that nobody
understands is left as it is: to plan is optional.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from samovar.ir import (
    Affine,
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
    While,
    outlined,
    regions,
    walk,
)
from samovar.passes.locals import forward_in
from samovar.passes.loops.congruence import strided
from samovar.passes.loops.dependence import Independence, gathered_in, independence
from samovar.passes.loops.divergence import MOST_INTERLEAVED, Access, Divergence, Refused
from samovar.passes.loops.emit import Vectors, vectorized
from samovar.passes.loops.peel import peel
from samovar.passes.loops.price import ALIKE, BRANCH, GUESSED, Price, alike, carried_latency, trip_count, turns
from samovar.passes.prune import drop_unused, fold

#: A loop of more operations is not looked at: it would take long to compile, and hardly be faster.
LARGEST = 1500
#: So many operations may all vectorized loops of a function have together.
LARGEST_TOTAL = 6000
#: Vectors of our own have to be so much cheaper than what they replace.
GAIN = 0.8
#: The bits of the vectors, by how many variables vary: a step waits for the one before, so several registers of each are
#: worked on by turns, as long as there are enough.
WIDE = ((3, 1024), (6, 512))
LEAST = 256
#: Registers that a sum is gathered in, each of which waits for itself.
SUMS = 4
#: A loop of constant length that executes no more operations than this is unrolled.
UNROLLED = 256


@dataclass(frozen=True)
class Choice:
    """What is done to a loop: what it costs, once, and the vectors if it becomes one of them. One that is `scalar` the
    backend does not make vectors of either."""

    cost: float
    vectors: Vectors | None = None
    scalar: bool = False


def plan_loops(kernel: Kernel, machine: Machine, fast_math: bool) -> None:
    """Plan the loops of a kernel and its functions, in place."""
    if not machine.vector_bits:
        return
    for task in outlined(kernel):
        Planner(task.body, task.locals, machine, fast_math).run()
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
        self.price = Price(machine)
        self.affine = Affine(body)
        self.choices: dict[Operation, Choice] = {}
        self.left = LARGEST_TOTAL

    def run(self) -> None:
        if not any(isinstance(each, For) for each in walk(self.body)):
            return
        self._peel(self.body)
        self._cost(self.body)
        self._apply(self.body)

    def _peel(self, region: Region) -> None:
        """Peel loops, the innermost ones first, or let them skip iterations."""
        result: list[Operation] = []
        for operation in region.operations:
            for inner in _inside(operation):
                self._peel(inner)
            peeled = None
            if isinstance(operation, For):
                peeled = strided(operation, self.affine) or peel(operation, self.affine)
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
        once = self._cost(loop.body) * (ALIKE if alike(loop.body, self.affine) else 1)
        plain = turns(loop) * max(once + BRANCH, carried_latency(loop, gathered_in(loop, self.fast_math)))
        best = Choice(plain)
        found = self._vectors(loop)
        if found is not None:
            cost, found = min(
                ((turns(loop) * self._in_lanes(loop, each), each) for each in self._others(found)), key=itemgetter(0)
            )
            by_backend = self._suits_backend(loop, found.plan, found.found)
            if cost < plain * GAIN:
                best = Choice(cost, None if by_backend else found)
            elif by_backend and any(_is_scattered(*each) for each in found.plan.accesses.items()):
                best = Choice(plain, scalar=True)
        self.choices[loop] = best
        return best

    def _in_lanes(self, loop: For, vectors: Vectors) -> float:
        """What an iteration costs in lanes."""
        return self.price.vector(loop.body, vectors.plan, vectors.width) / vectors.width

    def _others(self, vectors: Vectors) -> Iterator[Vectors]:
        """Vectors, and others of fewer or more lanes: elements that are a row apart are not better off in many, and those
        of rows that an inner loop jumps between not in few."""
        yield vectors
        if vectors.width != vectors.tail:
            return
        widths: list[int] = []
        if any(access.even for access in vectors.plan.accesses.values()):
            widths += [vectors.width // 2, vectors.width // 4]
        inner = [each.variable for each in walk(vectors.plan.loop.body) if isinstance(each, For)]
        if any(vectors.plan.jumps(each, variable) for each in vectors.plan.accesses for variable in inner):
            widths.append(vectors.width * 2)
        for width in widths:
            if width >= self.machine.lanes(64) // 2:
                yield replace(vectors, width=width, tail=min(width, vectors.width))

    def _vectors(self, loop: For) -> Vectors | None:
        """A loop in lanes; None where they cannot be, or are not needed."""
        size = sum(1 for _ in walk(loop.body))
        step = loop.operands[2]
        if size > LARGEST or not isinstance(step, Constant) or step.value < 1 or loop.hints.vectors is not None:
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
        return Vectors(plan, found, width, tail) if width > 1 else None

    def _suits_backend(self, loop: For, plan: Divergence, found: Independence) -> bool:
        """Whether the vectorizer of the backend does as well: elements side by side, and nothing that needs masks."""
        if plan.stride != 1 or any(isinstance(each, (For, While)) for each in walk(loop.body)):
            return False
        if any(isinstance(each, If) for each in walk(loop.body)):
            return False
        return not found.gathered

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
        variables = sum(isinstance(each, Local) for each in plan.varying)
        # What is some places apart fills several registers by itself.
        most = LEAST if plan.stride > 1 else next((wide for most, wide in WIDE if variables <= most), LEAST)
        wide = max(self.machine.vector_bits, most)
        return wide // bits, wide // bits

    # --- doing it

    def _apply(self, region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            choice = self.choices.get(operation)
            if isinstance(operation, For) and choice is not None and choice.vectors is not None and self.left > 0:
                self.left -= 2 * sum(1 for _ in walk(operation.body))
                result += vectorized(operation, choice.vectors, self.machine, self.locals)
                continue
            if isinstance(operation, For) and choice is not None and choice.scalar:
                operation.hints = replace(operation.hints, vectors=0)
            for inner in _inside(operation):
                self._apply(inner)
            result.append(operation)
        region.operations = result


def _is_scattered(operation: Operation, access: Access) -> bool:
    """Whether what lanes write is far apart."""
    return operation.code != "load" and (access.step is None or abs(access.step) > MOST_INTERLEAVED)


def _inside(operation: Operation) -> tuple[Region, ...]:
    """The regions inside of an operation. Tasks and sections are bodies of their own."""
    return () if isinstance(operation, (Task, Sections)) else regions(operation)


