"""Addresses of array elements, in 64-bit arithmetic that LLVM sees through.

Indices are mostly i32 expressions of loop variables. Extending a wrapped i32 sum hides from LLVM that neighbouring
iterations touch neighbouring elements. So a sum is computed in i64 instead where that gives the same element: an index that
is in bounds is r in [0, 2^31), and its affine form gives r modulo 2^32; if the exact sum lies in [-2^31, 2^32), it is
r, because nothing else in there is congruent to r. (What is out of bounds is not executed: it was checked, or is undefined.)
Where the exact sum may be elsewhere, what does not move with the innermost loop is wrapped first, to where the rest fits on
top of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from samovar.backends.llvm.types import is_signed, memory_type, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Array, Constant, Form, Operation, Value

#: Where an exact sum is the index, if that is in bounds: from _LEAST to below _LIMIT.
_LEAST, _LIMIT = -(1 << 31), 1 << 32


def widened(writer: Writer, value: Value) -> str:
    """An integer as i64, extended according to its sign."""
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


def _terms(form: Form) -> list[tuple[Value, int]]:
    """What a form is the sum of beside its constant."""
    return [(symbol.identity, factor) for symbol, factor in form.terms if isinstance(symbol.identity, Value)]


def _exact_range(form: Form) -> tuple[int, int]:
    """The range of the sum that a form says, without wrapping."""
    low = high = form.constant
    for symbol, factor in form.terms:
        ends = sorted((symbol.low * factor, symbol.high * factor))
        low, high = low + ends[0], high + ends[1]
    return low, high


def _is_exact(form: Form, array: Array) -> bool:
    """Whether the sum that a form says is an index, if that is in bounds."""
    low, high = _exact_range(form)
    return form.bits == 64 or (form.bits >= 32 and not array.wide and low >= _LEAST and high < _LIMIT)


def _sum_of(writer: Writer, terms: Sequence[tuple[Value, int]], flags: str) -> str:
    """A sum in i64."""
    total = "0"
    for term, factor in terms:
        part = widened(writer, term)
        negative = factor == -1 and total != "0"
        if factor not in (1, -1) or (factor == -1 and not negative):
            part = writer.define(f"mul{flags} i64 {part}, {_signed(factor)}", "x")
        if total == "0":
            total = part
        else:
            total = writer.define(f"{'sub' if negative else 'add'}{flags} i64 {total}, {part}", "x")
    return total


def _index(writer: Writer, array: Array, value: Value) -> tuple[str, int]:
    """An index into an array as i64: its variable part, and a constant to be added."""
    if isinstance(value, Constant):
        return "0", int(value.value)
    form = writer.module.program.affine.form(value)
    terms = _terms(form)
    if not form.terms or terms == [(value, 1)]:
        return ("0", form.constant) if not form.terms else (widened(writer, value), 0)
    if _is_exact(form, array):
        low, high = _exact_range(form)
        flags = " nsw" if low >= -(1 << 63) and high < 1 << 63 else ""
        constant = _signed(form.constant)
        total = _sum_of(writer, terms, flags)
        return (total, constant) if abs(constant) < _LIMIT else (_sum(writer, total, constant), 0)
    if form.bits >= 32 and not array.wide and dtype_of(value).bits == 32:
        total = _with_wrapped_rest(writer, form, terms)
        if total:
            return total, 0
    return widened(writer, value), 0


def _fastest(writer: Writer, terms: Sequence[tuple[Value, int]]) -> Value | None:
    """The variable of the innermost loop that moves a sum."""
    return next((each for each in reversed(writer.counters) if any(each is term for term, _ in terms)), None)


def _with_wrapped_rest(writer: Writer, form: Form, terms: Sequence[tuple[Value, int]]) -> str:
    """A sum of i32 or u32 in which only what the fastest loop adds is exact; empty if there is no such loop, or it moves too
    far.

    The rest is wrapped to the 2^32 numbers from `first` on, so that the whole lies where an exact sum has to (see above).
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
    rest = str(_as_i32(form.constant - moved))
    for term, times in terms:
        if term is inner:
            continue
        part = writer.value(term)
        bits = dtype_of(term).bits
        if bits != 32:
            part = writer.define(f"trunc i64 {widened(writer, term)} to i32", "x")
        part = part if times == 1 else writer.define(f"mul i32 {part}, {_as_i32(times)}", "x")
        rest = writer.define(f"add i32 {rest}, {part}", "x")
    wrapped = _sum(writer, writer.define(f"sext i32 {rest} to i64", "x"), moved)
    return writer.define(f"add nsw i64 {wrapped}, {_sum_of(writer, [(inner, factor)], ' nsw')}", "x")


def _as_i32(number: int) -> int:
    """A number modulo 2^32, as i32."""
    return ((number + (1 << 31)) & ((1 << 32) - 1)) - (1 << 31)


def _sum(writer: Writer, variable: str, constant: int) -> str:
    if constant == 0:
        return variable
    return str(constant) if variable == "0" else writer.define(f"add i64 {variable}, {constant}", "x")


