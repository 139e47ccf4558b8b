"""Every pure operation over every dtype it takes, against NumPy and Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine

import ir_arithmetic
from samovar import _native
from samovar._native import DType, u1
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, LoopVariable
from samovar.language.options import Options

Numbers = np.ndarray[Any, Any]

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "f32", "f64"]
NUMPY = {
    **{name: np.dtype(name.replace("i", "int").replace("u", "uint").replace("uintnt", "uint")) for name in INTEGERS},
    "f16": np.dtype("float16"),
    "f32": np.dtype("float32"),
    "f64": np.dtype("float64"),
    "u1": np.dtype("bool"),
}
BINARY = ["add", "sub", "mul", "floordiv", "mod", "pow", "min", "max"]
BITS = ["and", "or", "xor", "shl", "shr"]
COMPARE = ["lt", "le", "gt", "ge", "eq", "ne"]
UNARY = ["neg", "abs"]
UNARY_BITS = ["not", "popcnt", "clz", "ffs"]
PREDICATES = ["isnan", "isinf"]
MATHEMATICS = (
    "sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt"
    " erf erfc floor ceil round trunc"
).split()
MATHEMATICS_2 = ["div", "atan2", "fmod", "hypot", "copysign"]


def dtype_of(name: str) -> DType:
    dtype: DType = getattr(_native, name)
    return dtype


def samples(name: str) -> Numbers:
    """Corner cases and some ordinary numbers."""
    random = np.random.default_rng(7)
    dtype = NUMPY[name]
    if name == "u1":
        return np.array([False, True])
    if name in INTEGERS:
        info = np.iinfo(dtype)
        corners = {
            info.min,
            info.min + 1,
            info.max,
            info.max - 1,
            *range(max(info.min, -9), 10),
            info.bits - 1,
            info.bits,
        }
        kind = np.dtype(dtype).type  # NumPy 1.26 takes no dtype of 64 bits here
        values = [*corners, *(int(random.integers(info.min, info.max, dtype=kind, endpoint=True)) for _ in range(8))]
        return np.array(sorted(values), dtype)
    limits = np.finfo(dtype)
    corners_f = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 0.1, 7.25, 100.0, 1e4, float(limits.max), float(limits.tiny), math.inf]
    values_f = [*corners_f, *(-value for value in corners_f), math.nan, *random.normal(scale=5, size=20)]
    return np.array(values_f).astype(dtype)


def operations(name: str) -> tuple[list[str], list[str]]:
    """Unary and binary operations of a dtype."""
    if name in FLOATS:
        return [*UNARY, *PREDICATES, *MATHEMATICS], [*BINARY, *COMPARE, *MATHEMATICS_2]
    return [*UNARY, *UNARY_BITS, *PREDICATES], [*BINARY, *BITS, *COMPARE]


def result_types(name: str) -> dict[str, DType]:
    """The operations of a dtype, and the dtypes of their results."""
    unary, binary = operations(name)
    types = dict.fromkeys(unary + binary, dtype_of(name))
    return types | {code: u1 for code in types if code in COMPARE + PREDICATES}


def kernel_of(name: str) -> Kernel:
    """All operations of a dtype over the elements of x and y, each in a task of its own."""
    dtype, (unary, _) = dtype_of(name), operations(name)
    x, y = Array("x", dtype, 1, alone=True), Array("y", dtype, 1, alone=True)
    outputs = {code: Array(f"out_{code}", type, 1, alone=True) for code, type in result_types(name).items()}

    def build(b: Builder) -> None:
        for code, out in outputs.items():

            def body(i: LoopVariable, code: str = code, out: Array = out) -> None:
                operands = [b.load(x, i)] if code in unary else [b.load(x, i), b.load(y, i)]
                b.store(out, [i], b.op(code, *operands))

            b.parallel((0, b.shape(x)), body=body, name=code)

    return kernel([x, y, *outputs.values()], build)


@cache
def results(name: str, fast_math: bool) -> tuple[dict[str, Numbers], Numbers, Numbers]:
    """What the operations give for all pairs of samples."""
    machine = Machine(kernel_of(name), Options(fast_math=fast_math))
    values = samples(name)
    first, second = (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(values, values, indexing="ij"))
    arrays = {code: np.zeros(first.size, NUMPY[type.name]) for code, type in result_types(name).items()}
    machine(first, second, *arrays.values())
    return arrays, first, second


def wrap(value: int, name: str) -> int:
    return ir_arithmetic.wrap(value, dtype_of(name))


@pytest.mark.parametrize("name", [*INTEGERS, "u1"])
@pytest.mark.parametrize("code", [*UNARY, *UNARY_BITS, *PREDICATES, *BINARY, *BITS, *COMPARE])
def test_integer_operation(name: str, code: str) -> None:
    arrays, first, second = results(name, True)
    type, count = result_types(name)[code], OPCODES[code].arity
    points = zip(first.tolist(), second.tolist(), strict=True)
    expected = [ir_arithmetic.evaluate(code, type, point[:count], dtype_of(name)) for point in points]
    assert arrays[code].tolist() == np.array(expected, object).astype(arrays[code].dtype).tolist()


def erf(x: Numbers) -> Numbers:
    return np.vectorize(math.erf, otypes=[float])(x)


def erfc(x: Numbers) -> Numbers:
    return np.vectorize(math.erfc, otypes=[float])(x)


#: References in f64 for the other types; in the type itself for f64.
FLOAT_RULES: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "min": np.fmin,
    "max": np.fmax,
    "neg": np.negative,
    "abs": np.abs,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": erf,
    "erfc": erfc,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "round": np.rint,
    "trunc": np.trunc,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
}


def assert_close(found: Numbers, exact: Numbers, units: float) -> None:
    """Within so many units in the last place of the found type; NaN and infinity where they belong."""
    with np.errstate(all="ignore"):
        wanted = exact.astype(found.dtype)
        special = ~np.isfinite(wanted)
        np.testing.assert_array_equal(found[special], wanted[special])
        spacing = np.spacing(np.abs(wanted[~special])).astype(np.float64)
        error = np.abs(found[~special].astype(np.float64) - exact[~special].astype(np.float64)) / spacing
    assert not error.size or float(np.max(error)) <= units, float(np.max(error))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("code", [*UNARY, *PREDICATES, *MATHEMATICS, *BINARY, *COMPARE, *MATHEMATICS_2])
@pytest.mark.parametrize("fast_math", [False, True])
def test_float_operation(name: str, code: str, fast_math: bool) -> None:
    arrays, first, second = results(name, fast_math)
    unary, _ = operations(name)
    found = arrays[code]
    rule = FLOAT_RULES.get(code) or getattr(np, code)
    with np.errstate(all="ignore"):
        if code in ("floordiv", "mod"):
            # NumPy computes f16 in f32 as well.
            wide = np.float32 if name == "f16" else first.dtype
            exact = rule(first.astype(wide), second.astype(wide))
        else:
            operands = (
                [first.astype(np.float64)] if code in unary else [first.astype(np.float64), second.astype(np.float64)]
            )
            exact = rule(*operands)
    if found.dtype == bool:
        np.testing.assert_array_equal(found, exact)
    elif code in ("floordiv", "mod"):
        _check_floor(code, found, exact, first, second, fast_math)
    else:
        exactly = code in {*UNARY, "add", "sub", "mul", "div", "min", "max", "sqrt", "fmod", "copysign"}
        exactly = exactly or code in {"floor", "ceil", "round", "trunc"}
        assert_close(found, exact, 0.501 if exactly else 4.5)


def _check_floor(
    code: str,
    found: Numbers,
    exact: Numbers,
    first: Numbers,
    second: Numbers,
    fast_math: bool,
) -> None:
    with np.errstate(all="ignore"):
        if not fast_math:
            np.testing.assert_array_equal(found, exact.astype(found.dtype))
            return
        ordinary = np.isfinite(first) & np.isfinite(second) & (second != 0)
        if code == "mod":
            small, divisor = found[ordinary].astype(float), second[ordinary].astype(float)
            # In f16 the last rounding may reach the divisor, as it may in Python: -1e-20 % 3.0 is 3.0.
            assert np.all((np.abs(small) < np.abs(divisor)) | ((found.dtype == np.float16) & (small == divisor)))
            assert np.all((small == 0) | ((small < 0) == (divisor < 0)))
        # Where the quotient is moderate, the result is the usual one up to rounding.
        moderate = ordinary & (np.abs(first.astype(float) / second.astype(float)) < 1e3) & (np.abs(second) > 1e-3)
        a, b, got = (part[moderate].astype(float) for part in (first, second, found))
        if code == "floordiv":
            assert np.all(np.abs(got - np.floor(a / b)) <= 1)
        else:
            quotient = (a - got) / b
            assert np.all(np.abs(quotient - np.rint(quotient)) < 1e-2)
        infinite = np.isfinite(first) & np.isinf(second)
        np.testing.assert_array_equal(found[infinite], exact[infinite].astype(found.dtype))
        assert np.all(np.isnan(found[np.isnan(first) | np.isnan(second)]))
