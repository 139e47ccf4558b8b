"""Compile-time values as text: what Python's own formatting makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar.frontend.expressions import stage
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager

#: The conversions of an f-string: `!r`, `!s`, `!a`.
CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def stage_fstring(stager: Stager, node: ast.JoinedStr) -> Staged:
    """Outside of print and assert an f-string is a compile-time string."""
    parts: list[str] = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            value = stage(stager, piece.value)
            parts.append(value.formatted(stager, conversion_of(piece), format_of(stager, piece), piece))
        else:
            parts.append(str(ast.literal_eval(piece)))
    return Static("".join(parts))


def conversion_of(node: ast.FormattedValue) -> str:
    """The letter of a conversion, nothing if there is none."""
    return "" if node.conversion < 0 else chr(node.conversion)


def format_of(stager: Stager, node: ast.FormattedValue) -> str:
    """The format of a value, which may be put together in turn."""
    if node.format_spec is None:
        return ""
    form = stage(stager, node.format_spec)
    if not isinstance(form, Static):
        stager.fail(node, "a format must be known at compile time")
    return str(form.value)


def format_object(stager: Stager, value: Staged, conversion: str, form: str, node: ast.AST) -> str:
    """A user object, which may have a way of its own to be written."""
    operate, itself = stager.context.lens.operate, value.as_outside_argument(stager, node)
    text = operate(CONVERSIONS[conversion].__name__, itself).value() if conversion else itself
    return str(operate("format", text, form).value())


def format_value(stager: Stager, value: Any, conversion: str, form: str, node: ast.AST) -> str:
    """A number, a string, or a tuple or list of them, as Python writes it."""
    try:
        return format(CONVERSIONS[conversion](value) if conversion else value, form)
    except (TypeError, ValueError) as problem:
        stager.fail_type(node, f"this value cannot be formatted: {problem}")
