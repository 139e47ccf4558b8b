"""Compile-time values as text: what Python's own formatting makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar.frontend.arithmetic import describe, plain, static_items
from samovar.frontend.expressions import stage
from samovar.frontend.outside import outside_argument
from samovar.frontend.staged import Items, Outside, Staged, Static
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue

#: The conversions of an f-string: `!r`, `!s`, `!a`.
CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def stage_fstring(stager: Stager, node: ast.JoinedStr) -> Staged:
    """Outside of print and assert an f-string is a compile-time string."""
    parts: list[str] = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            value = plain(stage(stager, piece.value))
            parts.append(formatted(stager, value, conversion_of(piece), format_of(stager, piece), piece))
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
    form = plain(stage(stager, node.format_spec))
    if not isinstance(form, Static):
        stager.fail(node, "a format must be known at compile time")
    return str(form.value)


def formatted(stager: Stager, value: Staged, conversion: str, form: str, node: ast.AST) -> str:
    """A compile-time value, converted and formatted."""
    if isinstance(value, Items):
        return python_format(stager, static_items(stager, value, node), conversion, form, node)
    if isinstance(value, Static) and value.origin is None and not isinstance(value.value, EnumValue):
        return python_format(stager, value.value, conversion, form, node)
    if not isinstance(value, (Static, Outside)):
        stager.fail(
            node,
            f"an f-string that is more than a message cannot hold {describe(value)}",
            "only the f-strings of `print` and `assert` can have run-time values in them",
        )
    # An object may have a way of its own to be written.
    operate, itself = stager.program.lens.operate, outside_argument(stager, value, node)
    text = operate(CONVERSIONS[conversion].__name__, itself).value() if conversion else itself
    return str(operate("format", text, form).value())


def python_format(stager: Stager, value: Any, conversion: str, form: str, node: ast.AST) -> str:
    try:
        return format(CONVERSIONS[conversion](value) if conversion else value, form)
    except (TypeError, ValueError) as problem:
        stager.fail_type(node, f"this value cannot be formatted: {problem}")
