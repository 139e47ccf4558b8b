"""Calls of `func`s: bound, specialized once per combination of argument types and static values, or expanded inline."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from samovar import errors
from samovar.frontend import matrices, structs
from samovar.frontend.bindings import copied, referenced
from samovar.frontend.context import KernelContext, Specialized
from samovar.frontend.dispatch import call_value, stage, stage_body
from samovar.frontend.loops import has_own_break
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.members import check_array, required_view
from samovar.frontend.naming import classify_names, names_of
from samovar.frontend.places import stage_target
from samovar.frontend.returns import require_no_result, returned_value, unify_returns
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.complex import converted
from samovar.frontend.staged.outside import Outside
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.variable import Reference
from samovar.frontend.stager import Binding, Stager, parameter_for, reserve_arrays
from samovar.frontend.syntax import walk
from samovar.ir import Array, Function, Local, LocalArray, Parameter, Region, Value, memory
from samovar.ir import walk as ir_walk
from samovar.language import (
    ArrayAnnotation,
    DataclassAnnotation,
    ScalarAnnotation,
    TemplateAnnotation,
    TensorAnnotation,
    ViewAnnotation,
    part_type,
)
from samovar.lens import FunctionRef
from samovar.values import MatrixType

#: How often a func may contain itself, with other static arguments or types each time.
MOST_LEVELS = 100


@call_value.register(Callee)
def call_callee(callee: Callee, stager: Stager, node: ast.Call) -> Staged:
    if stager.static_depth and callee.plain is not None:
        return call_value(callee.plain, stager, node)
    return call_func(stager, callee, node)


def call_func(stager: Stager, callee: Callee, node: ast.Call) -> Staged:
    """A call of a `func` from a kernel or from another `func`."""
    function = callee.function
    if sum(each.path == function.path for each in stager.context.active) >= MOST_LEVELS:
        fail_for_recursion(stager, function, node)
    definition = function.source().node
    arguments = bind_arguments(stager, callee, node)
    is_outermost = stager.top_level or (stager.context.is_serial and stager.specialized is None and not stager.loops)
    if function.options.get("requires_top_level") and not is_outermost:
        stager.fail(
            node,
            f"`{function.name}` must be called at the top level of a kernel",
            "move the call out of the loop or the `if`",
        )
    references = {name: value for name, value in arguments.items() if isinstance(value, Place)}
    if references:
        arguments |= copies_of_referenced(stager, arguments, node)
    stays = function.is_of_library or function.options.get("outlined")
    may_have_tasks = stager.top_level and not stays and has_loop(definition.body)
    in_place = may_have_tasks and not returns_from_loop(definition)
    if not in_place and not shares_variables(stager, references):
        return call_specialized(stager, function, arguments, references, node)
    staged = {
        name: convert_argument(stager, function, name, value, node)
        for name, value in arguments.items()
        if isinstance(value, Staged)
    }
    before = len(stager.region.operations), len(stager.locals)
    try:
        return expand(stager, function, definition, staged, references, node)
    except ReturnsEarly as returning:
        if shares_variables(stager, references):
            raise returning.error from None
        # The code it returns from may not run: the whole func becomes serial.
        stager.context.staging = stager
        del stager.region.operations[before[0] :], stager.locals[before[1] :]
        warn_about_serial_loops(stager, function, definition, node)
        return call_specialized(stager, function, arguments, references, node)


def fail_for_recursion(stager: Stager, function: FunctionRef, node: ast.Call) -> NoReturn:
    paths = [each.path for each in stager.context.active]
    first = paths.index(function.path)
    again = paths.index(function.path, first + 1) if function.path in paths[first + 1 :] else len(paths)
    cycle = [*(each.name for each in stager.context.active[:again]), function.name]
    stager.fail(
        node,
        f"`{function.name}` calls itself: {' → '.join(cycle)}",
        "recursion has to end at compile time, at an `if sv.static(...)`; otherwise write a loop",
        errors.SamovarCompilationError,
    )


# --- arguments


def changing_names(stager: Stager, function: FunctionRef) -> set[str]:
    """The names that a func may modify."""
    variables = stager.context.decisions.variables.get(function.identity, set())
    return names_of(stager.context, function, function.source().node).assigned | variables


def bind_arguments(stager: Stager, callee: Callee, node: ast.Call) -> dict[str, Binding]:
    """Arguments by parameter name: the object of a method, positional, keyword, default.

    Those that a template parameter may modify remain variables.
    """
    function = callee.function
    binding = function.binding
    names, by_name = binding.names, binding.by_name
    # All other arguments are copies.
    changing = changing_names(stager, function) if binding.templates or callee.receiver is not None else set()
    by_reference = changing & binding.templates
    positional: list[Binding] = []
    if callee.receiver is not None:
        positional.append(stage_receiver(stager, callee, names[0] in changing if names else False, node))
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            items = stage(stager, argument.value).sequence(stager, argument)
            positional.extend(item.unforced() for item in items)
        else:
            name = names[len(positional)] if len(positional) < len(names) else ""
            positional.append(stage_argument(stager, argument, name in by_reference))
    keywords: dict[str, Binding] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not supported in kernels", "pass each argument by name")
        keywords[keyword.arg] = stage_argument(stager, keyword.value, keyword.arg in by_reference)
    places = len(names) - len(by_name)
    if len(positional) > places:
        stager.fail_signature(
            node,
            f"`{function.name}` takes {places} {'positional ' if by_name else ''}arguments, got {len(positional)}",
            f"pass {', '.join(f'`{name}`' for name in by_name)} by name: `{by_name[0]}=…`" if by_name else None,
        )
    bound: dict[str, Binding] = dict(zip(names, positional, strict=False))
    for name, value in keywords.items():
        if name not in names:
            advice = f"its parameters are {', '.join(names)}"
            close = errors.did_you_mean(name, names)
            stager.fail_signature(node, f"`{function.name}` has no parameter `{name}`{close}", advice)
        if name in binding.by_position:
            advice = "pass the value without the name"
            stager.fail_signature(node, f"`{function.name}` takes `{name}` by position only", advice)
        if name in bound:
            stager.fail_signature(node, f"`{function.name}` got multiple values for `{name}`")
        bound[name] = value
    if len(bound) == len(names) and not keywords:
        return bound
    for parameter in function.parameters:
        if parameter.name not in bound:
            if parameter.default is None:
                message = f"`{function.name}` is missing the argument `{parameter.name}`"
                stager.fail_signature(node, message, f"its parameters are {', '.join(names)}")
            bound[parameter.name] = stager.open(parameter.default, node)
    return {name: bound[name] for name in names}


def stage_receiver(stager: Stager, callee: Callee, is_changed: bool, node: ast.Call) -> Binding:
    """The object of a method. A struct that the method modifies is the variable or element that it is called on."""
    receiver = callee.receiver
    assert receiver is not None
    if isinstance(receiver, Place):
        return receiver if is_changed else receiver.load(stager)
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if is_changed and receiver.is_struct() and isinstance(owner, ast.Name):
        if owner.id in stager.fixed:
            stager.fail(
                node,
                f"`{callee.function.name}` modifies the struct it is called on, but `{owner.id}` is a parameter of the"
                " kernel",
                f"copy it to a new name first: `{owner.id}_copy = {owner.id}`",
            )
        stager.want_variable(owner.id)
    return receiver


def stage_argument(stager: Stager, node: ast.expr, by_reference: bool) -> Binding:
    """An argument. A variable passed by reference stays one; others are read before later arguments modify them."""
    if by_reference and isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        if isinstance(binding, Place):
            return binding
        if binding is not None and binding.is_run_time():
            stager.want_variable(node.id)
    if by_reference and isinstance(node, (ast.Subscript, ast.Attribute)):
        target = stage_target(stager, node)
        return target if target.can_be_referred() else target.load(stager)
    return stage(stager, node)


def shares_variables(stager: Stager, references: dict[str, Place]) -> bool:
    """Whether a modified variable is visible elsewhere: to other iterations of a task, or through another parameter."""
    locals_ = [local for place in references.values() for local in place.locals()]
    return any(local in stager.outer_locals or locals_.count(local) > 1 for local in locals_)


def copies_of_referenced(stager: Stager, arguments: dict[str, Binding], node: ast.AST) -> dict[str, Staged]:
    """Copies of arguments passed by value that are in memory the func may modify, because it gets it by reference too."""
    changed = {array for place in arguments.values() if isinstance(place, Place) for array in place.arrays()}
    return {
        name: value.current(stager, node)
        for name, value in arguments.items()
        if changed and isinstance(value, Staged) and not changed.isdisjoint(value.ir_values())
    }


def convert_argument(stager: Stager, function: FunctionRef, name: str, value: Staged, node: ast.AST) -> Staged:
    """An argument converted to its parameter's annotation."""
    annotation = function.binding.annotations[name]
    if annotation.__class__ is ScalarAnnotation and value.is_number():  # the usual case
        return convert_number(stager, annotation, value, f"`{name}` of `{function.name}`", node)
    if annotation is not None and annotation.is_struct:
        return structs.convert_argument(stager, annotation, value, f"`{name}` of `{function.name}`", node)
    rule = ARGUMENTS.get(annotation.__class__)
    if rule is None:
        return value if function.is_of_library else value.as_argument(stager, node)
    return rule(stager, annotation, value, f"`{name}` of `{function.name}`", node)


