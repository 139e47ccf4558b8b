"""Float mathematics: intrinsics where the processor has an instruction, libm otherwise, vector functions in
vectorised loops.

A call of libm is declared free of side effects. With `fast_math` it also carries the attribute "samovar-vector": the step
that knows the target turns that into the vector variants which exist there (`samovar.backends.llvm.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType, u1
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import OPCODES, Operation

#: Flags of an operation on floats by its payload, where it has one.
_FLAGS = {"exact": "", "contract": "contract "}


def flags(writer: Writer, operation: Operation) -> str:
    """The fast-math flags of an operation."""
    return writer.flags if operation.payload is None else _FLAGS[operation.payload]


def intrinsic(writer: Writer, name: str, dtype: DType, *arguments: str, flags: str | None = None) -> str:
    """Call `llvm.name` on arguments of one float type."""
    kind = writer.kind(dtype)
    full = f"llvm.{name}.{writer.suffix(dtype)}"
    writer.module.declare(full, f"declare {kind} @{full}({', '.join([kind] * len(arguments))})")
    operands = ", ".join(f"{kind} {argument}" for argument in arguments)
    return writer.define(f"call {writer.flags if flags is None else flags}{kind} @{full}({operands})")


def library(writer: Writer, name: str, dtype: DType, *arguments: str) -> str:
    """Call a function of libm."""
    kind = writer.kind(dtype)
    symbol = name + "f" if dtype.bits == 32 else name
    group = "#3" if writer.module.fast_math else "#2"
    writer.module.declare(symbol, f"declare {kind} @{symbol}({', '.join([kind] * len(arguments))}) {group}")
    operands = ", ".join(f"{kind} {argument}" for argument in arguments)
    return writer.define(f"call {writer.flags}{kind} @{symbol}({operands})")


def function(writer: Writer, operation: Operation) -> str:
    """A call of the intrinsic, or of the function of libm, that the table of operations names."""
    row, dtype = OPCODES[operation.code], dtype_of(operation)
    arguments = [writer.value(operand) for operand in operation.operands]
    if row.intrinsic:
        return intrinsic(writer, row.intrinsic, dtype, *arguments, flags=flags(writer, operation))
    return library(writer, row.library, dtype, *arguments)


def _reciprocal_root(writer: Writer, operation: Operation) -> str:
    dtype = dtype_of(operation)
    kind, x = writer.kind(dtype), writer.value(operation.operands[0])
    one = writer.constant(1.0, dtype)
    if not writer.module.estimate_roots or dtype.bits != 32:
        return writer.define(f"fdiv {writer.flags}{kind} {one}, {intrinsic(writer, 'sqrt', dtype, x)}")
    # In vectorised code this quotient is the processor's estimate y, good to 11 bits; Newton's step, a factor of
    # 1.5 - x/2 * y*y, makes it good to 22. Of zero and infinity the estimate is right and the factor NaN, which this maximum
    # makes 0.5 (a comparison with NaN is false), so that the estimate stays infinite or zero.
    least = writer.constant(0.5, dtype)
    estimate = writer.define(f"fdiv arcp {kind} {one}, {intrinsic(writer, 'sqrt', dtype, x, flags='arcp ')}")
    half = writer.define(f"fmul {kind} {x}, {least}")
    product = writer.define(f"fmul contract {kind} {writer.define(f'fmul {kind} {half}, {estimate}')}, {estimate}")
    factor = writer.define(f"fsub contract {kind} {writer.constant(1.5, dtype)}, {product}")
    larger = writer.define(f"fcmp ogt {kind} {factor}, {least}")
    factor = writer.define(f"select {writer.kind(u1)} {larger}, {kind} {factor}, {kind} {least}")
    return writer.define(f"fmul {writer.flags}{kind} {estimate}, {factor}")


def _remainder(writer: Writer, operation: Operation) -> str:
    a, b = (writer.value(operand) for operand in operation.operands)
    return writer.define(f"frem {flags(writer, operation)}{writer.kind(dtype_of(operation))} {a}, {b}")


#: Operation → rendering.
MATHEMATICS: dict[str, Callable[[Writer, Operation], str]] = {
    **{code: function for code, row in OPCODES.items() if row.library or (row.rule == "float" and row.intrinsic)},
    "rsqrt": _reciprocal_root,
    "fmod": _remainder,
}