def _signed(number: int) -> int:
    """A number modulo 2^64, as i64."""
    return ((number + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def index(writer: Writer, array: Array, value: Value) -> str:
    """An index into an array as i64."""
    return _sum(writer, *_index(writer, array, value))


def _offset(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[str, int]:
    """The distance of an element from the array's pointer, in elements: a variable part and a constant."""
    if not indices:
        return "0", 0
    if array.layout is not None and not array.contiguous:
        return _offset_in_layout(writer, array, indices)
    if array.pitch is not None:
        return _offset_in_structs(writer, array, indices, *array.pitch)
    if array.apart:
        return _offset_entry_by_entry(writer, array, indices)
    if array.order is not None:
        return _offset_in_order(writer, array, indices, array.order)
    if not array.contiguous:
        total = ""
        for axis, value in enumerate(indices):
            term = writer.define(f"mul nsw i64 {index(writer, array, value)}, {writer.stride(array, axis)}", "x")
            total = writer.define(f"add nsw i64 {total}, {term}", "x") if total else term
        return total, 0
    return _in_c_order(writer, array, indices)


def _in_c_order(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[str, int]:
    """The number of an element in C order of the axes of its indices: a variable part and a constant."""
    *outer, last = indices
    variable, constant = _index(writer, array, last)
    if not outer:
        return variable, constant
    total = "0"
    for axis, value in enumerate(outer):
        here = index(writer, array, value)
        if axis:
            total = writer.define(f"mul nsw i64 {total}, {writer.extent(array, axis)}", "x")
            total = writer.define(f"add nsw i64 {total}, {here}", "x")
        else:
            total = here
    row = writer.define(f"mul nsw i64 {total}, {writer.extent(array, len(indices) - 1)}", "x")
    return (writer.define(f"add nsw i64 {row}, {variable}", "x") if variable != "0" else row), constant


def _offset_in_structs(
    writer: Writer, array: Array, indices: Sequence[Value], axes: int, distance: int
) -> tuple[str, int]:
    """The same of a member of an array of structs: the number of the struct times their distance, and within the member."""
    total, constant = _in_c_order(writer, array, indices[:axes]) if axes else ("0", 0)
    entry, known = _entry(writer, array, indices, axes)
    return _added(writer, _scaled(writer, total, distance), entry), constant * distance + known


def _offset_entry_by_entry(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[str, int]:
    """The same where the first entries of all elements come first, then the second ones: all of each are in C order."""
    axes = array.ndim - array.apart
    total, constant = _in_c_order(writer, array, indices[:axes]) if axes else ("0", 0)
    number = _sum(writer, *_entry(writer, array, indices, axes))
    if number == "0":
        return total, constant
    for axis in range(axes):
        number = writer.define(f"mul nsw i64 {number}, {writer.extent(array, axis)}", "x")
    return _added(writer, total, number), constant


def _offset_in_order(writer: Writer, array: Array, indices: Sequence[Value], order: Sequence[int]) -> tuple[str, int]:
    """The same where the axes lie in another order, from the outermost to the innermost."""
    *outer, last = order
    total = "0"
    for axis in outer:
        if total != "0":
            total = writer.define(f"mul nsw i64 {total}, {writer.extent(array, axis)}", "x")
        total = _added(writer, total, index(writer, array, indices[axis]))
    variable, constant = _index(writer, array, indices[last])
    if total != "0":
        total = writer.define(f"mul nsw i64 {total}, {writer.extent(array, last)}", "x")
    return _added(writer, total, variable), constant


def _entry(writer: Writer, array: Array, indices: Sequence[Value], axes: int) -> tuple[str, int]:
    """The number of an entry in its element, whose axes come after some others: a variable part and a constant."""
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
    """The same in a layout that is known: each index, or each of the digits that it is split into, times a constant."""
    assert array.layout is not None
    total, constant = "0", 0
    for value, pieces in zip(indices, array.layout, strict=True):
        digits = [_index(writer, array, value)] if len(pieces) == 1 else _digits(writer, array, value, pieces)
        for (variable, known), (_, stride) in zip(digits, pieces, strict=True):
            constant += known * stride
            if variable != "0":
                term = writer.define(f"mul nsw i64 {variable}, {stride}", "x")
                total = term if total == "0" else writer.define(f"add nsw i64 {total}, {term}", "x")
    return total, constant


def _digits(
    writer: Writer, array: Array, value: Value, pieces: tuple[tuple[int, int], ...]
) -> list[tuple[str, int]]:
    """An index as the digits of a number in the radix of its pieces, the most significant first.

    In a loop that follows the pieces, the index is a sum of loop variables which are these digits. An index in bounds is not
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
    """The address of an element, which need not be there if it is not `inbounds`.

    A constant in the last index is added at the end. Neighbours then share an address, and a[i + 1] does not look to LLVM
    like the a[i] of the next iteration: keeping that value in a register costs more in a vectorised loop than loading it.
    """
    variable, constant = _offset(writer, array, indices)
    steps = [step for step in (variable, str(constant)) if step != "0"]
    # The address on the way may be outside the array, but not far; so may that of the first lane, if it is not here.
    flag = "inbounds" if len(steps) == 1 and inbounds else "nusw"
    pointer, kind = writer.pointer(array), memory_type(array.dtype)
    for step in steps:
        pointer = writer.define(f"getelementptr {flag} {kind}, ptr {pointer}, i64 {step}", "p")
    return pointer
