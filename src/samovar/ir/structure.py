"""Structure of the IR: regions, control flow, parallel tasks, functions and kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import DType, i64
from samovar.artifact import Frame, Site
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value


class Region:
    """A straight list of operations, executed in order."""

    __slots__ = ("operations",)

    def __init__(self, operations: list[Operation] | None = None) -> None:
        self.operations: list[Operation] = [] if operations is None else operations


class If(Operation):
    """`unlikely`: what is in `then` is hardly ever executed."""

    __slots__ = ("orelse", "then", "unlikely")

    def __init__(self, condition: Value, then: Region, orelse: Region, line: int = 0, unlikely: bool = False) -> None:
        super().__init__("if", None, (condition,), None, line)
        self.then = then
        self.orelse = orelse
        self.unlikely = unlikely


class While(Operation):
    """`head` is evaluated before each iteration and gives `condition`, a value defined in it (or outside). `note` says what
    was decided about the loop, for whoever looks at it."""

    __slots__ = ("body", "condition", "head", "note")

    def __init__(self, head: Region, condition: Value, body: Region, line: int = 0) -> None:
        super().__init__("while", None, (), None, line)
        self.head = head
        self.condition = condition
        self.body = body
        self.note = ""


@dataclass(frozen=True)
class Hints:
    """What is known or wanted of a loop by whoever compiles it further.

    `parallel`: iterations are those of a parallel loop, and may run in any order, at the same time. `independent`: none
    touches memory that another one writes, although it looks so to who compares addresses. `vectors` is how many iterations
    run in one vector, 0 for none; `interleave` how many vectors are worked on by turns, `unroll` how many iterations are
    written one after the other, 1 for no more than one. None leaves it to the backend. `short`: there are a few iterations
    at most, what is left over of others. `expected` is how many there are most of the time, where somebody knows.
    """

    parallel: bool = False
    independent: bool = False
    vectors: int | None = None
    interleave: int | None = None
    unroll: int | None = None
    short: bool = False
    expected: int | None = None


NO_HINTS = Hints()
#: A loop that is not worth unrolling, nor vectors: it runs briefly, or is made of vectors already.
PLAIN_LOOP = Hints(vectors=0, unroll=1)


class For(Operation):
    """A serial loop over range(begin, end, step); operands are (begin, end, step), all of the variable's type, or all of a
    wider one, where the variable holds what is between them.

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

    def trip_count(self) -> int | None:
        """How many iterations there are, if that is written in the code."""
        begin, end, step = self.operands
        if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)):
            return None
        # It may be more than the length of a `range` can be.
        return max(0, -((int(begin.value) - int(end.value)) // int(step.value))) if step.value else 0


@dataclass(eq=False)
class Reduction:
    """A sum (or minimum, …) into one location, gathered by a task in per-chunk partial results.

    A partial starts from the identity of the operation, one that changes nothing: so NaN for the minimum and the maximum
    of floats (which prefer the number), and -0.0 for their sum. After the task the partials are combined in the order of
    the chunks and applied to the target with `operation`. The target is left alone if the task has no iterations, or if the
    indices are out of bounds: no iteration can have come to the accumulation then.
    """

    operation: str  # add, mul, min, max, and, or, xor
    type: DType
    target: Array | Local
    indices: tuple[Value, ...]  # defined outside the task


@dataclass(eq=False)
class Scatter:
    """Updates of unpredictable elements of a small array, gathered by a task in private copies merged in order.

    Copies start from the identity, as the partials of a `Reduction` do. The backend may as well update the array itself
    atomically: it decides at run time, by the size of the array and the number of iterations.
    """

    operation: str
    array: Array


@dataclass(frozen=True)
class MatrixForm:
    """A vector or matrix among the results: its shape, and the numbers of the values that are its entries."""

    shape: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class StructForm:
    """A struct among the results: its type as plain data (None where the kernel's annotation says it), and its members."""

    key: tuple[object, ...] | None
    members: tuple[ResultForm, ...]


@dataclass(frozen=True)
class Atomic:
    """Payload of `atomic` and `update`. A `Local` target has no indices. `step` computes the new value from the old one and
    the operand where that is more than one instruction: the pass `legalise` makes it. What is done `singly` is not to be
    joined with updates of neighbours, which the next ones would overlap by half."""

    operation: str
    target: Array | Local
    step: Function | None = None
    singly: bool = False


@dataclass(frozen=True)
class Touch:
    """Payload of `touch`: an access that is watched for races. `kind` and `constant` are those of `samovar.passes.races`."""

    site: Site
    kind: int
    target: Array | Local
    constant: int


#: An axis of a task: its variable, where it begins, and where it ends.
Axis = tuple[LoopVariable, Value, Value]


class ParallelFor(Operation):
    """A parallel loop: every combination of the axes is an iteration, and iterations run in any order, on many threads.

    Operands are begin0, end0, begin1, end1, …: half-open, unit steps, the last axis innermost. `reductions` and `scatters`
    are filled in by passes. Values of the kernel may be used inside; its locals too (see `Local.shared`). `stepping` is what
    the user's variable begins with and its step, if the variable here counts from 0. A `watched` task runs on one thread.
    """

    __slots__ = ("block", "body", "locals", "name", "reductions", "scatters", "stepping", "variables", "watched")

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
        self.watched = False
        self.reductions: list[Reduction] = []
        self.scatters: list[Scatter] = []

    def axes(self) -> list[tuple[Value, Value]]:
        return list(zip(self.operands[0::2], self.operands[1::2], strict=True))


class Captured(Value):
    """A value that the kernel's serial code computes, as the body of a task knows it: a number, and no longer how it was
    computed."""

    __slots__ = ("source",)

    def __init__(self, source: Value) -> None:
        self.type = source.type
        self.source = source


class Task(Operation):
    """What many threads do: `body` is run for each of some ranges of units, from `first` up to `last`.

    Operands are the number of units and how many iterations one has. Ranges are disjoint, make up all units, and run in any
    order, at the same time. `captures` are all that the body uses of the kernel, each once: parameters, arrays, extents of
    arrays (`shape`), other values (`Captured`), and locals: a shared one as itself, any other as the value that it has
    before the task.

    `number` is the one by which the runtime knows it, `cost` an estimate in nanoseconds per iteration, `flags` those of
    `samovar.ir.runtime_interface`, `traffic` the bytes that an iteration moves, -1 if they are not known. Of
    `owned` arrays, iterations touch elements that no other iteration touches. What is `separate` is compiled apart from the
    kernel.
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
    """A specialised `func`: parameters are scalars (`Parameter`) and arrays (`Array`).

    In debug mode a specialisation belongs to one call path: `frames` are its callers, innermost first. `cost` is what a call
    takes in nanoseconds, where that is known better than by looking at the body. What is `separate`
    is compiled apart from its callers; what is `outlined` is called, and never becomes a part of them. What `runs_once` is
    executed at most once in a launch, all of it. `piece_of` is the function that a piece was cut from
    (`samovar.passes.split`): it is called there, in one place.
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


#: Nothing, the number of a value among those that are returned, a vector or matrix, or a tuple of such forms; "status" for
#: a `GraphStatus`, which the first value tells.
ResultForm = None | int | str | MatrixForm | StructForm | tuple["ResultForm", ...]


@dataclass(eq=False)
class Kernel:
    """A lowered kernel.

    `parameters` are in the order of the argument block (see `samovar.ir.layout`). `functions` are listed callees first.
    `body` holds serial code and the parallel loops, in order: `ParallelFor`, and when they are outlined `Task`. `disjoint`
    says that the launcher checks before each launch that written arrays overlap nothing. `slow_serial` is found out where
    tasks are outlined: code outside of them may run long. `recurs` says that a loop chooses by what it has just stored.
    `result_form` is how Python sees what it returns. `resume` is a
    parameter that no argument gives: 0, or the number of the checkpoint where a launch begins.
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
    recurs: bool = False
    result_form: ResultForm = None
    resume: Parameter | None = None

    def task_name(self, task: Task) -> str:
        """The name of a task by which it is known outside of the kernel."""
        return f"{self.name}.{task.name}"
