"""The state of compiling one kernel, shared by the stagers of its functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

from samovar._native import DType, f64, i64
from samovar.artifact import Notice
from samovar.frontend.coverage import Probes
from samovar.frontend.syntax import NamesUsed
from samovar.ir import Array, Cells, Function, Kernel, Local, Operation, Parameter, Region, Value
from samovar.language import do_messages_count, is_float, part_type, promote
from samovar.lens import FunctionRef, Lens, Ref

if TYPE_CHECKING:
    from samovar.frontend.staged.array_values import Named
    from samovar.frontend.staged.base import Place, Staged
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Binding, Stager

WarningSite = tuple[str, int, str]  # file, line, message of a warning
#: Where a local gets its initial value: the function as staged, and the name with its line and column.
Birthplace = tuple[object, str, int, int]


@dataclass(eq=False)
class LoopConfiguration:
    """The options that `loop_config` sets for the next loop."""

    serialize: bool = False
    block: int | None = None
    name: str | None = None


@dataclass(eq=False)
class Loop:
    """The loop around a statement: "parallel", "serial" or "static" (unrolled)."""

    kind: str
    names: dict[str, Binding]  # before the loop
    region: Region  # that contains the loop
    left: bool = False  # has a break
    place: tuple[str, int, int] | None = None  # for a parallel loop: file, line and column
    completed: Place | None = None  # the variable that a break sets to False, for `else`
    is_asked_for: bool = True  # whether the program requests unrolling


@dataclass(eq=False)
class Specialized:
    """A lowered `func`: the IR function, the kernel arguments that it captures, and its result type."""

    function: Function
    captured: dict[Parameter | Array, Parameter | Array] = field(default_factory=dict)  # the kernel's → its parameter
    result: Staged | None = None  # a sample of what it returns
    results: list[Array] = field(default_factory=list)  # parameters that large results are written to
    changed: tuple[str, ...] = ()  # by-reference parameters whose final values follow the results


@dataclass(frozen=True)
class Label:
    """The label of a checkpoint: a number, and the path by which a launch finds its enum member, or an object that has it
    at a position."""

    value: int
    text: str
    path: Any
    position: int | None
    line: int


@dataclass
class Graph:
    """The state of staging the graph of a kernel."""

    enabled: bool = False
    checkpoints: bool = False
    labels: list[Label] = field(default_factory=list)
    inside: str = ""  # the enclosing construct that allows no others


class Reconsider(Exception):
    """A name that was taken for a value is a variable: staging restarts with that knowledge."""


@dataclass
class Decisions:
    """What is known before staging (re)starts: each restart adds to it."""

    #: Names that must be variables, by function, and those of vectors that must be in memory.
    variables: dict[object, set[str]] = field(default_factory=dict)
    in_memory: dict[object, set[str]] = field(default_factory=dict)
    #: Loops that are serial because their iterations share a variable: file, line and column, and the variable.
    serial: dict[tuple[str, int, int], str] = field(default_factory=dict)
    #: The types of locals initialized with a plain number, where an assignment needs a wider type.
    widened: dict[Birthplace, DType] = field(default_factory=dict)
    #: Whether `prange` says which loops are parallel.
    marks_parallel: bool = False
    #: The type of plain floats in a kernel with parameters without annotations, if the arguments alone do not tell.
    own_float: DType | None = None
    warned: set[WarningSite] = field(default_factory=set)
    printed: list[str] = field(default_factory=list)  # by `static_print`


class KernelContext:
    """The state shared by the functions of one kernel."""

    def __init__(self, lens: Lens, kernel: Kernel, decisions: Decisions) -> None:
        self.lens = lens
        self.kernel = kernel
        self.decisions = decisions
        self.widens = True
        self.births: dict[Local, Birthplace] = {}
        self.wanted_types: dict[Birthplace, DType] = {}  # for the next restart
        self.names: dict[object, NamesUsed] = {}  # uses of names per function
        self.static_prints = 0  # since the restart
        self.debug: bool = lens.options.debug
        #: A func is specialized for each call path, because messages show it.
        self.by_call_path: bool = do_messages_count(lens.options)
        #: The line coverage probes, if enabled.
        self.probes: Probes | None = Probes() if lens.options.kernel_coverage else None
        #: Whether indices are checked at run time.
        self.checks_bounds: bool = self.debug or lens.options.check_out_of_bound
        #: The parameter for the iteration number, in funcs whose messages show it.
        self.iteration = Parameter("iteration", i64)
        self.default_ip: DType = lens.options.default_ip
        self.default_fp: DType = lens.options.default_fp
        #: Whether it has parameters without annotations (`frontend/unannotated.py` then sets the default types); the float
        #: types of its arguments, and `default_ip` and `default_fp` as the options have them.
        self.infers = bool(lens.kernel.options.get("inferred"))
        self.typed_floats: list[DType] = []
        self.option_ip, self.option_fp = self.default_ip, self.default_fp
        self.parameters: dict[object, Parameter] = {}  # by path
        self.arrays: dict[object, Array] = {}  # by path
        self.opened: dict[Ref, Tensor] = {}  # arrays opened so far
        self.members: dict[Value, Ref] = {}  # run-time scalars that are members of compounds
        self.typed: set[str] = set()  # parameters annotated with a dataclass
        self.specialized: dict[Any, Specialized] = {}
        self.unfinished: set[Any] = set()  # the keys of those being lowered, without their call paths
        self.function_names: set[str] = set()
        self.active: list[FunctionRef] = []  # functions being lowered, outermost first
        self.notices: dict[WarningSite, Notice] = {}
        self.task_names: dict[str, int] = {}
        options = lens.kernel.options
        self.sharing = Sharing()  # of the current parallel loop
        self.is_serial = bool(options.get("serial"))  # all loops are serial
        self.graph = Graph(bool(options.get("graph")), bool(options.get("checkpoints")))
        self.named_expressions: list[Named] = []  # array expressions with names
        self.staging: Stager | None = None  # currently active; None for the parameters of the kernel

    def widest_float(self) -> DType:
        """The type in which a kernel computes whose parameters have no annotations."""
        arrays = [each.dtype for each in self.kernel.parameters if isinstance(each, Array) and is_float(each.dtype)]
        found = [*self.typed_floats, *arrays]
        return reduce(promote, found, self.option_fp) if found else f64

    def require_float(self) -> None:
        """Restart staging if the kernel works on arrays, of objects or global ones, with other float types than its
        arguments. More arrays only widen the type, so this ends."""
        decided, found = self.decisions.own_float, self.widest_float()
        if self.infers and found is not self.default_fp and (decided is None or promote(decided, found) is found):
            self.decisions.own_float = found
            self.decisions.widened.clear()
            self.wanted_types.clear()
            raise Reconsider

    def position(self) -> tuple[str, int]:
        """The file and line being staged, where a question arises."""
        if self.staging is None:
            return self.lens.kernel.file, self.lens.kernel.first_line
        return self.staging.source.file, int(self.staging.line)

    def array(self, ref: Ref) -> Array:
        """The kernel's array at a path; queried and added to the arguments on first use."""
        array = self.arrays.get(ref.path)
        if array is None:
            facts, name = ref.tensor(), self.name_of(ref)
            array = Array(
                name, facts.dtype, facts.ndim, contiguous=facts.contiguous, wide=facts.wide or self.infers, source=ref.path
            )
            array.soa_ndim = facts.inner if facts.soa else 0
            if facts.baked:
                array.offset, array.layout, *cells = ref.layout()
                array.cells = Cells(*cells) if cells else None
                array.extents = tuple(prod(extent for extent, _ in pieces) for pieces in array.layout or ())
            elif facts.permuted:
                array.order = ref.layout()
            parts = part_type(facts.dtype)
            if parts is not None:
                array.hold_parts(facts.dtype, parts)
            self.arrays[ref.path] = array
            self.kernel.parameters.append(array)
        return array

    def scalar(self, ref: Ref, dtype: DType) -> Parameter:
        """The run-time scalar at a path; added to the arguments on first use."""
        parameter = self.parameters.get(ref.path)
        if parameter is None:
            parameter = self.parameters[ref.path] = Parameter(self.name_of(ref), dtype, ref.path)
            self.kernel.parameters.append(parameter)
        return parameter

    def name_of(self, ref: Ref) -> str:
        """The name of a kernel parameter in messages: as the program spells it, if that is unique."""
        spelled = ref.spelled
        return str(ref.path) if any(each.name == spelled for each in self.kernel.parameters) else spelled

    def print_once(self, text: str) -> None:
        """Print a line at compile time, once despite restarts."""
        self.static_prints += 1
        if self.static_prints > len(self.decisions.printed):
            self.decisions.printed.append(text)
            print(text)

    def task_name(self, wanted: str) -> str:
        count = self.task_names.get(wanted, 0)
        self.task_names[wanted] = count + 1
        return wanted if count == 0 else f"{wanted}_{count}"


@dataclass
class Sharing:
    """Accesses of a parallel loop's iterations to shared variables: which read them, and where one is reduced."""

    reads: list[tuple[Operation, Stager]] = field(default_factory=list)
    gathered: dict[Local, tuple[int, Stager]] = field(default_factory=dict)  # the first line
