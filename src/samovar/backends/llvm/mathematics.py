"""Float mathematics: intrinsics where the processor has an instruction, libm otherwise, libmvec where a loop is vectorised.

A call of libm is declared free of side effects. With `fast_math` it also carries the attribute "samovar-vector": the step
that knows the target turns that into the vector variants which exist there (`samovar.backends.llvm.vectors`). f16 is
computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, f32
from samovar.backends.llvm.types import literal, register_type, suffix
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Operation

#: Operation → LLVM intrinsic, lowered to instructions.
INTRINSICS = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "round": "rint",  # ties to even in the default rounding mode, the only one there is
    "copysign": "copysign",
    "fma": "fma",
}

#: Functions of libm, by the names of the operations (f64; f32 adds an "f").
LIBRARY = frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc atan2"
    " hypot pow".split()
)


def intrinsic(writer: Writer, name: str, dtype: DType, *arguments: str, flags: str | None = None) -> str:
    """Call `llvm.name` on arguments of one float type."""
    kind = register_type(dtype)
    full = f"llvm.{name}.{suffix(dtype)}"
    writer.module.declare(full, f"declare {kind} @{full}({', '.join([kind] * len(arguments))})")
    operands = ", ".join(f"{kind} {argument}" for argument in arguments)
    return writer.define(f"call {writer.flags if flags is None else flags}{kind} @{full}({operands})")


def library(writer: Writer, name: str, dtype: DType, *arguments: str) -> str:
    """Call a function of libm."""
    kind = register_type(dtype)
    symbol = name + "f" if dtype.bits == 32 else name
    group = "#3" if writer.module.fast_math else "#2"
    writer.module.declare(symbol, f"declare {kind} @{symbol}({', '.join([kind] * len(arguments))}) {group}")
    operands = ", ".join(f"{kind} {argument}" for argument in arguments)
    return writer.define(f"call {writer.flags}{kind} @{symbol}({operands})")


def _in_single(compute: Callable[[Writer, str, DType, list[str]], str]) -> Callable[[Writer, Operation], str]:
    """Render with `compute`, f16 by way of f32."""

    def render(writer: Writer, operation: Operation) -> str:
        dtype = dtype_of(operation)
        arguments = [writer.value(operand) for operand in operation.operands]
        if dtype.bits != 16:
            return compute(writer, operation.code, dtype, arguments)
        wide = [writer.define(f"fpext half {argument} to float") for argument in arguments]
        return writer.define(f"fptrunc float {compute(writer, operation.code, f32, wide)} to half")

    return render


def _call(writer: Writer, code: str, dtype: DType, arguments: list[str]) -> str:
    if code in INTRINSICS:
        return intrinsic(writer, INTRINSICS[code], dtype, *arguments)
    return library(writer, code, dtype, *arguments)


def _reciprocal_root(writer: Writer, code: str, dtype: DType, arguments: list[str]) -> str:
    kind, x = register_type(dtype), arguments[0]
    one = literal(1.0, dtype)
    if not writer.module.estimate_roots or dtype.bits != 32:
        return writer.define(f"fdiv {writer.flags}{kind} {one}, {intrinsic(writer, 'sqrt', dtype, x)}")
    # In vectorised code this quotient is the processor's estimate y, good to 11 bits; Newton's step, a factor of
    # 1.5 - x/2 * y*y, makes it good to 22. Of zero and infinity the estimate is right and the factor NaN, which this maximum
    # makes 0.5 (a comparison with NaN is false), so that the estimate stays infinite or zero.
    least = literal(0.5, dtype)
    estimate = writer.define(f"fdiv arcp {kind} {one}, {intrinsic(writer, 'sqrt', dtype, x, flags='arcp ')}")
    half = writer.define(f"fmul {kind} {x}, {least}")
    product = writer.define(f"fmul contract {kind} {writer.define(f'fmul {kind} {half}, {estimate}')}, {estimate}")
    factor = writer.define(f"fsub contract {kind} {literal(1.5, dtype)}, {product}")
    larger = writer.define(f"fcmp ogt {kind} {factor}, {least}")
    factor = writer.define(f"select i1 {larger}, {kind} {factor}, {kind} {least}")
    return writer.define(f"fmul {writer.flags}{kind} {estimate}, {factor}")


def _remainder(writer: Writer, code: str, dtype: DType, arguments: list[str]) -> str:
    return writer.define(f"frem {writer.flags}{register_type(dtype)} {arguments[0]}, {arguments[1]}")


def _differ_in_sign(writer: Writer, kind: str, a: str, b: str) -> str:
    negative_a = writer.define(f"fcmp olt {kind} {a}, 0.0")
    negative_b = writer.define(f"fcmp olt {kind} {b}, 0.0")
    return writer.define(f"xor i1 {negative_a}, {negative_b}")


def _modulo(writer: Writer, code: str, dtype: DType, arguments: list[str]) -> str:
    """Python's %: the sign of b. Exact (by fmod) without fast_math; by a quotient, but never outside [0, b), with it."""
    kind = register_type(dtype)
    a, b = arguments
    zero = intrinsic(writer, "copysign", dtype, "0.0", b, flags="")
    if not writer.module.fast_math:
        remainder = writer.define(f"frem {kind} {a}, {b}")
        differ = _differ_in_sign(writer, kind, remainder, b)
        shifted = writer.define(f"fadd {kind} {remainder}, {b}")
        moved = writer.define(f"select i1 {differ}, {kind} {shifted}, {kind} {remainder}")
        nothing = writer.define(f"fcmp oeq {kind} {remainder}, 0.0")
        return writer.define(f"select i1 {nothing}, {kind} {zero}, {kind} {moved}")
    # No arcp here: 6.0 % 3.0 must not become 3.0 because a reciprocal was rounded down.
    quotient = intrinsic(writer, "floor", dtype, writer.define(f"fdiv {kind} {a}, {b}"), flags="")
    product = writer.define(f"fmul contract {kind} {quotient}, {b}")
    difference = writer.define(f"fsub contract {kind} {a}, {product}")
    magnitude_b = intrinsic(writer, "fabs", dtype, b, flags="")
    # An infinite divisor leaves a as it is (the quotient times infinity would be NaN).
    infinite = writer.define(f"fcmp oeq {kind} {magnitude_b}, {literal(float('inf'), dtype)}")
    difference = writer.define(f"select i1 {infinite}, {kind} {a}, {kind} {difference}")
    differ = _differ_in_sign(writer, kind, difference, b)
    nothing = writer.define(f"fcmp oeq {kind} {difference}, 0.0")
    shifted = writer.define(f"fadd {kind} {difference}, {b}")
    moved = writer.define(f"select i1 {differ}, {kind} {shifted}, {kind} {difference}")
    moved = writer.define(f"select i1 {nothing}, {kind} {zero}, {kind} {moved}")
    magnitude = intrinsic(writer, "fabs", dtype, moved, flags="")
    outside = writer.define(f"fcmp oge {kind} {magnitude}, {magnitude_b}")
    finite = writer.define(f"xor i1 {infinite}, true")
    outside = writer.define(f"and i1 {outside}, {finite}")
    return writer.define(f"select i1 {outside}, {kind} {zero}, {kind} {moved}")


