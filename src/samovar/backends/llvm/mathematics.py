"""Float math: intrinsics where the processor has an instruction, libm otherwise, vector functions in vectors.

Calls of libm are declared free of side effects. With `fast_math` the declaration names the vector variants that LLVM may
call in loops that it vectorizes itself (`samovar.backends.llvm.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, u1
from samovar.backends.llvm.types import register_type, suffix
from samovar.backends.llvm.writer import Writer
from samovar.ir import OPCODES, Operation, dtype_of

#: Fast-math flags of a float operation by its payload.
_FLAGS = {"exact": "", "contract": "contract ", "reorder": "reassoc "}
#: The flags of an operation that must not be reordered, and of one that must not be fused, as changes of the default.
_LESS = {"ordered": "reassoc ", "unfused": "contract "}


def flags(writer: Writer, operation: Operation) -> str:
    """The fast-math flags of an operation."""
    payload = operation.payload
    if payload is None:
        return writer.flags
    return writer.flags.replace(_LESS[payload], "") if payload in _LESS else _FLAGS[payload]


def intrinsic(writer: Writer, name: str, dtype: DType, width: int, *arguments: str, flags: str | None = None) -> str:
    """Call `llvm.name` on arguments of one float type."""
    kind = register_type(dtype, width)
    full = f"llvm.{name}.{suffix(dtype, width)}"
    operands = ((kind, argument) for argument in arguments)
    return writer.intrinsic(kind, full, *operands, flags=writer.flags if flags is None else flags)


def library(writer: Writer, name: str, dtype: DType, width: int, *arguments: str) -> str:
    """Call a function of libm, or its vector variants for the available lanes."""
    symbol, kind = name + "f" if dtype.bits == 32 else name, register_type(dtype)
    if not width:
        writer.module.library_function(symbol, name, dtype, len(arguments))
        return writer.call(kind, symbol, ((kind, argument) for argument in arguments), writer.flags)
    lanes, called = writer.module.vector_function(symbol, name, dtype, len(arguments), width)
    parts = []
    for first in range(0, width, lanes):
        taken = [_lanes(writer, kind, argument, width, first, lanes) for argument in arguments]
        part = register_type(dtype, lanes) if lanes > 1 else kind
        parts.append(writer.call(part, called, ((part, argument) for argument in taken), writer.flags))
    return writer.joined(kind, parts, lanes)


def _lanes(writer: Writer, kind: str, vector: str, width: int, first: int, count: int) -> str:
    """Some lanes of a vector, or one of them."""
    if count == width:
        return vector
    if count == 1:
        return writer.define(f"extractelement <{width} x {kind}> {vector}, i64 {first}")
    return writer.shuffle(f"<{width} x {kind}>", vector, "poison", range(first, first + count))


def function(writer: Writer, operation: Operation) -> str:
    """A call of the intrinsic or libm function that the operation table names."""
    row, dtype = OPCODES[operation.code], dtype_of(operation)
    arguments = writer.operands(operation)
    if row.intrinsic:
        return intrinsic(writer, row.intrinsic, dtype, operation.width, *arguments, flags=flags(writer, operation))
    return library(writer, row.library, dtype, operation.width, *arguments)


def _reciprocal_root(writer: Writer, operation: Operation) -> str:
    dtype, width = dtype_of(operation), operation.width
    kind, x = register_type(dtype, width), writer.operands(operation)[0]
    one = writer.constant(1.0, dtype, width)
    if not writer.module.estimate_roots or dtype.bits != 32:
        return writer.define(f"fdiv {writer.flags}{kind} {one}, {intrinsic(writer, 'sqrt', dtype, width, x)}")
    # In vectorized code this quotient is the processor's estimate y, accurate to 11 bits; a Newton step, a factor of
    # 1.5 - x/2 * y*y, makes it accurate to 22. For zero and infinity the estimate is right and the factor is NaN, which this
    # maximum turns into 0.5 (a comparison with NaN is false), so that the estimate stays infinite or zero.
    least = writer.constant(0.5, dtype, width)
    estimate = writer.define(f"fdiv arcp {kind} {one}, {intrinsic(writer, 'sqrt', dtype, width, x, flags='arcp ')}")
    half = writer.define(f"fmul {kind} {x}, {least}")
    product = writer.define(f"fmul contract {kind} {writer.define(f'fmul {kind} {half}, {estimate}')}, {estimate}")
    factor = writer.define(f"fsub contract {kind} {writer.constant(1.5, dtype, width)}, {product}")
    larger = writer.define(f"fcmp ogt {kind} {factor}, {least}")
    factor = writer.define(f"select {register_type(u1, width)} {larger}, {kind} {factor}, {kind} {least}")
    return writer.define(f"fmul {writer.flags}{kind} {estimate}, {factor}")


def _remainder(writer: Writer, operation: Operation) -> str:
    a, b = writer.operands(operation)
    return writer.define(f"frem {flags(writer, operation)}{register_type(dtype_of(operation), operation.width)} {a}, {b}")


#: Operation → rendering.
MATHEMATICS: dict[str, Callable[[Writer, Operation], str]] = {
    **{code: function for code, row in OPCODES.items() if row.library or (row.rule == "float" and row.intrinsic)},
    "rsqrt": _reciprocal_root,
    "fmod": _remainder,
}
