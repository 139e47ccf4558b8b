"""Compile-time values as text, by Python's own formatting."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import singledispatch
from typing import Any

from samovar.frontend.dispatch import stage
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.outside import Outside
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue

#: The conversions of an f-string: `!r`, `!s`, `!a`.
CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def stage_fstring(stager: Stager, node: ast.JoinedStr) -> Staged:
    """An f-string outside `print` and `assert` is a compile-time string."""
    parts: list[str] = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            value = stage(stager, piece.value)
            parts.append(formatted(value, stager, conversion_of(piece), format_of(stager, piece), piece))
        else:
            parts.append(str(ast.literal_eval(piece)))
    return Static("".join(parts))


@singledispatch
def formatted(value: Staged, stager: Stager, conversion: str, spec: str, node: ast.AST) -> str:
    """A compile-time value as text, converted and formatted. Kinds that are known at compile time register a rule."""
    stager.fail(
        node,
        f"an f-string outside `print` and `assert` cannot contain {value.describe()}",
        "only f-strings in `print` and `assert` can contain run-time values",
    )


@formatted.register(Static)
def format_constant(value: Static, stager: Stager, conversion: str, spec: str, node: ast.AST) -> str:
    if value.origin is None and not isinstance(value.value, EnumValue):
        return format_value(stager, value.value, conversion, spec, node)
    return format_object(value, stager, conversion, spec, node)


@formatted.register(Items)
@formatted.register(Matrix)
def format_numbers(value: Staged, stager: Stager, conversion: str, spec: str, node: ast.AST) -> str:
    return format_value(stager, value.text_value(stager, node), conversion, spec, node)


def conversion_of(node: ast.FormattedValue) -> str:
    """The letter of a conversion; empty if there is none."""
    return "" if node.conversion < 0 else chr(node.conversion)


def format_of(stager: Stager, node: ast.FormattedValue) -> str:
    """The format of a value, which may contain values in turn."""
    if node.format_spec is None:
        return ""
    spec = stage(stager, node.format_spec)
    if not isinstance(spec, Static):
        stager.fail(node, "a format must be known at compile time")
    return str(spec.value)


@formatted.register(Outside)
def format_object(value: Staged, stager: Stager, conversion: str, spec: str, node: ast.AST) -> str:
    """A user object, which may have its own formatting."""
    operate, itself = stager.context.lens.operate, value.as_outside_argument(stager, node)
    text = operate(CONVERSIONS[conversion].__name__, itself).value() if conversion else itself
    return str(operate("format", text, spec).value())


def format_value(stager: Stager, value: Any, conversion: str, spec: str, node: ast.AST) -> str:
    """A number, a string, or a tuple or list of them, formatted by Python."""
    try:
        return format(CONVERSIONS[conversion](value) if conversion else value, spec)
    except (TypeError, ValueError) as problem:
        stager.fail_type(node, f"this value cannot be formatted: {problem}")