def _floor_divide(writer: Writer, code: str, dtype: DType, arguments: list[str]) -> str:
    """Python's //: the quotient that goes with %. With fast_math the floor of the rounded quotient; by zero, a / 0."""
    kind = register_type(dtype)
    a, b = arguments
    plain = writer.define(f"fdiv {kind} {a}, {b}")
    if writer.module.fast_math:
        # A quotient too small to be seen is still below zero where the signs differ: -1.0 // inf is -1.0.
        vanished = writer.define(f"fcmp oeq {kind} {plain}, 0.0")
        some = writer.define(f"fcmp une {kind} {a}, 0.0")
        below = writer.define(f"and i1 {vanished}, {some}")
        below = writer.define(f"and i1 {below}, {_differ_in_sign(writer, kind, a, b)}")
        floor = intrinsic(writer, "floor", dtype, plain, flags="")
        return writer.define(f"select i1 {below}, {kind} {literal(-1.0, dtype)}, {kind} {floor}")
    remainder = writer.define(f"frem {kind} {a}, {b}")
    exact = writer.define(f"fsub {kind} {a}, {remainder}")
    quotient = writer.define(f"fdiv {kind} {exact}, {b}")
    nothing = writer.define(f"fcmp oeq {kind} {remainder}, 0.0")
    differ = _differ_in_sign(writer, kind, remainder, b)
    some = writer.define(f"xor i1 {nothing}, true")
    down = writer.define(f"and i1 {differ}, {some}")
    lower = writer.define(f"fadd {kind} {quotient}, {literal(-1.0, dtype)}")
    quotient = writer.define(f"select i1 {down}, {kind} {lower}, {kind} {quotient}")
    # The quotient is an integer up to rounding: take the nearest.
    floor = intrinsic(writer, "floor", dtype, quotient)
    over = writer.define(f"fsub {kind} {quotient}, {floor}")
    up = writer.define(f"fcmp ogt {kind} {over}, {literal(0.5, dtype)}")
    higher = writer.define(f"fadd {kind} {floor}, {literal(1.0, dtype)}")
    whole = writer.define(f"select i1 {up}, {kind} {higher}, {kind} {floor}")
    zero = intrinsic(writer, "copysign", dtype, "0.0", plain)
    vanished = writer.define(f"fcmp oeq {kind} {quotient}, 0.0")
    whole = writer.define(f"select i1 {vanished}, {kind} {zero}, {kind} {whole}")
    by_zero = writer.define(f"fcmp oeq {kind} {b}, 0.0")
    return writer.define(f"select i1 {by_zero}, {kind} {plain}, {kind} {whole}")


floor_divide = _in_single(_floor_divide)
modulo = _in_single(_modulo)
power = _in_single(_call)

#: Operation → rendering.
MATHEMATICS: dict[str, Callable[[Writer, Operation], str]] = {
    **dict.fromkeys([*INTRINSICS, *sorted(LIBRARY - {"pow"})], _in_single(_call)),
    "rsqrt": _in_single(_reciprocal_root),
    "fmod": _in_single(_remainder),
}