def convert_number(stager: Stager, annotation: ScalarAnnotation, value: Staged, what: str, node: ast.AST) -> Staged:
    dtype = annotation.resolved(stager.context.lens.options)
    if part_type(dtype) is not None:
        return converted(stager, value, dtype, node, Keeper(what, "passing"))
    if not value.is_number():
        stager.fail_type(node, f"{what} must be a number, got {value.describe()}")
    return Scalar(kept(stager, value, dtype, node, Keeper(what, "passing")))


def convert_matrix(stager: Stager, annotation: MatrixType, value: Staged, what: str, node: ast.AST) -> Staged:
    return matrices.converted(stager, annotation, value, what, node, Keeper(what, "passing"))


def require_array(stager: Stager, annotation: ArrayAnnotation, value: Staged, what: str, node: ast.AST) -> Staged:
    part = value.part_of_tensor()
    if part is not None:
        check_array(stager, annotation, part[0], what, node, part[1])
    elif not value.is_none():
        stager.fail_type(node, f"{what} must be an array, got {value.describe()}", value.advice_for_array)
    return value


def require_view(stager: Stager, annotation: ViewAnnotation, value: Staged, what: str, node: ast.AST) -> Staged:
    return value if value.is_none() else required_view(value, stager, annotation, what, node)


