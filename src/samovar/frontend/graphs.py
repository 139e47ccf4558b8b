"""The constructs of kernels with `graph=True`: loops over flags, checkpoints, and concurrent sections.

They preserve the top level: a `for` inside them is a task.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NoReturn

from samovar import errors
from samovar._native import i32, u1
from samovar.artifact import Site
from samovar.frontend import loops
from samovar.frontend.bindings import carried_out
from samovar.frontend.context import Label
from samovar.frontend.dispatch import stage, stage_marked
from samovar.frontend.operators import known_truth
from samovar.frontend.part_checks import without_lines
from samovar.frontend.scalars import constant
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.intrinsic import Intrinsic
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.stager import Stager, reserve_arrays
from samovar.frontend.syntax import walk as syntax_walk
from samovar.ir import (
    Array,
    Checkpoint,
    DoWhile,
    If,
    Local,
    Operation,
    ParallelFor,
    Parameter,
    ReadFlag,
    Region,
    Section,
    Sections,
    Value,
    memory,
    walk,
)
from samovar.language import do_messages_count
from samovar.lens import EnumValue

Body = Callable[[Stager, list[ast.stmt]], None]

DO_WHILE = "samovar.graph.do_while"
CHECKPOINT = "samovar.checkpoint"
CONTEXT = "samovar.graph.parallel_context"
SECTION = "samovar.graph.parallel"
STREAM = "samovar.stream_parallel"


def construct_of(stager: Stager, node: ast.expr) -> str:
    """The canonical name of the construct that an expression calls; "" if it is none."""
    if not isinstance(node, ast.Call) or not is_chain(node.func):
        return ""
    callee = stage(stager, node.func)
    return callee.name if isinstance(callee, Intrinsic) else ""


def is_chain(node: ast.expr) -> bool:
    """Whether it is a name with attributes and subscripts only."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def misplaced(where: str) -> Callable[[Stager, ast.Call], Staged]:
    """The rule of a construct that is called like a function."""

    def apply(stager: Stager, node: ast.Call) -> Staged:
        stager.fail(node, f"`{ast.unparse(node.func)}` can only be used in `{where}:`", f"write `{where}:`")

    return apply


def require_graph(stager: Stager, node: ast.AST, what: str) -> None:
    """Check that a construct is at the top level of a kernel with `graph=True`."""
    if not stager.context.graph.enabled:
        stager.fail(node, f"{what} requires a kernel with `graph=True`", "declare it as `@sv.kernel(graph=True)`")
    if not stager.top_level:
        stager.fail(
            node,
            f"{what} must be at the top level of the kernel",
            "move it out of the loop or run-time `if`; call a func that contains one at the top level",
        )


def require_place(stager: Stager, node: ast.AST, what: str) -> None:
    """Reject constructs inside one that does not allow others."""
    inside = stager.context.graph.inside
    if inside:
        stager.fail(node, f"{what} is not allowed inside {inside}", f"move it out of {inside}")


# --- flags


def stage_flag(stager: Stager, node: ast.expr, what: str) -> Array:
    """The array of a flag: any chain of names that ends in a 0-D i32 array."""
    advice = "pass a 0-D i32 array by name, as in `flag`, `self.flag`, `params.state.flag` or `self.flags[0]`"
    if not is_chain(node):
        stager.fail(node, f"the flag of {what} must be an array given by name, not an expression", advice)
    try:
        flag = stage(stager, node)
    except errors.SamovarError as error:
        raise errors.SamovarSyntaxError(str(error)) from None
    if not isinstance(flag, Tensor):
        stager.fail(node, f"the flag of {what} must be an array, not {flag.describe()}", advice)
    array = flag.array
    if array.dtype is not i32 or array.ndim != 0:
        shown = f"`{array.name}` is a {array.ndim}-D array of {array.dtype.name}"
        stager.fail(node, f"the flag of {what} must be a 0-D array of i32, but {shown}", advice)
    return array


def is_set(stager: Stager, flag: Array) -> Value:
    """Whether a flag is currently nonzero."""
    read = ReadFlag(flag)
    stager.append(read)
    return stager.emit("ne", u1, (read, constant(0, i32)))


# --- loops


