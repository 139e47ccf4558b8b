"""Products of several factors, with `fast_math`: multiplied in pairs, so that the last one waits for fewer.

LLVM makes a chain of them. Where a loop computes enough per element to be limited by what the processor can keep waiting,
that is lost time (n-body: 4 %).
"""

from __future__ import annotations

from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Constant, Operation, Value

#: Products of products are followed so far: at most eight factors.
_DEPTH = 3
#: Two or three factors are a chain in any order.
_FEWEST = 4
#: As `samovar.backends.llvm.module.FAST`, but LLVM keeps the order.
_IN_ORDER = "nsz arcp contract afn "


def paired_product(writer: Writer, operation: Operation) -> str | None:
    """A product of floats by pairs; None where there are too few factors, or constants that LLVM should put together."""
    dtype = dtype_of(operation)
    if dtype.kind != "float" or not any(map(_is_product, operation.operands)):
        return None
    factors = [factor for operand in operation.operands for factor in _factors(writer, operand, _DEPTH - 1)]
    if len(factors) < _FEWEST or any(isinstance(factor, Constant) for factor in factors):
        return None
    kind = writer.kind(dtype)
    names = [writer.value(factor) for factor in factors]
    while len(names) > 1:
        pairs = zip(names[::2], names[1::2], strict=False)
        left_over = names[len(names) // 2 * 2 :]
        names = [*(writer.define(f"fmul {_IN_ORDER}{kind} {a}, {b}") for a, b in pairs), *left_over]
    return names[0]


def _is_product(value: Value) -> bool:
    return isinstance(value, Operation) and value.code == "mul" and value.payload is None


def _factors(writer: Writer, value: Value, depth: int) -> list[Value]:
    """What a value is the product of. One that is used elsewhere too is a factor itself: it is there already."""
    if not depth or not isinstance(value, Operation) or not _is_product(value) or writer.module.uses[value] > 1:
        return [value]
    return [factor for operand in value.operands for factor in _factors(writer, operand, depth - 1)]