def require_tensor(stager: Stager, annotation: TensorAnnotation, value: Staged, what: str, node: ast.AST) -> Staged:
    if not (value.is_array() or value.is_none()):
        stager.fail_type(node, f"{what} must be an array or a field, got {value.describe()}", value.advice_for_array)
    return value


def require_dataclass(
    stager: Stager, annotation: DataclassAnnotation, value: Staged, what: str, node: ast.AST
) -> Staged:
    """Check that an object is an instance of the annotated dataclass, or of a subclass."""
    if value.is_none():
        return value
    if not isinstance(value, Outside) or not value.is_opaque():
        stager.fail_type(node, f"{what} must be a {annotation}, got {value.describe()}")
    if not value.ref.is_instance(annotation.key()[1]):
        stager.fail_type(node, f"{what} must be a {annotation}, but `{value.ref.spelled}` is a {value.ref.type_name()}")
    return value


def keep(stager: Stager, annotation: TemplateAnnotation, value: Staged, what: str, node: ast.AST) -> Staged:
    return value


#: Class of a parameter's annotation → the check or conversion of an argument. For others, the argument decides.
ARGUMENTS: dict[type[object], Callable[[Stager, Any, Staged, str, ast.AST], Staged]] = {
    ScalarAnnotation: convert_number,
    ArrayAnnotation: require_array,
    DataclassAnnotation: require_dataclass,
    TemplateAnnotation: keep,
    MatrixType: convert_matrix,
    TensorAnnotation: require_tensor,
    ViewAnnotation: require_view,
}


# --- specializations


def enter(name: str, value: Staged) -> tuple[list[Parameter | Array], Staged]:
    """The parameters of a func for the run-time values of an argument, and the value of its name inside."""
    values = value.ir_values()
    names = [name] if len(values) == 1 else [f"{name}_{position}" for position in range(len(values))]
    arrays = [position for position, each in enumerate(values) if isinstance(each, Array)]
    if len(arrays) == 1:  # for a slice of an array, messages name the array
        names[arrays[0]] = name
    parameters = [entered(own, each) for own, each in zip(values, names, strict=True)]
    return parameters, value.rebuild(iter(parameters))


def entered(value: Value, name: str) -> Parameter | Array:
    """The parameter of a func for a run-time value."""
    if isinstance(value, Array):
        return parameter_for(value, name)
    assert value.type is not None
    return Parameter(name, value.type)


