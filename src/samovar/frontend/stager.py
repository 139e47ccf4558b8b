"""The state of staging one function: its names, the current region and loop.

A `Stager` belongs to one function body (a kernel, a specialized `func`, or a `func` that is expanded in place at task
level). The `KernelContext` (`context.py`) is shared by all functions of a kernel.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from samovar import errors
from samovar._native import DType, bf16, i64
from samovar.artifact import Frame
from samovar.errors import marked_text
from samovar.frontend.context import KernelContext, Loop, LoopConfiguration, Reconsider, Specialized
from samovar.frontend.diagnostics import Reporter
from samovar.frontend.dispatch import OBJECTS
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.syntax import NamesUsed, passed_names
from samovar.ir import Array, Constant, Local, LocalArray, Operation, Parameter, Region, Spot, Value, memory
from samovar.language import promote
from samovar.lens import FunctionRef, Ref

#: Operations that change arrays, or may.
CHANGING = frozenset(("store", "atomic", "call"))
#: Operations whose results may be elements of a type that is only stored.
MOVING = frozenset(("load", "atomic", "cast"))

if TYPE_CHECKING:
    pass

Binding = Staged | Place  # what a name is bound to: a value, or a variable
Argument = TypeVar("Argument", bound=Parameter | Array)


@dataclass(frozen=True)
class Implied:
    """Names that are bound if a condition is true, and if it is false: `c and (x := f())` has bound x if true."""

    when_true: dict[str, Binding] = field(default_factory=dict)
    when_false: dict[str, Binding] = field(default_factory=dict)


@dataclass
class Results:
    """The results of a function so far."""

    returns: list[tuple[Region, Operation]] = field(default_factory=list)
    sample: Staged | None = None  # one of them
    given: int = 0  # large results of the current `return`


class Stager(Reporter):
    """Staging of one function body."""

    def __init__(
        self,
        context: KernelContext,
        function: FunctionRef,
        *,
        region: Region,
        locals: list[Local | LocalArray],
        frames: tuple[Frame, ...],
        specialized: Specialized | None = None,
        top_level: bool = False,
        staged_as: object = None,
    ) -> None:
        super().__init__(context, function, frames)
        self.staged_as = staged_as  # identifies this specialization or expansion of a func
        self.region = region
        self.locals: list[Local | LocalArray] = locals
        self.specialized = specialized
        self.top_level = top_level
        self.names: dict[str, Binding] = {}
        self.lost: dict[str, str] = {}
        self.undecided: dict[str, tuple[Staged, Staged]] = {}  # names with one of two values
        self.unrolled: dict[str, Binding] = {}  # the last values of unrolled loop variables
        self.hints: dict[str, Place] = {}  # variables for names at their first binding
        self.free: dict[str, Staged] = {}
        self.arrays: dict[Ref, Staged] = {}  # arguments of the launch, as the function sees them
        self.attributes: dict[tuple[Ref, str], Staged] = {}  # of objects, fully resolved
        self.loops: list[Loop] = []
        self.task_locals: list[Local | LocalArray] | None = None  # of the enclosing parallel task, if any
        self.task: tuple[tuple[Value, Value, Value], ...] | None = None  # its variables and their bounds, outermost first
        self.outer_locals: frozenset[Local | LocalArray] = frozenset()  # locals shared by the iterations of that task
        self.static_depth = 0
        self.known_conditions = 0  # the number of enclosing compile-time `if`s
        self.line = function.first_line
        self.statement: ast.stmt | None = None  # being staged
        self.configuration: LoopConfiguration | None = None
        self.completed: dict[ast.AST, Place] = {}  # for loops with an `else` that a break skips
        self.ended = False  # the following statements are unreachable
        self.results = Results()
        self.expanded: Callable[[ast.Return], None] | None = None  # handles the return of a func expanded inline
        self.used = NamesUsed()  # what the function does with names: those it stores are never globals
        self.once: set[str] = set()  # names that are values, not variables
        self.fixed: set[str] = set()  # names that cannot be assigned: parameters of a kernel
        self.values: dict[str, str] = {}  # template parameters that are not variables of the caller, and what they are
        self.implied: dict[Value, Implied] = {}  # conditions that imply that their operands were evaluated

    # --- code

    def emit(self, code: str, type: DType | None, operands: tuple[Value, ...] = (), payload: Any = None) -> Operation:
        operation = Operation(code, type, operands, payload, self.line)
        if type is bf16 and code not in MOVING:
            self.fail_as_element(f"`{code}` in bf16")
        self.region.operations.append(operation)
        if self.context.named_expressions and code in CHANGING:
            self.note_changes(operation)
        return operation

    def fail_as_element(self, what: str) -> NoReturn:
        """Reject a value of a type that is only stored."""
        message = f"{what} is not supported: bf16 is a type of memory, for elements of arrays and fields"
        where = ast.copy_location(ast.Pass(), self.source.node)
        if self.line:
            text = self.source.lines[int(self.line) - 1].rstrip()
            where.lineno = where.end_lineno = int(self.line)
            where.col_offset, where.end_col_offset = len(text) - len(text.lstrip()), len(text)
        advice = "use f32: elements become f32 when they are read, and are rounded when they are written"
        self.fail_type(where, message, advice)

    def note_changes(self, operation: Operation) -> None:
        """Tell array expressions with names that an operation may change what they read."""
        for array in (memory(operation), *operation.operands):
            if isinstance(array, Array):
                for named in self.context.named_expressions:
                    named.changes(self, array)

    def spot(self, node: ast.AST) -> int:
        """The line of a node; with columns if messages show the evaluated source."""
        if not (self.context.by_call_path and self.line and isinstance(node, (ast.expr, ast.stmt))):
            return self.line
        ends_here = node.end_lineno == node.lineno and node.end_col_offset is not None
        end: int = node.end_col_offset if ends_here else -1  # type: ignore[assignment]
        text = marked_text(self.source.lines, node.lineno, node.col_offset, end)
        return Spot(node.lineno, node.col_offset, end, text)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Attribute emitted code to a node."""
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
        """Emit code to another region for a while."""
        outer, self.region = self.region, region
        try:
            yield region
        finally:
            self.region = outer

    @contextmanager
    def in_static(self) -> Iterator[None]:
        """Mark questions as asked by a `static`."""
        self.context.lens.enter_static(1)
        try:
            yield
        finally:
            self.context.lens.enter_static(-1)

    @contextmanager
    def unwritten(self) -> Iterator[None]:
        """Emit operations that no user wrote: they may wrap, and are not checked in debug mode."""
        line, self.line = self.line, 0
        try:
            yield
        finally:
            self.line = line

    @contextmanager
    def scope(self, reason: str) -> Iterator[dict[str, Binding]]:
        """A scope: names first bound inside are not visible after it; `reason` explains later uses. Yields the names."""
        outer, top_level, ended = self.names, self.top_level, self.ended
        self.names = dict(outer)
        self.top_level = self.top_level and self.context.decisions.marks_parallel and self.task is None
        try:
            yield self.names
        finally:
            after = dict(outer)
            for name, binding in self.names.items():
                # A fixed value that was rebound inside has two values after it, and no variable to distinguish them.
                if outer.get(name) is not binding:
                    self.lost[name] = reason
                    self.leave_undecided(name, outer.get(name), binding)
                    after.pop(name, None)
            self.names, self.top_level, self.ended = after, top_level, ended

    @contextmanager
    def operand(self, implied: dict[str, Binding]) -> Iterator[dict[str, Binding]]:
        """Code that may not be evaluated: names it binds may be unassigned after it. `implied` names are bound inside."""
        if self.used.binds_in_expressions:
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
        """The names known to be bound if a condition holds, and if it does not."""
        values = condition.ir_values()
        return self.implied.get(values[0], Implied()) if len(values) == 1 else Implied()

    def want_variable(self, name: str) -> None:
        """Make a name a variable, because a callee may modify it. If it was taken for a value, staging restarts.

        The other names that the function passes on become variables too: one restart per function is enough.
        """
        known = self.context.decisions.variables.setdefault(self.function.identity, set())
        is_own = name in self.once or any(name == parameter.name for parameter in self.function.parameters)
        if is_own and name not in self.fixed and name not in known:
            known |= {name, *passed_names(self.source.node)}
            raise Reconsider

    def new_array(self, name: str, dtype: DType, shape: tuple[int, ...]) -> LocalArray:
        """Memory of the function, of the iteration of a task, or of the kernel, like a local."""
        private = self.task_locals is not None or self.specialized is not None
        if dtype is bf16:
            self.fail_as_element(f"the local array `{name}` of bf16")
        array = LocalArray(name, dtype, shape, private=private)
        self.locals.append(array)
        return array

    def result_array(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """The memory for a large result of a func: the caller's, the same for every `return`."""
        specialized = self.specialized
        assert specialized is not None
        if self.results.given == len(specialized.results):
            wanted = LocalArray("result", dtype, shape, private=True)
            specialized.results.append(self.visible(wanted))
        array = specialized.results[self.results.given]
        self.results.given += 1
        if array.dtype is not dtype or array.extents != shape:
            self.fail_type(self.source.node, "every `return` of a function must return matrices of the same shape and dtype")
        return array

    def want_memory(self, name: str, home: object = None) -> None:
        """Move a vector that has a run-time index to memory. If it was in registers, staging restarts."""
        known = self.context.decisions.in_memory.setdefault(home or self.function.identity, set())
        if name not in known:
            known.add(name)
            raise Reconsider

    def want_serial(self, name: str) -> None:
        """Make the current parallel loop serial, because its iterations assign a shared variable. If the options allow that,
        staging restarts."""
        place = next((loop.place for loop in self.loops if loop.kind == "parallel"), None)
        if place is None or self.context.lens.options.shared_variables != "serial":
            return
        self.context.decisions.serial[place] = name
        raise Reconsider

    def want_type(self, local: Local, dtype: DType) -> bool:
        """Widen a local that is too narrow for an assigned value. If it was initialized with a plain number, it gets another
        type, and staging restarts at its end. False for all others."""
        birthplace = self.context.births.get(local)
        if birthplace is None or not self.context.widens or self.context.lens.options.literal_locals != "widest":
            return False
        wanted = self.context.wanted_types
        wanted[birthplace] = promote(wanted.get(birthplace, local.type), dtype)
        return True

    def memory_names(self) -> set[str]:
        """The names of vectors that must be in memory."""
        return self.context.decisions.in_memory.get(self.function.identity, set())

    def new_local(self, name: str, dtype: DType) -> Local:
        if dtype is bf16:
            self.fail_as_element(f"the variable `{name}` of type bf16")
        local = Local(name, dtype, self.line)
        self.locals.append(local)
        return local

    def frame(self) -> Frame:
        return Frame(self.function.name, self.source.file, int(self.line))

    def call_path(self) -> tuple[Frame, ...]:
        """The location of the code being staged, innermost first."""
        return (self.frame(), *self.frames)

    def iteration(self) -> Value | None:
        """The number of the current iteration of the task, from 0, for messages; None in serial code."""
        if self.task is None or self.specialized is not None:
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
        binding = self.names.get(name)
        return self.load_free(name, node) if binding is None else binding.load(self)

    def leave_undecided(self, name: str, first: Binding | None, second: Binding) -> None:
        """Record that a name has one of two values from here on, which a run-time condition cannot choose between."""
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
                f"`{name}` is {either(first.describe(), second.describe())}, depending on a run-time condition, but only"
                " numbers, vectors and structs can be chosen at run time",
                second.advice_for_choice,
                errors.SamovarNameError,
            )
        if name in self.lost or name in self.used.stored:
            reason = f"it is only assigned {self.lost[name]}" if name in self.lost else "it is only assigned later"
            self.fail(
                node,
                f"`{name}` may be unassigned here: {reason}",
                f"assign `{name}` earlier, so that it has a type and a value on every path",
                errors.SamovarNameError,
            )
        known = self.free.get(name)
        if known is None:
            ref = self.function.resolve(name)
            if ref is None:
                self.fail(node, f"name `{name}` is not defined", self.suggestion(name), errors.SamovarNameError)
            known = self.open(ref, node)
            if not known.is_in_memory():  # memory written here is not initialized on other paths
                self.free[name] = known
        return known

    def suggestion(self, name: str) -> str | None:
        parameters = [parameter.name for parameter in self.function.parameters]
        close = self.function.close_name(name, (*parameters, *self.names, *self.lost))
        return f"did you mean `{close}`?" if close else None

    def open(self, ref: Ref, node: ast.AST) -> Staged:
        """The staged value of a user object."""
        return OBJECTS[ref.kind()](self, ref, node)

    def visible(self, argument: Argument) -> Argument:
        """An argument of the kernel as this function sees it: itself, or the parameter that passes it into a `func`."""
        if self.specialized is None:
            return argument
        inner = self.specialized.captured.get(argument)
        if inner is None:
            inner = parameter_for(argument, argument.name)
            self.specialized.captured[argument] = inner
            self.specialized.function.parameters.append(inner)
            if isinstance(inner, Parameter) and argument in self.context.members:
                self.context.members[inner] = self.context.members[argument]
        return inner  # type: ignore[return-value]  # of the same class


def parameter_for(argument: Argument, name: str) -> Argument:
    """The parameter of a `func` for an argument."""
    if isinstance(argument, Parameter):
        assert argument.type is not None
        return cast(Argument, Parameter(name, argument.type))
    return cast(Argument, argument.under(name))


def reserve_arrays(region: Region, locals: list[Local | LocalArray]) -> list[Local]:
    """Reserve local arrays at the beginning of a region; return the other locals."""
    arrays = [each for each in locals if isinstance(each, LocalArray)]
    region.operations[:0] = [Operation("reserve", None, (), array) for array in arrays]
    return [each for each in locals if isinstance(each, Local)]


def either(first: str, second: str) -> str:
    """Two descriptions for a message."""
    if first != second:
        return f"{first} or {second}"
    return f"one part of {first} or another" if first.startswith("the ") else f"{first} or another one"
