"""Building IR by hand, for tests: a builder that appends to the current region.

    build = Builder(Array("a", f32, 1, alone=True), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], (i,), build.constant(1.0, f32))
    kernel = build.kernel()

What is inside of a loop, a branch or a task is written inside of a `with`, or by a function that is given as `body`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

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
        return self.void("store_local", self.value(value, local.type), payload=local)

    def shape(self, array: Array, axis: int = 0) -> Operation:
        return self.op("shape", type=i64 if array.wide else i32, payload=(array, axis))

    def load(self, array: Array, *indices: Plain) -> Operation:
        array.read = True
        return self.op("load", *map(self.value, indices), type=array.dtype, payload=array)

    def store(self, array: Array, indices: Sequence[Plain], value: Plain) -> Operation:
        array.written = True
        return self.void("store", *map(self.value, indices), self.value(value, array.dtype), payload=array)

    def change(
        self, code: str, action: str, target: Array | Local, indices: Sequence[Plain], *values: Plain
    ) -> Operation:
        """`atomic` or `update`."""
        type = target.dtype if isinstance(target, Array) else target.type
        if isinstance(target, Array):
            target.read = target.written = True
        operands = (*map(self.value, indices), *(self.value(each, type) for each in values))
        return self.append(Operation(code, type, operands, Atomic(action, target), self.line))

    def atomic(self, action: str, target: Array | Local, indices: Sequence[Plain], *values: Plain) -> Operation:
        return self.change("atomic", action, target, indices, *values)

    # Effects.

    def void(self, code: str, *operands: Plain, payload: object = None) -> Operation:
        """What has no result: a jump, a check, a print."""
        return self.append(Operation(code, None, tuple(map(self.value, operands)), payload, self.line))

    def call(self, function: Function, *operands: Value) -> Operation:
        type = function.returns[0] if len(function.returns) == 1 else None
        return self.append(Operation("call", type, operands, function, self.line))

    def extract(self, call: Operation, position: int) -> Operation:
        return self.op("extract", call, type=call.payload.returns[position], payload=position)

    def check(self, condition: Value, site: Site, *values: Value) -> Operation:
        return self.void("check", condition, *values, payload=site)

    def give(self, *values: Plain) -> Operation:
        """The results, numbers in the types that were promised."""
        types = self.returns or (None,) * len(values)
        return self.void("return", *(self.value(each, type) for each, type in zip(values, types, strict=True)))

    # Control.

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        self._regions.append(region)
        yield
        self._regions.pop()

    def _filled(self, operation: Operation, opened: AbstractContextManager[Any], body: Callable[..., object] | None) -> Any:
        """The operation, if a function fills it; otherwise what a `with` fills it in."""
        if body is None:
            return opened
        with opened as given:
            body(*given if isinstance(given, tuple) else (given,))
        return operation

    def when(
        self, condition: Plain, then: Callable[[], object] | None = None, otherwise: Callable[[], object] | None = None
    ) -> Any:
        """The branch that runs if the condition holds; a `with` gives the region of the other one, for `inside`."""
        branch = If(self.value(condition), Region(), Region(), self.line)
        self.append(branch)
        if otherwise is not None:
            with self.inside(branch.orelse):
                otherwise()
        return self._filled(branch, self._branch(branch), None if then is None else lambda _: then())

    @contextmanager
    def _branch(self, branch: If) -> Iterator[Region]:
        with self.inside(branch.then):
            yield branch.orelse

    def loop(
        self, begin: Plain, end: Plain, step: Plain = 1, *, body: Callable[..., object] | None = None, type: DType = i32
    ) -> Any:
        """A serial loop over range(begin, end, step); a `with` gives its variable."""
        begin, end, step = (self.value(each, type) for each in (begin, end, step))
        loop = For(LoopVariable("k", type), begin, end, step, Region(), self.line)
        self.append(loop)
        return self._filled(loop, self._loop(loop), body)

    @contextmanager
    def _loop(self, loop: For) -> Iterator[LoopVariable]:
        with self.inside(loop.body):
            yield loop.variable

    def loop_while(self, head: Region, condition: Value, body: Region) -> While:
        loop = While(head, condition, body, self.line)
        self.append(loop)
        return loop

    def during(self, condition: Callable[[], Value], body: Callable[[], object]) -> While:
        """A loop whose condition and whose body functions write."""
        head, inner = Region(), Region()
        with self.inside(head):
            found = condition()
        with self.inside(inner):
            body()
        return self.loop_while(head, found, inner)

    def parallel(
        self,
        *axes: Plain | tuple[Plain, Plain],
        body: Callable[..., object] | None = None,
        name: str = "task",
        locals: Sequence[Local] = (),
        type: DType = i32,
        block: int | None = None,
    ) -> Any:
        """A task over axes that begin with 0, or as said; a `with` gives its variables."""
        variables = [LoopVariable("ijk"[axis] if axis < 3 else f"i{axis}", type) for axis in range(len(axes))]
        pairs = [axis if isinstance(axis, tuple) else (0, axis) for axis in axes]
        bounds = tuple(self.value(bound, type) for pair in pairs for bound in pair)
        task = ParallelFor(name, variables, bounds, Region(), list(locals), block, self.line)
        self.append(task)
        return self._filled(task, self._task(task), body)

    @contextmanager
    def _task(self, task: ParallelFor) -> Iterator[tuple[LoopVariable, ...]]:
        self._scopes.append(task.locals)
        with self.inside(task.body):
            yield tuple(task.variables)
        self._scopes.pop()
