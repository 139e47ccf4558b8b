"""From a function, seen through the lens, to a typed IR kernel."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from samovar.artifact import Notice
from samovar.frontend.intrinsics import INTRINSICS
from samovar.frontend.members import check_array
from samovar.frontend.returns import settle_returns
from samovar.frontend.stager import Place, Program, Reconsider, Stager
from samovar.frontend.statements import stage_body
from samovar.frontend.syntax import walk
from samovar.ir import Kernel, Region, ResultForm
from samovar.language import ArrayAnnotation, DataclassAnnotation, ScalarAnnotation
from samovar.lens import Kind, Lens

#: The names of the functions that the frontend implements: none but the atomics changes an argument. A `func` may have such
#: a name too; where it changes its argument after all, staging begins again (see `Reconsider`).
KNOWN_NAMES = frozenset(name.rpartition(".")[2] for name in INTRINSICS)


@dataclass(frozen=True)
class Lowered:
    """The kernel, and warnings about its text."""

    kernel: Kernel
    notices: tuple[Notice, ...]


def lower(lens: Lens) -> Lowered:
    """Stage the kernel that a lens looks at."""
    variables: dict[object, set[str]] = {}
    warned: set[Place] = set()
    try:
        while True:
            kernel = Kernel(lens.kernel.name, [], (), Region(), file=lens.kernel.file)
            program = Program(lens, kernel, variables, warned)
            lens.looked_from(program.position)
            with suppress(Reconsider):  # each time, there is one name more
                return stage_kernel(program)
    finally:
        lens.looked_from(None)  # the trace of a lens lives longer than a program


def stage_kernel(program: Program) -> Lowered:
    """Stage the body of a kernel, after its parameters."""
    lens, kernel, region = program.lens, program.kernel, program.kernel.body
    function = lens.kernel
    stager = Stager(program, function, region=region, locals=kernel.locals, frames=(), top_level=True)
    definition = stager.source.node
    bind_parameters(stager, lens, definition)
    classify_names(stager, definition)
    program.active.append(function)
    stage_body(stager, definition.body)
    kernel.returns = settle_returns(stager, definition)
    kernel.result_form = result_form(stager)
    return Lowered(kernel, tuple(program.notices.values()))


def result_form(stager: Stager) -> ResultForm:
    """How Python sees what a kernel returns."""
    if stager.result_form in (None, "none"):
        return None
    return tuple(range(len(stager.program.kernel.returns))) if stager.result_form == "tuple" else 0


def bind_parameters(stager: Stager, lens: Lens, definition: ast.FunctionDef) -> None:
    """The parameters of a kernel: scalars at run time, arrays and templates as the lens sees them. Only what is used."""
    used = {node.id for node in walk(definition) if isinstance(node, ast.Name)}
    for parameter in stager.function.parameters:
        name = parameter.name
        stager.fixed.add(name)
        if name not in used:
            continue
        annotation = parameter.annotation
        ref = lens.parameter(name)
        if isinstance(annotation, ScalarAnnotation):
            stager.names[name] = stager.program.scalar(ref, annotation.resolved(lens.options))
            continue
        if isinstance(annotation, DataclassAnnotation):
            stager.program.typed.add(name)
            if ref.kind() is Kind.OBJECT:
                ref.is_instance(annotation.key()[1])  # so that an object of another class is no lookup's answer
        stager.names[name] = stager.open(ref, definition)
        if isinstance(annotation, ArrayAnnotation) and ref.kind() is Kind.TENSOR:
            array = stager.program.array(ref)
            array.boundary = annotation.boundary
            check_array(stager, annotation, array, f"`{name}`", definition)


def classify_names(stager: Stager, definition: ast.FunctionDef) -> None:
    """Find the names that a function assigns; those assigned at one place and by nothing else are values, not variables."""
    counts: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    own: set[ast.AST] = set()
    for node in walk(definition):
        if isinstance(node, ast.comprehension):
            own.update(walk(node.target))  # a comprehension has names of its own
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in own:
            counts[node.id] += 1
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            changed[node.target.id] += 1  # read and written, or written where it may not be reached
            stager.binds_in_expressions |= isinstance(node, ast.NamedExpr)
    changed.update(passed_names(definition))
    changed.update(stager.program.variables.get(stager.function.identity, ()))
    stager.assigned = set(counts)
    stager.once = {name for name, count in counts.items() if count == 1 and name not in changed}


def passed_names(definition: ast.FunctionDef) -> set[str]:
    """Names that a function passes, as they are, to calls that may change them."""
    calls = [node for node in walk(definition) if isinstance(node, ast.Call) and may_change_arguments(node.func)]
    arguments = [argument for call in calls for argument in (*call.args, *(keyword.value for keyword in call.keywords))]
    return {argument.id for argument in arguments if isinstance(argument, ast.Name)}


def may_change_arguments(callee: ast.expr) -> bool:
    """Whether a call may take a variable by reference: an atomic operation, or a `func`; a guess, by its name alone."""
    name = callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""
    return name.startswith("atomic_") or name not in KNOWN_NAMES