def call_specialized(
    stager: Stager,
    function: FunctionRef,
    arguments: dict[str, Binding],
    references: Mapping[str, Place],
    node: ast.Call,
) -> Staged:
    """Call a func that is lowered once for such arguments; variables it may modify are passed in and returned."""
    context = stager.context
    staged = {
        name: convert_argument(stager, function, name, value, node)
        if isinstance(value, Staged)
        else Reference(value, value.referred(stager))
        for name, value in arguments.items()
    }
    operands = [operand for value in staged.values() for operand in value.ir_values()]
    argument_keys = tuple(value.specialization_key(stager, node) for value in staged.values())
    same = tuple(operands.index(operand) for operand in operands if isinstance(operand, Array))
    path = stager.call_path() if context.by_call_path else ()
    key = (function.identity, argument_keys, same, path)
    done = context.specialized.get(key)
    if done is None:
        if key[:3] in context.unfinished:
            fail_for_recursion(stager, function, node)
        context.unfinished.add(key[:3])
        try:
            done = context.specialized[key] = specialize(stager, function, staged, key, node)
        finally:
            context.unfinished.remove(key[:3])
    # Large results are written to the caller's memory.
    given = {parameter: given_to_func(stager, argument) for argument, parameter in done.captured.items()}
    operands += given.values()
    values = iter(call_results(stager, done.function, tuple(operands)))
    result: Staged = Static(None)
    if done.result is not None:
        arrays = dict(zip(done.function.parameters, operands, strict=True))
        wanted = done.result.ir_values()
        result = done.result.rebuild(iter([arrays[each] if isinstance(each, Array) else next(values) for each in wanted]))
    for name in done.changed:
        for local in references[name].locals():
            stager.emit("store_local", None, (next(values),), local)
    return result


def given_to_func(stager: Stager, argument: Parameter | Array) -> Value:
    """The caller's value for what a func captures: memory for a result, the iteration number, or an argument of the
    kernel."""
    if isinstance(argument, LocalArray):
        return stager.new_array("_", argument.dtype, argument.shape)
    iteration = stager.iteration() if argument is stager.context.iteration else None
    return stager.visible(argument) if iteration is None else iteration


def call_results(stager: Stager, function: Function, operands: tuple[Value, ...]) -> list[Value]:
    """Emit a call and return its results."""
    returns = function.returns
    call = stager.emit("call", returns[0] if len(returns) == 1 else None, operands, function)
    if len(returns) == 1:
        return [call]
    return [stager.emit("extract", dtype, (call,), position) for position, dtype in enumerate(returns)]


def is_changed(body: Region, local: Local) -> bool:
    """Whether the copy of a parameter is assigned after its initial value."""
    stores = [each for each in ir_walk(body) if each.code in ("store_local", "atomic") and memory(each) is local]
    return len(stores) > 1


def specialize(
    stager: Stager, function: FunctionRef, staged: dict[str, Staged], key: object, node: ast.Call
) -> Specialized:
    """Lower a func for these argument types."""
    context = stager.context
    bound = {name: enter(name, value) for name, value in staged.items()}
    parameters = [parameter for own, _ in bound.values() for parameter in own]
    region = Region()
    lowered = Function(
        unique_name(context, function.name), parameters, (), region, file=function.file, frames=stager.call_path(),
        outlined=bool(function.options.get("outlined")),
    )  # fmt: skip
    done = Specialized(lowered)
    inner = Stager(
        context, function, region=region, locals=[], frames=stager.call_path(), specialized=done, staged_as=key
    )  # fmt: skip
    inner.task = stager.task
    if function.is_of_library:
        inner.caller = (stager, node)
    definition = inner.source.node
    bind_parameters(inner, definition, {name: value for name, (_, value) in bound.items()}, staged)
    copies = {name: inner.names[name] for name, value in staged.items() if isinstance(value, Reference)}
    locals_ = {name: copy.locals() for name, copy in copies.items() if isinstance(copy, Place)}
    for name, own in locals_.items():
        reference = staged[name]
        assert isinstance(reference, Reference)
        for local, given in zip(own, reference.variable.locals(), strict=False):
            if given in context.births:  # too narrow for the func means too narrow for the caller's variable
                context.births[local] = context.births[given]
    run_body(inner, definition)
    done.changed = tuple(name for name, own in locals_.items() if any(is_changed(region, local) for local in own))
    lowered.returns = unify_returns(inner, definition, tuple(local for name in done.changed for local in locals_[name]))
    done.result = inner.results.sample
    lowered.locals = reserve_arrays(region, inner.locals)
    context.kernel.functions.append(lowered)
    return done


