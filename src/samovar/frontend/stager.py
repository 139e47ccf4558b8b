"""The state of staging one function: its names, the region that code goes to, the loop it is in, and how it reports errors.

A `KernelContext` is shared by all functions of a kernel; a `Stager` belongs to one function body (a kernel, a specialised
`func`, or a `func` that is expanded in place at task level).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from samovar import errors
from samovar._native import DType, i64
from samovar.artifact import Frame, Notice, give
from samovar.errors import marked_text
from samovar.frontend.coverage import Probes
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.syntax import NamesUsed, passed_names
from samovar.ir import Array, Constant, Function, Kernel, Local, LocalArray, Operation, Parameter, Region, Spot, Value
from samovar.language import do_messages_count, promote
from samovar.lens import FunctionRef, Lens, Ref

if TYPE_CHECKING:
    from samovar.frontend.staged.tensor import Tensor

Meaning = Staged | Place  # of a name: a value, or a variable
Remark = tuple[str, int, str]  # file, line, message of a warning
#: Where a local gets its first value: the function as it is staged, and the name with its line and column.
Birthplace = tuple[object, str, int, int]
Argument = TypeVar("Argument", bound=Parameter | Array)


@dataclass(eq=False)
class LoopConfiguration:
    """What `loop_config` said about the next loop."""

    serialize: bool = False
    block: int | None = None
    name: str | None = None


@dataclass(eq=False)
class Loop:
    """The loop around a statement: "parallel", "serial" or "static" (unrolled)."""

    kind: str
    names: dict[str, Meaning]  # as they were before the loop
    region: Region  # where the loop is written
    left: bool = False  # a break was seen
    place: tuple[str, int, int] | None = None  # of one that is parallel: file, line and column
    completed: Place | None = None  # the variable that a break sets to False, for what is under `else`
    is_asked_for: bool = True  # whether it is unrolled because the program says so


@dataclass(eq=False)
class Specialised:
    """A lowered `func`: the IR function, the arguments of the kernel that it captures, and what its result is like."""

    function: Function
    captured: dict[Parameter | Array, Parameter | Array] = field(default_factory=dict)  # the kernel's → its parameter
    result: Staged | None = None  # like what it returns
    results: list[Array] = field(default_factory=list)  # parameters that large results are written to
    changed: tuple[str, ...] = ()  # parameters taken by reference whose last values follow the results


@dataclass(frozen=True)
class Label:
    """What a checkpoint is called: a number, and the path on which a launch finds the enum member that stands for it, or
    something that has it at a position."""

    value: int
    text: str
    path: Any
    position: int | None
    line: int


@dataclass
class Graph:
    """What staging knows of the graph of a kernel."""

    enabled: bool = False
    checkpoints: bool = False
    labels: list[Label] = field(default_factory=list)
    inside: str = ""  # the construct around that takes no other one


class Reconsider(Exception):
    """A name that looked like a value turns out to be a variable: staging begins again, knowing it."""


class KernelContext:
    """What the functions of one kernel share. `variables` are names that have to be variables, by function; `in_memory`
    are those of vectors that have to be in memory."""

    def __init__(
        self,
        lens: Lens,
        kernel: Kernel,
        variables: dict[object, set[str]],
        in_memory: dict[object, set[str]],
        warned: set[Remark],
        printed: list[str],
        serial: dict[tuple[str, int, int], str],
        widened: dict[Birthplace, DType],
    ) -> None:
        self.lens = lens
        #: Loops that are serial because their iterations share a variable: file, line and column, and the variable.
        self.serial = serial
        #: The types of locals that begin with a plain number, where an assignment needs a wider one than that has by itself.
        self.widened = widened
        self.widens = True
        self.births: dict[Local, Birthplace] = {}
        self.wanted_types: dict[Birthplace, DType] = {}  # when staging begins again
        self.kernel = kernel
        self.variables = variables
        self.in_memory = in_memory
        self.names: dict[object, NamesUsed] = {}  # what a function does with names
        self.warned = warned
        self.printed = printed  # by `static_print`, also before staging began again
        self.static_prints = 0  # since it did
        self.debug: bool = lens.options.debug
        #: A func has code of its own for each path of calls, because messages show it.
        self.by_call_path: bool = do_messages_count(lens.options)
        #: What notes which lines run, if somebody wants to know.
        self.probes: Probes | None = Probes() if lens.options.kernel_coverage else None
        #: Is an index checked at run time?
        self.checks_bounds: bool = self.debug or lens.options.check_out_of_bound
        #: What a func gets where its messages say which iteration of a task they are from.
        self.iteration = Parameter("iteration", i64)
        self.default_ip: DType = lens.options.default_ip
        self.default_fp: DType = lens.options.default_fp
        self.parameters: dict[object, Parameter] = {}  # by path
        self.arrays: dict[object, Array] = {}  # by path
        self.opened: dict[Ref, Tensor] = {}  # those of the arrays that have been looked at
        self.members: dict[Value, Ref] = {}  # run-time scalars that are members of compounds
        self.typed: set[str] = set()  # parameters annotated with a dataclass
        self.specialised: dict[Any, Specialised] = {}
        self.function_names: set[str] = set()
        self.active: dict[object, FunctionRef] = {}  # functions being lowered, by path, outermost first
        self.notices: dict[Remark, Notice] = {}
        self.task_names: dict[str, int] = {}
        options = lens.kernel.options
        self.sharing = Sharing()  # of the parallel loop that is being staged
        self.is_serial = bool(options.get("serial"))  # no loop of it is parallel
        self.graph = Graph(bool(options.get("graph")), bool(options.get("checkpoints")))
        self.staging: Stager | None = None  # whose statements are being staged; None for the parameters of the kernel

    def position(self) -> tuple[str, int]:
        """The file and line that is being staged: where a question comes up."""
        if self.staging is None:
            return self.lens.kernel.file, self.lens.kernel.first_line
        return self.staging.source.file, int(self.staging.line)

    def array(self, ref: Ref) -> Array:
        """The kernel's array at a path; asked for and added to the arguments when it is first used."""
        array = self.arrays.get(ref.path)
        if array is None:
            facts, name = ref.tensor(), self.name_of(ref)
            array = Array(
                name, facts.dtype, facts.ndim, contiguous=facts.contiguous, wide=facts.wide, source=ref.path
            )
            array.apart = facts.inner if facts.apart else 0
            if facts.baked:
                array.offset, array.layout = ref.layout()
                array.extents = tuple(prod(extent for extent, _ in pieces) for pieces in array.layout or ())
            elif facts.turned:
                array.order = ref.layout()
            self.arrays[ref.path] = array
            self.kernel.parameters.append(array)
        return array

    def scalar(self, ref: Ref, dtype: DType) -> Parameter:
        """The run-time scalar at a path; added to the arguments when it is first used."""
        parameter = self.parameters.get(ref.path)
        if parameter is None:
            parameter = self.parameters[ref.path] = Parameter(self.name_of(ref), dtype, ref.path)
            self.kernel.parameters.append(parameter)
        return parameter

    def name_of(self, ref: Ref) -> str:
        """What a parameter of the kernel is called in messages: as the program spells it, if nothing else is spelled so."""
        spelled = ref.spelled
        return str(ref.path) if any(each.name == spelled for each in self.kernel.parameters) else spelled

    def print_once(self, text: str) -> None:
        """Print a line at compile time, unless staging comes here for the second time."""
        self.static_prints += 1
        if self.static_prints > len(self.printed):
            self.printed.append(text)
            print(text)

    def task_name(self, wanted: str) -> str:
        count = self.task_names.get(wanted, 0)
        self.task_names[wanted] = count + 1
        return wanted if count == 0 else f"{wanted}_{count}"


