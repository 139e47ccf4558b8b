"""Structure of the IR: regions, control flow, parallel tasks, functions and kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import DType
from samovar.artifact import Frame, Site
from samovar.ir.values import Array, Local, LoopVariable, Operation, Parameter, Value


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
class Atomic:
    """Payload of `atomic` and `update`. A `Local` target has no indices."""

    operation: str
    target: Array | Local


@dataclass(frozen=True)
class Touch:
    """Payload of `touch`: an access that is watched for races. `kind` and `constant` are those of `samovar.passes.races`."""

    site: Site
    kind: int
    target: Array | Local
    constant: int


class ParallelFor(Operation):
    """A task: every combination of the axes is an iteration, and iterations run in any order, on many threads.

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


@dataclass(eq=False)
class Function:
    """A specialised `func`: parameters are scalars (`Parameter`) and arrays (`Array`).

    In debug mode a specialisation belongs to one call path: `frames` are its callers, innermost first.
    """

    name: str
    parameters: list[Parameter | Array]
    returns: tuple[DType, ...]
    body: Region
    locals: list[Local] = field(default_factory=list)
    file: str = ""
    frames: tuple[Frame, ...] = ()


#: Nothing, the number of a value among those that are returned, or a tuple of such forms.
ResultForm = None | int | tuple["ResultForm", ...]


@dataclass(eq=False)
class Kernel:
    """A lowered kernel.

    `parameters` are in the order of the argument block (see `samovar.ir.layout`). `functions` are listed callees first.
    `body` holds serial code and the tasks (`ParallelFor`), in order. `disjoint` says that the launcher checks before each
    launch that written arrays overlap nothing. `result_form` is how Python sees what it returns.
    """

    name: str
    parameters: list[Parameter | Array]
    returns: tuple[DType, ...]
    body: Region
    functions: list[Function] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    file: str = ""
    disjoint: bool = False
    result_form: ResultForm = None
