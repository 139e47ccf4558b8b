"""Constant folding of integer operations and conditions."""

from __future__ import annotations

from collections.abc import Sequence

from samovar._native import u1
from samovar.ir import OPCODES, Constant, Operation, Value, constant_integer, integer_range_of


def known_result(operation: Operation, operands: Sequence[Value]) -> Value | None:
    """The result of an operation on replaced operands, if it is a constant or one of them; else None."""
    code, type = operation.code, operation.type
    if type is None or OPCODES[code].effect != "pure" or operation.payload is not None or not operands:
        return None
    if code == "select":
        condition, then, otherwise = operands
        return (then if condition.value else otherwise) if isinstance(condition, Constant) else None
    if code in ("and", "or") and type is u1:
        for one, other in (operands, operands[::-1]):
            if isinstance(one, Constant):
                return other if bool(one.value) == (code == "and") else one
        return None
    numbers = [constant_integer(operand) for operand in operands]
    if type.kind == "float" or None in numbers:
        return None
    low, high = integer_range_of(operation, [(number, number) for number in numbers if number is not None])
    if low != high:
        return None
    return Constant(bool(low) if type is u1 else low, type)
