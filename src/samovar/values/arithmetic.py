"""The result of an operation on Python numbers of one dtype: exactly what a kernel computes, without exceptions.

Operands are numbers that the dtype can represent, and so is the result. Floats of fewer than 64 bits are computed in
double precision and rounded once. Vectors and matrices in plain Python are built on this.
"""

from __future__ import annotations

import samovar
from samovar._native import DType, library_function, u1
from samovar.language import integer_type, is_float, is_integer, options_in_force
from samovar.language import max as maximum
from samovar.language import min as minimum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Number = bool | int | float

_INFINITY, _NAN = float("inf"), float("nan")
_BITWISE = ("and", "or", "xor")
_SHIFTS = ("shl", "shr")
_copysign, _power = library_function("copysign"), library_function("pow")

#: Opcode → operator.
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "min": "min", "max": "max",
}  # fmt: skip


def natural_type(value: bool | int | float) -> DType:
    """The dtype of a Python number, as that of a literal in a kernel."""
    if isinstance(value, bool):
        return u1
    options = options_in_force()
    if isinstance(value, float):
        return options.default_fp
    dtype = integer_type(value, options.default_ip)
    if dtype is None:
        raise samovar.SamovarTypeError(f"the integer {value} does not fit in 64 bits")
    return dtype


def float_type(dtype: DType) -> DType:
    """A float type unchanged; the default float type for integers."""
    return dtype if is_float(dtype) else options_in_force().default_fp


def operation_type(code: str, promoted: DType) -> DType:
    """The dtype an operation is computed in, given the type that its operands promote to."""
    if code == "div":
        return float_type(promoted)
    if code in COMPARISONS or code in ("min", "max"):
        return promoted
    if (code in _BITWISE or code in _SHIFTS or code == "not") and is_float(promoted):
        sign = "~" if code == "not" else SIGNS[code]
        raise samovar.SamovarTypeError(f"`{sign}` requires integers, got {promoted.name}")
    if promoted is u1 and code not in _BITWISE and code != "not":
        return options_in_force().default_ip
    return promoted


def compute(code: str, dtype: DType, left: Any, right: Any) -> Any:
    """The result of a binary operation: a number of the dtype; a bool for comparisons."""
    if code in COMPARISONS:
        return COMPARISONS[code](left, right)
    if code in _PLAIN:
        return dtype(_PLAIN[code](left, right))
    table = _OF_FLOATS if is_float(dtype) else _OF_INTEGERS
    return dtype(table[code](left, right, dtype))


def negated(dtype: DType, value: Any) -> Any:
    return dtype(-value)


def inverted(dtype: DType, value: Any) -> Any:
    return not value if dtype is u1 else dtype(~value)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}

_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": minimum,
    "max": maximum,
}


def _quotient(a: float, b: float, dtype: DType) -> float:
    if b:
        return a / b
    if a != a or b != b or a == 0:
        return _NAN
    return _copysign(_INFINITY, a) * _copysign(1.0, b)


def _floor_quotient(a: float, b: float, dtype: DType) -> float:
    return a // b if b else _quotient(a, b, dtype)


def _floor_remainder(a: float, b: float, dtype: DType) -> float:
    return a % b if b else _NAN


def _integer_power(a: int, b: int, dtype: DType) -> int:
    if b >= 0:
        return pow(a, b, 1 << dtype.bits)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


_OF_FLOATS: dict[str, Callable[[Any, Any, DType], Any]] = {
    "div": _quotient,
    "floordiv": _floor_quotient,
    "mod": _floor_remainder,
    "pow": lambda a, b, dtype: _power(a, b),
}

_OF_INTEGERS: dict[str, Callable[[Any, Any, DType], Any]] = {
    "floordiv": lambda a, b, dtype: a // b if b else 0,
    "mod": lambda a, b, dtype: a % b if b else 0,
    "pow": _integer_power,
    "shl": lambda a, b, dtype: a << b if 0 <= b < dtype.bits else 0,
    "shr": lambda a, b, dtype: a >> b if 0 <= b < dtype.bits else -1 if a < 0 else 0,
}


def sized(value: int, dtype: DType) -> int:
    """An integer as the bit functions take it for this dtype."""
    if not is_integer(dtype):
        raise samovar.SamovarTypeError(f"bit counts require integers, got {dtype.name}")
    return _SIZED[dtype.itemsize](value)


_SIZED: dict[int, type[int]] = {size: type(f"Integer{8 * size}", (int,), {"itemsize": size}) for size in (1, 2, 4, 8)}