def stage_do_while(stager: Stager, node: ast.While, body: Body) -> None:
    """`while do_while(flag):`"""
    call = node.test
    assert isinstance(call, ast.Call)
    require_graph(stager, call, "`do_while`")
    if node.orelse:
        stager.fail(node.orelse[0], "`while … else` is not supported in kernels", "move the `else` block after the loop")
    flag_node, limit = loop_arguments(stager, call)
    flag = stage_flag(stager, flag_node, "`do_while`")
    counter = None
    if limit is not None:
        counter = stager.new_local("iterations", i32)
        stager.emit("store_local", None, (constant(0, i32),), counter)
    head, before = Region(), dict(stager.names)
    loops.enter_loop(stager, "graph")
    with stager.into(head):
        body(stager, node.body)
        if stager.ended:
            stager.fail(node, "`return` inside a graph loop is not supported", "set its flag to 0")
        stager.line = node.lineno
        condition = is_set(stager, flag)
        if counter is not None and limit is not None:
            with stager.unwritten():
                done = stager.emit("add", i32, (stager.emit("load_local", i32, (), counter), constant(1, i32)))
                stager.emit("store_local", None, (done,), counter)
            check_limit(stager, call, condition, done, limit)
    loops.leave_loop(stager)
    # The body has run at least once: names bound in it stay bound.
    bound = {name: binding for name, binding in stager.names.items() if before.get(name) is not binding}
    stager.line = node.lineno
    stager.append(DoWhile(head, condition, flag, limit))
    for name, binding in bound.items():
        stager.names[name] = carried_out(binding, stager, head, name)


