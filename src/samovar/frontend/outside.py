"""Calls of plain Python functions: they run at compile time, and what they are given goes through the lens."""

from __future__ import annotations

import ast
from typing import Any

from samovar.frontend.arithmetic import describe, plain
from samovar.frontend.expressions import open_attribute, sequence, stage
from samovar.frontend.staged import Callee, Intrinsic, Items, Outside, Staged, Static, Tensor
from samovar.frontend.stager import Stager
from samovar.ir import Value
from samovar.lens import Kind


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
