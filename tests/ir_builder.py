"""Building IR by hand, for tests: a builder that appends to the current region.

    build = Builder(Array("a", f32, 1, alone=True), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], (i,), build.constant(1.0, f32))
    kernel = build.kernel()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from samovar._native import DType, f64, i32, i64, u1
from samovar.artifact.sites import Site
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import Atomic, For, Function, If, Kernel, ParallelFor, Region, While
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value

Plain = Value | bool | int | float


class Builder:
    """Operations in the order in which they are asked for. Python numbers become constants: i32, u1 or f64."""

    def __init__(self, *parameters: Parameter | Array, returns: Sequence[DType] = (), name: str = "k") -> None:
        self.parameters = list(parameters)
        self.returns = tuple(returns)
        self.name = name
        self.locals: list[Local] = []
        self.functions: list[Function] = []
        self.body = Region()
        self.line = 1
        self._regions = [self.body]
        self._scopes = [self.locals]

    def __getitem__(self, name: str) -> Parameter | Array:
        return next(each for each in self.parameters if each.name == name)

    def kernel(self) -> Kernel:
        return Kernel(
            self.name, self.parameters, self.returns, self.body, self.functions, self.locals, "kernels.py", disjoint=True
        )

    def function(self) -> Function:
        return Function(self.name, self.parameters, self.returns, self.body, self.locals, "functions.py")

    # Values.

    def constant(self, value: bool | int | float, type: DType) -> Constant:
        return Constant(value, type)

    def value(self, value: Plain, type: DType | None = None) -> Value:
        if isinstance(value, Value):
            return value
        default = u1 if isinstance(value, bool) else i32 if isinstance(value, int) else f64
        return Constant(value, type or default)

    def append(self, operation: Operation) -> Operation:
        self.line += 1
        self._regions[-1].operations.append(operation)
        return operation

    def op(self, code: str, *operands: Plain, type: DType | None = None, payload: object = None) -> Operation:
        """An operation; numbers take the type of the first operand that has one, and the result follows the rule."""
        known = next((each.type for each in operands if isinstance(each, Value)), None)
        values = tuple(self.value(each, known) for each in operands)
        if type is None and OPCODES[code].rule in ("same", "float", "int"):
            type = values[0].type
        elif type is None and OPCODES[code].rule == "compare":
            type = u1
        elif type is None and code == "select":
            type = values[1].type
        return self.append(Operation(code, type, values, payload, self.line))

    def cast(self, value: Value, type: DType) -> Operation:
        return self.op("cast", value, type=type)

    # Memory.

    def local(self, name: str, type: DType, shared: bool = False) -> Local:
        local = Local(name, type)
        local.shared = shared
        self._scopes[-1].append(local)
        return local

    def get(self, local: Local) -> Operation:
        return self.op("load_local", type=local.type, payload=local)

    def set(self, local: Local, value: Plain) -> Operation:
        return self.append(Operation("store_local", None, (self.value(value, local.type),), local, self.line))

    def shape(self, array: Array, axis: int = 0) -> Operation:
        return self.op("shape", type=i64 if array.wide else i32, payload=(array, axis))

    def load(self, array: Array, indices: Sequence[Plain]) -> Operation:
        return self.op("load", *map(self.value, indices), type=array.dtype, payload=array)

    def store(self, array: Array, indices: Sequence[Plain], value: Plain) -> Operation:
        operands = (*map(self.value, indices), self.value(value, array.dtype))
        return self.append(Operation("store", None, operands, array, self.line))

    def atomic(self, action: str, target: Array | Local, indices: Sequence[Plain], *values: Plain) -> Operation:
        type = target.dtype if isinstance(target, Array) else target.type
        operands = (*map(self.value, indices), *(self.value(each, type) for each in values))
        return self.append(Operation("atomic", type, operands, Atomic(action, target), self.line))

    # Effects.

    def call(self, function: Function, *operands: Value) -> Operation:
        type = function.returns[0] if len(function.returns) == 1 else None
        return self.append(Operation("call", type, operands, function, self.line))

    def extract(self, call: Operation, position: int) -> Operation:
        return self.op("extract", call, type=call.payload.returns[position], payload=position)

    def check(self, condition: Value, site: Site, *values: Value) -> Operation:
        return self.append(Operation("check", None, (condition, *values), site, self.line))

    def jump(self, code: str) -> Operation:
        return self.append(Operation(code, None, (), None, self.line))

    def give(self, *values: Plain) -> Operation:
        operands = tuple(self.value(each, type) for each, type in zip(values, self.returns, strict=True))
        return self.append(Operation("return", None, operands, None, self.line))

    # Control.

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        self._regions.append(region)
        yield
        self._regions.pop()

    @contextmanager
    def when(self, condition: Plain) -> Iterator[Region]:
        """The branch that runs if the condition holds; gives the region of the other one, for `inside`."""
        branch = If(self.value(condition), Region(), Region(), self.line)
        self.append(branch)
        with self.inside(branch.then):
            yield branch.orelse

    @contextmanager
    def loop(self, begin: Plain, end: Plain, step: Plain = 1, type: DType = i32) -> Iterator[LoopVariable]:
        variable = LoopVariable("k", type)
        begin, end, step = (self.value(each, type) for each in (begin, end, step))
        loop = For(variable, begin, end, step, Region(), self.line)
        self.append(loop)
        with self.inside(loop.body):
            yield variable

    @contextmanager
    def parallel(self, *axes: Plain | tuple[Plain, Plain], type: DType = i32) -> Iterator[tuple[LoopVariable, ...]]:
        variables = [LoopVariable("ijk"[axis] if axis < 3 else f"i{axis}", type) for axis in range(len(axes))]
        pairs = [axis if isinstance(axis, tuple) else (0, axis) for axis in axes]
        bounds = tuple(self.value(bound, type) for pair in pairs for bound in pair)
        task = ParallelFor("task", variables, bounds, Region(), [], None, self.line)
        self.append(task)
        self._scopes.append(task.locals)
        with self.inside(task.body):
            yield tuple(variables)
        self._scopes.pop()

    def loop_while(self, head: Region, condition: Value, body: Region) -> While:
        loop = While(head, condition, body, self.line)
        self.append(loop)
        return loop
