"""Statements: one rule per kind of AST node, looked up in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar._native import u1
from samovar.frontend import graphs, loops
from samovar.frontend.assignments import stage_annotated, stage_assign, stage_augmented
from samovar.frontend.bindings import carried_out
from samovar.frontend.dispatch import STATEMENTS, refusal, stage, stage_body, stage_marked
from samovar.frontend.messages import stage_assert
from samovar.frontend.operators import known_truth, truth
from samovar.frontend.returns import stage_return
from samovar.frontend.staged.base import Place
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.variable import Variable
from samovar.frontend.stager import Binding, Stager
from samovar.ir import Constant, If, Region, While

Rule = Callable[[Stager, Any], None]


def stage_expression(stager: Stager, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return  # a docstring, or `...`
    stage(stager, node.value)


def stage_declared(stager: Stager, node: ast.Global | ast.Nonlocal) -> None:
    """`global` and `nonlocal` have no effect on names that are only read."""
    if not stager.used.stored.keys().isdisjoint(node.names):
        word = node.__class__.__name__.lower()
        stager.fail(node, f"a `{word}` name cannot be assigned in a kernel", "write to an array instead")


def stage_if(stager: Stager, node: ast.If) -> None:
    condition = stage_marked(stager, node.test)
    known = known_truth(stager, condition, node.test)
    if known is not None:
        stager.known_conditions += 1
        stage_body(stager, node.body if known else node.orelse)
        stager.known_conditions -= 1
        return
    condition = condition.unforced()
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
        stager.names = dict(before)  # both branches start with the same names
        # A name that both branches assign becomes one variable: the second branch uses the variable of the first.
        stager.hints = {**hints, **{name: value for name, value in visible[0].items() if isinstance(value, Place)}}
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
        if name not in stager.names and isinstance(value, Place) and visible[1].get(name) is value:
            stager.names[name] = value
            stager.lost.pop(name, None)
        elif name not in stager.names and name not in before and name in visible[1]:
            stager.leave_undecided(name, value, visible[1][name])


def keep_names(stager: Stager, region: Region, names: dict[str, Binding]) -> None:
    """Keep the names of one branch of an `if` whose other branch left the function or the loop."""
    for name, value in names.items():
        if name in stager.names:
            continue
        stager.names[name] = carried_out(value, stager, region, name)
        stager.lost.pop(name, None)


def stage_while(stager: Stager, node: ast.While) -> None:
    if graphs.construct_of(stager, node.test) == graphs.DO_WHILE:
        graphs.stage_do_while(stager, node, stage_body)
        return
    stage_with_else(stager, node, stage_plain_while)


def stage_plain_while(stager: Stager, node: ast.While) -> None:
    head, body = Region(), Region()
    loops.forget_unrolled(stager, node.body)
    loop = loops.enter_loop(stager, "serial", node)
    with stager.scope("inside a loop"):
        with stager.into(head):
            condition = stage_marked(stager, node.test)
            known = known_truth(stager, condition, node.test)
            test = Constant(known, u1) if known is not None else truth(stager, condition, node.test)
            stager.names.update(stager.implied_by(condition.unforced()).when_true)
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
            "`break` in a parallel loop is not supported: its iterations have no order",
            "put `sv.loop_config(serialize=True)` before the loop, or skip work with an `if`",
        )
    loop.left = True
    if loop.completed is not None:
        loop.completed.store(stager, Static(False), node)
    loops.leave_early(stager, loop, "break", node)


def stage_continue(stager: Stager, node: ast.Continue) -> None:
    loops.leave_early(stager, loops.innermost(stager, node, "continue"), "continue", node)


def stage_with(stager: Stager, node: ast.With) -> None:
    graphs.stage_with(stager, node, stage_body)


def stage_pass(stager: Stager, node: ast.Pass) -> None:
    pass


def stage_for(stager: Stager, node: ast.For) -> None:
    stage_with_else(stager, node, lambda inner, loop: loops.stage_for(inner, loop, stage_body))


#: The name for whether a loop has completed. No program can write it.
COMPLETED = "loop completed"


def stage_with_else(stager: Stager, node: ast.For | ast.While, stage_loop: Rule) -> None:
    """A loop with `else`, whose block runs unless a `break` leaves the loop."""
    if not node.orelse or not loops.has_own_break(node.body):
        stage_loop(stager, node)
        stage_body(stager, node.orelse)
        return
    flag = Variable(stager.new_local(COMPLETED, u1))
    flag.store(stager, Static(True), node)
    stager.completed[node] = flag
    stage_loop(stager, node)
    if stager.ended:
        return
    outer = stager.names.get(COMPLETED)
    stager.names[COMPLETED] = flag
    test = ast.copy_location(ast.Name(COMPLETED, ast.Load()), node)
    stage_if(stager, ast.copy_location(ast.If(test, node.orelse, []), node))
    if outer is not None:
        stager.names[COMPLETED] = outer
    else:
        del stager.names[COMPLETED]


STATEMENTS |= {
    ast.Expr: stage_expression,
    ast.Assign: stage_assign,
    ast.AnnAssign: stage_annotated,
    ast.AugAssign: stage_augmented,
    ast.If: stage_if,
    ast.While: stage_while,
    ast.For: stage_for,
    ast.With: stage_with,
    ast.Return: stage_return,
    ast.Break: stage_break,
    ast.Continue: stage_continue,
    ast.Pass: stage_pass,
    ast.Global: stage_declared,
    ast.Nonlocal: stage_declared,
    ast.Assert: stage_assert,
}

STATEMENTS |= {
    ast.Try: refusal("`try`", "kernels do not raise exceptions: check values with `if`"),
    ast.Raise: refusal("`raise`", "use `assert` (checked in debug mode), or set a flag in an array"),
    ast.Import: refusal("`import`", "import at the top of the file"),
    ast.ImportFrom: refusal("`import`", "import at the top of the file"),
    ast.Delete: refusal("`del`", "it is not needed for local variables"),
    ast.FunctionDef: refusal("a nested `def`", "define a `@sv.func` outside the kernel and call it"),
    ast.AsyncFunctionDef: refusal("a nested `async def`", None),
    ast.ClassDef: refusal("a nested `class`", "define it outside the kernel"),
    ast.AsyncFor: refusal("`async for`", None),
    ast.AsyncWith: refusal("`async with`", None),
    ast.Match: refusal("`match`", "use `if` and `elif`"),
}
