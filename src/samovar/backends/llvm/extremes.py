"""Minimum and maximum. Of a NaN and a number it is the number; of two zeros, either.

LLVM has two forms for floats, `maxnum` and `maximumnum`. A running maximum, one that a loop carries from iteration to
iteration, is made a reduction of vectors. With `maxnum`, which watches out for NaN in every iteration, LLVM's two estimates
of the cost of that disagree on some processors, and it ends the process with an assertion; `maximumnum` needs no watching
and is faster. Where the result is part of a chain that cannot be cut (a maximum of what has come so far, for each
element), `maxnum` is an instruction shorter.
"""

from __future__ import annotations

from samovar._native import DType, u1
from samovar.backends.llvm.mathematics import intrinsic
from samovar.backends.llvm.types import is_float, is_signed, register_type, suffix
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Array, Constant, LoopVariable, Operation, Value

#: Their results are new in each iteration: nothing that a loop carries from one to the next.
_ARITHMETIC = frozenset("add sub mul div fma sqrt".split())


def extreme(writer: Writer, operation: Operation) -> str:
    """`min` or `max`."""
    dtype, code, width = dtype_of(operation), operation.code, operation.width
    a, b = writer.operands(operation)
    if not is_float(dtype):
        return _of_integers(writer, code, dtype, width, a, b)
    if dtype.bits == 16:
        return _of_halves(writer, code, dtype, width, a, b)
    if not width and _is_running(writer, operation):
        flags = writer.flags if "nsz" in writer.flags else writer.flags + "nsz "
        return intrinsic(writer, f"{code}imumnum", dtype, width, a, b, flags=flags)
    return intrinsic(writer, f"{code}num", dtype, width, a, b)


def _of_integers(writer: Writer, code: str, dtype: DType, width: int, a: str, b: str) -> str:
    kind = register_type(dtype, width)
    name = f"llvm.{'s' if is_signed(dtype) else 'u'}{code}.{suffix(dtype, width)}"
    writer.module.declare(name, f"declare {kind} @{name}({kind}, {kind})")
    return writer.define(f"call {kind} @{name}({kind} {a}, {kind} {b})")


def _of_halves(writer: Writer, code: str, dtype: DType, width: int, a: str, b: str) -> str:
    """By comparison: most processors have no arithmetic of f16, and would round a value that is one of the two."""
    kind, mask = register_type(dtype, width), register_type(u1, width)
    better = writer.define(f"fcmp {'olt' if code == 'min' else 'ogt'} {kind} {a}, {b}")
    missing = writer.define(f"fcmp uno {kind} {b}, {writer.constant(0.0, dtype, width)}")
    first = writer.define(f"or {mask} {better}, {missing}")
    return writer.define(f"select {mask} {first}, {kind} {a}, {kind} {b}")


def _is_running(writer: Writer, operation: Operation) -> bool:
    """Whether a loop may carry this value from one iteration to the next and do nothing else with it.

    Only said no to where that is certain: both operands are new in each iteration, or the loop around stores a value of the
    chain in a different place each time.
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
    """Whether a value goes to an element that is another one in each iteration of the innermost loop."""
    return user.code == "store" and len(user.operands) > 1 and user.operands[-2] is innermost
