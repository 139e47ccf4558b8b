"""Recognizing updates of a variable or an element: `old + x`, `max(x, old)`, `a * old * b`.

The added (or multiplied, …) terms are separated from the old value, so that updates can be reordered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from samovar._native import DType, u1
from samovar.ir.values import Constant, Operation, Value
from samovar.language import integer_range

#: Operations that can be accumulated in any order, and the accumulating operation. A difference is a sum.
FAMILIES = {"add": "add", "sub": "add", "mul": "mul", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}
#: Operations that commute with truncation to fewer bits.
_MODULAR = ("add", "mul", "and", "or", "xor")


def identity(operation: str, type: DType) -> Constant:
    """The identity of an operation: -0.0 for a sum of floats, NaN for their minimum (which prefers the number)."""
    if type.kind == "float":
        return Constant({"add": -0.0, "mul": 1.0}.get(operation, math.nan), type)
    least, greatest = integer_range(type)
    ones = -1 if type.kind == "int" else greatest
    return Constant({"mul": 1, "min": greatest, "max": least, "and": ones}.get(operation, 0), type)


@dataclass(frozen=True)
class Update:
    """`old operation terms`, where a term with a negative sign is subtracted; `replaced` are the operations it replaces."""

    operation: str
    terms: tuple[tuple[int, Value], ...]
    old: Operation
    replaced: frozenset[Operation]

    def contribution(self, dtype: DType, emit: Callable[[str, DType, tuple[Value, ...]], Value]) -> Value:
        """The accumulated value in the type of the target; `emit` creates operations."""
        total: Value | None = None
        for sign, term in self.terms:
            value = term if term.type is dtype else emit("cast", dtype, (term,))
            if total is None:
                total = value if sign > 0 else emit("neg", dtype, (value,))
            else:
                total = emit(self.operation if sign > 0 else "sub", dtype, (total, value))
        assert total is not None
        return total


def update_of(value: Value, dtype: DType, is_old: Callable[[Operation], bool]) -> Update | None:
    """The update that a stored value amounts to, or None. `is_old` recognizes a load of the target."""
    inner = _unconverted(value, dtype)
    if not isinstance(inner, Operation) or inner.code not in FAMILIES:
        return None
    code = FAMILIES[inner.code]
    if inner.type is not dtype and not _respects(code, inner.type, dtype):
        return None
    replaced = {each for each in (value,) if isinstance(each, Operation)}
    olds: list[tuple[int, Operation]] = []
    terms: list[tuple[int, Value]] = []
    for sign, term in _flattened(inner, code, 1, replaced):
        loaded = _unconverted(term, dtype)
        if isinstance(loaded, Operation) and is_old(loaded):
            olds.append((sign, loaded))
            replaced.update(each for each in (loaded, term) if isinstance(each, Operation))
        else:
            terms.append((sign, term))
    if len(olds) != 1 or olds[0][0] < 0 or not terms or any(_contains(term, is_old) for _, term in terms):
        return None
    return Update(code, tuple(terms), olds[0][1], frozenset(replaced))


def _unconverted(value: Value, dtype: DType) -> Value:
    """The value before its conversion from, or to, the type of the target."""
    if isinstance(value, Operation) and value.code == "cast" and dtype in (value.type, value.operands[0].type):
        return value.operands[0]
    return value


def _respects(code: str, wide: DType | None, narrow: DType) -> bool:
    """Whether an operation in another type, converted back, equals the operation on converted operands."""
    if wide is None or u1 in (wide, narrow) or (wide.kind == "float") != (narrow.kind == "float"):
        return False
    # Rounding is monotonic, and the rounding of a sum in any order is unspecified.
    return wide.kind == "float" or (code in _MODULAR and wide.bits >= narrow.bits)


def _flattened(value: Value, code: str, sign: int, through: set[Operation]) -> Iterator[tuple[int, Value]]:
    if isinstance(value, Operation) and FAMILIES.get(value.code) == code:
        through.add(value)
        yield from _flattened(value.operands[0], code, sign, through)
        yield from _flattened(value.operands[1], code, -sign if value.code == "sub" else sign, through)
    else:
        yield sign, value


def _contains(value: Value, wanted: Callable[[Operation], bool]) -> bool:
    pending: list[Value] = [value]
    seen: set[Operation] = set()
    while pending:
        each = pending.pop()
        if isinstance(each, Operation) and each not in seen:
            seen.add(each)
            if wanted(each):
                return True
            pending.extend(each.operands)
    return False
