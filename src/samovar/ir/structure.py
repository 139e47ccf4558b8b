"""Structure of the IR: regions, control flow, parallel loops, functions and kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import DType, i64
from samovar.artifact import Frame, Site
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value


class Region:
    """A list of operations, executed in order."""

    __slots__ = ("operations",)

    def __init__(self, operations: list[Operation] | None = None) -> None:
        self.operations: list[Operation] = [] if operations is None else operations


class If(Operation):
    """A conditional. `unlikely`: the `then` region is rarely executed."""

    __slots__ = ("orelse", "then", "unlikely")

    def __init__(self, condition: Value, then: Region, orelse: Region, line: int = 0, unlikely: bool = False) -> None:
        super().__init__("if", None, (condition,), None, line)
        self.then = then
        self.orelse = orelse
        self.unlikely = unlikely


class While(Operation):
    """`head` is evaluated before each iteration and gives `condition`, a value defined in it (or outside). `note` describes
    what was decided about the loop, for `inspect`."""

    __slots__ = ("body", "condition", "head", "note")

    def __init__(self, head: Region, condition: Value, body: Region, line: int = 0) -> None:
        super().__init__("while", None, (), None, line)
        self.head = head
        self.condition = condition
        self.body = body
        self.note = ""


@dataclass(frozen=True)
class Hints:
    """Facts and wishes about a loop, for the passes and the backend.

    `parallel`: the iterations are those of a parallel loop, and may run concurrently in any order. `independent`: no
    iteration accesses memory that another one writes, although a comparison of addresses may suggest it. `vectors` is the
    number of iterations per vector, 0 for none; `interleave` the number of interleaved vectors, `unroll` the unroll factor,
    1 to prevent unrolling. None leaves the choice to the backend. `short`: the loop has few iterations at most, such as a
    remainder. `expected` is the usual trip count, where it is known.
    """

    parallel: bool = False
    independent: bool = False
    vectors: int | None = None
    interleave: int | None = None
    unroll: int | None = None
    short: bool = False
    expected: int | None = None


NO_HINTS = Hints()
#: A loop that should be neither unrolled nor vectorized: it is short, or consists of vectors already.
PLAIN_LOOP = Hints(vectors=0, unroll=1)


class For(Operation):
    """A serial loop over range(begin, end, step). The operands (begin, end, step) all have the type of the variable, or a
    wider one, provided that the variable can hold every value in between.

    A step that is not constant may have either sign; a step of zero runs no iteration. `note` is that of a `While`.
    """

    __slots__ = ("body", "hints", "note", "variable")

    def __init__(
        self,
        variable: LoopVariable,
        begin: Value,
        end: Value,
        step: Value,
        body: Region,
        line: int = 0,
        hints: Hints = NO_HINTS,
    ) -> None:
        super().__init__("for", None, (begin, end, step), None, line)
        self.variable = variable
        self.body = body
        self.hints = hints
        self.note = ""

    @property
    def stride(self) -> int:
        """The step if it is a known nonzero constant, else 0."""
        step = self.operands[2]
        return int(step.value) if isinstance(step, Constant) else 0

    def trip_count(self) -> int | None:
        """The number of iterations, if it is a compile-time constant."""
        begin, end, step = self.operands
        if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
            return None
        # It may exceed the maximum length of a `range`.
        return max(0, -((int(begin.value) - int(end.value)) // int(step.value))) if step.value else 0


@dataclass(eq=False)
class Reduction:
    """A sum (or minimum, …) into one location, accumulated by a task in partial results, one per chunk.

    A partial starts from the identity of the operation, which changes nothing: NaN for the minimum and the maximum of
    floats (which prefer the number), and -0.0 for their sum. After the task the partials are combined in the order of the
    chunks and applied to the target with `operation`. The target is unchanged if the task has no iterations, or if the
    indices are out of bounds: no iteration can have reached the accumulation then.
    """

    operation: str  # add, mul, min, max, and, or, xor
    type: DType
    target: Array | Local
    indices: tuple[Value, ...]  # defined outside the task


@dataclass(eq=False)
class Scatter:
    """Updates of unpredictable elements of a small array, accumulated by a task in private copies that are merged in order.

    Copies start from the identity, as the partials of a `Reduction` do. The backend may also update the array itself
    atomically: it decides at run time, by the size of the array and the number of iterations.
    """

    operation: str
    array: Array


@dataclass(frozen=True)
class MatrixResult:
    """A vector or matrix among the results: its shape, and the numbers of the values that are its components."""

    shape: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class ComplexResult:
    """A complex number among the results: the numbers of the values that are its parts, one after the other."""

    real: int
    imag: int


@dataclass(frozen=True)
class StructResult:
    """A struct among the results: its type as plain data (None if the kernel's annotation has it), and its members."""

    key: tuple[object, ...] | None
    members: tuple[ResultShape, ...]


@dataclass(frozen=True)
class Atomic:
    """Payload of `atomic` and `update`. A `Local` target has no indices. `step` computes the new value from the old one and
    the operand if that takes more than one instruction; the pass `legalize` creates it. A `singly` update must not be
    combined with those of adjacent lanes, because the next ones would overlap half of them."""

    operation: str
    target: Array | Local
    step: Function | None = None
    singly: bool = False


@dataclass(frozen=True)
class Touch:
    """Payload of `touch`: an access checked for data races. `kind` and `constant` are those of `samovar.passes.races`."""

    site: Site
    kind: int
    target: Array | Local
    constant: int


#: A dimension of a task: its variable, begin and end.
Axis = tuple[LoopVariable, Value, Value]


class ParallelFor(Operation):
    """A parallel loop: every combination of its dimensions is an iteration; iterations run in any order, on many threads.

    Operands are begin0, end0, begin1, end1, …: half-open, unit steps, the last dimension innermost. Passes fill in
    `reductions` and `scatters`. The body may use values of the kernel, and its locals (see `Local.shared`). `stepping` is
    the start and step of the user's variable, if the variable here counts from 0. `active` is an element of a sparse field
    that is in an active cell in each iteration: the field and the indices. A `race_checked` task runs on one thread.
    """

    __slots__ = (
        "active", "block", "body", "locals", "name", "race_checked", "reductions", "scatters", "stepping", "variables",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        variables: list[LoopVariable],
        bounds: tuple[Value, ...],
        body: Region,
        locals: list[Local],
        block: int | None = None,
        line: int = 0,
    ) -> None:
        super().__init__("parallel", None, bounds, None, line)
        self.name = name
        self.variables = variables
        self.body = body
        self.locals = locals
        self.block = block  # block_dim: the number of iterations a thread takes at a time, None to let the runtime choose
        self.stepping: tuple[Value, Value] | None = None
        self.active: tuple[Array, tuple[Value, ...]] | None = None
        self.race_checked = False
        self.reductions: list[Reduction] = []
        self.scatters: list[Scatter] = []

    def axes(self) -> list[tuple[Value, Value]]:
        return list(zip(self.operands[0::2], self.operands[1::2], strict=True))


class Captured(Value):
    """A value computed by the kernel's serial code, as seen in the body of a task: a number without its computation."""

    __slots__ = ("source",)

    def __init__(self, source: Value) -> None:
        self.type = source.type
        self.source = source


class Task(Operation):
    """An outlined parallel loop: `body` runs for ranges of units, from `first` up to `last`.

    Operands are the number of units and the number of iterations per unit. Ranges are disjoint, cover all units, and run
    concurrently in any order. `captures` are all values of the kernel that the body uses, each once: parameters, arrays,
    extents of arrays (`shape`), other values (`Captured`), and locals: a shared one as itself, any other as its value before
    the task.

    `number` identifies the task to the runtime, `cost` is an estimate in nanoseconds per iteration, `flags` are those of
    `samovar.ir.runtime_interface`, `traffic` is the number of bytes that an iteration moves, -1 if unknown. The elements of
    `owned` arrays that an iteration accesses are accessed by no other. A `separate` task is compiled in a unit of its own,
    not with the kernel.
    """

    __slots__ = (
        "body", "captures", "cost", "first", "flags", "last", "locals", "name", "number", "owned", "separate", "traffic",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        units: Value,
        items: Value,
        body: Region,
        locals: list[Local],
        captures: tuple[Value | Local, ...] = (),
        line: int = 0,
    ) -> None:
        super().__init__("task", None, (units, items), None, line)
        self.name = name
        self.first = Parameter("first", i64)
        self.last = Parameter("last", i64)
        self.body = body
        self.locals = locals
        self.captures = captures
        self.number = -1
        self.cost = 0.0
        self.flags = 0
        self.traffic = -1
        self.owned: frozenset[Array] = frozenset()
        self.separate = False


@dataclass(eq=False)
class Function:
    """A specialized `func`: parameters are scalars (`Parameter`) and arrays (`Array`).

    In debug mode a specialization belongs to one call path: `frames` are its callers, innermost first. `cost` is the time of
    a call in nanoseconds, where it is known better than from the body. A `separate` function is compiled in another unit
    than its callers; an `outlined` one is called and never inlined. One that `runs_once` is executed at most once in a
    launch, as a whole. `piece_of` is the function that a piece was split from (`samovar.passes.split`): it has a
    single call, there.
    """

    name: str
    parameters: list[Parameter | Array]
    returns: tuple[DType, ...]
    body: Region
    locals: list[Local] = field(default_factory=list)
    file: str = ""
    frames: tuple[Frame, ...] = ()
    cost: float | None = None
    separate: bool = False
    outlined: bool = False
    runs_once: bool = False
    piece_of: Function | None = None


#: None, the index of a returned value, a vector or matrix, or a tuple of these; "status" for a `GraphStatus`, encoded in
#: the first value.
ResultShape = None | int | str | ComplexResult | MatrixResult | StructResult | tuple["ResultShape", ...]


@dataclass(eq=False)
class Kernel:
    """A lowered kernel.

    `parameters` are in the order of the argument block (see `samovar.ir.layout`). `functions` are listed callees first.
    `body` holds serial code and the parallel loops, in order: `ParallelFor`, after outlining `Task`. `disjoint`: the
    launcher checks before each launch that written arrays overlap nothing. `slow_serial` is set by outlining: serial
    code may run long. `has_recurrence`: a loop branches on what it has just stored. `result_shape` is how Python sees the
    results. `resume` is a parameter without an argument: 0, or the number of the checkpoint where a launch begins.
    """

    name: str
    parameters: list[Parameter | Array]
    returns: tuple[DType, ...]
    body: Region
    functions: list[Function] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    file: str = ""
    disjoint: bool = False
    slow_serial: bool = False
    has_recurrence: bool = False
    result_shape: ResultShape = None
    resume: Parameter | None = None

    def task_name(self, task: Task) -> str:
        """The name of a task outside the kernel."""
        return f"{self.name}.{task.name}"
