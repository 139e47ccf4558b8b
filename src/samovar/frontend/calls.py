"""Calls of `func`s: bound, specialised once per combination of argument types and static values, or expanded in place."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from samovar import errors
from samovar.frontend.arithmetic import as_stored, describe, number, plain, scalar
from samovar.frontend.expressions import sequence, stage
from samovar.frontend.loops import assigned_names, has_own_break
from samovar.frontend.members import check_array
from samovar.frontend.returns import require_no_result, returned_values, settle_returns
from samovar.frontend.staged import Callee, Forced, Intrinsic, Items, Outside, Reference, Space, Staged, Static, Tensor
from samovar.frontend.stager import Binding, Program, Specialised, Stager, parameter_for
from samovar.frontend.statements import stage_body, store_local
from samovar.frontend.syntax import walk
from samovar.ir import Array, Function, Local, Parameter, Region, Value, memory
from samovar.ir import walk as ir_walk
from samovar.language import (
    Annotation,
    ArrayAnnotation,
    DataclassAnnotation,
    ScalarAnnotation,
    TemplateAnnotation,
)
from samovar.lens import FunctionRef, Kind, Ref


def call_func(stager: Stager, callee: Callee, node: ast.Call) -> Staged:
    """A call of a `func` from a kernel or from another `func`."""
    function = callee.function
    if any(function.identity == active.identity for active in stager.program.active):
        cycle = " → ".join([*(active.name for active in stager.program.active), function.name])
        stager.fail(
            node,
            f"`{function.name}` calls itself: {cycle}",
            "recursion is not available: write a loop",
            errors.SamovarCompilationError,
        )
    definition = function.source().node
    changing = may_change(definition)
    arguments = bind_arguments(stager, callee, changing, node)
    if function.options.get("requires_top_level") and not stager.top_level:
        stager.fail(
            node,
            f"`{function.name}` must be called at the top level of a kernel",
            "move the call out of the loop or of the `if`",
        )
    references = {name: value for name, value in arguments.items() if isinstance(value, Local)}
    in_place = stager.top_level and has_loop(definition.body) and not returns_from_loop(definition)
    if not in_place and not shares_variables(stager, references):
        return call_specialised(stager, function, arguments, node)
    staged = {
        name: convert_argument(stager, function, name, value, node)
        for name, value in arguments.items()
        if not isinstance(value, Local)
    }
    before = len(stager.region.operations), len(stager.locals)
    try:
        return expand(stager, function, definition, staged, references)
    except ReturnsEarly as returning:
        if shares_variables(stager, references):
            raise returning.error from None
        # What it returns from may not run: the whole func becomes serial code.
        stager.program.staging = stager
        del stager.region.operations[before[0] :], stager.locals[before[1] :]
        warn_about_serial_loops(stager, function, definition, node)
        return call_specialised(stager, function, arguments, node)


# --- arguments


def bind_arguments(stager: Stager, callee: Callee, changing: set[str], node: ast.Call) -> dict[str, Binding]:
    """Arguments by parameter name: the object of a method, positional, keyword, default.

    Those that a template parameter may change stay variables.
    """
    function = callee.function
    names = [parameter.name for parameter in function.parameters]
    by_reference = changing.intersection(p.name for p in function.parameters if isinstance(p.annotation, TemplateAnnotation))
    positional: list[Binding] = [] if callee.receiver is None else [callee.receiver]
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            positional.extend(sequence(stager, stage(stager, argument.value), argument))
        else:
            name = names[len(positional)] if len(positional) < len(names) else ""
            positional.append(stage_argument(stager, argument, name in by_reference))
    keywords: dict[str, Binding] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
        keywords[keyword.arg] = stage_argument(stager, keyword.value, keyword.arg in by_reference)
    by_name = [parameter.name for parameter in function.parameters if parameter.kind == "keyword only"]
    places = len(names) - len(by_name)
    if len(positional) > places:
        stager.fail_type(
            node,
            f"`{function.name}` takes {places} {'positional ' if by_name else ''}arguments, got {len(positional)}",
            f"give {', '.join(f'`{name}`' for name in by_name)} by name: `{by_name[0]}=…`" if by_name else None,
        )
    by_position = {parameter.name for parameter in function.parameters if parameter.kind == "positional only"}
    bound: dict[str, Binding] = dict(zip(names, positional, strict=False))
    for name, value in keywords.items():
        if name not in names:
            stager.fail_type(node, f"`{function.name}` has no parameter `{name}`", f"its parameters are {', '.join(names)}")
        if name in by_position:
            stager.fail_type(node, f"`{function.name}` takes `{name}` by position only", "write its value without the name")
        if name in bound:
            stager.fail_type(node, f"`{function.name}` gets two values for `{name}`")
        bound[name] = value
    for parameter in function.parameters:
        if parameter.name not in bound:
            if parameter.default is None:
                stager.fail_type(node, f"`{function.name}` needs a value for `{parameter.name}`")
            bound[parameter.name] = stager.open(parameter.default, node)
    return {name: bound[name] for name in names}


def stage_argument(stager: Stager, node: ast.expr, by_reference: bool) -> Binding:
    """An argument. A variable that is taken by reference stays one; others are read before what follows changes them."""
    if by_reference and isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        if isinstance(binding, Local):
            return binding
        if node.id in stager.once and isinstance(binding, Value) and binding.type is not None:
            stager.must_be_variable(node.id)
    return plain(stage(stager, node))


def may_change(definition: ast.FunctionDef) -> set[str]:
    """The parameters that a body may change: it assigns them, or passes them on to a func that may."""
    from samovar.frontend.lowering import passed_names

    return assigned_names(definition.body) | passed_names(definition)


def shares_variables(stager: Stager, references: dict[str, Local]) -> bool:
    """Is a variable changed that others see meanwhile: other iterations of a task, or another parameter?"""
    variables = list(references.values())
    return any(local in stager.outer_locals or variables.count(local) > 1 for local in variables)


def convert_argument(stager: Stager, function: FunctionRef, name: str, value: Staged, node: ast.AST) -> Staged:
    """An argument as its parameter's annotation wants it."""
    annotation: Annotation | None = next(p.annotation for p in function.parameters if p.name == name)
    if isinstance(annotation, ScalarAnnotation):
        if not isinstance(value, Value) and number(value) is None:
            stager.fail_type(node, f"`{name}` of `{function.name}` must be a number, got {describe(value)}")
        return as_stored(stager, value, annotation.resolved(stager.program.lens.options), node)
    if isinstance(annotation, ArrayAnnotation):
        if not isinstance(value, Tensor):
            if isinstance(value, Static) and value.value is None:
                return value
            stager.fail_type(node, f"`{name}` of `{function.name}` must be an array, got {describe(value)}")
        check_array(stager, annotation, value.array, f"`{name}` of `{function.name}`", node)
        return value
    if isinstance(annotation, DataclassAnnotation):
        check_dataclass(stager, annotation, value, f"`{name}` of `{function.name}`", node)
        return value
    if isinstance(annotation, TemplateAnnotation) or number(value) is None:
        return value
    return scalar(stager, value, node)


