"""The tables by which rules find each other: by AST node, by the kind of a user object, by the kind of a called value.

A module with rules enters them here when it is imported, and `lowering.py` imports all of them. Rules stage other code
through the functions here, so they do not import each other. This file imports no other part of the frontend.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NoReturn

from samovar.lens import Kind, Ref

if TYPE_CHECKING:
    from samovar.frontend.staged.base import Staged
    from samovar.frontend.stager import Stager

EXPRESSIONS: dict[type[ast.expr], Callable[[Stager, Any], Staged]] = {}
STATEMENTS: dict[type[ast.stmt], Callable[[Stager, Any], None]] = {}
OBJECTS: dict[Kind, Callable[[Stager, Ref, ast.AST], Staged]] = {}


def stage(stager: Stager, node: ast.expr) -> Staged:
    """The staged value of an expression."""
    staged = stage_marked(stager, node)
    return staged.unforced() if staged.is_forced else staged


def stage_marked(stager: Stager, node: ast.expr) -> Staged:
    """The staged value of an expression, still marked by `static(...)`."""
    rule = EXPRESSIONS.get(node.__class__, refuse_unknown)
    if not stager.context.by_call_path:
        return rule(stager, node)
    with stager.at(node):
        return rule(stager, node)


def stage_body(stager: Stager, body: list[ast.stmt]) -> None:
    """Stage the statements of a block; code after a return, break or continue is ignored."""
    context = stager.context
    outer, context.staging = context.staging, stager
    for statement in body:
        if stager.ended:
            break
        stager.line = statement.lineno
        stager.statement = statement
        if context.probes is not None:
            context.probes.note(stager, statement)
        STATEMENTS.get(statement.__class__, refuse_unknown)(stager, statement)
    context.staging = outer


@singledispatch
def call_value(value: Staged, stager: Stager, node: ast.Call) -> Staged:
    """The result of `value(...)`. Kinds that can be called register a rule."""
    stager.fail_type(node, f"{value.describe()} cannot be called")


@singledispatch
def assign_elements(target: Staged, stager: Stager, value: Staged, node: ast.AST) -> None:
    """Assign a value to all elements of a part of an array. Kinds that are such parts register a rule."""
    raise NotImplementedError


@singledispatch
def matrix_product(operand: Staged, stager: Stager, left: Staged, right: Staged, node: ast.AST) -> Staged:
    """`left @ right`. Kinds that are operands of it register a rule."""
    raise NotImplementedError


def refusal(name: str, advice: str | None) -> Callable[[Stager, ast.AST], NoReturn]:
    """The rule of a node that kernels do not support."""

    def refuse(stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail(node, f"{name} is not supported in kernels", advice)

    return refuse


def refuse_unknown(stager: Stager, node: ast.AST) -> NoReturn:
    refusal(node.__class__.__name__, None)(stager, node)
