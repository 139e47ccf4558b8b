"""Enum members under operators: they compare, and are true, as they do in Python.

A plain member equals itself alone. One that is a number or a string as well compares like that. Flags, and classes with
operators of their own, are left to Python.
"""

from __future__ import annotations

import ast
from typing import Any

from samovar.frontend.staged.base import Staged
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue


def has_member(*values: Any) -> bool:
    """Is one of these compile-time values an enum member?"""
    return any(isinstance(value, EnumValue) for value in values)


def has_own_operators(*values: Any) -> bool:
    """Is one of these compile-time values an enum member whose operators only Python knows?"""
    return any(isinstance(value, EnumValue) and value.operators == "own" for value in values)


def operate(stager: Stager, name: str, values: tuple[Any, ...], node: ast.AST) -> Staged:
    """What Python's own operator gives; `name` is that of a function of the module `operator`."""
    return stager.open(stager.context.lens.operate(name, *values), node)


def comparable(value: Any) -> Any:
    """What compares as a compile-time value does, unless that has operators of its own."""
    return value.value if isinstance(value, EnumValue) and value.operators == "value" else value


def member_truth(stager: Stager, member: EnumValue) -> bool:
    """Is a member true?"""
    if member.operators == "own":
        return bool(stager.context.lens.operate("truth", member).value())
    return member.operators == "object" or bool(member.value)