def check_dataclass(stager: Stager, annotation: DataclassAnnotation, value: Staged, what: str, node: ast.AST) -> None:
    """An object has to be of the dataclass that an annotation says, or of one derived from it."""
    if isinstance(value, Static) and value.value is None:
        return
    if not isinstance(value, Outside) or value.kind is not Kind.OBJECT:
        stager.fail_type(node, f"{what} must be a {annotation}, got {describe(value)}")
    if not value.ref.is_instance(annotation.key()[1]):
        stager.fail_type(node, f"{what} must be a {annotation}, and `{value.ref.path}` is a {value.ref.type_name()}")


# --- specialisations


def gradient_source(tensor: Tensor) -> Ref | None:
    """Where an array with a gradient comes from. `.grad` is reached through that path, so a func is bound to it."""
    return tensor.ref if tensor.ref is not None and tensor.ref.tensor().needs_grad else None


class Signature:
    """Flattens arguments: run-time leaves become operands, everything else becomes part of the key."""

    def __init__(self, stager: Stager, node: ast.AST) -> None:
        self.stager = stager
        self.node = node
        self.operands: list[Value] = []

    def describe(self, value: Staged) -> Any:
        if isinstance(value, Forced):
            return self.describe(value.value)
        if isinstance(value, Tensor):
            self.operands.append(value.array)
            array, source = value.array, gradient_source(value)
            layout = (array.dtype, array.ndim, array.contiguous, array.wide, array.boundary, array.extents)
            return ("array", layout, self.operands.index(array), None if source is None else source.path)
        if isinstance(value, Value):
            self.operands.append(value)
            return ("value", value.type)
        if isinstance(value, Items):
            return ("items", value.index, value.is_list, tuple(self.describe(item) for item in value.items))
        if isinstance(value, Static):
            # Of floats the text: two zeros are equal, and a NaN is not.
            exact = repr(value.value) if isinstance(value.value, float) else value.value
            return ("static", value.value.__class__, exact, None if value.origin is None else value.origin.path)
        if isinstance(value, Callee):
            receiver = None if value.receiver is None else self.describe(value.receiver)
            return ("func", value.function.identity, receiver)
        if isinstance(value, Intrinsic):
            return ("intrinsic", value.name)
        if isinstance(value, Outside):
            return ("outside", value.ref.path)
        if isinstance(value, Reference):
            self.operands.append(self.stager.emit("load_local", value.local.type, (), value.local))
            return ("reference", value.local.type)
        if isinstance(value, Space):
            self.stager.fail_type(self.node, "an iteration space cannot be an argument", "pass its bounds")
        self.stager.fail_type(self.node, f"{describe(value)} cannot be an argument")


