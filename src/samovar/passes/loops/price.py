"""Prices: about how many cycles code takes, one iteration at a time or in vectors.

The figures are rough, and they are what plans are compared by: each is the time of one instruction on a processor of today
that has others to do meanwhile. What is computed in lanes costs as many instructions as its vectors fill registers. Loops of
unknown length count as some iterations.
"""

from __future__ import annotations

from collections.abc import Mapping

from samovar._native import DType, u1
from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Constant,
    For,
    If,
    Local,
    Machine,
    Operation,
    Region,
    Value,
    While,
    memory,
    walk,
)
from samovar.passes.loops.divergence import Divergence

#: Iterations assumed of a loop whose length is not known.
GUESSED = 24
#: And of one that is not to become vectors: iterations that were peeled off another.
PEELED = 2
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
#: To put together what the lanes of a sum have gathered, at the end of a loop.
TOGETHER = 10.0
#: Where lanes are left out.
BLEND = 0.7


def trip_count(loop: For) -> int | None:
    """How many iterations a loop has, if that is written in the code."""
    begin, end, step = loop.operands
    if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
        return None
    return len(range(int(begin.value), int(end.value), int(step.value))) if step.value else 0


class Price:
    """What code costs on a machine."""

    def __init__(self, machine: Machine, affine: Affine) -> None:
        self.machine = machine
        self.affine = affine

    def turns(self, loop: For) -> int:
        """How many iterations a loop has, about: no more than its bounds are apart for certain."""
        begin, end, step = loop.operands
        if isinstance(step, Constant) and step.value < 0:
            begin, end = end, begin
        apart = GUESSED if loop.hints.vectors is None else PEELED
        for low in _limits(begin, "max"):
            for high in _limits(end, "min"):
                distance = self.affine.form(high).plus(self.affine.form(low), -1)
                if not distance.terms:
                    apart = min(apart, max(0, distance.constant))
        known = trip_count(loop)
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
                total += turns * (self.vector(operation.body, plan, width, within) + BRANCH)
            elif isinstance(operation, While):
                within = divided or operation in plan.ragged
                inside = self.vector(operation.head, plan, width, within) + self.vector(operation.body, plan, width, within)
                total += GUESSED * (inside + BRANCH)
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
            return self._access(operation, access.step, plan, width, divided)
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
        if operation.code in _ONE_BY_ONE and dtype.kind != "float" and not isinstance(operation.operands[1], Constant):
            return width * (cost + 2 * MOVE)
        return cost * self.registers(dtype, width)

    def _access(self, operation: Operation, step: int | None, plan: Divergence, width: int, divided: bool) -> float:
        array = memory(operation)
        assert isinstance(array, Array)
        cost, registers = _COSTS[operation.code], self.registers(array.dtype, width)
        if step is None or operation.code == "atomic":
            guarded = GUESS if divided and operation.code != "load" else MOVE if divided else 0.0
            moves = sum(plan.varies(operand) for operand in operation.operands) + (operation.code == "load")
            return width * (cost + moves * MOVE + guarded)
        if step == 0:
            return cost if operation.code == "load" else cost + 4.0
        if abs(step) != 1:
            # All that is between is loaded, and put in place.
            return registers * (cost + 1.0) * min(abs(step), width)
        if divided and not self.machine.masks:
            return width * (cost + MOVE + GUESS) if array.dtype.bits < 32 else 3 * registers * cost
        return registers * cost

    def pressure(self, region: Region, plan: Divergence) -> int:
        """How many vectors are there at once, about: variables that vary, and what is still needed of what is computed."""
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


def _widest(operation: Operation) -> DType:
    """The type that says how many registers an operation takes."""
    types = [each.type for each in (operation, *operation.operands) if each.type is not None and each.type.kind != "bool"]
    return max(types, key=lambda each: each.bits) if types else operation.type  # type: ignore[return-value]


