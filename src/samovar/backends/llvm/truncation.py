"""Floats as integers: without the fraction, the nearest number where it does not fit, 0 for NaN.

LLVM has intrinsics for this, and makes scalar code of them. Here the value is moved to the nearest one that fits, by
instructions that vectors have, while it is a float: masks of floats and integers of other sizes do not go together.
"""

from __future__ import annotations

from samovar._native import DType, f32
from samovar.backends.llvm.types import greatest, is_signed, least, literal, register_type
from samovar.backends.llvm.writer import Writer

#: Digits of a float, by its size.
_DIGITS = {32: 24, 64: 53}


def truncate(writer: Writer, a: str, source: DType, target: DType, mark: str | None = None) -> str:
    """A float register as an integer; `mark` is one of `samovar.passes.conversions`."""
    if source.bits == 16:
        return truncate(writer, writer.define(f"fpext half {a} to float"), f32, target, mark)
    floating, integer = register_type(source), register_type(target)
    signed = is_signed(target)
    wide = "i64" if target.bits == 64 else "i32"
    instruction = f"fpto{'si' if signed or target.bits < 32 else 'ui'} {floating}"
    value, last = a, _last(source, target)
    if mark == "index" or (mark is None and signed):
        value = _choose(writer, f"fcmp ord {floating} {a}, {a}", floating, a, literal(0.0, source))
    if mark is None:
        # A comparison with NaN fails: where the least number is 0, that is what NaN becomes.
        low, high = literal(float(least(target)), source), literal(float(last), source)
        value = _choose(writer, f"fcmp ogt {floating} {value}, {low}", floating, value, low)
        value = _choose(writer, f"fcmp olt {floating} {value}, {high}", floating, value, high)
    result = writer.define(f"{instruction} {value} to {wide}")
    if mark is None and last != greatest(target):
        result = _choose(writer, f"fcmp ogt {floating} {a}, {high}", wide, literal(greatest(target), target), result)
    return result if wide == integer else writer.define(f"trunc {wide} {result} to {integer}")


def _choose(writer: Writer, condition: str, kind: str, then: str, otherwise: str) -> str:
    return writer.define(f"select i1 {writer.define(condition)}, {kind} {then}, {kind} {otherwise}")


def _last(source: DType, target: DType) -> int:
    """The greatest float that fits."""
    digits = target.bits - (1 if is_signed(target) else 0)
    beyond = max(0, digits - _DIGITS[source.bits])
    return (greatest(target) >> beyond) << beyond
