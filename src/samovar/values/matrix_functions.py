"""Element-wise functions of vectors and matrices in plain Python: `sv.sin(v)`, `sv.math.mix(v, w, t)`.

`samovar.language.functions` loads this when an argument is one, so that other programs do not pay for it.
"""

from __future__ import annotations

from samovar._native import DType, i32, u1
from samovar.errors import SamovarTypeError
from samovar.language import promote
from samovar.values.arithmetic import float_type, operation_type, sized
from samovar.values.matrices import Matrix, dtype_of, made
from samovar.values.matrix_operators import columns, common_shape
from samovar.values.nested_values import Nested, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def by_entries(
    function: Callable[..., Any], rule: str, arguments: Sequence[Any], keywords: dict[str, Any]
) -> Any:
    """Apply a function of numbers to arguments with a vector or matrix among them. `rule` selects the types."""
    if rule == "extremum":
        return _extremum(function, [read(value, f"`{function.__name__}`") for value in arguments])
    given = dict(zip(function.__code__.co_varnames, arguments, strict=False)) | keywords
    if rule in CONVERSIONS:
        return CONVERSIONS[rule](**given)
    dtype = given.pop("dtype", None)
    result = RULES[rule](function, [read(value, f"`{function.__name__}`") for value in given.values()])
    return result if dtype is None else result.cast(dtype)


def _applied(function: Callable[..., Any], operands: Sequence[Nested], done_in: DType, result: DType) -> Any:
    shape = common_shape(operands, f"`{function.__name__}`")
    rows = zip(*columns(operands, shape, done_in), strict=True)
    return made(shape, [function(*row) for row in rows], result)


def _common(operands: Sequence[Nested]) -> DType:
    dtype = operands[0].dtype
    for operand in operands[1:]:
        dtype = promote(dtype, operand.dtype)
    return dtype


def _floats(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    dtype = float_type(_common(operands))
    return _applied(function, operands, dtype, dtype)


def _rounding(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    return _applied(function, operands, operands[0].dtype, operands[0].dtype)


def _test(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    return _applied(function, operands, operands[0].dtype, u1)


def _bits(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    (operand,) = operands
    return made(operand.shape, [function(sized(number, operand.dtype)) for number in operand.numbers], i32)


def _extremum(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    return function(*operands[0].numbers) if len(operands) == 1 else _same(function, operands)


def _same(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    dtype = _common(operands)
    return _applied(function, operands, dtype, dtype)


def _arithmetic(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    dtype = operation_type("neg", _common(operands))
    return _applied(function, operands, dtype, dtype)


def _power(function: Callable[..., Any], operands: Sequence[Nested]) -> Any:
    base, exponent = (made(each.shape, each.numbers, each.dtype) if each.shape else each.numbers[0] for each in operands)
    return base**exponent


#: Rule → implementation. The names are those of the column `staged` of the table of operations.
RULES: dict[str, Callable[[Callable[..., Any], Sequence[Nested]], Any]] = {
    "floats": _floats,
    "rounding": _rounding,
    "test": _test,
    "bits": _bits,
    "common": _same,
    "arithmetic": _arithmetic,
    "power": _power,
}


def _cast(obj: Any, dtype: Any) -> Any:
    return obj.cast(dtype)


def _bit_cast(obj: Matrix, dtype: Any) -> Any:
    from struct import pack, unpack

    wanted = dtype_of(dtype)
    if wanted.itemsize != obj.dtype.itemsize:
        raise SamovarTypeError(f"bit_cast requires types of the same size, got {obj.dtype.name} and {wanted.name}")
    numbers = [unpack(wanted.format, pack(obj.dtype.format, entry))[0] for entry in obj.entries]
    return made(obj.shape, numbers, wanted)


def _select(cond: Any, x1: Any, x2: Any) -> Any:
    operands = [read(value, "`select`") for value in (x1, x2)]
    dtype = _common(operands)
    chosen = read(cond, "`select`")
    shape = common_shape([chosen, *operands], "`select`")
    (truths,) = columns([chosen], shape, u1)
    first, second = columns(operands, shape, dtype)
    return made(shape, [a if truth else b for truth, a, b in zip(truths, first, second, strict=True)], dtype)


CONVERSIONS: dict[str, Callable[..., Any]] = {"cast": _cast, "bit_cast": _bit_cast, "select": _select}
