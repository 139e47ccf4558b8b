"""What each pure operation of the IR means, on Python numbers: the reference that compiled code is compared with.

Integers are Python integers in the range of their type, u1 is a bool, floats are Python floats that have been rounded to
their type. Results of f16 and f32 are computed in double precision and rounded once, which is exact for the arithmetic
operations and as good as it gets for the others.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from samovar._native import DType

Number = bool | int | float

FORMATS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q"} | {
    "u1": "?",
    "f16": "e",
    "f32": "f",
    "f64": "d",
}


def limits(type: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if type.kind == "int":
        return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
    return 0, (1 << type.bits) - 1


def wrap(value: int, type: DType) -> int:
    """The value of an integer type that is congruent to an integer."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if type.kind == "int" and value >> (type.bits - 1) else value


def rounded(value: float, type: DType) -> float:
    """The nearest number of a float type."""
    with np.errstate(all="ignore"):
        return float(np.dtype(type.typestr).type(value))


def settle(value: Number, type: DType) -> Number:
    """A result as a value of its type."""
    if type.kind == "bool":
        return bool(int(value) & 1)
    return rounded(float(value), type) if type.kind == "float" else wrap(int(value), type)


def cast(value: Number, source: DType, target: DType) -> Number:
    """Conversion: integers wrap, a float beyond the integer type saturates, NaN gives 0."""
    if target.kind == "bool":
        return value != 0
    if target.kind == "float":
        if source.kind == "float":
            return rounded(float(value), target)
        # NumPy converts integers in one step; through a double, large ones would be rounded twice.
        with np.errstate(all="ignore"):
            return float(np.array(int(value), dtype="<i8" if int(value) < 0 else "<u8").astype(target.typestr))
    if source.kind != "float":
        return wrap(int(value), target)
    if math.isnan(value):
        return 0
    least, greatest = limits(target)
    return least if value <= least else greatest if value >= greatest else int(value)


def bitcast(value: Number, source: DType, target: DType) -> Number:
    """The same bits as another type of the same size."""
    raw = struct.pack("<" + FORMATS[source.name], value)
    return struct.unpack("<" + FORMATS[target.name], raw)[0]


def smaller(a: Number, b: Number) -> Number:
    return b if a != a else a if b != b else min(a, b)


def larger(a: Number, b: Number) -> Number:
    return b if a != a else a if b != b else max(a, b)


def _floor_divide(a: Number, b: Number, type: DType) -> Number:
    if type.kind == "float":
        kind = np.dtype(type.typestr).type
        with np.errstate(all="ignore"):
            return float(kind(a) // kind(b))
    return wrap(a // b, type) if b else 0


def _modulo(a: Number, b: Number, type: DType) -> Number:
    if type.kind == "float":
        kind = np.dtype(type.typestr).type
        with np.errstate(all="ignore"):
            return float(kind(a) % kind(b))
    return a % b if b else 0


def _power(a: Number, b: Number, type: DType) -> Number:
    if type.kind == "float":
        with np.errstate(all="ignore"):
            return rounded(float(np.power(np.float64(a), np.float64(b))), type)
    if b >= 0:
        return wrap(pow(a, b, 1 << type.bits), type)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def _shift_left(a: int, b: int, type: DType) -> int:
    return wrap(a << b, type) if 0 <= b < type.bits else 0


def _shift_right(a: int, b: int, type: DType) -> int:
    return a >> b if 0 <= b < type.bits else -1 if a < 0 else 0


def _truncated(a: int, b: int, type: DType) -> int:
    assert b, "a division by zero"
    return _fitting(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), type)


def _in_range(amount: int, type: DType) -> int:
    assert 0 <= amount < type.bits, "a shift by too much"
    return amount


def _fitting(value: int, type: DType) -> int:
    assert limits(type)[0] <= value <= limits(type)[1], "a result that does not fit"
    return value


def _fused(a: float, b: float, c: float, type: DType) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        nearest = float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
    if type.bits == 64 or Fraction(nearest) == exact:
        return rounded(nearest, type)
    # Of the two doubles around the exact value, the odd one: rounding it again cannot be misled by a tie.
    other = math.nextafter(nearest, math.inf if nearest < exact else -math.inf)
    return rounded(nearest if struct.unpack("<Q", struct.pack("<d", nearest))[0] & 1 else other, type)


def _bits_of(a: int, type: DType) -> int:
    return a & ((1 << type.bits) - 1)


def _double(function: Callable[..., object]) -> Callable[..., float]:
    def apply(*operands: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, operands)))

    return apply


