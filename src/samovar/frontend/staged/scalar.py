"""A run-time number: an IR value, and the operators on it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from samovar._native import DType, u1
from samovar.frontend.scalars import BITWISE, LARGEST_UNROLLED_EXPONENT, SHIFTS, convert, operation_type, power, require_fit
from samovar.frontend.staged.base import Staged
from samovar.ir import Constant, Value
from samovar.language import integer_range, integer_type, is_float, promote

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.stager import Stager


class Scalar(Staged):
    """A run-time scalar."""

    __slots__ = ("dtype", "value")

    advice_for_loop = "loop over `range(n)`"

    def __init__(self, value: Value) -> None:
        assert value.type is not None
        self.value = value
        self.dtype: DType = value.type

    # --- as a number

    def describe(self) -> str:
        return "a number"

    def is_run_time(self) -> bool:
        return True

    def wanted_by_static(self) -> tuple[Value, ...]:
        return (self.value,)

    def is_number(self) -> bool:
        return True

    def type(self, stager: Stager, node: ast.AST) -> DType:
        return self.dtype

    def scalar(self, stager: Stager, node: ast.AST) -> Value:
        return self.value

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        return convert(stager, self.value, dtype)

    def as_stored(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        if isinstance(self.value, Constant):
            require_fit(stager, self.value.value, dtype, node)
        return convert(stager, self.value, dtype)

    # --- operators

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return calculate(stager, operator, self, other, node) if other.is_number() else None

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return calculate(stager, operator, other, self, node) if other.is_number() else None

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compare(stager, comparison, self, other, node) if other.is_number() else None

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compare(stager, comparison, other, self, node) if other.is_number() else None

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        if operator.sign == "~":
            if is_float(self.dtype):
                stager.fail_type(node, f"`~` requires an integer, got {self.dtype.name}", "convert it first: `int(x)`")
            return Scalar(stager.emit("not", self.dtype, (self.value,)))
        dtype = operation_type(stager, "neg", self.dtype)
        value = convert(stager, self.value, dtype)
        return Scalar(value if operator.sign == "+" else stager.emit("neg", dtype, (value,)))

    # --- run-time value

    def ir_values(self) -> tuple[Value, ...]:
        return (self.value,)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return Scalar(next(values))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("value", self.dtype)

    # --- Python objects

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> object:
        stager.fail(node, "a plain Python function runs at compile time and cannot be passed a run-time value")


def calculate(stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST) -> Staged | None:
    """An operator on numbers, at least one of which is a run-time value."""
    code = operator.code
    if code == "matmul":
        return None
    left_type, right_type = operand_types(stager, (left, right), node)
    exponent = right.number() if code == "pow" else None
    if isinstance(exponent, int) and abs(exponent) <= LARGEST_UNROLLED_EXPONENT:
        return Scalar(power(stager, left.scalar(stager, node), exponent, promote(left_type, right_type)))
    dtype = operation_type(stager, code, promote(left_type, right_type))
    if is_float(dtype) and (code in BITWISE or code in SHIFTS):
        stager.fail_type(
            node,
            f"`{operator.sign}` requires integers, got {left_type.name} and {right_type.name}",
            "convert them first: `int(x)`, or use the bits: `sv.bit_cast(x, sv.u32)`",
        )
    return Scalar(stager.emit(code, dtype, (left.as_type(stager, dtype, node), right.as_type(stager, dtype, node))))


def compare(stager: Stager, comparison: Comparison, left: Staged, right: Staged, node: ast.AST) -> Staged:
    dtype = promote(*operand_types(stager, (left, right), node))
    return Scalar(stager.emit(comparison.code, u1, (left.as_type(stager, dtype, node), right.as_type(stager, dtype, node))))


def operand_types(stager: Stager, staged: Sequence[Staged], node: ast.AST) -> list[DType]:
    """The types with which several scalars promote. A literal that is too large for the default type takes the type of an
    unsigned operand that holds it: hash functions stay exact."""
    types = [each.type(stager, node) for each in staged]
    default = stager.context.option_ip
    if stager.context.infers:
        types = [weakly(each, dtype, staged, types, default) for each, dtype in zip(staged, types, strict=True)]
    for position, each in enumerate(staged):
        value = each.number()
        if isinstance(value, int) and types[position].bits > default.bits:
            for other, dtype in zip(staged, types, strict=True):
                if other.number() is None and dtype.kind == "uint" and 0 <= value <= integer_range(dtype)[1]:
                    types[position] = dtype
    return types


def weakly(value: Staged, own: DType, staged: Sequence[Staged], types: Sequence[DType], default: DType) -> DType:
    """The type with which an operand promotes in a kernel whose parameters have no annotations. A literal does not widen a
    typed operand of its kind: an f32 times 0.1 is an f32."""
    number = value.number()
    typed = [dtype for each, dtype in zip(staged, types, strict=True) if each.number() is None]
    if isinstance(number, float) and any(map(is_float, typed)):
        return next(filter(is_float, typed))
    if isinstance(number, int) and not isinstance(number, bool) and any(dtype is not u1 for dtype in typed):
        return integer_type(number, default) or own
    return own
