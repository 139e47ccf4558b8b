"""Operators on enum members: they compare, and are true, as in Python.

A plain member equals only itself. One that is also a number or a string compares as such. Python evaluates
flags, and classes with their own operators.
"""

from __future__ import annotations

import ast
from typing import Any

from samovar.frontend.staged.base import Staged
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue


def has_member(*values: Any) -> bool:
    """Whether one of these compile-time values is an enum member."""
    return any(isinstance(value, EnumValue) for value in values)


def has_own_operators(*values: Any) -> bool:
    """Whether one of these compile-time values is an enum member with operators that only Python knows."""
    return any(isinstance(value, EnumValue) and value.operators == "own" for value in values)


def operate(stager: Stager, name: str, values: tuple[Any, ...], node: ast.AST) -> Staged:
    """The result of Python's own operator; `name` is that of a function of the module `operator`."""
    return stager.open(stager.context.lens.operate(name, *values), node)


def comparable(value: Any) -> Any:
    """A plain value that compares like a compile-time value, unless that has its own operators."""
    return value.value if isinstance(value, EnumValue) and value.operators == "value" else value


def member_truth(stager: Stager, member: EnumValue) -> bool:
    """Whether a member is true."""
    if member.operators == "own":
        return bool(stager.context.lens.operate("truth", member).value())
    return member.operators == "object" or bool(member.value)
