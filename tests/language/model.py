"""The rules of the language on single Python numbers, written down a second time: what the tests compare kernels with.

A value of an integer type is an int in its range, of u1 a bool, of a float type a Python float that the type holds exactly.
Double precision is wide enough that rounding its sums, products, quotients and roots to f32 or f16 rounds once.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections.abc import Callable

import numpy as np

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
LETTERS = {
    "u1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d",
}

Number = bool | int | float


def bits(name: str) -> int:
    return int(name[1:])


def limits(name: str) -> tuple[int, int]:
    if name in SIGNED:
        return -(1 << (bits(name) - 1)), (1 << (bits(name) - 1)) - 1
    return 0, (1 << bits(name)) - 1


def promote(left: str, right: str) -> str:
    """The wider of one kind, float over integer, unsigned over signed of equal width."""
    if (left in FLOATS) != (right in FLOATS):
        return left if left in FLOATS else right
    if bits(left) != bits(right):
        return max(left, right, key=bits)
    return left if left in UNSIGNED else right


def wrap(value: int, name: str) -> int:
    low = limits(name)[0]
    return (value - low) % (1 << bits(name)) + low


def rounded(value: float, name: str) -> float:
    """The nearest number that a float type holds."""
    if name == "f32":
        return ctypes.c_float(value).value
    if name == "f16":
        with np.errstate(all="ignore"):
            return float(np.float16(value))
    return value


def to_float(value: Number, name: str) -> float:
    """An integer or a float as a float type, rounded once."""
    if isinstance(value, float):
        return rounded(value, name)
    # 64-bit integers to f32: rounding to double first could round twice, so round to odd on the way.
    double = float(value)
    if name != "f64" and int(double) != value:
        mantissa, exponent = math.frexp(double)
        odd = int(mantissa * 2**53)
        if abs(int(double)) > abs(value):
            odd -= 1 if odd > 0 else -1
        double = math.ldexp(odd | 1 if odd > 0 else -(-odd | 1), exponent - 53)
    return rounded(double, name)


def convert(value: Number, name: str) -> Number:
    """A cast: integers wrap, floats become the nearest integer that there is."""
    if name in FLOATS:
        return to_float(value, name)
    if name == "u1":
        return value != 0
    if not isinstance(value, float):
        return wrap(int(value), name)
    least, greatest = limits(name)
    return 0 if math.isnan(value) else least if value <= least else greatest if value >= greatest else int(value)


def bit_cast(value: Number, source: str, target: str) -> Number:
    return struct.unpack("=" + LETTERS[target], struct.pack("=" + LETTERS[source], value))[0]


# --- arithmetic on operands of one type


def integer_floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def integer_mod(a: int, b: int) -> int:
    return a % b if b else 0


def integer_pow(a: int, b: int, name: str) -> int:
    if b >= 0:
        return pow(a, b, 1 << bits(name))
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def shift_left(a: int, b: int, name: str) -> int:
    return a << b if 0 <= b < bits(name) else 0


def shift_right(a: int, b: int, name: str) -> int:
    return a >> b if 0 <= b < bits(name) else (-1 if a < 0 else 0)


def float_div(a: float, b: float, name: str) -> float:
    if b == 0:
        if a == 0 or math.isnan(a) or math.isnan(b):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return rounded(a / b, name)


def float_divmod(a: float, b: float, name: str) -> tuple[float, float]:
    """Quotient and remainder as Python has them, each step rounded to f32 or f64; by zero, a / 0 and NaN."""
    if name == "f16":
        quotient, remainder = float_divmod(a, b, "f32")
        return rounded(quotient, name), rounded(remainder, name)
    if b == 0 or math.isnan(a) or math.isnan(b) or math.isinf(a):
        return (float_div(a, b, name) if b == 0 else math.nan), math.nan
    remainder = math.fmod(a, b)
    quotient = rounded(rounded(a - remainder, name) / b, name) if math.isfinite(b) else 0.0
    if remainder:
        if (remainder < 0) != (b < 0):
            remainder = rounded(remainder + b, name)
            quotient = rounded(quotient - 1.0, name)
    else:
        remainder = math.copysign(0.0, b)
    if quotient and math.isfinite(quotient):
        floor = float(math.floor(quotient))
        if quotient - floor > 0.5:
            floor = rounded(floor + 1.0, name)
        quotient = floor
    elif not quotient:
        quotient = math.copysign(0.0, a) * math.copysign(1.0, b)
    return quotient, remainder


def smaller(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return min(a, b)


def larger(a: float, b: float) -> float:
    if a != a or b != b:
        return b if a != a else a
    return max(a, b)


INTEGER_OPERATIONS: dict[str, Callable[[int, int, str], int]] = {
    "add": lambda a, b, name: a + b,
    "sub": lambda a, b, name: a - b,
    "mul": lambda a, b, name: a * b,
    "floordiv": lambda a, b, name: integer_floordiv(a, b),
    "mod": lambda a, b, name: integer_mod(a, b),
    "pow": integer_pow,
    "and": lambda a, b, name: a & b,
    "or": lambda a, b, name: a | b,
    "xor": lambda a, b, name: a ^ b,
    "shl": shift_left,
    "shr": shift_right,
    "min": lambda a, b, name: min(a, b),
    "max": lambda a, b, name: max(a, b),
}
FLOAT_OPERATIONS: dict[str, Callable[[float, float, str], float]] = {
    "add": lambda a, b, name: rounded(a + b, name),
    "sub": lambda a, b, name: rounded(a - b, name),
    "mul": lambda a, b, name: rounded(a * b, name),
    "div": float_div,
    "floordiv": lambda a, b, name: float_divmod(a, b, name)[0],
    "mod": lambda a, b, name: float_divmod(a, b, name)[1],
    "min": lambda a, b, name: smaller(a, b),
    "max": lambda a, b, name: larger(a, b),
}
COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
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
    a, b = convert(a, name), convert(b, name)
    if code in COMPARISONS:
        return COMPARISONS[code](a, b)
    if name in FLOATS:
        return FLOAT_OPERATIONS[code](float(a), float(b), name)
    return convert(INTEGER_OPERATIONS[code](int(a), int(b), name), name)


def negate(name: str, a: Number) -> Number:
    return -a if name in FLOATS else wrap(-int(a), DEFAULT_INTEGER if name == "u1" else name)


def invert(name: str, a: Number) -> Number:
    return not a if name == "u1" else wrap(~int(a), name)


def magnitude(name: str, a: Number) -> Number:
    return abs(a) if name in FLOATS else wrap(abs(int(a)), DEFAULT_INTEGER if name == "u1" else name)


# --- values worth trying


def edge_values(name: str) -> list[Number]:
    """Zero, one, both ends, powers of two and their neighbours, and what else floats have."""
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
