"""Structure of the IR: regions, control flow, parallel tasks, functions and kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samovar._native import DType
from samovar.artifact import Frame, Site
from samovar.ir.values import Array, Local, LoopVariable, Operation, Parameter, Value

if TYPE_CHECKING:
    from samovar.ir.plan import Plan


class Region:
    """A straight list of operations, executed in order."""

    __slots__ = ("operations",)

    def __init__(self, operations: list[Operation] | None = None) -> None:
        self.operations: list[Operation] = [] if operations is None else operations


class If(Operation):
    __slots__ = ("orelse", "then")

    def __init__(self, condition: Value, then: Region, orelse: Region, line: int = 0) -> None:
        super().__init__("if", None, (condition,), None, line)
        self.then = then
        self.orelse = orelse


class While(Operation):
    """`head` is evaluated before each iteration and gives `condition`, a value defined in it (or outside)."""

    __slots__ = ("body", "condition", "head")

    def __init__(self, head: Region, condition: Value, body: Region, line: int = 0) -> None:
        super().__init__("while", None, (), None, line)
        self.head = head
        self.condition = condition
        self.body = body


class For(Operation):
    """A serial loop over range(begin, end, step); operands are (begin, end, step), all of the variable's type.

    A step that is not constant may have either sign; a step of zero runs no iteration.
    """

    __slots__ = ("body", "variable")

    def __init__(self, variable: LoopVariable, begin: Value, end: Value, step: Value, body: Region, line: int = 0) -> None:
        super().__init__("for", None, (begin, end, step), None, line)
        self.variable = variable
        self.body = body


class ReadAnyway(Operation):
    """A `load` of an element that need not be there: then it gives something, and nobody asks what."""

    __slots__ = ()

    def __init__(self, load: Operation) -> None:
        super().__init__("load", load.type, load.operands, load.payload, load.line)
        self.origin = load.origin


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
    the operand where that is more than one instruction: the pass `legalise` makes it."""

    operation: str
    target: Array | Local
    step: Function | None = None


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


class Task(ParallelFor):
    """A parallel loop that stands for itself: what it takes from the kernel is listed, and how it is run is decided.

    `captures` are all that the body uses of the kernel, each once: parameters, arrays, extents of arrays (`shape`), other
    values (`Captured`), and locals: a shared one as itself, any other as the value that it has before the task. The bounds
    are the task's own. `plan` says how iterations are dealt out, gathered and told to the runtime. What is `separate` is
    compiled apart from the kernel.
    """

    __slots__ = ("captures", "plan", "separate")

    def __init__(self, loop: ParallelFor, captures: tuple[Value | Local, ...], plan: Plan) -> None:
        super().__init__(loop.name, loop.variables, loop.operands, loop.body, loop.locals, loop.block, loop.line)
        self.code = "task"
        self.origin = loop.origin
        self.stepping = loop.stepping
        self.watched = loop.watched
        self.reductions = loop.reductions
        self.scatters = loop.scatters
        self.captures = captures
        self.plan = plan
        self.separate = False

    def dealt(self) -> list[Axis]:
        """The axes that make units."""
        return self._triples()[: self.plan.dealt]

    def inner(self) -> list[Axis]:
        """The axes that are loops inside of a unit."""
        return self._triples()[self.plan.dealt :]

    def _triples(self) -> list[Axis]:
        return [(variable, *bounds) for variable, bounds in zip(self.variables, self.axes(), strict=True)]


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
    says that the launcher checks before each launch that written arrays overlap nothing. `slow_serial` is found out with the
    plans of the tasks: code outside of them may run long. `recurs` says that a loop takes minima of what it has just stored.
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

    def task_name(self, task: ParallelFor) -> str:
        """The name of a task by which it is known outside of the kernel."""
        return f"{self.name}.{task.name}"
