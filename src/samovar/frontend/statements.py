"""Statements: one rule per kind of AST node, looked up in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar._native import DType, u1
from samovar.frontend import arithmetic, loops
from samovar.frontend.arithmetic import (
    BINARY,
    as_stored,
    convert_assigned,
    describe,
    number,
    operation_type,
    plain,
    static_truth,
    truth,
    type_of,
)
from samovar.frontend.expressions import sequence, stage, stage_place
from samovar.frontend.messages import stage_assert
from samovar.frontend.promotion import is_float
from samovar.frontend.returns import stage_return
from samovar.frontend.shared import assign_condition, assign_shared
from samovar.frontend.staged import Element, Forced, Intrinsic, Staged, Static, Tensor, Variable
from samovar.frontend.stager import Binding, Stager
from samovar.frontend.syntax import walk
from samovar.ir import Atomic, Constant, If, Local, Operation, Region, Value, While

Rule = Callable[[Stager, Any], None]


def stage_body(stager: Stager, body: list[ast.stmt]) -> None:
    """The statements of a block; what follows a return, break or continue is not looked at."""
    program = stager.program
    outer, program.staging = program.staging, stager
    for statement in body:
        if stager.ended:
            break
        stager.line = statement.lineno
        rule = STATEMENTS.get(statement.__class__)
        if rule is None:
            name, advice = REFUSED.get(statement.__class__, (statement.__class__.__name__, None))
            stager.fail(statement, f"{name} is not available in kernels", advice)
        rule(stager, statement)
    program.staging = outer


def stage_expression(stager: Stager, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a docstring, or `...`
    stage(stager, node.value)


def stage_assign(stager: Stager, node: ast.Assign) -> None:
    if assign_condition(stager, node):
        return
    value = stage(stager, node.value)
    for target in node.targets:
        assign(stager, target, value)


def assign(stager: Stager, target: ast.expr, value: Staged) -> None:
    if isinstance(target, ast.Name):
        assign_name(stager, target, value)
    elif isinstance(target, ast.Subscript):
        assign_element(stager, target, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        assign_items(stager, target, value)
    elif isinstance(target, ast.Attribute):
        stager.fail(target, "an attribute cannot be assigned in a kernel", "write into an element of an array")
    else:
        stager.fail(target, "this cannot be assigned in a kernel")


def assign_items(stager: Stager, target: ast.Tuple | ast.List, value: Staged) -> None:
    items = sequence(stager, value, target)
    if isinstance(value, Forced):
        items = tuple(Forced(plain(item)) for item in items)
    if any(isinstance(element, ast.Starred) for element in target.elts):
        stager.fail(target, "`*` in an assignment is not available in kernels", "name each element")
    if len(items) != len(target.elts):
        stager.fail_type(target, f"{len(target.elts)} names for {len(items)} values")
    for element, item in zip(target.elts, items, strict=True):
        assign(stager, element, item)


def assign_name(stager: Stager, target: ast.Name, value: Staged, annotated: DType | None = None) -> None:
    """Give a name a value. Its first assignment decides the type, and whether it is a variable or a fixed value."""
    name = target.id
    check_assignable(stager, target)
    binding = stager.names.get(name)
    if isinstance(binding, Local):
        if annotated is not None and annotated is not binding.type:
            stager.fail_type(target, f"`{name}` is {binding.type.name} already and cannot become {annotated.name}")
        if binding in stager.outer_locals:
            assign_shared(stager, target, binding, value)
        else:
            store_local(stager, binding, convert_assigned(stager, value, binding.type, target, name))
        return
    check_rebinding(stager, target, binding)
    if annotated is None and (isinstance(value, Forced) or is_compile_time(value)):
        stager.names[name] = plain(value)
        return
    dtype = annotated or type_of(stager, value, target)
    run_time = as_stored(stager, value, dtype, target)
    if name in stager.once:
        stager.names[name] = run_time
        return
    local = stager.hints.get(name)
    if local is None:
        local = stager.new_local(name, dtype)
    elif local.type is not dtype:
        run_time = convert_assigned(stager, value, local.type, target, name)
    stager.names[name] = local
    stager.emit("store_local", None, (run_time,), local)


def is_compile_time(value: Staged) -> bool:
    """Whether a value has no run-time form of its own: a tuple, an array, a function, a string…"""
    if isinstance(value, Value):
        return False
    return number(value) is None


def check_assignable(stager: Stager, target: ast.Name) -> None:
    if target.id in stager.fixed:
        stager.fail(
            target,
            f"`{target.id}` is a parameter of the kernel and cannot be assigned",
            f"copy it first, under a new name: `{target.id}_copy = {target.id}`",
        )
    if target.id in stager.values:
        stager.fail(
            target,
            f"`{target.id}` is a template parameter, through which the caller's variable would change,"
            f" and {stager.values[target.id]} cannot be assigned",
            f"pass a variable, or copy the parameter first, under a new name: `{target.id}_copy = {target.id}`",
        )


def check_rebinding(stager: Stager, target: ast.Name, binding: object) -> None:
    """A name that is not a variable cannot change from one iteration of a run-time loop to the next."""
    for loop in stager.loops:
        if loop.kind != "static" and binding is not None and loop.names.get(target.id) is binding:
            stager.fail(
                target,
                f"`{target.id}` holds a compile-time value and cannot change inside a run-time loop",
                "give it a run-time value first, for example with a dtype: `x = sv.i32(0)`, or use a new name",
            )


def store_local(stager: Stager, local: Local, value: Value) -> None:
    stager.emit("store_local", None, (value,), local)


def assign_element(stager: Stager, target: ast.Subscript, value: Staged) -> None:
    owner = plain(stage(stager, target.value))
    if not isinstance(owner, Tensor):
        stager.fail_type(
            target,
            f"an element of {describe(owner)} cannot be assigned in a kernel",
            "only elements of arrays can be assigned",
        )
    element = stage_place(stager, target)
    assert isinstance(element, Element)
    converted = as_stored(stager, value, element.array.dtype, target)
    stager.emit("store", None, (*element.indices, converted), element.array)


def stage_annotated(stager: Stager, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        annotate_place(stager, node.target, node.value)
        return
    if node.value is None and not is_used(stager, node.target):
        return  # it leaves nothing behind in the code of the function, so it means nothing
    annotation = plain(stage(stager, node.annotation))
    dtype: DType | None = None
    if isinstance(annotation, Static) and annotation.value.__class__ is u1.__class__:
        dtype = annotation.value
    elif isinstance(annotation, Intrinsic):
        defaults = {
            "builtins.int": stager.program.default_ip,
            "builtins.float": stager.program.default_fp,
            "builtins.bool": u1,
        }
        dtype = defaults.get(annotation.name)
    if dtype is None:
        stager.fail_type(node.annotation, "the annotation of a local must be a dtype", "for example `x: sv.f64 = 0`")
    if node.value is None:
        stager.fail(node, "a local needs a value", f"write `{node.target.id}: sv.{dtype.name} = 0`")
    assign_name(stager, node.target, stage(stager, node.value), dtype)


def annotate_place(stager: Stager, target: ast.Attribute | ast.Subscript, value: ast.expr | None) -> None:
    """`a[i]: T = x` is `a[i] = x`, and `a[i]: T` looks at `a` and `i`: in Python the annotation leaves no trace either."""
    if value is not None:
        assign(stager, target, stage(stager, value))
        return
    stage(stager, target.value)
    if isinstance(target, ast.Subscript):
        stage(stager, target.slice)


def is_used(stager: Stager, name: ast.Name) -> bool:
    """Does a function mention a name elsewhere?"""
    mentioned = [node for node in walk(stager.source.node) if isinstance(node, ast.Name) and node.id == name.id]
    return len(mentioned) > 1


def stage_declared(stager: Stager, node: ast.Global | ast.Nonlocal) -> None:
    """`global` and `nonlocal` say nothing about names that are only read."""
    if not stager.assigned.isdisjoint(node.names):
        word = node.__class__.__name__.lower()
        stager.fail(node, f"a name that is `{word}` cannot be assigned in a kernel", "write into an array instead")


def stage_augmented(stager: Stager, node: ast.AugAssign) -> None:
    """`x += y`: on an array element and on a variable that iterations share it is atomic."""
    kind = node.op.__class__
    if isinstance(node.target, ast.Name):
        check_assignable(stager, node.target)
        binding = stager.names.get(node.target.id)
        if not isinstance(binding, Local):
            current = stager.load(node.target.id, node.target)
            assign_name(stager, node.target, arithmetic.binary(stager, kind, current, stage(stager, node.value), node))
            return
        if binding not in stager.outer_locals:
            current = stager.emit("load_local", binding.type, (), binding)
            result = arithmetic.binary(stager, kind, current, stage(stager, node.value), node)
            store_local(stager, binding, convert_assigned(stager, result, binding.type, node, node.target.id))
            return
    place = stage_place(stager, node.target)
    code = BINARY[kind][0] if kind in BINARY else ""
    if not code:
        stager.fail(node, "`@=` needs matrices or vectors")
    dtype = place.array.dtype if isinstance(place, Element) else place.local.type
    if operation_type(stager, code, dtype) is not dtype:
        stager.fail_type(
            node,
            f"`{BINARY[kind][2]}=` cannot keep its result in {dtype.name}",
            "use `//=`, or a float array" if code == "div" else None,
        )
    if code in ("and", "or", "xor", "shl", "shr") and is_float(dtype):
        stager.fail_type(node, f"`{BINARY[kind][2]}=` needs integers, and this is {dtype.name}")
    value = stage(stager, node.value)
    known = number(value)
    whole = isinstance(known, float) and known.is_integer()
    if not is_float(dtype) and is_float(type_of(stager, value, node)) and not whole:
        stager.warn(
            node,
            f"`{ast.unparse(node.target)}` is {dtype.name}: the right side becomes {dtype.name} before `{BINARY[kind][2]}=`,"
            " and loses its fraction",
        )
    emit_atomic(stager, code, place, (as_stored(stager, value, dtype, node),))


def emit_atomic(stager: Stager, code: str, place: Element | Variable, values: tuple[Value, ...]) -> Operation:
    """A read-modify-write of a place; gives the old value."""
    if isinstance(place, Variable):
        if place.local in stager.outer_locals:
            place.local.shared = True
        return stager.emit("atomic", place.local.type, values, Atomic(code, place.local))
    return stager.emit("atomic", place.array.dtype, (*place.indices, *values), Atomic(code, place.array))


def stage_if(stager: Stager, node: ast.If) -> None:
    condition = stage(stager, node.test)
    known = static_truth(stager, condition)
    if known is not None:
        stage_body(stager, node.body if known else node.orelse)
        return
    test = truth(stager, condition, node.test)
    regions, implied = (Region(), Region()), stager.implied_by(condition)
    hints, before = stager.hints, stager.names
    visible: list[dict[str, Binding]] = []
    ends: list[bool] = []
    rebound: set[str] = set()
    branches = ((node.body, implied.when_true), (node.orelse, implied.when_false))
    for region, (body, known_there) in zip(regions, branches, strict=True):
        with stager.into(region), stager.scope("in one branch of an `if`") as names:
            names.update(known_there)
            stage_body(stager, body)
            visible.append(stager.names)
            ends.append(stager.ended)
        rebound.update(before.keys() - stager.names.keys())
        stager.names = dict(before)  # both branches begin with the same names
        # A name that both branches give a value becomes one variable: the second branch uses the variable of the first.
        stager.hints = {**hints, **{name: value for name, value in visible[0].items() if isinstance(value, Local)}}
    stager.hints = hints
    for name in rebound:
        del stager.names[name]
    stager.append(If(test, *regions))
    stager.ended = all(ends)
    if any(ends):
        if not all(ends):
            keep_names(stager, regions[ends.index(False)], visible[ends.index(False)])
        return
    for name, value in visible[0].items():
        if name not in stager.names and isinstance(value, Local) and visible[1].get(name) is value:
            stager.names[name] = value
            stager.lost.pop(name, None)


def keep_names(stager: Stager, region: Region, names: dict[str, Binding]) -> None:
    """After an `if` of which one branch left the function or the loop, the names of the other branch go on."""
    for name, value in names.items():
        if name in stager.names:
            continue
        if isinstance(value, Value) and value.type is not None:
            # The value was made inside the branch: a variable carries it out.
            local = stager.new_local(name, value.type)
            with stager.into(region):
                stager.emit("store_local", None, (value,), local)
            stager.names[name] = local
        else:
            stager.names[name] = value
        stager.lost.pop(name, None)


def stage_while(stager: Stager, node: ast.While) -> None:
    if node.orelse:
        stager.fail(node.orelse[0], "`while … else` is not available in kernels", "use a flag variable instead")
    head, body = Region(), Region()
    loop = loops.enter_loop(stager, "serial")
    with stager.scope("inside a loop"):
        with stager.into(head):
            condition = stage(stager, node.test)
            known = static_truth(stager, condition)
            test = Constant(known, u1) if known is not None else truth(stager, condition, node.test)
            stager.names.update(stager.implied_by(condition).when_true)
        if known is not False:
            with stager.into(body):
                stage_body(stager, node.body)
    loops.leave_loop(stager)
    if known is False:
        return
    stager.append(While(head, test, body))
    stager.ended = known is True and not loop.left


def stage_break(stager: Stager, node: ast.Break) -> None:
    loop = loops.innermost(stager, node, "break")
    if loop.kind == "parallel":
        stager.fail(
            node,
            "`break` in a parallel loop: its iterations have no order",
            "put `sv.loop_config(serialize=True)` before the loop, or skip work with an `if`",
        )
    loop.left = True
    loops.leave_early(stager, loop, "break", node)


def stage_continue(stager: Stager, node: ast.Continue) -> None:
    loops.leave_early(stager, loops.innermost(stager, node, "continue"), "continue", node)


def stage_pass(stager: Stager, node: ast.Pass) -> None:
    pass


def stage_for(stager: Stager, node: ast.For) -> None:
    """A loop that no `break` leaves goes on with what is under its `else`."""
    loops.stage_for(stager, node, stage_body)
    stage_body(stager, node.orelse)


STATEMENTS: dict[type[ast.stmt], Rule] = {
    ast.Expr: stage_expression,
    ast.Assign: stage_assign,
    ast.AnnAssign: stage_annotated,
    ast.AugAssign: stage_augmented,
    ast.If: stage_if,
    ast.While: stage_while,
    ast.For: stage_for,
    ast.Return: stage_return,
    ast.Break: stage_break,
    ast.Continue: stage_continue,
    ast.Pass: stage_pass,
    ast.Global: stage_declared,
    ast.Nonlocal: stage_declared,
    ast.Assert: stage_assert,
}

REFUSED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.Try: ("`try`", "nothing is raised inside of a kernel: check values with `if`"),
    ast.Raise: ("`raise`", "use `assert` (checked in debug mode), or write a flag into an array"),
    ast.With: ("`with`", None),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Delete: ("`del`", "locals end with the kernel by themselves"),
    ast.FunctionDef: ("a nested `def`", "write a `@sv.func` outside of the kernel and call it"),
    ast.AsyncFunctionDef: ("a nested `async def`", None),
    ast.ClassDef: ("a nested `class`", "define it outside of the kernel"),
    ast.AsyncFor: ("`async for`", None),
    ast.AsyncWith: ("`async with`", None),
    ast.Match: ("`match`", "use `if` and `elif`"),
}
