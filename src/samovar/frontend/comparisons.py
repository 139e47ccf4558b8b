"""Comparisons: chains, `is` and `in`, and comparisons of Python objects inside `static`."""

from __future__ import annotations

import ast
from typing import Any

from samovar._native import u1
from samovar.frontend.conditions import connect
from samovar.frontend.dispatch import stage
from samovar.frontend.enumerations import comparable, has_member, has_own_operators, operate
from samovar.frontend.operators import COMPARISONS, EQUAL, compare, negate, truth
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static, fold
from samovar.frontend.stager import Stager


def stage_compare(stager: Stager, node: ast.Compare) -> Staged:
    """`a < b < c` evaluates `b` once, and `c` only if `a < b`."""
    return compare_from(stager, node, 0, stage(stager, node.left))


def compare_from(stager: Stager, node: ast.Compare, position: int, left: Staged) -> Staged:
    """The comparisons from a position on, whose left side is staged."""
    right = stage(stager, node.comparators[position])
    result = compare_pair(stager, node.ops[position].__class__, left, right, node)
    if position + 1 == len(node.ops):
        return result
    return connect(stager, True, result, lambda: compare_from(stager, node, position + 1, right), node)


def compare_pair(stager: Stager, operator: type[ast.cmpop], left: Staged, right: Staged, node: ast.AST) -> Staged:
    if stager.static_depth and compares_objects(operator, left, right):
        return compare_objects(stager, operator, left, right, node)
    if operator in (ast.Is, ast.IsNot):
        return stage_identity(stager, operator is ast.IsNot, left, right, node)
    if operator in (ast.In, ast.NotIn):
        return stage_membership(stager, operator is ast.NotIn, left, right, node)
    return compare(
        stager, COMPARISONS[operator], left.as_operand(stager, node), right.as_operand(stager, node), node
    )


def compares_objects(operator: type[ast.cmpop], left: Staged, right: Staged) -> bool:
    """Whether a comparison is between Python objects, or between one and a compile-time value."""
    if left.is_opaque() and right.is_opaque():
        return True
    one, other = (left, right) if left.is_opaque() else (right, left)
    return operator in (ast.Eq, ast.NotEq) and one.is_opaque() and isinstance(other, Static)


#: The names of comparisons in the module `operator`.
OBJECT_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Is: "is_", ast.IsNot: "is_not", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


def compare_objects(
    stager: Stager, operator: type[ast.cmpop], left: Staged, right: Staged, node: ast.AST
) -> Staged:
    """Compare two Python objects inside `static`, as Python does. They are then used as values."""
    if operator not in OBJECT_COMPARISONS:
        stager.fail(node, "`in` requires compile-time values")
    operands = (left.compared_object(), right.compared_object())
    return stager.open(stager.context.lens.operate(OBJECT_COMPARISONS[operator], *operands), node)


def stage_identity(stager: Stager, negated: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Static) and (one.value is None or isinstance(one.value, bool)):
            # Whether an argument was omitted is known; a number is never None, so such a test is a mistake.
            if stager.static_depth == 0 and (one.value is not None or (other.is_number() and other.is_run_time())):
                break
            same = isinstance(other, Static) and other.value is one.value
            return Static(same != negated)
    if stager.static_depth and isinstance(left, Static) and isinstance(right, Static):
        same = left.value == right.value and left.value.__class__ is right.value.__class__
        return Static(same != negated)
    stager.fail(
        node,
        "`is` compares Python objects, which exist only at compile time",
        "write `sv.static(x is None)`, or compare values with `==`",
    )


def among(stager: Stager, negated: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    """`x in (1, 2, 3)`: whether a number equals one of a known number of others."""
    result: Staged = Static(False)
    for item in right.as_operand(stager, node).sequence(stager, node):
        equal = compare(stager, EQUAL, left, item.unforced(), node)
        if result.is_run_time():
            equal = Scalar(stager.emit("or", u1, (truth(stager, result, node), truth(stager, equal, node))))
        result = equal
    return negate(stager, result, node) if negated else result


def stage_membership(stager: Stager, negated: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    if left.is_run_time() and left.is_number():
        return among(stager, negated, left, right, node)
    if not isinstance(left, Static):
        stager.fail(node, f"`in` tests for numbers, not for {left.describe()}")
    if isinstance(right, Static) and has_own_operators(right.value):
        contained = operate(stager, "contains", (right.value, left.value), node)
        return negate(stager, contained, node) if negated else contained
    text = comparable(right.value) if isinstance(right, Static) else None
    if isinstance(text, str):
        return fold(stager, node, lambda part: (part in text) != negated, comparable(left.value))
    values: dict[Any, Static] = {}  # a long sequence has few distinct elements
    for item in right.sequence(stager, node):
        item = item.unforced()
        if not isinstance(item, Static):
            stager.fail(node, "`in` requires compile-time values")
        values.setdefault((item.value.__class__, item.value), item)
    if (left.value.__class__, left.value) in values:
        return Static(not negated)
    if not has_member(left.value):  # an enum member has its own comparison; plain values need none
        found = any(left.value == value for _, value in values)
        values = {key: item for key, item in values.items() if has_member(item.value)}
    else:
        found = False
    found = found or any(compare(stager, EQUAL, item, left, node).truth(stager) for item in values.values())
    return Static(found != negated)
