"""Minimum and maximum. Of a NaN and a number the result is the number; of two zeros, either.

LLVM has two variants for floats, `maxnum` and `maximumnum`. A running maximum, carried from iteration to iteration, becomes
a vector reduction. With `maxnum`, which handles NaN in every iteration, LLVM's two cost estimates disagree on some
processors, and it aborts with an assertion; `maximumnum` needs no NaN handling and is faster. If the result is part of a
recurrence that cannot be split (a running maximum that is stored for each element), `maxnum` is one instruction shorter.
"""

from __future__ import annotations

from samovar._native import DType, u1
from samovar.backends.llvm.mathematics import intrinsic
from samovar.backends.llvm.types import is_float, is_signed, register_type, suffix
from samovar.backends.llvm.writer import Writer
from samovar.ir import Array, Constant, LoopVariable, Operation, Value, dtype_of

#: Their results are new in each iteration, not carried by a loop.
_ARITHMETIC = frozenset("add sub mul div fma sqrt".split())


def extreme(writer: Writer, operation: Operation) -> str:
    """`min` or `max`."""
    dtype, code, width = dtype_of(operation), operation.code, operation.width
    a, b = writer.operands(operation)
    if not is_float(dtype):
        return _of_integers(writer, code, dtype, width, a, b)
    if dtype.bits == 16 or any(map(_adds_zero, operation.operands)):
        return _by_comparison(writer, code, dtype, width, a, b)
    if not width and _is_running(writer, operation):
        flags = writer.flags if "nsz" in writer.flags else writer.flags + "nsz "
        return intrinsic(writer, f"{code}imumnum", dtype, width, a, b, flags=flags)
    return intrinsic(writer, f"{code}num", dtype, width, a, b)


def _of_integers(writer: Writer, code: str, dtype: DType, width: int, a: str, b: str) -> str:
    kind = register_type(dtype, width)
    name = f"llvm.{'s' if is_signed(dtype) else 'u'}{code}.{suffix(dtype, width)}"
    return writer.intrinsic(kind, name, (kind, a), (kind, b))


def _by_comparison(writer: Writer, code: str, dtype: DType, width: int, a: str, b: str) -> str:
    """For f16, as most processors have no f16 arithmetic and would round a result that is one of the operands; and for
    `x + 0.0`, which has no negative zero: where the sign of a zero result is free, LLVM drops the addition."""
    kind, mask = register_type(dtype, width), register_type(u1, width)
    better = writer.define(f"fcmp {'olt' if code == 'min' else 'ogt'} {kind} {a}, {b}")
    missing = writer.define(f"fcmp uno {kind} {b}, {writer.constant(0.0, dtype, width)}")
    first = writer.define(f"or {mask} {better}, {missing}")
    return writer.define(f"select {mask} {first}, {kind} {a}, {kind} {b}")


def _adds_zero(value: Value) -> bool:
    return (
        isinstance(value, Operation)
        and value.code == "add"
        and any(isinstance(each, Constant) and each.value == 0 for each in value.operands)
    )


def _is_running(writer: Writer, operation: Operation) -> bool:
    """Whether a loop may carry this value between iterations without any other use.

    False only if that is certain: both operands are new in each iteration, or the enclosing loop stores a value of the chain
    in a different place each time.
    """
    if all(map(_is_new, operation.operands)):
        return False
    innermost = next(reversed(writer.counters), None)
    if not isinstance(innermost, LoopVariable):
        return True
    users = writer.module.users
    return not any(
        _is_stored_by_place(innermost, user) for value in (operation, *operation.operands) for user in users.get(value, ())
    )


def _is_new(value: Value) -> bool:
    if isinstance(value, Operation):
        unchanging = value.code == "load" and isinstance(value.payload, Array) and not value.payload.written
        return unchanging or value.code in _ARITHMETIC
    return isinstance(value, Constant)


def _is_stored_by_place(innermost: LoopVariable, user: Operation) -> bool:
    """Whether a value is stored to a different element in each iteration of the innermost loop."""
    return user.code == "store" and len(user.operands) > 1 and user.operands[-2] is innermost