def loop_arguments(stager: Stager, call: ast.Call) -> tuple[ast.expr, int | None]:
    """The flag and the limit of iterations of `do_while(flag, max_iterations=…)`."""
    given = dict(zip(("condition", "max_iterations"), call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in ("condition", "max_iterations") or keyword.arg in given:
            stager.fail(call, f"`do_while` has an unexpected `{keyword.arg}`", "`do_while(flag, max_iterations=100)`")
        given[keyword.arg] = keyword.value
    if len(call.args) > 2 or "condition" not in given:
        stager.fail(call, "`do_while` takes a flag", "write `while do_while(flag):` or `do_while(flag, max_iterations=100)`")
    if "max_iterations" not in given:
        return given["condition"], None
    limit = stage(stager, given["max_iterations"]).number()
    if limit is None and isinstance(given["max_iterations"], ast.Constant) and given["max_iterations"].value is None:
        return given["condition"], None
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit < 1 << 31:
        stager.fail(given["max_iterations"], "`max_iterations` must be a positive integer known at compile time")
    return given["condition"], limit


def check_limit(stager: Stager, call: ast.Call, goes_on: Value, done: Value, limit: int) -> None:
    """Make the launch fail if another iteration is due after the last allowed one."""
    more = stager.emit("lt", u1, (done, constant(limit, i32)))
    holds = stager.emit("or", u1, (more, stager.emit("eq", u1, (goes_on, constant(False, u1)))))
    text = f"`{ast.unparse(call)}`: the loop is not finished after {limit} iterations"
    frames = stager.call_path()
    if not do_messages_count(stager.context.lens.options):
        frames = without_lines(frames)
    stager.emit("check", None, (holds,), Site("iterations", (text,), (), frames))


# --- checkpoints

CHECKPOINT_NAME = "a checkpoint"


def stage_checkpoint(stager: Stager, node: ast.With, call: ast.Call, body: Body) -> None:
    """`with checkpoint(label, yield_on=flag):`"""
    context = stager.context
    graph = context.graph
    if graph.enabled and not graph.checkpoints:
        stager.fail(
            call,
            "`checkpoint` requires a kernel with `checkpoints=True`",
            "declare it as `@sv.kernel(graph=True, checkpoints=True)`",
        )
    require_graph(stager, call, "`checkpoint`")
    require_place(stager, call, "`checkpoint`")
    label_node, flag_node = checkpoint_arguments(stager, call)
    label = stage_label(stager, label_node)
    flag = stage_flag(stager, flag_node, "`checkpoint`")
    graph.labels.append(label)
    number = len(graph.labels)
    if context.kernel.resume is None:
        context.kernel.resume = Parameter("resume", i32)
        context.kernel.parameters.append(context.kernel.resume)
    region = Region()
    graph.inside = CHECKPOINT_NAME
    with stager.into(region):
        for statement in node.body:
            require_task(stager, statement)
            body(stager, [statement])
    graph.inside = ""
    stager.line = node.lineno
    stager.append(Checkpoint(number, label.text, flag, region))
    yields = is_set(stager, flag)
    leave = Region([Operation("return", None, (constant(number, i32),), None, node.lineno)])
    stager.append(If(yields, leave, Region()))


def checkpoint_arguments(stager: Stager, call: ast.Call) -> tuple[ast.expr, ast.expr]:
    """The label and the flag of `checkpoint(label, yield_on=flag)`."""
    usual = "write `with sv.checkpoint(label, yield_on=flag):`"
    given = dict(zip(("cp_id", "yield_on"), call.args, strict=False))
    if len(call.args) > 2:
        stager.fail(call.args[2], "`checkpoint` takes a label and a flag", usual)
    for keyword in call.keywords:
        if keyword.arg not in ("cp_id", "yield_on"):
            stager.fail(call, f"`checkpoint` has no parameter `{keyword.arg}`", usual)
        if keyword.arg in given:
            stager.fail(call, f"`checkpoint` got two {'labels' if keyword.arg == 'cp_id' else 'flags'}", usual)
        given[keyword.arg] = keyword.value
    for name, what in (("cp_id", "a label"), ("yield_on", "`yield_on`, the flag that decides whether the launch stops")):
        if name not in given:
            stager.fail(call, f"`checkpoint` requires {what}", usual)
    return given["cp_id"], given["yield_on"]


def stage_label(stager: Stager, node: ast.expr) -> Label:
    """The label of a checkpoint: an int or an enum member that is one, unique in the kernel."""
    staged = stage(stager, node)
    value = staged.value if isinstance(staged, Static) else None
    number, text, path, position = value, repr(value), None, None
    if isinstance(value, EnumValue):
        number, text = value.value, f"{value.class_name.rpartition('.')[2]}.{value.name}"
        path, position = stager.context.lens.place_of_member(value)
    if not isinstance(number, int) or isinstance(number, bool):
        stager.fail(
            node,
            f"the label of a checkpoint must be an int or a member of an IntEnum known at compile time, not"
            f" {staged.describe()}",
        )
    for other in stager.context.graph.labels:
        if other.value == number:
            stager.fail(node, f"the label {other.text} is already used by another checkpoint (line {other.line})")
    return Label(number, text, path, position, int(stager.line))


#: Calls that may precede a task and do nothing themselves.
_QUIET = ("samovar.loop_config", "samovar.static_print", "samovar.static_assert")


def is_decided(stager: Stager, test: ast.expr) -> bool:
    """Whether a condition is known at compile time."""
    return known_truth(stager, stage_marked(stager, test), test) is not None


def require_task(stager: Stager, statement: ast.stmt) -> None:
    """Check that a statement directly inside a checkpoint is a task, or consists of tasks."""
    if isinstance(statement, (ast.For, ast.With, ast.Pass)):
        return
    if isinstance(statement, ast.Expr):
        value = statement.value
        if isinstance(value, ast.Constant):
            return
        if isinstance(value, ast.Call) and is_chain(value.func):
            callee = stage(stager, value.func)
            if not isinstance(callee, Intrinsic) or callee.name in _QUIET:
                return
    if isinstance(statement, ast.While) and construct_of(stager, statement.test) == DO_WHILE:
        return
    if isinstance(statement, ast.If) and is_decided(stager, statement.test):
        for inner in (*statement.body, *statement.orelse):
            require_task(stager, inner)
        return
    stager.fail(
        statement,
        "this statement cannot be directly inside a checkpoint",
        "a checkpoint contains loops: put it under `for _ in range(1):`, or before the checkpoint",
    )


# --- sections


SECTION_NAME = "a parallel section"
CONTEXT_NAME = "a parallel context"


def stage_context(stager: Stager, node: ast.With, call: ast.Call, body: Body) -> None:
    """`with parallel_context():`"""
    graph = stager.context.graph
    require_graph(stager, call, "`parallel_context`")
    if graph.inside in (SECTION_NAME, CONTEXT_NAME):
        require_place(stager, call, "`parallel_context`")
    refuse_arguments(stager, call)
    outer, graph.inside = graph.inside, CONTEXT_NAME
    parts: list[Section] = []
    stage_parts(stager, node.body, parts, body)
    graph.inside = outer
    stager.line = node.lineno
    if parts:
        stager.append(Sections(parts))


def stage_parts(stager: Stager, statements: list[ast.stmt], parts: list[Section], body: Body) -> None:
    """The content of a `parallel_context`: sections, and static `if` and `for` around sections."""
    for statement in statements:
        stager.line = statement.lineno
        if isinstance(statement, ast.With) and construct_of(stager, statement.items[0].context_expr) == SECTION:
            stage_section(stager, statement, parts, body)
        elif isinstance(statement, ast.If):
            known = known_truth(stager, stage_marked(stager, statement.test), statement.test)
            if known is None:
                refuse_in_context(stager, statement.test, "a run-time `if`")
            stage_parts(stager, statement.body if known else statement.orelse, parts, body)
        elif isinstance(statement, ast.For):
            items = stage_marked(stager, statement.iter)
            if not items.is_forced or statement.orelse:
                refuse_in_context(stager, statement, "a run-time `for`")
            values = items.unforced().sequence(stager, statement.iter)
            loops.unroll(stager, statement, values, lambda inner, block: stage_parts(inner, block, parts, body))
        elif not isinstance(statement, ast.Pass) and not is_text(statement):
            refuse_in_context(stager, statement, "a statement")


def is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def refuse_in_context(stager: Stager, node: ast.AST, what: str) -> NoReturn:
    stager.fail(
        node,
        f"{what} cannot be directly inside `parallel_context`",
        "it contains `with sv.graph.parallel():`, and static `if` and `for` around these; move the rest into a section",
    )


def refuse_arguments(stager: Stager, call: ast.Call) -> None:
    if call.args or call.keywords:
        stager.fail(call, f"`{ast.unparse(call.func)}` takes no arguments")


def stage_section(stager: Stager, node: ast.With, parts: list[Section], body: Body) -> None:
    """`with parallel():` in a context."""
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    refuse_arguments(stager, call)
    if node.items[0].optional_vars is not None:
        stager.fail(node.items[0].optional_vars, "`parallel` has no value: remove `as`")
    statements = node.body
    if len(node.items) > 1:
        statements = [ast.copy_location(ast.With(node.items[1:], node.body), node.items[1].context_expr)]
    graph = stager.context.graph
    names, locals_ = dict(stager.names), stager.locals
    part = Section(Region(), line=node.lineno)
    graph.inside, stager.locals = SECTION_NAME, []
    # Loops around the context do not matter inside: no jump leaves a section.
    around, stager.loops = stager.loops, []
    with stager.into(part.body):
        body(stager, statements)
    part.locals.extend(reserve_arrays(part.body, stager.locals))
    graph.inside, stager.locals, stager.loops = CONTEXT_NAME, locals_, around
    for name in stager.names.keys() - names.keys():
        stager.lost[name] = "inside a parallel section"
    stager.names = names
    refuse_outer_variables(stager, part, node)
    parts.append(part)


def refuse_outer_variables(stager: Stager, part: Section, node: ast.With) -> None:
    """Check that a section assigns only its own variables: others may run at the same time."""
    own = set(part.locals)
    for operation in walk(part.body):
        if isinstance(operation, ParallelFor):
            own.update(operation.locals)
    for operation in walk(part.body):
        target = memory(operation)
        if isinstance(target, Local) and operation.code != "load_local" and target not in own:
            written = [
                each
                for each in syntax_walk(node)
                if isinstance(each, ast.Name) and each.id == target.name and isinstance(each.ctx, ast.Store)
            ]
            stager.fail(
                written[0] if written else node,
                f"a parallel section assigns `{target.name}`, a variable defined before it",
                "write to an array, or use a name first assigned in the section",
            )


# --- `with`


def stage_with(stager: Stager, node: ast.With, body: Body) -> None:
    """`with` of one of the constructs; kernels support no others."""
    call = node.items[0].context_expr
    name = construct_of(stager, call)
    rule = BLOCKS.get(name)
    if rule is None:
        known = "`sv.checkpoint`, `sv.graph.parallel_context` and `sv.graph.parallel` are supported"
        stager.fail(node, "this `with` is not supported in kernels", known)
    assert isinstance(call, ast.Call)
    if len(node.items) > 1:  # nested
        rest = ast.copy_location(ast.With(node.items[1:], node.body), node.items[1].context_expr)
        node = ast.copy_location(ast.With(node.items[:1], [rest]), node)
    if node.items[0].optional_vars is not None:
        stager.fail(node.items[0].optional_vars, f"`{ast.unparse(call.func)}` has no value: remove `as`")
    rule(stager, node, call, body)


def stage_lone_section(stager: Stager, node: ast.With, call: ast.Call, body: Body) -> None:
    advice = "put `with sv.graph.parallel_context():` around it"
    stager.fail(call, "a parallel section must be inside `parallel_context`", advice)


def stage_in_order(stager: Stager, node: ast.With, call: ast.Call, body: Body) -> None:
    """A block that may run concurrently with others, but runs in order."""
    body(stager, node.body)


BLOCKS: dict[str, Callable[[Stager, ast.With, ast.Call, Body], None]] = {
    CHECKPOINT: stage_checkpoint,
    CONTEXT: stage_context,
    SECTION: stage_lone_section,
    STREAM: stage_in_order,
}
