"""Enum members under operators: they compare, and are true, as they do in Python.

A plain member equals itself alone. One that is a number or a string as well compares like that. Flags, and classes with
operators of their own, are left to Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar.frontend.staged import Staged, Static
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue, shown


def has_member(*operands: Staged) -> bool:
    """Are these compile-time values, and one of them an enum member?"""
    return all(isinstance(each, Static) for each in operands) and any(
        isinstance(each, Static) and isinstance(each.value, EnumValue) for each in operands
    )


def has_own_operators(*operands: Staged) -> bool:
    """Are these compile-time values, and one of them an enum member whose operators only Python knows?"""
    return all(isinstance(each, Static) for each in operands) and any(
        isinstance(each, Static) and isinstance(each.value, EnumValue) and each.value.operators == "own"
        for each in operands
    )


def operate(stager: Stager, name: str, operands: tuple[Staged, ...], node: ast.AST) -> Staged:
    """What Python's own operator gives; `name` is that of a function of the module `operator`."""
    values = [operand.value for operand in operands if isinstance(operand, Static)]
    return stager.open(stager.program.lens.operate(name, *values), node)


def compare_members(
    stager: Stager, function: Callable[[Any, Any], Any], sign: str, left: Static, right: Static, node: ast.AST
) -> Staged:
    """Compile-time values of which one is an enum member; `function` is what Python has for the sign."""
    if has_own_operators(left, right):
        return operate(stager, function.__name__, (left, right), node)
    try:
        return Static(function(comparable(left.value), comparable(right.value)))
    except TypeError:
        stager.fail_type(
            node,
            f"`{sign}` is not defined for {shown(left.value)} and {shown(right.value)}",
            "members of an enum have no order: compare what they stand for, `.value`, or derive the class from `IntEnum`",
        )


def comparable(value: Any) -> Any:
    """What compares as a compile-time value does, unless that has operators of its own."""
    return value.value if isinstance(value, EnumValue) and value.operators == "value" else value


def member_truth(stager: Stager, member: EnumValue) -> bool:
    """Is a member true?"""
    if member.operators == "own":
        return bool(stager.program.lens.operate("truth", member).value())
    return member.operators == "object" or bool(member.value)