class Entrance:
    """The other side of a `Signature`: parameters for the run-time leaves, the rest as it is."""

    def __init__(self) -> None:
        self.parameters: list[Parameter | Array] = []

    def enter(self, name: str, value: Staged) -> Staged:
        if isinstance(value, Forced):
            return self.enter(name, value.value)
        if isinstance(value, Tensor):
            inner = parameter_for(value.array, name)
            self.parameters.append(inner)
            return Tensor(inner, gradient_source(value))
        if isinstance(value, Value):
            assert value.type is not None
            parameter = Parameter(name, value.type)
            self.parameters.append(parameter)
            return parameter
        if isinstance(value, Reference):
            parameter = Parameter(name, value.local.type)
            self.parameters.append(parameter)
            return parameter
        if isinstance(value, Items):
            entered = tuple(self.enter(f"{name}_{position}", item) for position, item in enumerate(value.items))
            return Items(entered, value.index, value.is_list)
        return value


def call_specialised(
    stager: Stager, function: FunctionRef, arguments: dict[str, Binding], node: ast.Call
) -> Staged:
    """Call a func that is lowered once for arguments like these; what it may change goes in and comes back."""
    program = stager.program
    staged = {
        name: Reference(value) if isinstance(value, Local) else convert_argument(stager, function, name, value, node)
        for name, value in arguments.items()
    }
    signature = Signature(stager, node)
    described = tuple(signature.describe(value) for value in staged.values())
    path = stager.call_path() if program.by_call_path else ()
    key = (function.identity, described, path)
    done = program.specialised.get(key)
    if done is None:
        done = program.specialised[key] = specialise(stager, function, staged, node)
    operands = [*signature.operands, *(stager.visible(array) for array in done.captured)]
    results = call_results(stager, done.function, tuple(operands))
    count = len(results) - len(done.changed)
    for name, value in zip(done.changed, results[count:], strict=True):
        reference = staged[name]
        assert isinstance(reference, Reference)
        store_local(stager, reference.local, value)
    if done.result == "none":
        return Static(None)
    return results[0] if done.result == "scalar" else Items(tuple(results[:count]))


def call_results(stager: Stager, function: Function, operands: tuple[Value, ...]) -> list[Value]:
    """Emit a call; the results one by one."""
    returns = function.returns
    call = stager.emit("call", returns[0] if len(returns) == 1 else None, operands, function)
    if len(returns) == 1:
        return [call]
    return [stager.emit("extract", dtype, (call,), position) for position, dtype in enumerate(returns)]


def is_changed(body: Region, local: Local) -> bool:
    """Is the copy of a parameter assigned, after it got its first value?"""
    stores = [each for each in ir_walk(body) if each.code in ("store_local", "atomic") and memory(each) is local]
    return len(stores) > 1


def specialise(stager: Stager, function: FunctionRef, staged: dict[str, Staged], node: ast.Call) -> Specialised:
    """Lower a func for these argument types."""
    program = stager.program
    entrance = Entrance()
    names = {name: entrance.enter(name, value) for name, value in staged.items()}
    region = Region()
    lowered = Function(
        unique_name(program, function.name), entrance.parameters, (), region, file=function.file, frames=stager.call_path()
    )
    done = Specialised(lowered)
    inner = Stager(program, function, region=region, locals=lowered.locals, frames=stager.call_path(), specialised=done)
    definition = inner.source.node
    bind_parameters(inner, definition, names, staged)
    copies = {name: local for name in staged if isinstance(local := inner.names.get(name), Local)}
    run_body(inner, definition)
    changed = {
        name: copies[name]
        for name, value in staged.items()
        if isinstance(value, Reference) and is_changed(region, copies[name])
    }
    done.changed = tuple(changed)
    lowered.returns = settle_returns(inner, definition, tuple(changed.values()))
    done.result = inner.result_form or "none"
    program.kernel.functions.append(lowered)
    return done


