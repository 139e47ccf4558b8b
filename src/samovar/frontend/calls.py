"""Calls of `func`s: bound, specialised once per combination of argument types and static values, or expanded in place."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from samovar import errors
from samovar.annotations import Annotation, ArrayAnnotation, DataclassAnnotation, ScalarAnnotation, TemplateAnnotation
from samovar.frontend.arithmetic import as_type, describe, number, plain, scalar
from samovar.frontend.expressions import open_attribute, sequence, stage
from samovar.frontend.loops import assigned_names
from samovar.frontend.members import check_array
from samovar.frontend.returns import returned_values, settle_returns
from samovar.frontend.staged import Callee, Forced, Intrinsic, Items, Outside, Space, Staged, Static, Tensor
from samovar.frontend.stager import Binding, Program, Specialised, Stager, parameter_for
from samovar.ir.structure import Function, Region
from samovar.ir.values import Array, Local, Parameter, Value
from samovar.lens import FunctionRef, Kind, Ref
from samovar.syntax import walk


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
    arguments = bind_arguments(stager, callee, node)
    if function.options.get("requires_top_level") and not stager.top_level:
        stager.fail(
            node,
            f"`{function.name}` must be called at the top level of a kernel",
            "move the call out of the loop or of the `if`",
        )
    definition = function.source().node
    variables = {
        p.name: arguments[p.name]
        for p in function.parameters
        if isinstance(p.annotation, TemplateAnnotation) and isinstance(arguments[p.name], Local)
    }
    in_place = may_change(definition, variables) or (stager.top_level and has_loop(definition.body))
    if not in_place:
        variables = {}
    staged = {
        name: convert_argument(stager, function, name, value, node)
        for name, value in arguments.items()
        if name not in variables
    }
    if in_place:
        return expand(stager, function, definition, staged, variables)
    return call_specialised(stager, function, staged, node)


# --- arguments


def bind_arguments(stager: Stager, callee: Callee, node: ast.Call) -> dict[str, Binding]:
    """Arguments by parameter name: the object of a method, positional, keyword, default."""
    function = callee.function
    positional: list[Binding] = [] if callee.receiver is None else [callee.receiver]
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            positional.extend(sequence(stager, stage(stager, argument.value), argument))
        else:
            positional.append(stage_argument(stager, argument))
    keywords: dict[str, Binding] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
        keywords[keyword.arg] = stage_argument(stager, keyword.value)
    names = [parameter.name for parameter in function.parameters]
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


def stage_argument(stager: Stager, node: ast.expr) -> Binding:
    """An argument; a variable stays a variable, for parameters taken by reference."""
    if isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        if isinstance(binding, Local):
            return binding
    return plain(stage(stager, node))


def may_change(definition: ast.FunctionDef, names: Collection[str]) -> bool:
    """May a body change one of these parameters: assign it, or pass it on to a func that does?"""
    from samovar.frontend.lowering import passed_names

    if not assigned_names(definition.body).isdisjoint(names):
        return True
    # A func that returns early is not expanded in place for a mere possibility.
    return not passed_names(definition).isdisjoint(names) and not returns_early(definition)


def returns_early(definition: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Return) and node is not definition.body[-1] for node in walk(definition))


def convert_argument(stager: Stager, function: FunctionRef, name: str, value: Binding, node: ast.AST) -> Staged:
    """An argument as its parameter's annotation wants it."""
    if isinstance(value, Local):
        value = stager.emit("load_local", value.type, (), value)
    annotation: Annotation | None = next(p.annotation for p in function.parameters if p.name == name)
    if isinstance(annotation, ScalarAnnotation):
        if not isinstance(value, Value) and number(value) is None:
            stager.fail_type(node, f"`{name}` of `{function.name}` must be a number, got {describe(value)}")
        return as_type(stager, value, annotation.resolved(stager.program.lens.options), node)
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
            layout = (array.dtype, array.ndim, array.contiguous, array.wide, array.boundary, array.shape)
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
        if isinstance(value, Items):
            entered = tuple(self.enter(f"{name}_{position}", item) for position, item in enumerate(value.items))
            return Items(entered, value.index, value.is_list)
        return value


def call_specialised(stager: Stager, function: FunctionRef, staged: dict[str, Staged], node: ast.Call) -> Staged:
    program = stager.program
    signature = Signature(stager, node)
    described = tuple(signature.describe(value) for value in staged.values())
    path = stager.call_path() if program.debug else ()
    key = (function.identity, described, path)
    done = program.specialised.get(key)
    if done is None:
        done = program.specialised[key] = specialise(stager, function, staged, node)
    operands = [*signature.operands, *(stager.visible(array) for array in done.captured)]
    for parameter, operand in zip(done.function.parameters, operands, strict=True):
        if isinstance(operand, Array) and isinstance(parameter, Array):
            operand.read |= parameter.read
            operand.written |= parameter.written
    caller = None if stager.specialised is None else stager.specialised.function
    program.calls.setdefault(caller, []).append((done.function, tuple(operands)))
    returns = done.function.returns
    call = stager.emit("call", returns[0] if done.result == "scalar" else None, tuple(operands), done.function)
    if done.result == "scalar":
        return call
    if done.result == "none":
        return Static(None)
    return Items(tuple(stager.emit("extract", dtype, (call,), position) for position, dtype in enumerate(returns)))


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
    run_body(inner, definition)
    lowered.returns = settle_returns(inner, definition)
    done.result = inner.result_form or "none"
    program.kernel.functions.append(lowered)
    return done