def _gamma(x: float) -> float:
    """As C has it where Python raises an error."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _logarithm_of_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


MATHEMATICS: dict[str, Callable[..., float]] = {
    **{
        name: _double(getattr(np, name))
        for name in (
            "sqrt sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p cbrt floor ceil trunc fmod hypot copysign"
        ).split()
    },
    **{
        name: _double(getattr(np, "arc" + name[1:])) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")
    },
    "rsqrt": _double(lambda value: np.float64(1) / np.sqrt(value)),
    "round": _double(np.rint),
    "erf": math.erf,
    "erfc": math.erfc,
    "gamma": _gamma,
    "lgamma": _logarithm_of_gamma,
}

COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}

#: Operations whose exact result is settled to the type.
EXACT: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _double(lambda a, b: a / b),
    "neg": lambda a: -a,
    "abs": abs,
    "min": smaller,
    "max": larger,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}

#: Operations that need to know the type.
TYPED: dict[str, Callable[..., Number]] = {
    "floordiv": _floor_divide,
    "mod": _modulo,
    "pow": _power,
    "shl": _shift_left,
    "shr": _shift_right,
    "not": lambda a, type: not a if type.kind == "bool" else wrap(~a, type),
    "popcnt": lambda a, type: bin(_bits_of(a, type)).count("1"),
    "clz": lambda a, type: type.bits - _bits_of(a, type).bit_length(),
    "ffs": lambda a, type: (a & -a).bit_length(),
    "fma": _fused,
    # Simple operations: what they assume has to hold.
    "quotient": lambda a, b, type: _truncated(a, b, type),
    "remainder": lambda a, b, type: a - b * _truncated(a, b, type),
    "shift_left": lambda a, b, type: _shift_left(a, _in_range(b, type), type),
    "shift_right": lambda a, b, type: _shift_right(a, _in_range(b, type), type),
    "ctz": lambda a, type: (a & -a).bit_length() - 1 if a else type.bits,
    "to_integer": lambda a, type: _fitting(int(a), type),
}


def evaluate(code: str, type: DType, operands: Sequence[Number], source: DType | None = None) -> Number:
    """The result of a pure operation. `type` is that of the result, `source` that of the (first) operand."""
    if code in EXACT:
        return settle(EXACT[code](*operands), type)
    if code in TYPED:
        return settle(TYPED[code](*operands, type), type)
    if code in COMPARISONS:
        return COMPARISONS[code](*operands)
    if code in MATHEMATICS:
        return rounded(MATHEMATICS[code](*operands), type)
    if code == "select":
        return operands[1] if operands[0] else operands[2]
    if code == "isnan":
        return operands[0] != operands[0]
    if code == "isinf":
        return isinstance(operands[0], float) and math.isinf(operands[0])
    assert source is not None
    if code == "cast":
        return cast(operands[0], source, type)
    if code == "bitcast":
        return bitcast(operands[0], source, type)
    raise AssertionError(f"no meaning for {code}")


def exact_integer(code: str, operands: Sequence[int]) -> int:
    """What an addition, subtraction, multiplication or negation would give if integers had no end."""
    return int(EXACT[code](*operands))


def identity(operation: str, type: DType) -> Number:
    """The value with which an operation changes nothing: where a partial result starts."""
    if operation in ("min", "max"):
        if type.kind == "float":
            return math.nan
        return settle(limits(type)[1 if operation == "min" else 0], type)
    if operation == "add":
        return -0.0 if type.kind == "float" else settle(0, type)
    return settle({"mul": 1, "and": -1, "or": 0, "xor": 0}[operation], type)
