"""Copies of code in which some values, locals and arrays are replaced."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from copy import copy
from typing import Any

from samovar.artifact import Site
from samovar.ir.builder import Builder
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import For, If, Region, While
from samovar.ir.traversal import operands_first, retarget
from samovar.ir.values import Array, Local, LocalArray, LoopVariable, Operation, Value, VectorOperation


class Clone:
    """Copies regions in sequence; later ones see the definitions of earlier ones. Tasks are not copied.

    `values` maps each value that was copied so far, or given, to its replacement; `targets` does so for locals and arrays.
    Local arrays that the code reserves are copied with it. `origin` is the function that operations are copied from, if it
    is not the enclosing one.
    """

    def __init__(
        self,
        values: Mapping[Value, Value] | None = None,
        targets: Mapping[Any, Array | Local] | None = None,
        origin: Any = None,
    ) -> None:
        self.values: dict[Value, Value] = dict(values or {})
        self.targets: dict[Any, Array | Local] = dict(targets or {})
        self.origin = origin

    def region(self, region: Region) -> Region:
        return Region([self.operation(operation) for operation in region.operations])

    def for_loop(self, loop: For) -> For:
        made = self.operation(loop)
        assert isinstance(made, For)
        return made

    def value(self, value: Value) -> Value:
        return self.values.get(value, value)

    def operation(self, operation: Operation) -> Operation:
        operands = tuple([self.values.get(operand, operand) for operand in operation.operands])
        made: Operation
        if operation.__class__ is Operation:
            if operation.code == "reserve":
                array: LocalArray = operation.payload
                self.values[array] = self.targets[array] = array.copy()
            made = Operation(operation.code, operation.type, operands, operation.payload, operation.line)
            retarget(made, self.targets)
        elif isinstance(operation, If):
            then, orelse = self.region(operation.then), self.region(operation.orelse)
            made = If(operands[0], then, orelse, operation.line, operation.unlikely)
        elif isinstance(operation, For):
            variable = operation.variable
            assert variable.type is not None
            fresh = self.values[variable] = LoopVariable(variable.name, variable.type, variable.limits, variable.bounds)
            begin, end, step = operands
            made = For(fresh, begin, end, step, self.region(operation.body), operation.line, operation.hints)
            made.note = operation.note
        elif isinstance(operation, While):
            head = self.region(operation.head)
            made = While(head, self.value(operation.condition), self.region(operation.body), operation.line)
            made.note = operation.note
        else:
            made = copy(operation)
            made.operands = operands
            if isinstance(made, VectorOperation) and made.mask is not None:
                made.mask = self.value(made.mask)
            retarget(made, self.targets)
        made.origin = operation.origin or self.origin
        self.values[operation] = made
        return made


def computed_before(value: Value, build: Builder, is_there: Callable[[Value], bool], copies: dict[Value, Value]) -> Value:
    """A loop-invariant value, available before the loop: missing operands are computed again there. `copies` holds the
    copies. A copy has no overflow check: the original keeps it, and runs only where the program says so."""
    needed = operands_first([value], lambda each: isinstance(each, Operation) and not is_there(each) and each not in copies)
    for each in needed:
        assert isinstance(each, Operation)
        operands = [copies.get(operand, operand) for operand in each.operands]
        payload = None if isinstance(each.payload, Site) else each.payload
        copies[each] = build.make(each.code, each.type, *operands, payload=payload)
    return copies.get(value, value)


def in_first_iteration(loop: For, values: Iterable[Value], within: Container[Value], build: Builder) -> Clone | None:
    """Write the computation of some values for the first iteration of a loop; `within` is what its body defines.
    Return the `Clone` that maps to the copies; None if the values depend on more than the loop variable."""
    clone = Clone({loop.variable: build.cast(loop.operands[0], loop.variable.type)})
    for each in operands_first(values, lambda each: each is not loop.variable and each in within):
        if not isinstance(each, Operation) or OPCODES[each.code].effect != "pure":
            return None
        build.append(clone.operation(each))
    return clone
