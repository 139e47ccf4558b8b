"""Shorthand to build IR by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samovar._native import DType, i32, u1
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import Atomic, For, Function, If, Kernel, ParallelFor, Region, While
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value


class Builder:
    """Appends operations to the innermost open region; Python numbers become i32 constants."""

    def __init__(self) -> None:
        self.region = Region()

    def value(self, value: Value | int, dtype: DType = i32) -> Value:
        return value if isinstance(value, Value) else Constant(value, dtype)

    def add(self, operation: Operation) -> Operation:
        self.region.operations.append(operation)
        return operation

    def op(
        self, code: str, *operands: Value | int | float, type: DType | None = None, payload: Any = None
    ) -> Operation:
        """A pure operation; numbers take the type of the first value."""
        first = next((operand.type for operand in operands if isinstance(operand, Value)), type or i32)
        values = tuple(
            operand if isinstance(operand, Value) else Constant(operand, first or i32) for operand in operands
        )
        if type is None:
            type = u1 if OPCODES[code].rule == "compare" else first
        return self.add(Operation(code, type, values, payload))

    def void(self, code: str, *operands: Value | int, payload: Any = None) -> Operation:
        return self.add(Operation(code, None, tuple(self.value(operand) for operand in operands), payload))

    def cast(self, value: Value, dtype: DType) -> Operation:
        return self.add(Operation("cast", dtype, (value,)))

    def shape(self, array: Array, axis: int = 0) -> Operation:
        from samovar._native import i64

        return self.add(Operation("shape", i64 if array.wide else i32, (), (array, axis)))

    def load(self, array: Array, *indices: Value | int) -> Operation:
        array.read = True
        return self.add(Operation("load", array.dtype, tuple(self.value(index) for index in indices), array))

    def store(self, array: Array, indices: Sequence[Value | int], value: Value) -> Operation:
        array.written = True
        return self.add(Operation("store", None, (*(self.value(index) for index in indices), value), array))

    def get(self, local: Local) -> Operation:
        return self.add(Operation("load_local", local.type, (), local))

    def set(self, local: Local, value: Value | int) -> Operation:
        return self.add(Operation("store_local", None, (self.value(value, local.type),), local))

    def change(
        self, code: str, operation: str, target: Array | Local, indices: Sequence[Value | int], *values: Value
    ) -> Operation:
        """`atomic` or `update`."""
        dtype = target.type if isinstance(target, Local) else target.dtype
        if isinstance(target, Array):
            target.read = target.written = True
        operands = (*(self.value(index) for index in indices), *values)
        return self.add(Operation(code, dtype, operands, Atomic(operation, target)))

    def inside(self, body: Callable[[], None]) -> Region:
        outer, self.region = self.region, Region()
        body()
        inner, self.region = self.region, outer
        return inner

    def when(self, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] = lambda: None) -> If:
        operation = If(condition, self.inside(then), self.inside(otherwise))
        self.add(operation)
        return operation

    def loop(self, *bounds: Value | int, body: Callable[[LoopVariable], None], type: DType = i32) -> For:
        """A serial loop over range(begin, end, step)."""
        variable = LoopVariable("k", type)
        values = [self.value(bound, type) for bound in bounds]
        operation = For(variable, *values, self.inside(lambda: body(variable)))
        self.add(operation)
        return operation

    def during(self, condition: Callable[[], Value], body: Callable[[], None]) -> While:
        found: list[Value] = []
        head = self.inside(lambda: found.append(condition()))
        operation = While(head, found[0], self.inside(body))
        self.add(operation)
        return operation

    def parallel(
        self,
        *axes: tuple[Value | int, Value | int],
        body: Callable[..., None],
        name: str = "loop",
        locals: Sequence[Local] = (),
        type: DType = i32,
        block: int | None = None,
    ) -> ParallelFor:
        variables = [LoopVariable(name, type) for name, _ in zip("ijkl", axes, strict=False)]
        bounds = tuple(self.value(bound, type) for axis in axes for bound in axis)
        task = ParallelFor(name, variables, bounds, self.inside(lambda: body(*variables)), list(locals), block)
        self.add(task)
        return task

    def call(self, function: Function, *operands: Value) -> Operation:
        type = function.returns[0] if len(function.returns) == 1 else None
        return self.add(Operation("call", type, operands, function))

    def give(self, *values: Value) -> Operation:
        return self.add(Operation("return", None, values))


def kernel(
    parameters: Sequence[Parameter | Array],
    build: Callable[[Builder], None],
    returns: Sequence[DType] = (),
    locals: Sequence[Local] = (),
    functions: Sequence[Function] = (),
    name: str = "kernel",
) -> Kernel:
    builder = Builder()
    build(builder)
    return Kernel(name, list(parameters), tuple(returns), builder.region, list(functions), list(locals), "test.py")


def function(
    name: str,
    parameters: Sequence[Parameter | Array],
    build: Callable[[Builder], None],
    returns: Sequence[DType] = (),
    locals: Sequence[Local] = (),
) -> Function:
    builder = Builder()
    build(builder)
    return Function(name, list(parameters), tuple(returns), builder.region, list(locals), "test.py")
