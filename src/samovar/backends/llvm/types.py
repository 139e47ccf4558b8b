"""dtypes in LLVM: types in registers and in memory, literals, zero, extension to 64 bits.

A u1 is an `i1` in a register and an `i8` (0 or 1) in memory; every other dtype is the same in both. A bf16, which is only
moved, is an integer.
"""

from __future__ import annotations

import math
import struct

from samovar._native import DType, bf16
from samovar.ir import Local, VectorLocal, signed

_FLOATS = {16: "half", 32: "float", 64: "double"}


def register_type(dtype: DType, width: int = 0) -> str:
    """The LLVM type of a value in a register: f32 → float, u16 → i16, u1 → i1; or of a vector with `width` lanes."""
    kind = _FLOATS[dtype.bits] if is_float(dtype) else f"i{dtype.bits}"
    return f"<{width} x {kind}>" if width else kind


def memory_type(dtype: DType, width: int = 0) -> str:
    """The LLVM type of a value in memory."""
    kind = "i8" if dtype.kind == "bool" else register_type(dtype)
    return f"<{width} x {kind}>" if width else kind


def local_type(local: Local) -> str:
    """The LLVM type of a local. Masks are stored as whole lanes if the processor has no mask registers."""
    if isinstance(local, VectorLocal) and local.type.kind == "bool":
        return f"<{local.width} x i{local.lane_bits or 1}>"
    return memory_type(local.type, local.width)


def is_float(dtype: DType) -> bool:
    return dtype.kind == "float" and dtype is not bf16


def is_signed(dtype: DType) -> bool:
    """True for signed integers only."""
    return dtype.kind == "int"


def suffix(dtype: DType, width: int = 0) -> str:
    """The type suffix of intrinsics: f32, i16, i1, v8f32."""
    kind = f"f{dtype.bits}" if is_float(dtype) else f"i{dtype.bits}"
    return f"v{width}{kind}" if width else kind


def literal(value: bool | int | float, dtype: DType) -> str:
    """An exact constant: integers as two's complement, floats by their bits."""
    if is_float(dtype):
        return _float_literal(float(value), dtype.bits)
    if dtype is bf16:  # the upper half of the f32
        return str(signed(struct.unpack("<I", struct.pack("<f", dtype(value)))[0] >> 16, 16))
    if dtype.kind == "bool":
        return "true" if value else "false"
    return str(signed(int(value), dtype.bits))


def _float_literal(value: float, bits: int) -> str:
    if bits == 16:
        return f"0xH{struct.unpack('<H', _packed('<e', value))[0]:04X}"
    if bits == 32:
        value = struct.unpack("<f", _packed("<f", value))[0]
    # An f32 is written as the f64 of the same value.
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _packed(form: str, value: float) -> bytes:
    try:
        return struct.pack(form, value)
    except OverflowError:
        return struct.pack(form, math.copysign(math.inf, value))
