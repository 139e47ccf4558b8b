"""Operators on staged values: each side is asked in turn, as in Python.

If neither side has a rule, it is an error here. Element-wise operations go through `by_components`: operators and
functions of numbers alike.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from samovar._native import DType, u1
from samovar.frontend.scalars import convert, float_type
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar, operand_types
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Implied, Stager
from samovar.ir import Value
from samovar.language import is_integer, promote


class BinaryOperator:
    """An opcode, its Python function, and its symbol."""

    __slots__ = ("code", "python", "sign")

    def __init__(self, code: str, python: Callable[[Any, Any], Any], sign: str) -> None:
        self.code = code
        self.python = python
        self.sign = sign


class Comparison(BinaryOperator):
    """The same for comparisons."""

    __slots__ = ()


class UnaryOperator:
    """The Python function, and the symbol."""

    __slots__ = ("python", "sign")

    def __init__(self, python: Callable[[Any], Any], sign: str) -> None:
        self.python = python
        self.sign = sign


BINARY: dict[type[ast.operator], BinaryOperator] = {
    ast.Add: BinaryOperator("add", operator.add, "+"),
    ast.Sub: BinaryOperator("sub", operator.sub, "-"),
    ast.Mult: BinaryOperator("mul", operator.mul, "*"),
    ast.Div: BinaryOperator("div", operator.truediv, "/"),
    ast.FloorDiv: BinaryOperator("floordiv", operator.floordiv, "//"),
    ast.Mod: BinaryOperator("mod", operator.mod, "%"),
    ast.Pow: BinaryOperator("pow", operator.pow, "**"),
    ast.BitAnd: BinaryOperator("and", operator.and_, "&"),
    ast.BitOr: BinaryOperator("or", operator.or_, "|"),
    ast.BitXor: BinaryOperator("xor", operator.xor, "^"),
    ast.LShift: BinaryOperator("shl", operator.lshift, "<<"),
    ast.RShift: BinaryOperator("shr", operator.rshift, ">>"),
    ast.MatMult: BinaryOperator("matmul", operator.matmul, "@"),
}

COMPARISONS: dict[type[ast.cmpop], Comparison] = {
    ast.Lt: Comparison("lt", operator.lt, "<"),
    ast.LtE: Comparison("le", operator.le, "<="),
    ast.Gt: Comparison("gt", operator.gt, ">"),
    ast.GtE: Comparison("ge", operator.ge, ">="),
    ast.Eq: Comparison("eq", operator.eq, "=="),
    ast.NotEq: Comparison("ne", operator.ne, "!="),
}

UNARY: dict[type[ast.unaryop], UnaryOperator] = {
    ast.USub: UnaryOperator(operator.neg, "-"),
    ast.UAdd: UnaryOperator(operator.pos, "+"),
    ast.Invert: UnaryOperator(operator.invert, "~"),
}

EQUAL = COMPARISONS[ast.Eq]
POWER = BINARY[ast.Pow]


def binary(stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST) -> Staged:
    left, right = left.unforced(), right.unforced()
    result = left.binary(stager, operator, right, node)
    if result is None:
        result = right.reflected(stager, operator, left, node)
    if result is not None:
        return result
    if operator.code == "matmul":
        stager.fail(node, "`@` requires matrices or vectors", "write a loop for the sum")
    for side in (left, right):
        if not side.is_number():
            side.fail_as_number(stager, node)
    stager.fail_type(node, f"`{operator.sign}` is not defined for {left.describe()} and {right.describe()}")


def compare(stager: Stager, comparison: Comparison, left: Staged, right: Staged, node: ast.AST) -> Staged:
    left, right = left.unforced(), right.unforced()
    result = left.compare(stager, comparison, right, node)
    if result is None:
        result = right.compare_reflected(stager, comparison, left, node)
    if result is not None:
        return result
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Static) and not side.is_number():
            what = other.describe() if other.is_array() else "a number"
            advice = "test for None at compile time: `if sv.static(x is None)`" if side.is_none() else None
            stager.fail_type(node, f"`{comparison.sign}` is not defined between {what} and {side.describe()}", advice)
    for side in (left, right):
        if not side.is_number():
            side.fail_as_number(stager, node)
    stager.fail_type(node, f"`{comparison.sign}` is not defined for {left.describe()} and {right.describe()}")


def negate(stager: Stager, staged: Staged, node: ast.AST) -> Staged:
    """`not staged`."""
    if has_truth_of_entries(stager, staged):
        opposite = by_components(stager, (staged.unforced(),), node, lambda each: negate(stager, each, node))
        assert opposite is not None
        return opposite
    known = known_truth(stager, staged, node)
    if known is not None:
        return Static(not known)
    result = stager.emit("not", u1, (truth(stager, staged, node),))
    if stager.used.binds_in_expressions:
        implied = stager.implied_by(staged.unforced())
        stager.implied[result] = Implied(implied.when_false, implied.when_true)
    return Scalar(result)


def has_truth_of_entries(stager: Stager, staged: Staged) -> bool:
    """Whether logical operators apply to the entries of a value: that of a vector or matrix, if the options say so."""
    return staged.unforced().is_elementwise() and stager.context.lens.options.vector_truth == "entries"


def known_truth(stager: Stager, staged: Staged, node: ast.AST) -> bool | None:
    """The compile-time truth of a condition; None if unknown. The truth value of an array is ambiguous; in `static` it is
    true if it exists, as for other objects."""
    value = staged.unforced()
    advice = None if staged.is_forced or stager.static_depth else value.advice_for_truth()
    if advice is not None:
        stager.fail_type(node, f"the truth value of {value.describe()} is ambiguous", advice)
    return value.truth(stager)


def truth(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """A run-time condition."""
    known_truth(stager, staged, node)
    return staged.unforced().as_type(stager, u1, node)


# --- components


def by_components(
    stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]
) -> Staged | None:
    """Apply a function to the components of element-wise operands; None if no operand is element-wise."""
    leader = leading(operands)
    if leader is None:
        return None
    if leader.is_in_memory():
        return leader.by_components(stager, operands, node, function)
    _, rows = component_rows(stager, operands, node)
    return leader.with_components(tuple([function(*row) for row in rows]))


def leading(operands: Sequence[Staged]) -> Staged | None:
    """The operand that decides how components are processed: preferably one in memory; None if there is none."""
    for operand in operands:
        array = operand.as_array_value()
        if array is not None:
            return array
    elementwise = [operand for operand in operands if operand.is_elementwise()]
    leader = next((operand for operand in elementwise if operand.is_in_memory()), None)
    return leader or next(iter(elementwise), None)


def component_rows(
    stager: Stager, operands: Sequence[Staged], node: ast.AST
) -> tuple[Staged | None, list[tuple[Staged, ...]]]:
    """The components of the operands in rows, and an operand to rebuild from the results; None without components."""
    leader = leading(operands)
    if leader is None:
        return None, [tuple(operands)]
    operands = [operand.beside(stager, leader, node) for operand in operands]
    check_shapes(stager, leader, operands, node)
    count = len(leader.spread(1))
    columns = [operand.spread(count) for operand in operands]
    return leader, list(zip(*columns, strict=True))


def check_shapes(stager: Stager, leader: Staged, operands: Sequence[Staged], node: ast.AST) -> None:
    """Check that operands with components have the same number along each dimension."""
    shape = leader.component_shape()
    if any(operand.is_elementwise() and operand.component_shape() != shape for operand in operands):
        leader.fail_to_match(stager, operands, node)


# --- several numbers


def common_type(stager: Stager, staged: Sequence[Staged], node: ast.AST) -> DType:
    """The type that several scalars promote to."""
    dtype, *others = operand_types(stager, staged, node)
    for other in others:
        dtype = promote(dtype, other)
    return dtype


def as_float(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """A run-time float: integers are converted to the default float type."""
    return staged.as_type(stager, float_type(stager, staged.type(stager, node)), node)


def as_index(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """An array index: a scalar of any integer type."""
    value = staged.number()
    if isinstance(value, float):
        stager.fail_type(node, f"an index must be an integer, got {value!r}", whole_number(node))
    run_time = staged.scalar(stager, node)
    if value is not None:
        return run_time
    assert run_time.type is not None
    if run_time.type is u1:
        return convert(stager, run_time, stager.context.default_ip)
    if not is_integer(run_time.type):
        stager.fail_type(node, f"an index must be an integer, got {run_time.type.name}", whole_number(node))
    return run_time


def whole_number(node: ast.AST) -> str:
    """Advice for a float where an integer is required: in an index, or in a bound of `range`."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    for each in node.args if isinstance(node, ast.Call) else [node]:
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div):
            whole = ast.unparse(ast.BinOp(each.left, ast.FloorDiv(), each.right))
            return f"`/` returns a float; use `//` for integer division: `{whole}`"
    return "convert it: `int(x)`"
