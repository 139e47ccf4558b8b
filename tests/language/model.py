"""The rules of types of the language, written down a second time: what the tests compare kernels with.

What an operation computes in one type is in `ir_arithmetic`; here is which type it is done in. A value of an integer type is
an int in its range, of u1 a bool, of a float type a Python float that the type holds exactly.
"""

from __future__ import annotations

import math

import numpy as np

import ir_arithmetic
from samovar import _native
from samovar._native import DType, f64, i64

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
FLOATS = ("f16", "f32", "f64")
INTEGERS = (*SIGNED, *UNSIGNED)
WHOLE = (*INTEGERS, "u1")
NAMES = (*INTEGERS, "u1", *FLOATS)
NUMPY = {
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "u1": np.dtype(bool),
}
DEFAULT_INTEGER, DEFAULT_FLOAT = "i32", "f32"

Number = bool | int | float


def bits(name: str) -> int:
    return int(name[1:])


def limits(name: str) -> tuple[int, int]:
    return ir_arithmetic.limits(dtype(name))


def promote(left: str, right: str) -> str:
    """The wider of one kind, float over integer, unsigned over signed of equal width."""
    if (left in FLOATS) != (right in FLOATS):
        return left if left in FLOATS else right
    if bits(left) != bits(right):
        return max(left, right, key=bits)
    return left if left in UNSIGNED else right


def wrap(value: int, name: str) -> int:
    return ir_arithmetic.wrap(value, dtype(name))


def dtype(name: str) -> DType:
    found: DType = getattr(_native, name)
    return found


def rounded(value: float, name: str) -> float:
    """The nearest number that a float type holds."""
    return ir_arithmetic.rounded(value, dtype(name))


def convert(value: Number, name: str) -> Number:
    """A cast: integers wrap, floats become the nearest integer that there is."""
    return ir_arithmetic.cast(value, f64 if isinstance(value, float) else i64, dtype(name))


def bit_cast(value: Number, source: str, target: str) -> Number:
    return ir_arithmetic.bitcast(value, dtype(source), dtype(target))


COMPARISONS = ir_arithmetic.COMPARISONS
BITWISE = ("and", "or", "xor")
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}


def result_type(code: str, left: str, right: str) -> str:
    """The type in which an operation on two operands is done, and which its result has (comparisons: the operands' type)."""
    promoted = promote(left, right)
    if code in COMPARISONS or code in ("min", "max", "select"):
        return promoted
    if code == "div" and promoted not in FLOATS:
        return DEFAULT_FLOAT
    if promoted == "u1" and code not in BITWISE:
        return DEFAULT_INTEGER
    return promoted


def operate(code: str, left: str, a: Number, right: str, b: Number) -> Number:
    """An operator on values of two types, promotion included."""
    name = result_type(code, left, right)
    result = "u1" if code in COMPARISONS else name
    return ir_arithmetic.evaluate(code, dtype(result), (convert(a, name), convert(b, name)))


def negate(name: str, a: Number) -> Number:
    return -a if name in FLOATS else wrap(-int(a), DEFAULT_INTEGER if name == "u1" else name)


def invert(name: str, a: Number) -> Number:
    return not a if name == "u1" else wrap(~int(a), name)


def magnitude(name: str, a: Number) -> Number:
    return abs(a) if name in FLOATS else wrap(abs(int(a)), DEFAULT_INTEGER if name == "u1" else name)


# --- values worth trying


def edge_values(name: str) -> list[Number]:
    """Zero, one, both ends, powers of two and their neighbors, and what else floats have."""
    if name == "u1":
        return [False, True]
    if name in FLOATS:
        information = np.finfo(NUMPY[name])
        tiny, smallest = float(information.tiny), float(information.smallest_subnormal)
        finite = [0.0, 1.0, 0.5, 3.0, 7.25, 1.0 + float(information.eps), tiny, smallest, float(information.max), 255.0]
        third = rounded(1 / 3, name)
        return [*finite, third, *(-x for x in (*finite, third)), math.inf, -math.inf, math.nan]
    low, high = limits(name)
    values = {0, 1, 2, 3, 5, 7, 10, bits(name) - 1, bits(name), high, high - 1, high // 2 + 1, high // 3, low, low + 1}
    if low < 0:
        values |= {-1, -2, -3, -7, -10, low // 2, low // 3}
    return sorted(values)


def values_array(name: str, values: list[Number]) -> np.ndarray:
    return np.array(values, NUMPY[name])


def same(actual: Number, expected: Number, zeros: bool = True) -> bool:
    """Equal numbers; NaN equals NaN; signs of zeros count unless told otherwise."""
    if isinstance(expected, float):
        if expected != expected:
            return actual != actual
        if zeros and expected == 0:
            return actual == 0 and math.copysign(1, actual) == math.copysign(1, expected)
    return actual == expected
