"""Addresses of array elements, in 64-bit arithmetic that LLVM can analyze.

Indices are mostly i32 expressions of loop variables. Extending a wrapped i32 sum hides from LLVM that consecutive iterations
access consecutive elements. So a sum is computed in i64 instead where that gives the same element: an in-bounds index is r
in [0, 2^31), and its affine form gives r modulo 2^32; if the exact sum is in [-2^31, 2^32), it is r, because nothing else in
that range is congruent to r. (Out-of-bounds accesses are not executed: they were checked, or are undefined.) If the exact
sum may be elsewhere, the part that is invariant in the innermost loop is wrapped first, into a range where the rest fits on
top.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from samovar.backends.llvm.types import is_signed, memory_type, register_type
from samovar.backends.llvm.writer import Writer
from samovar.ir import AffineForm, Array, Constant, Operation, Value, dtype_of, signed

#: The range of exact sums that are the index, if that is in bounds: from _LEAST to below _LIMIT.
_LEAST, _LIMIT = -(1 << 31), 1 << 32


def widened(writer: Writer, value: Value) -> str:
    """An integer as i64, sign- or zero-extended by its type."""
    if isinstance(value, Constant):
        return str(int(value.value))
    counter = writer.counters.get(value)
    if counter is not None:
        return counter
    dtype = dtype_of(value)
    if isinstance(value, Operation):
        if value.code == "shape":
            array, axis = value.payload
            return writer.extent(array, axis)
        if value.code == "cast" and isinstance(value.payload, tuple):
            return widened(writer, value.operands[0])
    name = writer.value(value)
    if dtype.bits == 64:
        return name
    return writer.define(f"{'sext' if is_signed(dtype) else 'zext'} {register_type(dtype)} {name} to i64")


def _terms(form: AffineForm) -> list[tuple[Value, int]]:
    """The terms of a form besides its constant."""
    return [(symbol.identity, factor) for symbol, factor in form.terms if isinstance(symbol.identity, Value)]


def _exact_range(form: AffineForm) -> tuple[int, int]:
    """The range of the sum of a form, without wrapping."""
    low = high = form.constant
    for symbol, factor in form.terms:
        ends = sorted((symbol.low * factor, symbol.high * factor))
        low, high = low + ends[0], high + ends[1]
    return low, high


def _is_exact(form: AffineForm, array: Array) -> bool:
    """Whether the exact sum of a form is the index, if that is in bounds."""
    low, high = _exact_range(form)
    return form.bits == 64 or (form.bits >= 32 and not array.wide and low >= _LEAST and high < _LIMIT)


def _sum_of(writer: Writer, terms: Sequence[tuple[Value, int]], flags: str) -> str:
    """A sum in i64."""
    total = "0"
    for term, factor in terms:
        part = widened(writer, term)
        negative = factor == -1 and total != "0"
        if factor not in (1, -1) or (factor == -1 and not negative):
            part = writer.define(f"mul{flags} i64 {part}, {signed(factor, 64)}", "x")
        if total == "0":
            total = part
        else:
            total = writer.define(f"{'sub' if negative else 'add'}{flags} i64 {total}, {part}", "x")
    return total


def _index(writer: Writer, array: Array, value: Value) -> tuple[str, int]:
    """An index into an array as i64: its variable part, and a constant to add."""
    if isinstance(value, Constant):
        return "0", int(value.value)
    form = writer.module.program.affine.form(value)
    terms = _terms(form)
    if not form.terms or terms == [(value, 1)]:
        return ("0", form.constant) if not form.terms else (widened(writer, value), 0)
    if _is_exact(form, array):
        low, high = _exact_range(form)
        flags = " nsw" if low >= -(1 << 63) and high < 1 << 63 else ""
        constant = signed(form.constant, 64)
        total = _sum_of(writer, terms, flags)
        return (total, constant) if abs(constant) < _LIMIT else (_sum(writer, total, constant), 0)
    if form.bits >= 32 and not array.wide and dtype_of(value).bits == 32:
        total = _with_wrapped_rest(writer, form, terms)
        if total:
            return total, 0
    return widened(writer, value), 0


def _fastest(writer: Writer, terms: Sequence[tuple[Value, int]]) -> Value | None:
    """The variable of the innermost loop that a sum depends on."""
    return next((each for each in reversed(writer.counters) if any(each is term for term, _ in terms)), None)


def _with_wrapped_rest(writer: Writer, form: AffineForm, terms: Sequence[tuple[Value, int]]) -> str:
    """A sum of i32 or u32 in which only the term of the innermost loop is exact; empty if there is no such loop, or if the
    term is too large.

    The rest is wrapped to the 2^32 numbers from `first` on, so that the whole is in the range of exact sums (see above).
    """
    inner = _fastest(writer, terms)
    if inner is None:
        return ""
    factor = next(factor for term, factor in terms if term is inner)
    low, high = sorted(end * factor for end in writer.module.program.affine.range(inner))
    first = min(_LEAST - min(low, 0), -high)
    if first + low < _LEAST:
        return ""
    # Sign extension gives the numbers from -2^31 on.
    moved = first - _LEAST
    rest = str(signed(form.constant - moved, 32))
    for term, times in terms:
        if term is inner:
            continue
        part = writer.value(term)
        bits = dtype_of(term).bits
        if bits != 32:
            part = writer.define(f"trunc i64 {widened(writer, term)} to i32", "x")
        part = part if times == 1 else writer.define(f"mul i32 {part}, {signed(times, 32)}", "x")
        rest = writer.define(f"add i32 {rest}, {part}", "x")
    wrapped = _sum(writer, writer.define(f"sext i32 {rest} to i64", "x"), moved)
    return writer.define(f"add nsw i64 {wrapped}, {_sum_of(writer, [(inner, factor)], ' nsw')}", "x")


def _sum(writer: Writer, variable: str, constant: int) -> str:
    if constant == 0:
        return variable
    return str(constant) if variable == "0" else writer.define(f"add i64 {variable}, {constant}", "x")


def index(writer: Writer, array: Array, value: Value) -> str:
    """An index into an array as i64."""
    return _sum(writer, *_index(writer, array, value))


def element_offset(writer: Writer, array: Array, indices: Sequence[Value]) -> str:
    """The offset of an element from the array's pointer, in elements."""
    return _sum(writer, *_offset(writer, array, indices))


