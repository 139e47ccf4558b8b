"""The type rules: the dtype two operands promote to, the dtype of a literal, and which conversions lose information."""

from __future__ import annotations

from samovar._native import DType, bf16, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64
from samovar.language.dtypes import integer_range

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOATS = (f16, f32, f64)
DTYPES = (*INTEGERS, u1, *FLOATS)


def value_type(dtype: DType) -> DType:
    """The type in which kernels compute with elements of a dtype: f32 for bf16, which is a type of memory only.

    >>> from samovar._native import bf16
    >>> value_type(bf16).name
    'f32'
    """
    return f32 if dtype is bf16 else dtype


def is_float(dtype: DType) -> bool:
    return dtype.kind == "float"


def is_integer(dtype: DType) -> bool:
    """True for signed and unsigned integers, not for u1."""
    return dtype.kind in ("int", "uint")


def _promote(left: DType, right: DType) -> DType:
    left, right = value_type(left), value_type(right)
    if left is right:
        return left
    if is_float(left) != is_float(right):
        return left if is_float(left) else right
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    # One signed, one unsigned, of equal width.
    return left if left.kind == "uint" else right


_PROMOTED = {(left, right): _promote(left, right) for left in (*DTYPES, bf16) for right in (*DTYPES, bf16)}


def promote(left: DType, right: DType) -> DType:
    """The wider type of one kind; the float type for float and integer; unsigned for signed and unsigned of equal width.

    >>> from samovar._native import f32, i64, i32, u32
    >>> promote(i64, f32).name, promote(i32, u32).name
    ('f32', 'u32')
    """
    return _PROMOTED[left, right]


def integer_type(value: int, default: DType) -> DType | None:
    """The dtype of an integer literal: the default if it fits, else i64, else u64, else None."""
    for dtype in (default, i64, u64):
        least, greatest = integer_range(dtype)
        if least <= value <= greatest:
            return dtype
    return None


def holding(value: int | float, dtype: DType) -> DType | None:
    """The narrowest integer type that holds a number, no narrower than the given one; of two, the one of its kind."""
    ranges = {each: integer_range(each) for each in INTEGERS if each.bits >= dtype.bits}
    fitting = [each for each, (least, greatest) in ranges.items() if least <= value <= greatest]
    return min(fitting, key=lambda each: (each.bits, each.kind != dtype.kind), default=None)


def loses(source: DType, target: DType) -> bool:
    """Whether a conversion may change a value: from float to integer, or to fewer bits of one kind."""
    source, target = value_type(source), value_type(target)
    if is_float(source):
        return not is_float(target) or target.bits < source.bits
    if is_float(target) or source is u1:
        return False
    return target.bits < source.bits


def loop_type(left: DType, right: DType) -> DType:
    """The dtype of a loop variable: i32, or i64 if a bound is wider or u32."""
    return i64 if max(left.bits, right.bits) > 32 or u32 in (left, right) else i32
