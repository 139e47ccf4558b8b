"""Addresses of array elements, in 64-bit arithmetic that LLVM sees through.

Indices are mostly i32 expressions of loop variables. Extending a wrapped i32 sum hides from LLVM that neighbouring
iterations touch neighbouring elements. So a sum is computed in i64 instead where that gives the same element: an index that
is in bounds is r in [0, 2^31), and the i32 computation gives r modulo 2^32; if the exact sum lies in [-2^31, 2^32), it is
r, because nothing else in there is congruent to r. (What is out of bounds is not executed: it was checked, or is undefined.)
Where the exact sum may be elsewhere, what does not move with the innermost loop is wrapped first, to where the rest fits on
top of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from samovar.backends.llvm.types import greatest, is_signed, least, memory_type, register_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Array, Constant, LoopVariable, Operation, Value

#: Where an exact sum is the index, if that is in bounds: from _LEAST to below _LIMIT.
_LEAST, _LIMIT = -(1 << 31), 1 << 32
_DEPTH = 6
#: What a loop adds to an address, with how far inside the loop is.
Moved = tuple[int, str]
#: Loops of at most so many iterations are unrolled by LLVM.
_SHORT = 32


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


def interval(writer: Writer, value: Value, depth: int = _DEPTH) -> tuple[int, int]:
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
            known = array.extents[axis]
            return (0, greatest(dtype)) if known is None else (known, known)
        if value.code == "cast":
            source = dtype_of(value.operands[0])
            if source.kind in ("bool", "uint") and source.bits < dtype.bits:
                return 0, greatest(source)
        if depth and value.payload is None and value.code in ("and", "remainder", "min", "max", "select"):
            return _narrowed(writer, value, depth - 1)
    return least(dtype), greatest(dtype)


def _narrowed(writer: Writer, value: Operation, depth: int) -> tuple[int, int]:
    """Bounds of what lies within the bounds of its operands."""
    *_, (low, high), (other_low, other_high) = (interval(writer, operand, depth) for operand in value.operands[-2:])
    if value.code == "and" and max(low, other_low) >= 0:
        return 0, min(end for begin, end in ((low, high), (other_low, other_high)) if begin >= 0)
    if value.code == "remainder" and other_low > 0:
        return max(low, 1 - other_high) if low < 0 else 0, min(max(high, 0), other_high - 1)
    if value.code == "min":
        return min(low, other_low), min(high, other_high)
    if value.code == "max":
        return max(low, other_low), max(high, other_high)
    if value.code == "select":
        return min(low, other_low), max(high, other_high)
    dtype = dtype_of(value)
    return least(dtype), greatest(dtype)


def _exact_interval(writer: Writer, value: Value, depth: int) -> tuple[int, int]:
    """Bounds of the value that `_exact` computes, without wrapping."""
    if isinstance(value, Operation) and depth and value.payload is None and value not in writer.counters:
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


def _exact(writer: Writer, value: Value, depth: int, flags: str, apart: Value | None = None) -> tuple[str, int]:
    """A sum in i64: its variable part, and a constant to be added; without the terms of something `apart`."""
    if isinstance(value, Constant):
        return "0", int(value.value)
    if value is apart:
        return "0", 0
    if isinstance(value, Operation) and depth and value.payload is None and value not in writer.counters:
        if value.code in ("add", "sub"):
            left, constant = _exact(writer, value.operands[0], depth - 1, flags, apart)
            right, other = _exact(writer, value.operands[1], depth - 1, flags, apart)
            total = constant + other if value.code == "add" else constant - other
            if right == "0":
                return left, total
            if left == "0" and value.code == "add":
                return right, total
            return writer.define(f"{value.code}{flags} i64 {left}, {right}", "x"), total
        factor = _constant_factor(value)
        if factor is not None:
            variable, constant = _exact(writer, factor[0], depth - 1, flags, apart)
            scaled = variable if variable == "0" else writer.define(f"mul{flags} i64 {variable}, {_signed(factor[1])}", "x")
            return scaled, constant * factor[1]
    return widened(writer, value), 0


def _index(writer: Writer, array: Array, value: Value, moving: list[Moved] | None = None) -> tuple[str, int]:
    """An index into an array as i64: its variable part, and a constant to be added. What a short loop adds to it goes into
    `moving`, if that is asked for."""
    if isinstance(value, Constant):
        return "0", int(value.value)
    if isinstance(value, Operation) and value.code in ("add", "sub", "mul") and value not in writer.counters:
        bits = dtype_of(value).bits
        if bits == 64:
            # The same sum modulo 2^64, whatever wraps on the way.
            variable, constant = _exact(writer, value, _DEPTH, "")
            constant = _signed(constant)
            return (variable, constant) if abs(constant) < _LIMIT else (_sum(writer, variable, constant), 0)
        if bits == 32 and not array.wide:
            low, high = _exact_interval(writer, value, _DEPTH)
            short = _short_loop(writer, value) if moving is not None else None
            if low >= _LEAST and high < _LIMIT:
                if short is not None and moving is not None:
                    moving.append((_place(writer, short), _moved_by(writer, value, short)))
                return _exact(writer, value, _DEPTH, " nsw", short)
            parts = _with_wrapped_rest(writer, value)
            if parts is not None:
                rest, moved = parts
                if short is not None and moving is not None:
                    moving.append((_place(writer, short), moved))
                    return rest, 0
                return writer.define(f"add nsw i64 {rest}, {moved}", "x"), 0
    return widened(writer, value), 0


def _place(writer: Writer, variable: Value) -> int:
    """How far inside a loop is, by its variable."""
    return list(writer.counters).index(variable)


def _fastest(writer: Writer, terms: list[tuple[Value, int]]) -> Value | None:
    """The variable of the innermost loop that moves a sum."""
    return next((each for each in reversed(writer.counters) if any(each is term for term, _ in terms)), None)


def _short_loop(writer: Writer, value: Value) -> Value | None:
    """The variable that moves a sum fastest, if its loop is one that LLVM unrolls, and other things are added to it."""
    terms = list(_terms(value, _DEPTH))
    inner = _fastest(writer, terms)
    if inner is None or not isinstance(inner, LoopVariable):
        return None
    low, high = interval(writer, inner)
    others = any(term is not inner and not isinstance(term, Constant) for term, _ in terms)
    return inner if others and high - low < _SHORT else None


def _moved_by(writer: Writer, value: Value, inner: Value) -> str:
    """What a loop variable adds to a sum."""
    factor = sum(factor for term, factor in _terms(value, _DEPTH) if term is inner)
    counter = writer.counters[inner]
    return counter if factor == 1 else writer.define(f"mul nsw i64 {counter}, {factor}", "x")


def _terms(value: Value, depth: int, factor: int = 1) -> Iterator[tuple[Value, int]]:
    """What a sum is made of, with factors."""
    if isinstance(value, Operation) and depth and value.payload is None:
        if value.code in ("add", "sub"):
            yield from _terms(value.operands[0], depth - 1, factor)
            yield from _terms(value.operands[1], depth - 1, factor if value.code == "add" else -factor)
            return
        product = _constant_factor(value)
        if product is not None:
            yield from _terms(product[0], depth - 1, factor * product[1])
            return
    yield value, factor


def _with_wrapped_rest(writer: Writer, value: Operation) -> tuple[str, str] | None:
    """A sum of i32 or u32 in which only what the fastest loop adds is exact, as the rest and that; None if there is no such
    loop, or it moves too far.

    The rest is wrapped to the 2^32 numbers from `first` on, so that the whole lies where an exact sum has to (see above).
    """
    terms = list(_terms(value, _DEPTH))
    inner = _fastest(writer, terms)
    if inner is None:
        return None
    factor = sum(factor for term, factor in terms if term is inner)
    low, high = sorted(end * factor for end in interval(writer, inner))
    first = min(_LEAST - min(low, 0), -high)
    if first + low < _LEAST:
        return None
    # Sign extension gives the numbers from -2^31 on.
    moved = first - _LEAST
    rest = str(_as_i32(-moved))
    for term, times in terms:
        if isinstance(term, Constant):
            part = str(_as_i32(int(term.value) * times))
        elif term is inner:
            continue
        else:
            part = writer.value(term)
            part = part if times == 1 else writer.define(f"mul i32 {part}, {_as_i32(times)}", "x")
        rest = writer.define(f"add i32 {rest}, {part}", "x")
    wrapped = _sum(writer, writer.define(f"sext i32 {rest} to i64", "x"), moved)
    return wrapped, _moved_by(writer, value, inner)


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


def _offset(
    writer: Writer, array: Array, indices: Sequence[Value], moving: list[Moved] | None = None
) -> tuple[str, int]:
    """The distance of an element from the array's pointer, in elements: a variable part and a constant. `moving` is as in
    `_in_c_order`."""
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
    return _in_c_order(writer, array, indices, moving)


def _in_c_order(
    writer: Writer, array: Array, indices: Sequence[Value], moving: list[Moved] | None = None
) -> tuple[str, int]:
    """The number of an element in C order of the axes of its indices: a variable part and a constant. What short loops add
    to it goes into `moving`, if that is asked for."""
    *outer, last = indices
    variable, constant = _index(writer, array, last, moving)
    if not outer:
        return variable, constant
    total = "0"
    for axis, value in enumerate(outer):
        moved: list[Moved] = []
        here = _sum(writer, *_index(writer, array, value, None if moving is None else moved))
        if axis:
            total = writer.define(f"mul nsw i64 {total}, {writer.extent(array, axis)}", "x")
            total = writer.define(f"add nsw i64 {total}, {here}", "x")
        else:
            total = here
        for place, distance in moved:
            for inner in range(axis + 1, len(indices)):
                distance = writer.define(f"mul nsw i64 {distance}, {writer.extent(array, inner)}", "x")
            assert moving is not None
            moving.append((place, distance))
    row = writer.define(f"mul nsw i64 {total}, {writer.extent(array, len(indices) - 1)}", "x")
    return (writer.define(f"add nsw i64 {row}, {variable}", "x") if variable != "0" else row), constant


def _rows_further(writer: Writer, array: Array, indices: Sequence[Value]) -> tuple[list[Value], str]:
    """Indices without the constants that are added to outer ones that are data, and the distance that this leaves out.

    `a[i, j]` and `a[i + 1, j]` with `i` from memory then share what they compute for each element, and are told apart by
    something that is the same for all of them.
    """
    is_plain = array.contiguous and array.pitch is None and not array.apart
    if len(indices) < 2 or not is_plain or "rows" in writer.module.program.without:
        return list(indices), "0"
    left, distance = list(indices), "0"
    for axis, value in enumerate(indices[:-1]):
        constant = 0
        if isinstance(value, Operation) and value.code in ("add", "sub") and isinstance(value.operands[1], Constant):
            base = value.operands[0]
            constant = _index(writer, array, value)[1] if _is_data(writer, base) else 0
            if constant:
                left[axis] = base
        if distance != "0":
            distance = writer.define(f"mul nsw i64 {distance}, {writer.extent(array, axis)}", "x")
        if constant:
            distance = _sum(writer, distance, constant)
    if distance != "0":
        distance = writer.define(f"mul nsw i64 {distance}, {writer.extent(array, len(indices) - 1)}", "x")
    return left, distance


def _is_data(writer: Writer, value: Value) -> bool:
    """Is an index something that no loop counts?"""
    return isinstance(value, Operation) and value.code not in ("add", "sub", "mul", "shape") and value not in writer.counters


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
    terms = [(term, factor) for term, factor in _terms(value, _DEPTH + len(pieces)) if not isinstance(term, Constant)]
    if len(terms) == len(pieces) and _known_part(value, len(pieces)) == 0:
        for place, ((term, factor), (extent, _)) in enumerate(zip(terms, pieces, strict=True)):
            low, high = interval(writer, term)
            if factor != prod(inner for inner, _ in pieces[place + 1 :]) or low < 0 or high >= extent:
                break
        else:
            return [(widened(writer, term), 0) for term, _ in terms]
    number = index(writer, array, value)
    for extent, _ in reversed(pieces[1:]):
        digits.append((writer.define(f"urem i64 {number}, {extent}", "x"), 0))
        number = writer.define(f"udiv i64 {number}, {extent}", "x")
    return [(number, 0), *reversed(digits)]


def _known_part(value: Value, count: int) -> int:
    """The constants in a sum, added up."""
    terms = _terms(value, _DEPTH + count)
    return sum(int(term.value) * factor for term, factor in terms if isinstance(term, Constant))


def offset(writer: Writer, array: Array, indices: Sequence[Value]) -> str:
    """The distance of an element from the array's pointer, in elements."""
    return _sum(writer, *_offset(writer, array, indices))


def address(writer: Writer, array: Array, indices: Sequence[Value]) -> str:
    """The address of an element.

    A constant in the last index is added at the end. Neighbours then share an address, and a[i + 1] does not look to LLVM
    like the a[i] of the next iteration: keeping that value in a register costs more in a vectorised loop than loading it.
    What short loops add comes just before it, that of the innermost one last: when LLVM has unrolled the loop, that is a
    constant too, and the address before it is one for all. Otherwise there would be a sum for each iteration, and more of
    them than registers.
    """
    indices, further = _rows_further(writer, array, indices)
    moving: list[Moved] | None = None if "unrolled" in writer.module.program.without else []
    variable, constant = _offset(writer, array, indices, moving)
    moved = [distance for _, distance in sorted(moving or ())]
    steps = [step for step in (variable, further, *moved, str(constant)) if step != "0"]
    # The address on the way may be outside the array, but not far; so may that of the first lane, if it is not here.
    flag = "inbounds" if len(steps) == 1 and not writer.width else "nusw"
    pointer, kind = writer.pointer(array), memory_type(array.dtype)
    for step in steps:
        pointer = writer.define(f"getelementptr {flag} {kind}, ptr {pointer}, i64 {step}", "p")
    return pointer