def bind_parameters(
    inner: Stager, definition: ast.FunctionDef, names: dict[str, Staged], given: dict[str, Staged]
) -> None:
    """Parameters of a func are its own copies: one that the body assigns becomes a variable.

    A template parameter is no copy. What comes here is no variable of the caller, so it cannot be assigned; `given` is what
    the caller has for it.
    """
    changed = assigned_names(definition.body)
    templates = {p.name for p in inner.function.parameters if isinstance(p.annotation, TemplateAnnotation)}
    for name, value in names.items():
        if name in templates:
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
    from samovar.frontend.statements import stage_body

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
    references: dict[str, Binding],
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
        if statement is not definition.body[-1]:
            inner.fail(
                statement,
                f"`{function.name}` is expanded in place, because it has parallel loops or changes its"
                " arguments: it can return only at its end",
                "use one `return`, as the last statement",
            )
        values, form = returned_values(inner, statement)
        items: tuple[Staged, ...] = values
        results[0] = Static(None) if form == "none" else items[0] if form == "scalar" else Items(items)
        inner.ended = True

    inner.expanded = take
    bind_parameters(inner, definition, staged, staged)
    inner.names.update(references)
    run_body(inner, definition)
    return results[0]


# --- plain Python


def call_outside(stager: Stager, callee: Outside, node: ast.Call) -> Staged:
    """A plain Python function runs at compile time, inside `static`."""
    if callee.kind is not Kind.FUNCTION:
        stager.fail_type(node, f"{describe(callee)} cannot be called in a kernel")
    if stager.static_depth == 0:
        stager.fail_type(
            node,
            f"`{callee.ref.path}` is a plain Python function",
            "decorate it with `@sv.func`, or call it inside `sv.static(...)` to run it at compile time",
        )
    asked = ask_for_attribute(stager, callee, node)
    if asked is not None:
        return asked
    owner = callee.ref.bound_object()
    if owner is not None:
        owner.whole()
    positional, keywords = outside_arguments(stager, node)
    return stager.open(callee.ref.call(positional, keywords), node)


def outside_arguments(stager: Stager, node: ast.Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a plain function, by position and by name."""
    positional: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            items = sequence(stager, stage(stager, argument.value), argument)
            positional.extend(outside_argument(stager, item, argument) for item in items)
        else:
            positional.append(outside_argument(stager, stage(stager, argument), argument))
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
        keywords[keyword.arg] = outside_argument(stager, stage(stager, keyword.value), keyword.value)
    return tuple(positional), keywords


def ask_for_attribute(stager: Stager, callee: Outside, node: ast.Call) -> Staged | None:
    """`hasattr` and `getattr` of an object, a module or a class, as questions that are asked again at each launch; None for
    other calls."""
    path = callee.ref.path
    if path.step != "builtin" or path.key not in ("hasattr", "getattr") or node.keywords:
        return None
    if len(node.args) != 2 and (path.key, len(node.args)) != ("getattr", 3):
        return None
    owner, name = plain(stage(stager, node.args[0])), plain(stage(stager, node.args[1]))
    if not isinstance(owner, Outside) or not isinstance(name, Static) or not isinstance(name.value, str):
        return None
    there = owner.ref.attribute(name.value).kind() is not Kind.ABSENT
    if path.key == "hasattr":
        return Static(there)
    if not there and len(node.args) == 3:
        return stage(stager, node.args[2])
    return open_attribute(stager, owner, name.value, node)


def outside_argument(stager: Stager, staged: Staged, node: ast.AST) -> Any:
    """What a plain function gets: simple values, tuples of them, or references to user objects."""
    staged = plain(staged)
    if isinstance(staged, Static):
        return staged.value if staged.origin is None else staged.origin
    if isinstance(staged, Items):
        items = tuple(outside_argument(stager, item, node) for item in staged.items)
        return stager.program.lens.operate("list", items) if staged.is_list else items
    if isinstance(staged, Outside):
        if staged.kind is Kind.OBJECT:
            staged.ref.give()
        return staged.ref
    if isinstance(staged, Tensor) and staged.ref is not None:
        return staged.ref
    if isinstance(staged, Intrinsic):
        return stager.program.lens.intrinsic(staged.name)
    func = staged.function.declaration() if isinstance(staged, Callee) and staged.receiver is None else None
    if func is not None:
        return func
    what = "a run-time value" if isinstance(staged, Value) else describe(staged)
    stager.fail(node, f"a plain Python function runs at compile time and cannot take {what}")
