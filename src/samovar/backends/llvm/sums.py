"""Sums in `while` loops: with `fast_math`, in the order that is ready soonest, and with products fused.

A `while` loop is not vectorised: it takes as long as the chain from one iteration's values to the next one's. LLVM shares a
product between the condition and the body rather than fuse it into both sums, and adds what is constant last. Here what
the loop does not change is fused with the first half of the products, the second half is added to that in one step, and
whatever else there is comes last.
"""

from __future__ import annotations

from samovar._native import DType
from samovar.backends.llvm.mathematics import intrinsic
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Operation, Value, While, walk

#: Sums of sums are followed so far.
_DEPTH = 3

_LOOPS = ("for", "while")


def chain_of(loop: While) -> frozenset[Operation] | None:
    """The operations that an innermost loop repeats; None if there are loops inside."""
    inside = [*walk(loop.head), *walk(loop.body)]
    return None if any(operation.code in _LOOPS for operation in inside) else frozenset(inside)


def fused_sum(writer: Writer, operation: Operation) -> str | None:
    """A sum or difference of floats that a `while` loop repeats; None where there is nothing to fuse."""
    chain, dtype = writer.chain, dtype_of(operation)
    if chain is None or operation not in chain or dtype.kind != "float" or dtype.bits == 16:
        return None
    products: list[tuple[int, Operation]] = []
    others: list[tuple[int, Value]] = []
    for sign, term in _terms(operation, chain, _DEPTH):
        if isinstance(term, Operation) and term.code == "mul" and term.payload is None and term in chain:
            products.append((sign, term))
        else:
            others.append((sign, term))
    if not products:
        return None
    total: str | None = None
    for sign, term in others:
        if term not in chain:
            total = _added(writer, dtype, total, sign, writer.value(term))
    half = len(products) if total is None else (len(products) + 1) // 2
    total = _with_products(writer, dtype, total, products[:half])
    if products[half:]:
        # Without flags: fused into this addition, the product would wait for the other half.
        rest = _with_products(writer, dtype, None, products[half:])
        total = writer.define(f"fadd {writer.kind(dtype)} {total}, {rest}")
    for sign, term in others:
        if term in chain:
            total = _added(writer, dtype, total, sign, writer.value(term))
    return total


def _terms(value: Value, chain: frozenset[Operation], depth: int, sign: int = 1) -> list[tuple[int, Value]]:
    """The terms of a sum, each with its sign."""
    if not (depth and value in chain and isinstance(value, Operation) and value.code in ("add", "sub")) or value.payload:
        return [(sign, value)]
    left, right = value.operands
    second = -sign if value.code == "sub" else sign
    return [*_terms(left, chain, depth - 1, sign), *_terms(right, chain, depth - 1, second)]


def _negated(writer: Writer, dtype: DType, value: str) -> str:
    return writer.define(f"fneg {writer.flags}{writer.kind(dtype)} {value}")


def _added(writer: Writer, dtype: DType, total: str | None, sign: int, value: str) -> str:
    if total is None:
        return value if sign > 0 else _negated(writer, dtype, value)
    return writer.define(f"{'fadd' if sign > 0 else 'fsub'} {writer.flags}{writer.kind(dtype)} {total}, {value}")


def _with_products(writer: Writer, dtype: DType, total: str | None, products: list[tuple[int, Operation]]) -> str:
    """Some products, not none, on top of a total, if there is one."""
    for sign, product in products:
        first, second = (writer.value(operand) for operand in product.operands)
        if sign < 0:
            first = _negated(writer, dtype, first)
        if total is None:
            total = writer.define(f"fmul {writer.flags}{writer.kind(dtype)} {first}, {second}")
        else:
            total = intrinsic(writer, "fmuladd", dtype, first, second, total)
    assert total is not None
    return total