def bind_parameters(
    inner: Stager, definition: ast.FunctionDef, names: dict[str, Staged], given: dict[str, Staged]
) -> None:
    """Bind the parameters of a func to copies: one that the body may modify becomes a variable.

    A template parameter is not a copy, nor is the struct that a method modifies: it is a variable of the caller, or a
    value that cannot be assigned. `given` is what the caller passes for it.
    """
    changed = changing_names(inner, inner.function)
    templates = inner.function.binding.templates
    for name, value in names.items():
        if name in templates and not isinstance(given[name], Reference):
            inner.values[name] = described_value(inner, given[name])
            inner.names[name] = value
        elif isinstance(given[name], Reference):
            inner.names[name] = referenced(value, inner, name)
        elif name in changed:
            inner.names[name] = copied(value, inner, name)
        else:
            inner.names[name] = value


def described_value(stager: Stager, value: Staged) -> str:
    if not value.is_run_time():
        return value.describe()
    scalar = value.ir_values()[0]
    member = stager.context.members.get(scalar)
    return "a value that is not a variable" if member is None else f"the member `{member.path}`"


def run_body(inner: Stager, definition: ast.FunctionDef) -> None:
    classify_names(inner, definition)
    inner.context.active.append(inner.function)
    try:
        stage_body(inner, definition.body)
    finally:
        inner.context.active.pop()


def unique_name(context: KernelContext, name: str) -> str:
    """A name that is unique among the functions of the kernel."""
    taken = context.function_names
    candidates = (name if count == 0 else f"{name}_{count}" for count in range(len(taken) + 1))
    found = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(found)
    return found


# --- inline expansion


class ReturnsEarly(Exception):
    """A func cannot be expanded inline, because it returns under a condition or from a loop."""

    def __init__(self, error: errors.SamovarError) -> None:
        self.error = error  # for callers that have to expand it


def warn_about_serial_loops(
    stager: Stager, function: FunctionRef, definition: ast.FunctionDef, node: ast.Call
) -> None:
    """Warn if a loop is not parallel because of a `return` elsewhere in its func."""
    loops = [each for each in definition.body if isinstance(each, ast.For)]
    if not all(has_own_break(loop.body) for loop in loops):
        stager.warn(
            node,
            f"`{function.name}` returns under a condition or from a loop, so all of it runs serially, including its other"
            " loops; for parallel loops, return only at the end",
        )


def returns_from_loop(definition: ast.FunctionDef) -> bool:
    """Whether there is a `return` inside a loop."""
    loops = [each for each in walk(definition) if isinstance(each, (ast.For, ast.While))]
    return any(isinstance(each, ast.Return) for loop in loops for each in walk(loop))


def has_loop(body: list[ast.stmt]) -> bool:
    """Whether a func has loops that would be tasks if called at the top level, or calls that may have some."""
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
    references: Mapping[str, Place],
    node: ast.Call,
) -> Staged:
    """Stage the body of a func at the call, so that its loops remain tasks and its references remain variables."""
    types = tuple(each.type for value in staged.values() for each in value.ir_values())
    inner = Stager(
        stager.context,
        function,
        staged_as=(stager.staged_as, function.identity, node.lineno, node.col_offset, types),
        region=stager.region,
        locals=stager.locals,
        frames=stager.call_path(),
        specialized=stager.specialized,
        top_level=stager.top_level,
    )
    inner.outer_locals, inner.task_locals, inner.loops = stager.outer_locals, stager.task_locals, []
    inner.task = stager.task
    results: list[Staged] = [Static(None)]

    def take(statement: ast.Return) -> None:
        if inner.region is not stager.region:  # inside a run-time condition or loop
            message = f"`{function.name}` modifies a variable that is shared or passed twice: it can only return at its end"
            raise ReturnsEarly(inner.error(statement, message, "use one `return`, as the last statement"))
        results[0] = returned_value(inner, statement)
        inner.ended = True

    inner.expanded = take
    bind_parameters(inner, definition, staged, staged)
    inner.names.update(references)
    run_body(inner, definition)
    if results[0].is_none():
        require_no_result(inner, definition)
    return results[0]
