"""Numbers of the cells of sparse fields."""

from __future__ import annotations

from collections.abc import Sequence

from samovar._native import i64, u64
from samovar.ir.builder import Builder
from samovar.ir.values import Array, Constant, Value, dtype_of


def cell_numbers(build: Builder, array: Array, at: Sequence[Value]) -> tuple[Value, ...]:
    """The number of the cell of an element; of an element of a list also its position. Indices are in bounds."""
    assert array.cells is not None
    total: Value = Constant(0, u64)
    position: Value | None = None
    for axis, divisor, modulus, factor in array.cells.terms:
        digit = _unsigned(build, at[axis])
        if divisor != 1:
            digit = build.make("floordiv", u64, digit, Constant(divisor, u64))
        if divisor * modulus != array.extents[axis]:
            digit = build.make("mod", u64, digit, Constant(modulus, u64))
        if factor == 0:
            position = build.cast(digit, i64)
        else:
            total = build.add(total, build.mul(digit, Constant(factor, u64)))
    numbers = (build.cast(total, i64),)
    return numbers if position is None else (*numbers, position)


def _unsigned(build: Builder, index: Value) -> Value:
    if isinstance(index, Constant):
        return Constant(int(index.value) & (1 << 64) - 1, u64)
    if dtype_of(index).bits < 64 and dtype_of(index).kind == "int":
        index = build.cast(index, i64)
    return build.cast(index, u64)
