"""Calls of plain Python functions: they run at compile time, and what they are given goes through the lens."""

from __future__ import annotations

import ast
from typing import Any

from samovar.frontend.expressions import stage
from samovar.frontend.rules import Call, unpacked
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.outside import Inherited, Outside
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager


def plain_arguments(stager: Stager, node: ast.Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a plain function, by position and by name."""
    positional: list[Any] = []
    for argument in node.args:
        values = unpacked(stager, argument) if isinstance(argument, ast.Starred) else (stage(stager, argument),)
        positional.extend(value.as_outside_argument(stager, argument) for value in values)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
        keywords[keyword.arg] = stage(stager, keyword.value).as_outside_argument(stager, keyword.value)
    return tuple(positional), keywords


def call_plainly(stager: Stager, name: str, node: ast.Call) -> Staged:
    """A function that has no meaning of its own in kernels does inside `static` what it does in Python."""
    positional, keywords = plain_arguments(stager, node)
    return stager.open(stager.context.lens.operate(name, *positional, **keywords), node)


def require_static(stager: Stager, name: str, node: ast.AST) -> None:
    """A plain Python function can be called inside of `static` only."""
    if stager.static_depth == 0:
        stager.fail_type(
            node,
            f"`{name}` is a plain Python function",
            "decorate it with `@sv.func`, or call it inside `sv.static(...)` to run it at compile time",
        )


def get_attribute(stager: Stager, call: Call) -> Staged:
    """`getattr` of an object, a module or a class: a question that is asked again at each launch."""
    require_static(stager, "getattr", call.node)
    owner, name, default = call["owner"], attribute_name(call["name"]), call.get("default")
    if not isinstance(owner, Outside) or name is None:
        return operate(stager, "builtins.getattr", call)
    if default is not None and not owner.has_attribute(name):
        return default
    return owner.attribute(stager, name, call.node)


def has_attribute(stager: Stager, call: Call) -> Staged:
    """`hasattr`, in the same way."""
    require_static(stager, "hasattr", call.node)
    owner, name = call["owner"], attribute_name(call["name"])
    if not isinstance(owner, Outside) or name is None:
        return operate(stager, "builtins.hasattr", call)
    return Static(owner.has_attribute(name))


def attribute_name(staged: Staged) -> str | None:
    return staged.value if isinstance(staged, Static) and isinstance(staged.value, str) else None


def operate(stager: Stager, name: str, call: Call) -> Staged:
    """What Python's own function gives for these arguments."""
    values = [value.as_outside_argument(stager, call.nodes[key]) for key, value in call.arguments.items()]
    return stager.open(stager.context.lens.operate(name, *values), call.node)


def make_super(stager: Stager, node: ast.Call) -> Staged:
    """`super()`, in a method of a class."""
    if node.args or node.keywords:
        stager.fail(node, "`super` takes no arguments in kernels", "write `super()`")
    cls = stager.function.resolve("__class__")
    parameters = stager.function.parameters
    owner = stager.names.get(parameters[0].name) if parameters else None
    if cls is None or not isinstance(owner, Outside):
        stager.fail(node, "`super()` works in the methods of a class", "call the func by the name of its class")
    return Inherited(owner.ref, cls)