def _offset(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[str, int]:
    """The offset of an element from the array's pointer, in elements: a variable part and a constant."""
    if array.layout is not None and not array.contiguous:
        return _offset_in_layout(writer, array, indices)
    if array.record_stride is not None:
        return _offset_in_structs(writer, array, indices, *array.record_stride)
    if array.brings_strides:
        total = "0"
        for axis, value in enumerate(indices):
            term = writer.define(f"mul nsw i64 {index(writer, array, value)}, {writer.stride(array, axis)}", "x")
            total = _added(writer, total, term)
        return total, 0
    return _in_order(writer, array, indices, array.axes())


def _in_order(writer: Writer, array: Array, indices: Sequence[Value], axes: Sequence[int]) -> tuple[str, int]:
    """The number of an element in dimensions stored without gaps, from the outermost to the innermost: a variable part and
    a constant."""
    total, constant = "0", 0
    for position, axis in enumerate(axes):
        if total != "0":
            total = writer.define(f"mul nsw i64 {total}, {writer.extent(array, axis)}", "x")
        if position < len(axes) - 1:
            total = _added(writer, total, index(writer, array, indices[axis]))
        else:
            variable, constant = _index(writer, array, indices[axis])
            total = _added(writer, total, variable)
    return total, constant


def _offset_in_structs(
    writer: Writer, array: Array, indices: Sequence[Value], axes: int, distance: int
) -> tuple[str, int]:
    """The offset of a member of an array of structs: the struct's number times the stride, plus the offset in the member."""
    total, constant = _in_order(writer, array, indices, range(axes))
    entry, known = _entry(writer, array, indices, axes)
    return _added(writer, _scaled(writer, total, distance), entry), constant * distance + known


def _entry(writer: Writer, array: Array, indices: Sequence[Value], axes: int) -> tuple[str, int]:
    """The number of a component in its element, whose dimensions follow some others: a variable part and a constant."""
    total, constant = "0", 0
    for axis in range(axes, array.ndim):
        variable, known = _index(writer, array, indices[axis])
        inside = prod(extent or 1 for extent in array.extents[axis + 1 :])
        constant += known * inside
        total = _added(writer, total, _scaled(writer, variable, inside))
    return total, constant


def _added(writer: Writer, total: str, term: str) -> str:
    if "0" in (total, term):
        return total if term == "0" else term
    return writer.define(f"add nsw i64 {total}, {term}", "x")


def _scaled(writer: Writer, variable: str, factor: int) -> str:
    return variable if variable == "0" or factor == 1 else writer.define(f"mul nsw i64 {variable}, {factor}", "x")


def _offset_in_layout(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[str, int]:
    """The offset in a known layout: each index, or each digit that it is split into, times a constant."""
    assert array.layout is not None
    total, constant = "0", 0
    for value, pieces in zip(indices, array.layout, strict=True):
        digits = [_index(writer, array, value)] if len(pieces) == 1 else _digits(writer, array, value, pieces)
        for (variable, known), (_, stride) in zip(digits, pieces, strict=True):
            constant += known * stride
            total = _added(writer, total, _scaled(writer, variable, stride))
    return total, constant


def _digits(
    writer: Writer, array: Array, value: Value, pieces: tuple[tuple[int, int], ...]
) -> list[tuple[str, int]]:
    """An index as the digits of a mixed-radix number, most significant first.

    In a loop that follows the layout, the index is a sum of loop variables that are these digits. An in-bounds index is not
    negative, and its first digit needs no remainder.
    """
    digits: list[tuple[str, int]] = []
    if isinstance(value, Constant):
        rest = int(value.value)
        for extent, _ in reversed(pieces[1:]):
            rest, digit = divmod(rest, extent)
            digits.append(("0", digit))
        return [("0", rest), *reversed(digits)]
    form = writer.module.program.affine.form(value)
    terms = sorted(_terms(form), key=lambda each: -each[1])
    if len(terms) == len(pieces) and form.constant == 0 and form.bits == 64:
        for place, ((term, factor), (extent, _)) in enumerate(zip(terms, pieces, strict=True)):
            low, high = writer.module.program.affine.range(term)
            if factor != prod(inner for inner, _ in pieces[place + 1 :]) or low < 0 or high >= extent:
                break
        else:
            return [(widened(writer, term), 0) for term, _ in terms]
    number = index(writer, array, value)
    for extent, _ in reversed(pieces[1:]):
        digits.append((writer.define(f"urem i64 {number}, {extent}", "x"), 0))
        number = writer.define(f"udiv i64 {number}, {extent}", "x")
    return [(number, 0), *reversed(digits)]


def address(writer: Writer, array: Array, indices: Sequence[Value], inbounds: bool = True) -> str:
    """The address of an element, which may be out of bounds unless `inbounds`.

    A constant in the last index is added at the end. Adjacent elements then share an address, and a[i + 1] does not look to
    LLVM like the a[i] of the next iteration: keeping that value in a register costs more in a vectorized loop than a load.
    """
    variable, constant = _offset(writer, array, indices)
    steps = [step for step in (variable, str(constant)) if step != "0"]
    # The intermediate address may be outside the array, but not far; so may that of an inactive first lane.
    flag = "inbounds" if len(steps) == 1 and inbounds else "nusw"
    pointer, kind = writer.pointer(array), memory_type(array.dtype)
    for step in steps:
        pointer = writer.define(f"getelementptr {flag} {kind}, ptr {pointer}, i64 {step}", "p")
    return pointer
