"""Checks that a kernel is well-formed: types match the opcode table, definitions precede uses, loops and locals are valid.

Debug builds run it after every pass, so that a faulty pass is caught at once and not through the code that it makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from samovar._native import DType, i32, i64, u1
from samovar.artifact import Site
from samovar.ir.graph import Checkpoint, Sections
from samovar.ir.opcodes import ATOMIC_OPERATIONS, CELL_OPERATIONS, OPCODES
from samovar.ir.printer import print_operation
from samovar.ir.structure import (
    Atomic,
    Captured,
    For,
    Function,
    If,
    Kernel,
    ParallelFor,
    Region,
    Task,
    Touch,
    While,
)
from samovar.ir.values import (
    Array,
    Constant,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    Parameter,
    ScratchArray,
    Value,
    VectorOperation,
)


class MalformedIR(Exception):
    """A compiler error: the message names the rule and prints the operation."""


def verify(kernel: Kernel) -> None:
    """Raise `MalformedIR` at the first operation that violates a rule."""
    known: set[int] = set()
    for function in kernel.functions:
        Verifier(function, known).run()
        known.add(id(function))
    Verifier(kernel, known).run()


class Verifier:
    """Verifies one function or kernel. `scopes` holds the values that are visible at the current place."""

    def __init__(self, function: Function | Kernel, known_functions: set[int]) -> None:
        self.function = function
        self.known_functions = known_functions
        self.visible: set[Value] = set(function.parameters)
        self.locals: set[Local] = set(function.locals)
        self.loops: list[str] = []
        self.task: ParallelFor | Task | None = None
        self.in_section = False

    def run(self) -> None:
        self.region(self.function.body)

    def fail(self, operation: Operation, rule: str) -> NoReturn:
        raise MalformedIR(f"{rule}, in {self.function.name}, line {operation.line}:\n{_shown(operation)}")

    def region(self, region: Region, *defined: Value) -> None:
        self.visible.update(defined)
        for position, operation in enumerate(region.operations):
            self.operation(operation)
            if operation.code in ("break", "continue", "return") and position + 1 != len(region.operations):
                self.fail(operation, "it must be the last operation of its region")
            self.visible.add(operation)
        reserved = [operation.payload for operation in region.operations if operation.code == "reserve"]
        reserved += [operation.payload[0] for operation in region.operations if operation.code == "scratch"]
        self.visible.difference_update(region.operations, defined, reserved)

    def operation(self, operation: Operation) -> None:
        row = OPCODES.get(operation.code)
        if row is None:
            self.fail(operation, f"unknown operation {operation.code!r}")
        for operand in operation.operands:
            self.use(operation, operand)
        self.lanes(operation)
        if row.arity >= 0 and len(operation.operands) != row.arity:
            self.fail(operation, f"{operation.code} takes {row.arity} operands")
        if row.rule in _RULES:
            _RULES[row.rule](self, operation)
        special = _SPECIAL.get(operation.code)
        if special is not None:
            special(self, operation)

    def use(self, operation: Operation, operand: Value) -> None:
        if not isinstance(operand, Constant) and operand not in self.visible:
            self.fail(operation, "an operand is not defined here")
        if isinstance(operand, Constant) and operand.type is None:
            self.fail(operation, "a constant needs a type")

    def lanes(self, operation: Operation) -> None:
        """Vectors combine only with vectors of their width and with scalars."""
        widths = {operand.width for operand in operation.operands} - {0}
        if isinstance(operation, VectorOperation):
            mask = operation.mask
            if mask is not None:
                self.use(operation, mask)
                self.typed(operation, mask, u1)
                if mask.width not in (0, operation.width):
                    self.fail(operation, "a mask must be as wide as its operation")
            if operation.code != "shuffle" and not widths <= {operation.width}:
                self.fail(operation, "operands have a different width")
        elif widths and operation.code not in ("any", "reduce"):
            self.fail(operation, "a vector operation needs a width")

    # --- type rules

    def same(self, operation: Operation) -> None:
        if operation.type is None or any(operand.type is not operation.type for operand in operation.operands):
            self.fail(operation, "operands and result must have one type")

    def floats(self, operation: Operation) -> None:
        self.same(operation)
        if operation.type is not None and operation.type.kind != "float":
            self.fail(operation, "operands must be floats")

    def integers(self, operation: Operation) -> None:
        self.same(operation)
        if operation.type is not None and operation.type.kind == "float":
            self.fail(operation, "operands must be integers")

    def comparison(self, operation: Operation) -> None:
        types = {operand.type for operand in operation.operands}
        if operation.type is not u1 or len(types) != 1 or None in types:
            self.fail(operation, "operands must have one type, and the result is u1")

    # --- choice and conversion

    def select(self, operation: Operation) -> None:
        condition, *chosen = operation.operands
        self.typed(operation, condition, u1)
        if operation.type is None or any(operand.type is not operation.type for operand in chosen):
            self.fail(operation, "both alternatives and the result must have one type")

    def conversion(self, operation: Operation) -> tuple[DType, DType]:
        before, after = operation.operands[0].type, operation.type
        if before is None or after is None:
            self.fail(operation, "operand and result must be numbers")
        return before, after

    def bitcast(self, operation: Operation) -> None:
        before, after = self.conversion(operation)
        if before.bits != after.bits:
            self.fail(operation, "the two types must have the same number of bits")

    def to_integer(self, operation: Operation) -> None:
        before, after = self.conversion(operation)
        if before.kind != "float" or after.kind not in ("int", "uint"):
            self.fail(operation, "the operand must be a float and the result an integer")

    def random(self, operation: Operation) -> None:
        if operation.type is None:
            self.fail(operation, "a random number needs a type")

    # --- memory

    def reserve(self, operation: Operation) -> None:
        array = operation.payload
        if not isinstance(array, LocalArray) or None in array.extents:
            self.fail(operation, "reserve needs a local array of known size")
        if array in self.visible:
            self.fail(operation, f"{array.name} is already reserved")
        self.visible.add(array)

    def index(self, operation: Operation, array: Array, indices: tuple[Value, ...]) -> None:
        if array not in self.visible:
            self.fail(operation, f"the array {array.name} is not a parameter of this function")
        if len(indices) != array.ndim:
            self.fail(operation, f"{array.name} has {array.ndim} dimensions")
        if any(index.type is None or index.type.kind not in ("int", "uint") for index in indices):
            self.fail(operation, "indices must be integers")

    def load(self, operation: Operation) -> None:
        self.index(operation, operation.payload, operation.operands)
        self.typed(operation, operation, operation.payload.dtype)

    def store(self, operation: Operation) -> None:
        self.index(operation, operation.payload, operation.operands[:-1])
        self.typed(operation, operation.operands[-1], operation.payload.dtype)

    def typed(self, operation: Operation, value: Value, dtype: DType) -> None:
        if value.type is not dtype:
            self.fail(operation, f"expected {dtype.name}")

    def local(self, operation: Operation) -> None:
        local = operation.payload
        if local not in self.locals:
            self.fail(operation, f"the local {local.name} is not declared here")
        if operation.width != local.width:
            self.fail(operation, "the local has a different width")
        self.typed(operation, operation if operation.code == "load_local" else operation.operands[0], local.type)

    def atomic(self, operation: Operation) -> None:
        payload = operation.payload
        if not isinstance(payload, Atomic) or payload.operation not in ATOMIC_OPERATIONS:
            self.fail(operation, "unknown atomic operation")
        if payload.step is not None and id(payload.step) not in self.known_functions:
            self.fail(operation, f"{payload.step.name} is not listed before its user")
        values = 2 if payload.operation == "cas" else 1
        if isinstance(payload.target, Local):
            if payload.target not in self.locals:
                self.fail(operation, f"the local {payload.target.name} is not declared here")
            dtype = payload.target.type
        else:
            self.index(operation, payload.target, operation.operands[:-values])
            dtype = payload.target.dtype
        for value in operation.operands[-values:]:
            self.typed(operation, value, dtype)

    def scratch(self, operation: Operation) -> None:
        memory, array = operation.payload
        is_own = isinstance(operation.operands[1], Constant)
        if not isinstance(memory, ScratchArray) or array not in self.visible or not (array.contiguous or is_own):
            self.fail(operation, "scratch memory must replace a contiguous array")
        self.typed(operation, operation.operands[0], i64)
        self.typed(operation, operation.operands[1], u1)
        self.visible.add(memory)

    def reduced(self, operation: Operation) -> None:
        """`any` and `reduce`: from a vector to a number."""
        (vector,) = operation.operands
        if not vector.width or operation.width:
            self.fail(operation, "the operand must be a vector")
        self.typed(operation, vector, u1 if operation.code == "any" else operation.type or u1)

    def shuffle(self, operation: Operation) -> None:
        if operation.width != len(operation.payload) or not 1 <= len(operation.operands) <= 2:
            self.fail(operation, "a shuffle takes one or two vectors and a source for each lane")
        if any(operand.type is not operation.type or not operand.width for operand in operation.operands):
            self.fail(operation, "a shuffle keeps the type")
        lanes = sum(operand.width for operand in operation.operands)
        if any(lane is not None and not 0 <= lane < lanes for lane in operation.payload):
            self.fail(operation, "no such lane")

    def shape(self, operation: Operation) -> None:
        array, axis = operation.payload
        if array not in self.visible or not 0 <= axis < array.ndim:
            self.fail(operation, "no such dimension")
        self.typed(operation, operation, i64 if array.wide else i32)

    def cells(self, operation: Operation) -> None:
        array = operation.payload
        if array not in self.visible or array.cells is None:
            self.fail(operation, "not an array with cells that is visible here")
        positions = 2 if operation.code == "activate" and array.cells.is_list else 0 if operation.code == "list_cells" else 1
        if len(operation.operands) != positions or any(operand.type is not i64 for operand in operation.operands):
            self.fail(operation, "cells are identified by numbers in i64")
        result = _CELL_RESULTS.get(operation.code)
        if result is not None:
            self.typed(operation, operation, result)

    def accumulate(self, operation: Operation) -> None:
        task = self.task
        if not isinstance(task, ParallelFor) or operation.payload not in task.reductions:
            self.fail(operation, "the reduction does not belong to the task")
        self.typed(operation, operation.operands[0], operation.payload.type)

    def scatter(self, operation: Operation) -> None:
        task = self.task
        if not isinstance(task, ParallelFor) or operation.payload not in task.scatters:
            self.fail(operation, "the scatter does not belong to the task")
        self.index(operation, operation.payload.array, operation.operands[:-1])
        self.typed(operation, operation.operands[-1], operation.payload.array.dtype)

    # --- calls and effects

    def call(self, operation: Operation) -> None:
        callee = operation.payload
        if id(callee) not in self.known_functions:
            self.fail(operation, f"{callee.name} is not listed before its caller")
        if len(callee.parameters) != len(operation.operands):
            self.fail(operation, f"{callee.name} takes {len(callee.parameters)} operands")
        for parameter, operand in zip(callee.parameters, operation.operands, strict=True):
            if isinstance(parameter, Parameter):
                if operand.type is not parameter.type:
                    self.fail(operation, f"wrong type for {parameter.name}")
            elif not isinstance(operand, Array) or (operand.dtype, operand.ndim) != (parameter.dtype, parameter.ndim):
                self.fail(operation, f"wrong array for {parameter.name}")
        expected = callee.returns[0] if len(callee.returns) == 1 and operation.type is not None else None
        if operation.type is not expected:
            self.fail(operation, "wrong result type")

    def extract(self, operation: Operation) -> None:
        call, position = operation.operands[0], operation.payload
        if not isinstance(call, Operation) or call.code != "call" or len(call.payload.returns) < 2:
            self.fail(operation, "the operand must be a call with several results")
        if not isinstance(position, int) or not 0 <= position < len(call.payload.returns):
            self.fail(operation, "the call has no such result")
        self.typed(operation, operation, call.payload.returns[position])

    def speak(self, operation: Operation) -> None:
        values = operation.operands if operation.code == "print" else operation.operands[1:]
        site = operation.payload
        if not isinstance(site, Site) or tuple(value.type for value in values) != site.types:
            self.fail(operation, "the values do not match the site")
        if operation.code == "check":
            self.typed(operation, operation.operands[0], u1)

    # --- control

    def branch(self, operation: Operation) -> None:
        assert isinstance(operation, If)
        self.typed(operation, operation.operands[0], u1)
        self.region(operation.then)
        self.region(operation.orelse)

    def repeat(self, operation: Operation) -> None:
        assert isinstance(operation, While)
        for inner in operation.head.operations:
            self.operation(inner)
            self.visible.add(inner)
        self.use(operation, operation.condition)
        self.typed(operation, operation.condition, u1)
        self.loops.append("serial")
        self.region(operation.body)
        self.loops.pop()
        reserved = [each.payload for each in operation.head.operations if each.code == "reserve"]
        self.visible.difference_update(operation.head.operations, reserved)

    def checkpoint(self, operation: Operation) -> None:
        assert isinstance(operation, Checkpoint)
        self.top_level(operation)
        self.region(operation.body)

    def sections(self, operation: Operation) -> None:
        assert isinstance(operation, Sections)
        self.top_level(operation)
        if self.in_section:
            self.fail(operation, "sections inside a section")
        locals, loops = self.locals, self.loops
        self.in_section = True
        for part in operation.parts:
            self.locals, self.loops = locals.union(part.locals), []
            self.region(part.body)
        self.locals, self.loops, self.in_section = locals, loops, False

    def top_level(self, operation: Operation) -> None:
        if self.task is not None or not isinstance(self.function, Kernel):
            self.fail(operation, "a graph node inside a task or function")

    def serial(self, operation: Operation) -> None:
        assert isinstance(operation, For)
        own, types = operation.variable.type, {operand.type for operand in operation.operands}
        if own is None or len(types) != 1 or types not in ({own}, {i64}):
            self.fail(operation, "the bounds must have the type of the variable, or 64 bits")
        self.loops.append("serial")
        self.region(operation.body, operation.variable)
        self.loops.pop()

    def parallel(self, operation: Operation) -> None:
        assert isinstance(operation, ParallelFor)
        if self.task is not None or not isinstance(self.function, Kernel):
            self.fail(operation, "a task inside a task or function")
        if len(operation.operands) != 2 * len(operation.variables) or not operation.variables:
            self.fail(operation, "every dimension needs a begin and an end")
        for variable, (begin, end) in zip(operation.variables, operation.axes(), strict=True):
            if not isinstance(variable, LoopVariable) or begin.type is not variable.type or end.type is not variable.type:
                self.fail(operation, "the bounds must have the type of the variable")
        self.task = operation
        visible, locals = self.visible, self.locals
        self.locals = self.locals.union(operation.locals)
        self.loops.append("parallel")
        self.region(operation.body, *operation.variables)
        self.loops.pop()
        self.visible, self.locals = visible, locals
        self.task = None

    def outlined(self, operation: Operation) -> None:
        """The body of a task sees only its captures, which must be defined."""
        assert isinstance(operation, Task)
        if self.task is not None or not isinstance(self.function, Kernel):
            self.fail(operation, "a task inside a task or function")
        for operand in operation.operands:
            self.typed(operation, operand, i64)
        visible: set[Value] = {operation.first, operation.last}
        locals = set(operation.locals)
        for each in operation.captures:
            if isinstance(each, Local):
                locals.add(each)
                known = each in self.locals
            else:
                visible.add(each)
                known = (each.source if isinstance(each, Captured) else each) in self.visible
            if not known:
                self.fail(operation, "a capture is not defined here")
            if isinstance(each, Operation) and each.code != "shape":
                self.fail(operation, "a computed value must be captured as a number")
        around = self.visible, self.locals, self.loops
        self.visible, self.locals, self.loops = visible, locals, []
        self.task = operation
        self.region(operation.body)
        self.visible, self.locals, self.loops = around
        self.task = None

    def touch(self, operation: Operation) -> None:
        touch = operation.payload
        if not isinstance(touch, Touch):
            self.fail(operation, "the accessed memory is missing")
        if isinstance(touch.target, Array):
            self.index(operation, touch.target, operation.operands)
        elif touch.target not in self.locals:
            self.fail(operation, f"the local {touch.target.name} is not declared here")

    def leave(self, operation: Operation) -> None:
        if not self.loops or (operation.code == "break" and self.loops[-1] == "parallel"):
            self.fail(operation, "no loop to leave")

    def give(self, operation: Operation) -> None:
        if self.task is not None or self.in_section:
            self.fail(operation, "a return inside a task or section")
        if tuple(operand.type for operand in operation.operands) != self.function.returns:
            self.fail(operation, "the values do not match the results of the function")


def _shown(operation: Operation) -> str:
    """The printed operation, or its code if the printer fails on a malformed one."""
    try:
        return print_operation(operation)
    except Exception as error:
        return f"{operation.code} of {len(operation.operands)} operands, which cannot be printed: {error!r}"


_CELL_RESULTS = {"cell_active": u1, "list_cells": i64, "listed": i64, "list_length": i32, "list_append": i32}
_RULES = {"same": Verifier.same, "float": Verifier.floats, "int": Verifier.integers, "compare": Verifier.comparison}
_SPECIAL: dict[str, Callable[[Verifier, Operation], object]] = {
    "reserve": Verifier.reserve,
    "select": Verifier.select,
    "cast": Verifier.conversion,
    "bitcast": Verifier.bitcast,
    "to_integer": Verifier.to_integer,
    "random": Verifier.random,
    "uniform": Verifier.random,
    "extract": Verifier.extract,
    "load": Verifier.load,
    "store": Verifier.store,
    "load_local": Verifier.local,
    "store_local": Verifier.local,
    "shape": Verifier.shape,
    **dict.fromkeys(CELL_OPERATIONS, Verifier.cells),
    "atomic": Verifier.atomic,
    "update": Verifier.atomic,
    "accumulate": Verifier.accumulate,
    "scatter": Verifier.scatter,
    "call": Verifier.call,
    "print": Verifier.speak,
    "check": Verifier.speak,
    "if": Verifier.branch,
    "while": Verifier.repeat,
    "for": Verifier.serial,
    "checkpoint": Verifier.checkpoint,
    "sections": Verifier.sections,
    "parallel": Verifier.parallel,
    "task": Verifier.outlined,
    "scratch": Verifier.scratch,
    "any": Verifier.reduced,
    "reduce": Verifier.reduced,
    "shuffle": Verifier.shuffle,
    "touch": Verifier.touch,
    "break": Verifier.leave,
    "continue": Verifier.leave,
    "return": Verifier.give,
}