@dataclass
class Sharing:
    """What the iterations of a parallel loop do to variables that they share: who reads them, and where one is gathered."""

    reads: list[tuple[Operation, Stager]] = field(default_factory=list)
    gathered: dict[Local, tuple[int, Stager]] = field(default_factory=dict)  # the first line


@dataclass(frozen=True)
class Implied:
    """Names that have a value where a condition is true, and where it is false: `c and (x := f())` has bound x if true."""

    when_true: dict[str, Meaning] = field(default_factory=dict)
    when_false: dict[str, Meaning] = field(default_factory=dict)


class Stager:
    """Staging of one function body."""

    def __init__(
        self,
        context: KernelContext,
        function: FunctionRef,
        *,
        region: Region,
        locals: list[Local | LocalArray],
        frames: tuple[Frame, ...],
        specialised: Specialised | None = None,
        top_level: bool = False,
        staged_as: object = None,
    ) -> None:
        self.context = context
        self.staged_as = staged_as  # what tells this specialisation of a func, or its expansion, from others
        self.function = function
        self.source = function.source()
        self.region = region
        self.locals: list[Local | LocalArray] = locals
        self.frames = frames  # callers, innermost first
        self.specialised = specialised
        self.top_level = top_level
        self.names: dict[str, Meaning] = {}
        self.lost: dict[str, str] = {}
        self.undecided: dict[str, tuple[Staged, Staged]] = {}  # those of them that have one of two values
        self.unrolled: dict[str, Meaning] = {}  # what unrolled loops have left their names with
        self.hints: dict[str, Place] = {}  # variables that names get where they are bound first
        self.free: dict[str, Staged] = {}
        self.arrays: dict[Ref, Staged] = {}  # those that a launch brings, as the function sees them
        self.attributes: dict[tuple[Ref, str], Staged] = {}  # of objects, those that nothing more is asked about
        self.loops: list[Loop] = []
        self.task_locals: list[Local | LocalArray] | None = None  # of the parallel task around, if any
        self.task: tuple[tuple[Value, Value, Value], ...] | None = None  # its variables and their bounds, outermost first
        self.outer_locals: frozenset[Local | LocalArray] = frozenset()  # locals that the iterations of that task share
        self.static_depth = 0
        self.known_conditions = 0  # how many `if`s are around whose conditions are known
        self.line = function.first_line
        self.configuration: LoopConfiguration | None = None
        self.completed: dict[ast.AST, Place] = {}  # of loops with an `else` that a break skips
        self.ended = False  # the statements that follow cannot be reached
        self.returns: list[tuple[Region, Operation]] = []
        self.result: Staged | None = None  # like what the returns so far give
        self.expanded: Callable[[ast.Return], None] | None = None  # takes the return of a func expanded in place
        self.caller: tuple[Stager, ast.AST] | None = None  # who calls a function of the library: errors are shown there
        self.given_results = 0  # large results of the `return` that is being staged
        self.changed_by_element: set[str] = set()  # names of which elements or members are assigned
        self.reads_ignored = False  # `_` is used as a name like any other
        self.once: set[str] = set()  # names that are values, not variables
        self.binds_in_expressions = False  # there are names that are assigned with `:=`
        self.assigned: set[str] = set()  # names that the function binds: they never mean a global
        self.fixed: set[str] = set()  # names that may not be assigned: parameters of a kernel
        self.values: dict[str, str] = {}  # template parameters that stand for no variable of the caller, and what for
        self.implied: dict[Value, Implied] = {}  # conditions that tell whether their operands were evaluated

    # --- code

    def emit(self, code: str, type: DType | None, operands: tuple[Value, ...] = (), payload: Any = None) -> Operation:
        operation = Operation(code, type, operands, payload, self.line)
        self.region.operations.append(operation)
        return operation

    def spot(self, node: ast.AST) -> int:
        """The line of a node; with its columns where messages show what was evaluated."""
        if not (self.context.by_call_path and self.line and isinstance(node, (ast.expr, ast.stmt))):
            return self.line
        ends_here = node.end_lineno == node.lineno and node.end_col_offset is not None
        end: int = node.end_col_offset if ends_here else -1  # type: ignore[assignment]
        text = marked_text(self.source.lines, node.lineno, node.col_offset, end)
        return Spot(node.lineno, node.col_offset, end, text)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """What is emitted meanwhile is of a node."""
        outer, self.line = self.line, self.spot(node)
        try:
            yield
        finally:
            self.line = outer

    def append(self, operation: Operation) -> None:
        operation.line = self.line
        self.region.operations.append(operation)

    @contextmanager
    def into(self, region: Region) -> Iterator[Region]:
        """Code goes to another region for a while."""
        outer, self.region = self.region, region
        try:
            yield region
        finally:
            self.region = outer

    @contextmanager
    def in_static(self) -> Iterator[None]:
        """What is asked here is asked for by a `static`."""
        self.context.lens.enter_static(1)
        try:
            yield
        finally:
            self.context.lens.enter_static(-1)

    @contextmanager
    def unwritten(self) -> Iterator[None]:
        """Operations that no user wrote: they may wrap, and are not checked in debug mode."""
        line, self.line = self.line, 0
        try:
            yield
        finally:
            self.line = line

    @contextmanager
    def scope(self, reason: str) -> Iterator[dict[str, Meaning]]:
        """Names first bound inside are not visible after it; using one later explains why with `reason`. Gives the names."""
        outer, top_level, ended = self.names, self.top_level, self.ended
        self.names = dict(outer)
        self.top_level = False
        try:
            yield self.names
        finally:
            after = dict(outer)
            for name, meaning in self.names.items():
                # A fixed value that was bound again inside has two values after it, and no variable to tell them apart.
                if outer.get(name) is not meaning:
                    self.lost[name] = reason
                    self.leave_undecided(name, outer.get(name), meaning)
                    after.pop(name, None)
            self.names, self.top_level, self.ended = after, top_level, ended

    @contextmanager
    def operand(self, implied: dict[str, Meaning]) -> Iterator[dict[str, Meaning]]:
        """What may not be evaluated: a name that it binds may not have a value after it. `implied` names have one inside."""
        if self.binds_in_expressions:
            with self.scope("in an operand that is not always evaluated") as names:
                names.update(implied)
                yield names
            return
        top_level, self.top_level = self.top_level, False
        try:
            yield {}
        finally:
            self.top_level = top_level

    def implied_by(self, condition: Staged) -> Implied:
        """What is known of names where a condition holds, and where it does not."""
        values = condition.ir_values()
        return self.implied.get(values[0], Implied()) if len(values) == 1 else Implied()

    def want_variable(self, name: str) -> None:
        """A name is passed to what may change it. If it was taken for a value, staging begins again with a variable.

        The other names that the function passes on become variables with it: one fresh start for a function is enough.
        """
        known = self.context.variables.setdefault(self.function.identity, set())
        is_own = name in self.once or any(name == parameter.name for parameter in self.function.parameters)
        if is_own and name not in self.fixed and name not in known:
            known |= {name, *passed_names(self.source.node)}
            raise Reconsider

    def new_array(self, name: str, dtype: DType, shape: tuple[int, ...]) -> LocalArray:
        """Memory of the function, of the iteration of a task, or of the kernel: as a local is."""
        private = self.task_locals is not None or self.specialised is not None
        array = LocalArray(name, dtype, shape, private=private)
        self.locals.append(array)
        return array

    def result_array(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """Where a func leaves a large result: memory of the caller, the same for every `return`."""
        specialised = self.specialised
        assert specialised is not None
        if self.given_results == len(specialised.results):
            wanted = LocalArray("result", dtype, shape, private=True)
            specialised.results.append(self.visible(wanted))
        array = specialised.results[self.given_results]
        self.given_results += 1
        if array.dtype is not dtype or array.extents != shape:
            self.fail_type(self.source.node, "every `return` of a function must give matrices of one shape and dtype")
        return array

    def want_memory(self, name: str, home: object = None) -> None:
        """An entry of a vector of a function is found by a run-time index. If it was in registers, staging begins again."""
        known = self.context.in_memory.setdefault(home or self.function.identity, set())
        if name not in known:
            known.add(name)
            raise Reconsider

    def want_serial(self, name: str) -> None:
        """The iterations of the parallel loop assign a variable that they share. If such loops are to be serial, staging
        begins again with one more that is."""
        place = next((loop.place for loop in self.loops if loop.kind == "parallel"), None)
        if place is None or self.context.lens.options.shared_variables != "serial":
            return
        self.context.serial[place] = name
        raise Reconsider

    def want_type(self, local: Local, dtype: DType) -> bool:
        """A local is too narrow for what is assigned to it. If it began with a plain number, it gets another type: staging
        begins again when it has come to its end. False for all others."""
        birthplace = self.context.births.get(local)
        if birthplace is None or not self.context.widens or self.context.lens.options.literal_locals != "widest":
            return False
        wanted = self.context.wanted_types
        wanted[birthplace] = promote(wanted.get(birthplace, local.type), dtype)
        return True

    def memory_names(self) -> set[str]:
        """The names of vectors that have to be in memory."""
        return self.context.in_memory.get(self.function.identity, set())

    def new_local(self, name: str, dtype: DType) -> Local:
        local = Local(name, dtype, self.line)
        self.locals.append(local)
        return local

    def frame(self) -> Frame:
        return Frame(self.function.name, self.source.file, int(self.line))

    def call_path(self) -> tuple[Frame, ...]:
        """Where the code being staged is, innermost first."""
        return (self.frame(), *self.frames)

    def iteration(self) -> Value | None:
        """The number of the iteration of the task around, from 0 on, for messages; None in serial code."""
        if self.task is None or self.specialised is not None:
            return None if self.task is None else self.visible(self.context.iteration)
        number: Value = Constant(0, i64)
        with self.unwritten():
            for variable, begin, end in self.task:
                first, behind, here = (
                    each if each.type is i64 else self.emit("cast", i64, (each,)) for each in (begin, end, variable)
                )
                number = self.emit("mul", i64, (number, self.emit("sub", i64, (behind, first))))
                number = self.emit("add", i64, (number, self.emit("sub", i64, (here, first))))
        return number

    # --- names

    def load(self, name: str, node: ast.AST) -> Staged:
        meaning = self.names.get(name)
        return self.load_free(name, node) if meaning is None else meaning.load(self)

    def leave_undecided(self, name: str, first: Meaning | None, second: Meaning) -> None:
        """A name has one of two values from here on, none of which a run-time condition can choose."""
        self.undecided.pop(name, None)
        if not isinstance(first, Staged) or not isinstance(second, Staged):
            return
        if not (first.can_be_chosen() or second.can_be_chosen()):
            self.undecided[name] = first, second

    def load_free(self, name: str, node: ast.AST) -> Staged:
        if name in self.undecided and name in self.lost:
            first, second = self.undecided[name]
            self.fail(
                node,
                f"`{name}` is {either(first.describe(), second.describe())}, as a run-time condition decides, and only"
                " numbers, vectors and structs can be chosen at run time",
                second.advice_for_choice,
                errors.SamovarNameError,
            )
        if name in self.lost or name in self.assigned:
            reason = f"it is assigned only {self.lost[name]}" if name in self.lost else "it is assigned only later"
            self.fail(
                node,
                f"`{name}` may not have a value here: {reason}",
                f"assign `{name}` before, so that it has a type and a value on every path",
                errors.SamovarNameError,
            )
        known = self.free.get(name)
        if known is None:
            ref = self.function.resolve(name)
            if ref is None:
                self.fail(node, f"name `{name}` is not defined", self.suggestion(name), errors.SamovarNameError)
            known = self.open(ref, node)
            if not known.is_in_memory():  # what is written to memory here is not there on other paths
                self.free[name] = known
        return known

    def suggestion(self, name: str) -> str | None:
        parameters = [parameter.name for parameter in self.function.parameters]
        close = self.function.close_name(name, (*parameters, *self.names, *self.lost))
        return f"did you mean `{close}`?" if close else None

    def open(self, ref: Ref, node: ast.AST) -> Staged:
        """What a user object means to the language."""
        from samovar.frontend.members import open_reference

        return open_reference(self, ref, node)

    def visible(self, argument: Argument) -> Argument:
        """An argument of the kernel as this function sees it: itself, or the parameter that brings it into a `func`."""
        if self.specialised is None:
            return argument
        inner = self.specialised.captured.get(argument)
        if inner is None:
            inner = parameter_for(argument, argument.name)
            self.specialised.captured[argument] = inner
            self.specialised.function.parameters.append(inner)
            if isinstance(inner, Parameter) and argument in self.context.members:
                self.context.members[inner] = self.context.members[argument]
        return inner  # type: ignore[return-value]  # of the class that it stands for

    # --- messages

    def error(
        self,
        node: ast.AST,
        message: str,
        advice: str | None = None,
        kind: type[errors.SamovarError] = errors.SamovarSyntaxError,
    ) -> errors.SamovarError:
        if self.caller is not None:
            stager, call = self.caller
            return stager.error(call, message, advice, kind)
        return kind(errors.at(self.source, node, message, advice, self.frames))

    def fail(
        self,
        node: ast.AST,
        message: str,
        advice: str | None = None,
        kind: type[errors.SamovarError] = errors.SamovarSyntaxError,
    ) -> NoReturn:
        raise self.error(node, message, advice, kind)

    def fail_type(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        raise self.error(node, message, advice, errors.SamovarTypeError)

    def fail_signature(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        """What is written and what it is given differ in number or names."""
        raise self.error(node, message, advice, errors.SamovarSignatureError)

    def fail_axes(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        """The number of indices is not that of the axes."""
        raise self.error(node, message, advice, errors.SamovarAxesError)

    def warn(self, node: ast.AST, message: str, advice: str | None = None) -> None:
        """A warning, once for each place. It is kept with the kernel, for processes that do not compile it. With advice, it
        also shows what it is about."""
        if self.caller is not None:
            stager, call = self.caller
            stager.warn(call, message, advice)
            return
        if advice is not None:
            message = "\n".join([message, *errors.pointed_at(self.source.lines, node), f"  help: {advice}"])
        context, remark = self.context, (self.source.file, line_of(node), message)
        if context.wanted_types:
            return  # staging begins again
        if remark not in context.notices:
            context.notices[remark] = Notice(message, self.function.path, *self.function.place_of(remark[1]))
        if remark not in context.warned and context.lens.settings.log_level != "error":
            context.warned.add(remark)
            give(*remark)


def parameter_for(argument: Argument, name: str) -> Argument:
    """The parameter of a `func` that takes an argument."""
    if isinstance(argument, Parameter):
        assert argument.type is not None
        return cast(Argument, Parameter(name, argument.type))
    return cast(Argument, argument.under(name))


def reserve_arrays(region: Region, locals: list[Local | LocalArray]) -> list[Local]:
    """Reserve local arrays where a region begins; the other locals."""
    arrays = [each for each in locals if isinstance(each, LocalArray)]
    region.operations[:0] = [Operation("reserve", None, (), array) for array in arrays]
    return [each for each in locals if isinstance(each, Local)]


def line_of(node: ast.AST) -> int:
    return node.lineno if isinstance(node, (ast.expr, ast.stmt)) else 0


def either(first: str, second: str) -> str:
    """Two descriptions, for a message."""
    if first != second:
        return f"{first} or {second}"
    return f"one part of {first} or another" if first.startswith("the ") else f"{first} or another one"