def bind_parameters(
    inner: Stager, definition: ast.FunctionDef, names: dict[str, Staged], given: dict[str, Staged]
) -> None:
    """Parameters of a func are its own copies: one that the body may change becomes a variable.

    A template parameter is no copy: it is a variable of the caller, or something that cannot be assigned. `given` is what
    the caller has for it.
    """
    changed = may_change(definition) | inner.program.variables.get(inner.function.identity, set())
    templates = {p.name for p in inner.function.parameters if isinstance(p.annotation, TemplateAnnotation)}
    for name, value in names.items():
        if name in templates and not isinstance(given[name], Reference):
            inner.values[name] = described_value(inner, given[name])
            inner.names[name] = value
        elif name in changed and isinstance(value, Value) and value.type is not None:
            local = inner.new_local(name, value.type)
            inner.emit("store_local", None, (value,), local)
            inner.names[name] = local
        else:
            inner.names[name] = value


def described_value(stager: Stager, value: Staged) -> str:
    member = stager.program.members.get(value) if isinstance(value, Value) else None
    if member is not None:
        return f"the member `{member.path}`"
    return "a value that is no variable" if isinstance(value, Value) else describe(value)


def run_body(inner: Stager, definition: ast.FunctionDef) -> None:
    from samovar.frontend.lowering import classify_names

    classify_names(inner, definition)
    inner.program.active.append(inner.function)
    try:
        stage_body(inner, definition.body)
    finally:
        inner.program.active.pop()


def unique_name(program: Program, name: str) -> str:
    taken = {function.name for function in program.kernel.functions}
    candidates = (name if count == 0 else f"{name}_{count}" for count in range(len(taken) + 1))
    return next(candidate for candidate in candidates if candidate not in taken)


# --- in place


class ReturnsEarly(Exception):
    """A func cannot be expanded in place, because it returns under a condition or from a loop."""

    def __init__(self, error: errors.SamovarError) -> None:
        self.error = error  # for where it has to be expanded


def warn_about_serial_loops(
    stager: Stager, function: FunctionRef, definition: ast.FunctionDef, node: ast.Call
) -> None:
    """Say so if a loop that would be parallel is not, because of a `return` somewhere else in its func."""
    loops = [each for each in definition.body if isinstance(each, ast.For)]
    if not all(has_own_break(loop.body) for loop in loops):
        stager.warn(
            node,
            f"`{function.name}` returns under a condition or from a loop, so all of it runs as serial code, its other loops"
            " too; for parallel loops, return at the end only",
        )


def returns_from_loop(definition: ast.FunctionDef) -> bool:
    """Is there a `return` inside of a loop?"""
    loops = [each for each in walk(definition) if isinstance(each, (ast.For, ast.While))]
    return any(isinstance(each, ast.Return) for loop in loops for each in walk(loop))


def has_loop(body: list[ast.stmt]) -> bool:
    """Whether a func has loops that would be tasks if it is called at the top level, or calls that may have some."""
    for statement in body:
        for inner in walk(statement):
            if isinstance(inner, ast.For):
                return True
    return any(isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) for statement in body)


def expand(
    stager: Stager,
    function: FunctionRef,
    definition: ast.FunctionDef,
    staged: dict[str, Staged],
    references: Mapping[str, Local],
) -> Staged:
    """Stage the body of a func where it is called, so that its loops stay tasks and its references stay variables."""
    inner = Stager(
        stager.program,
        function,
        region=stager.region,
        locals=stager.locals,
        frames=stager.call_path(),
        specialised=stager.specialised,
        top_level=stager.top_level,
    )
    inner.outer_locals, inner.task_locals, inner.loops = stager.outer_locals, stager.task_locals, []
    results: list[Staged] = [Static(None)]

    def take(statement: ast.Return) -> None:
        if inner.region is not stager.region:  # a condition or a loop that is known at run time only is around it
            message = f"`{function.name}` changes a variable that iterations share, or that it gets twice: it returns last"
            raise ReturnsEarly(inner.error(statement, message, "use one `return`, as the last statement"))
        values, form = returned_values(inner, statement)
        items: tuple[Staged, ...] = values
        results[0] = Static(None) if form == "none" else items[0] if form == "scalar" else Items(items)
        inner.ended = True

    inner.expanded = take
    bind_parameters(inner, definition, staged, staged)
    inner.names.update(references)
    run_body(inner, definition)
    if isinstance(results[0], Static) and results[0].value is None:
        require_no_result(inner, definition)
    return results[0]
