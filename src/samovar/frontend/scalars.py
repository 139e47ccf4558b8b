"""Run-time scalars: constants, conversions and operators, as IR values. This module does not depend on staged kinds."""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar._native import DType, u1
from samovar.frontend.stager import Stager
from samovar.ir import Constant, Value
from samovar.language import holding, integer_range, integer_type, is_float, is_integer, value_type
from samovar.lens import shown

BITWISE = ("and", "or", "xor")
SHIFTS = ("shl", "shr")
#: Constant exponents up to this size become multiplications.
LARGEST_UNROLLED_EXPONENT = 64


def constant(value: bool | int | float, dtype: DType) -> Constant:
    """A number as a constant of a dtype, converted like a cast."""
    return Constant(dtype(value), dtype)


def natural_type(stager: Stager, value: bool | int | float, node: ast.AST) -> DType:
    """The default dtype of a compile-time number."""
    if isinstance(value, bool):
        return u1
    if isinstance(value, float):
        return stager.context.default_fp
    dtype = integer_type(value, stager.context.default_ip)
    if dtype is None:
        stager.fail_type(node, f"the integer {shown(value)} does not fit in 64 bits")
    return dtype


def operation_type(stager: Stager, code: str, promoted: DType) -> DType:
    """The dtype an operation is computed in, given the type that its operands promote to."""
    if code == "div" and not is_float(promoted):
        return stager.context.default_fp
    if promoted is u1 and code not in BITWISE:
        return stager.context.default_ip
    return promoted


def float_type(stager: Stager, dtype: DType) -> DType:
    """A float type unchanged; the default float type for integers."""
    return dtype if is_float(dtype) else stager.context.default_fp


def convert(stager: Stager, value: Value, dtype: DType) -> Value:
    if value.type is dtype:
        return value
    if isinstance(value, Constant):
        return constant(value.value, dtype)
    return stager.emit("cast", dtype, (value,))


def read(stager: Stager, value: Value) -> Value:
    """A number from memory, in the type that kernels compute with: bf16 becomes f32."""
    assert value.type is not None
    return convert(stager, value, value_type(value.type))


def require_fit(stager: Stager, value: bool | int | float, dtype: DType, node: ast.AST) -> None:
    """Check that a compile-time number fits the dtype of the place that stores it. With `wide_arguments="wrap"`, integers
    wrap."""
    if isinstance(value, bool) or not is_integer(dtype):
        return
    least, greatest = integer_range(dtype)
    if least - 1 < value < greatest + 1:
        return
    if not isinstance(value, int) or stager.context.lens.options.wide_arguments != "wrap":
        fail_to_fit(stager, value, dtype, node)
    wrapped = dtype(value)
    stager.warn(
        node,
        f"{value} does not fit in {dtype.name} (range {least} to {greatest}) and becomes {wrapped}",
        f"if this is intended, write `sv.cast({value}, sv.{dtype.name})`",
    )


def fail_to_fit(stager: Stager, value: int | float, dtype: DType, node: ast.AST) -> NoReturn:
    wide = holding(value, dtype)
    other = "" if wide is None else f"use {wide.name}, or "
    rule = "wrap it" if isinstance(value, int) else "round it"
    least, greatest = integer_range(dtype)
    stager.fail_type(
        node,
        f"{value!r} does not fit in {dtype.name} (range {least} to {greatest})",
        f"{other}{rule} explicitly: `sv.cast({value!r}, sv.{dtype.name})`",
    )


def power(stager: Stager, base: Value, exponent: int, promoted: DType) -> Value:
    """A power with a constant integer exponent: multiplications, by squaring."""
    dtype = operation_type(stager, "pow", promoted)
    if exponent < 0 and not is_float(dtype):
        if stager.context.debug:  # for the checks of debug mode
            stager.emit("pow", dtype, (convert(stager, base, dtype), constant(exponent, dtype)))
        dtype = stager.context.default_fp
    base = convert(stager, base, dtype)
    result: Value | None = None
    square, rest = base, abs(exponent)
    while rest:
        if rest & 1:
            result = square if result is None else stager.emit("mul", dtype, (result, square))
        rest >>= 1
        if rest:
            square = stager.emit("mul", dtype, (square, square))
    if result is None:
        return constant(1, dtype)
    if exponent < 0:
        return stager.emit("div", dtype, (constant(1, dtype), result))
    return result
