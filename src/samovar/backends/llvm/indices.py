"""Addresses of array elements, in 64-bit arithmetic that LLVM sees through.

Indices are mostly i32 expressions of loop variables. Extending a wrapped i32 sum hides from LLVM that neighbouring
iterations touch neighbouring elements. So a sum is computed in i64 instead where that gives the same element: an index that
is in bounds is r in [0, 2^31), and the i32 computation gives r modulo 2^32; if the exact sum lies in (-2^32, 2^32), then no
other value of it is congruent to r and in bounds. (What is out of bounds is not executed: it was checked, or is undefined.)
"""

from __future__ import annotations

from collections.abc import Sequence

from samovar.backends.llvm.types import greatest, is_signed, least, memory_type, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir.values import Array, Constant, LoopVariable, Operation, Value

_LIMIT = 1 << 32
_DEPTH = 6


def widened(writer: Writer, value: Value) -> str:
    """An integer as i64, extended according to its sign."""
    if isinstance(value, Constant):
        return str(int(value.value))
    counter = writer.counters.get(value)
    if counter is not None:
        return counter
    dtype = dtype_of(value)
    if isinstance(value, Operation) and value.code == "shape":
        array, axis = value.payload
        return writer.extent(array, axis)
    name = writer.value(value)
    if dtype.bits == 64:
        return name
    return writer.define(f"{'sext' if is_signed(dtype) else 'zext'} {register_type(dtype)} {name} to i64")


def interval(writer: Writer, value: Value) -> tuple[int, int]:
    """Bounds of an integer value."""
    dtype = dtype_of(value)
    if isinstance(value, Constant):
        return int(value.value), int(value.value)
    if isinstance(value, LoopVariable):
        known = writer.ranges.get(value)
        if known is not None:
            return known
    elif isinstance(value, Operation):
        if value.code == "shape":
            array, axis = value.payload
            if array.shape is not None:
                return array.shape[axis], array.shape[axis]
            return 0, greatest(dtype)
        if value.code == "cast":
            source = dtype_of(value.operands[0])
            if source.kind in ("bool", "uint") and source.bits < dtype.bits:
                return 0, greatest(source)
    return least(dtype), greatest(dtype)


def _exact_interval(writer: Writer, value: Value, depth: int) -> tuple[int, int]:
    """Bounds of the value that `_exact` computes, without wrapping."""
    if isinstance(value, Operation) and depth and value.payload is None:
        if value.code in ("add", "sub"):
            low, high = _exact_interval(writer, value.operands[0], depth - 1)
            other_low, other_high = _exact_interval(writer, value.operands[1], depth - 1)
            if value.code == "sub":
                other_low, other_high = -other_high, -other_low
            return low + other_low, high + other_high
        factor = _constant_factor(value)
        if factor is not None:
            ends = [end * factor[1] for end in _exact_interval(writer, factor[0], depth - 1)]
            return min(ends), max(ends)
    return interval(writer, value)


def _constant_factor(value: Operation) -> tuple[Value, int] | None:
    if value.code == "mul":
        left, right = value.operands
        if isinstance(right, Constant):
            return left, int(right.value)
        if isinstance(left, Constant):
            return right, int(left.value)
    return None


def _exact(writer: Writer, value: Value, depth: int) -> str:
    if isinstance(value, Operation) and depth and value.payload is None:
        if value.code in ("add", "sub"):
            left = _exact(writer, value.operands[0], depth - 1)
            right = _exact(writer, value.operands[1], depth - 1)
            return writer.define(f"{value.code} nsw i64 {left}, {right}", "x")
        factor = _constant_factor(value)
        if factor is not None:
            return writer.define(f"mul nsw i64 {_exact(writer, factor[0], depth - 1)}, {factor[1]}", "x")
    return widened(writer, value)


def index(writer: Writer, array: Array, value: Value) -> str:
    """An index into an array as i64."""
    if isinstance(value, Operation) and not array.wide and dtype_of(value).bits == 32:
        low, high = _exact_interval(writer, value, _DEPTH)
        if low > -_LIMIT and high < _LIMIT:
            return _exact(writer, value, _DEPTH)
    return widened(writer, value)


def offset(writer: Writer, array: Array, indices: Sequence[Value]) -> str:
    """The distance of an element from the array's pointer, in elements."""
    numbers = [index(writer, array, value) for value in indices]
    if not numbers:
        return "0"
    if array.contiguous:
        total = numbers[0]
        for axis in range(1, array.ndim):
            scaled = writer.define(f"mul nsw i64 {total}, {writer.extent(array, axis)}", "x")
            total = writer.define(f"add nsw i64 {scaled}, {numbers[axis]}", "x")
        return total
    total = ""
    for axis, number in enumerate(numbers):
        term = writer.define(f"mul nsw i64 {number}, {writer.stride(array, axis)}", "x")
        total = writer.define(f"add nsw i64 {total}, {term}", "x") if total else term
    return total


def address(writer: Writer, array: Array, indices: Sequence[Value]) -> str:
    """The address of an element."""
    place = offset(writer, array, indices)
    if place == "0":
        return writer.pointer(array)
    return writer.define(f"getelementptr inbounds {memory_type(array.dtype)}, ptr {writer.pointer(array)}, i64 {place}", "p")
