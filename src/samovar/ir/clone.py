"""Copies of code, with other values, locals and arrays in the place of some."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from copy import copy
from typing import Any

from samovar.ir.builder import Builder
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import For, If, Region, While
from samovar.ir.traversal import retarget
from samovar.ir.values import Array, Local, LocalArray, LoopVariable, Operation, Value, VectorOperation


class Clone:
    """Copies regions, one after the other: what one defines, the next ones find. Tasks are not copied.

    `values` says for each value that is copied so far, or given, what takes its place; `targets` does so for locals and
    arrays. Local arrays that the code reserves are copied with it. `origin` is the function that operations are copied
    from, if it is not the one around.
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
    """A value in front of a loop that it does not depend on: what is not there yet is computed once more. `copies` keeps
    what is."""
    if not isinstance(value, Operation) or is_there(value):
        return value
    if value not in copies:
        operands = [computed_before(operand, build, is_there, copies) for operand in value.operands]
        copies[value] = build.make(value.code, value.type, *operands, payload=value.payload)
    return copies[value]


def in_first_iteration(loop: For, values: Iterable[Value], within: Container[Value], build: Builder) -> Clone | None:
    """Write what some values are computed from, as the first iteration of a loop has it; `within` is what its body defines.
    Gives who knows the copies; None if they depend on more than the loop's variable."""
    needed: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value is not loop.variable and value in within and value not in needed:
            if not isinstance(value, Operation) or OPCODES[value.code].effect != "pure":
                return None
            needed.add(value)
            pending += value.operands
    order = [each for each in loop.body.operations if each in needed]
    if len(order) != len(needed):
        return None
    assert loop.variable.type is not None
    clone = Clone({loop.variable: build.cast(loop.operands[0], loop.variable.type)})
    for each in order:
        build.append(clone.operation(each))
    return clone
