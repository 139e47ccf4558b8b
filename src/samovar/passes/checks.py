"""Checks: array accesses in bounds, integer arithmetic that fits, divisions and shifts that mean something.

`clamp` moves the indices of arrays with that boundary to the nearest edge and always runs. The rest runs on request: bounds
with `check_out_of_bound` or `debug`, arithmetic with `debug`. A `Site` names the function that the user wrote
the operation in. Line 0 means that no user wrote it.

A check comes right before what it guards: where it fails, the launch ends and memory stays untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from samovar._native import DType, i32, i64, u1, u32, u64
from samovar.artifact import Frame, Hole, Site
from samovar.ir import (
    Array,
    Atomic,
    Constant,
    Function,
    Kernel,
    Operation,
    Value,
    columns_of,
    constant_integer,
    indices,
    memory,
    rewrite,
)
from samovar.language import integer_range

#: Operators that wrap, with their spelling in messages. (`-x` of an unsigned number is a way to write bits.)
WRAPPING = {"add": "+", "sub": "-", "mul": "*", "neg": "-"}
WRAPPING_UNSIGNED = {code: sign for code, sign in WRAPPING.items() if code != "neg"}
DIVISIONS = {"floordiv": "//", "mod": "%"}
SHIFTS = {"shl": "<<", "shr": ">>"}

Message = list[str | Hole]
Expansion = Callable[[Operation, Function | Kernel], list[Operation]]


def clamp(kernel: Kernel) -> None:
    """Move the indices of arrays with `boundary="clamp"` to the nearest edge."""
    owners: list[Function | Kernel] = [*kernel.functions, kernel]
    if any(isinstance(each, Array) and each.boundary == "clamp" for owner in owners for each in owner.parameters):
        _expand(kernel, _clamped)


def check_bounds(kernel: Kernel) -> None:
    """Check each index of every array access."""
    _expand(kernel, _bounded)


def check_arithmetic(kernel: Kernel) -> None:
    """Check overflow, division by zero, shifts by more than the width and negative exponents of integers, where the user
    wrote them."""
    _expand(kernel, _arithmetic)
    _expand(kernel, _updated, behind=True)


def _expand(kernel: Kernel, expand: Expansion, behind: bool = False) -> None:
    """Put the operations that `expand` gives in front of each operation, or behind it."""
    owners: list[Function | Kernel] = [*kernel.functions, kernel]
    for owner in owners:

        def guarded(operation: Operation, owner: Function | Kernel = owner) -> list[Operation]:
            steps = expand(operation, owner)
            return [operation, *steps] if behind else [*steps, operation]

        rewrite(owner.body, guarded)


def site_of(
    kind: str,
    parts: Message,
    values: Sequence[Value],
    operation: Operation,
    owner: Function | Kernel,
    marked: bool = True,
) -> Site:
    """A place that can speak, in the function that the user wrote it in; `marked` if it says where in the line."""
    owner = operation.origin or owner
    frame = Frame(owner.name, owner.file, int(operation.line))
    callers = owner.frames if isinstance(owner, Function) else ()
    types = tuple(value.type for value in values if value.type is not None)
    return Site(kind, tuple(parts), types, (frame, *callers), columns_of(operation.line) if marked else None)


class _Steps(list[Operation]):
    """Operations made one after the other, all at the line of the one they are made for."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self._line = line

    def make(self, code: str, type: DType | None, *operands: Value, payload: object = None) -> Operation:
        self.append(Operation(code, type, operands, payload, self._line))
        return self[-1]

    def cast(self, value: Value, type: DType) -> Value:
        return value if value.type is type else self.make("cast", type, value)

    def extent(self, array: Array, axis: int) -> Operation:
        return self.make("shape", i64 if array.wide else i32, payload=(array, axis))

    def check(self, condition: Value, values: Sequence[Value], site: Site) -> None:
        self.make("check", None, condition, *values, payload=site)


# Bounds.


def _clamped(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    array = memory(operation)
    if not isinstance(array, Array) or array.boundary != "clamp":
        return []
    steps = _Steps(operation.line)
    moved = [_clamp_index(steps, array, axis, index) for axis, index in enumerate(indices(operation))]
    operation.operands = (*moved, *operation.operands[array.ndim :])
    return steps


def _clamp_index(steps: _Steps, array: Array, axis: int, index: Value) -> Value:
    """The index, or the nearest edge: computed in a type that holds every value of the index and of the extent."""
    assert index.type is not None
    extent = steps.extent(array, axis)
    assert extent.type is not None
    # An unsigned index goes to a wider signed type where there is one; u64 stays, with an extent that is never negative.
    narrow = index.type.bits < 32 or index.type is i32
    type = u64 if index.type is u64 else extent.type if narrow else i64
    one = Constant(1, extent.type)
    last = steps.make("sub", extent.type, steps.make("max", extent.type, extent, one), one)
    below = steps.make("min", type, steps.cast(index, type), steps.cast(last, type))
    return below if type is u64 else steps.make("max", type, below, Constant(0, type))


def _bounded(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    array = memory(operation)
    if not isinstance(array, Array) or array.ndim == 0:
        return []
    steps = _Steps(operation.line)
    location = indices(operation)
    extents = [steps.extent(array, axis) for axis in range(array.ndim)]
    inside: Value | None = None
    for index, extent in zip(location, extents, strict=True):
        assert index.type is not None
        # As an unsigned number a negative index is beyond every extent, so that one comparison is exact.
        type = u32 if index.type.bits <= 32 and not array.wide else u64
        fits = steps.make("lt", u1, steps.cast(index, type), steps.cast(extent, type))
        inside = fits if inside is None else steps.make("and", u1, inside, fits)
    assert inside is not None
    written = [_as_written(steps, index, first) for index, first in zip(location, array.offset, strict=True)]
    values = [*written, *extents]
    parts = [
        "index ",
        *_tuple(range(array.ndim), single=""),
        f" is out of bounds for array '{array.name}' of shape ",
        *_tuple(range(array.ndim, 2 * array.ndim), single=","),
        *([f" and offset {array.offset}"] if any(array.offset) else []),
    ]
    steps.check(inside, values, site_of("bounds", _joined(parts), values, operation, owner))
    return steps


def _as_written(steps: _Steps, index: Value, first: int) -> Value:
    """An index as the user wrote it: counted from where the axis begins."""
    assert index.type is not None
    return index if first == 0 else steps.make("add", index.type, index, Constant(first, index.type))


def _tuple(values: Iterable[int], single: str) -> Message:
    """Values as a Python tuple; a single one without parentheses if it is not to have a comma."""
    parts: Message = []
    for value in values:
        parts += [Hole(value), ", "]
    if len(parts) == 2:
        return ["(", parts[0], single + ")"] if single else parts[:1]
    return ["(", *parts[:-1], ")"]


def _joined(parts: Message) -> Message:
    """The same message with neighbouring texts in one piece."""
    joined: Message = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


# Arithmetic.


def _overflow(operation: Operation, owner: Function | Kernel) -> Site:
    """What an operator that wraps says where its result does not fit."""
    assert operation.type is not None
    sign = WRAPPING[operation.code]
    spelled: Message = [Hole(0), f" {sign} ", Hole(1)] if len(operation.operands) == 2 else [sign, Hole(0)]
    parts = _joined([*spelled, f" does not fit in {operation.type.name}"])
    return site_of("overflow", parts, operation.operands, operation, owner)


def _updated(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    """`a[i] += x`: done once more with the old value, where it is checked. The element has wrapped by then."""
    type, payload = operation.type, operation.payload
    if operation.line == 0 or type is None or type.kind not in ("int", "uint") or not isinstance(payload, Atomic):
        return []
    again = Operation(payload.operation, type, (operation, operation.operands[-1]), None, operation.line)
    if payload.operation in _wrapping(type):
        again.payload = _overflow(again, owner)
        return [again]
    steps = _Steps(operation.line)
    if payload.operation == "shl":
        _check_shifted(steps, again.operands, operation, owner)
    return steps


def _wrapping(type: DType) -> dict[str, str]:
    return WRAPPING if type.kind == "int" else WRAPPING_UNSIGNED


def _arithmetic(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    type = operation.type
    if operation.line == 0 or type is None or type.kind not in ("int", "uint"):
        return []
    code = operation.code
    if code in _wrapping(type) and operation.payload is None:
        operation.payload = _overflow(operation, owner)
        return []
    steps = _Steps(operation.line)
    if code in DIVISIONS or code in SHIFTS:
        _check_right(steps, code, operation.operands, operation, owner)
        if code == "shl":
            _check_shifted(steps, operation.operands, operation, owner)
    elif code == "pow" and type.kind == "int":
        _check_exponent(steps, operation.operands, operation, owner)
    elif code == "atomic":
        assert isinstance(operation.payload, Atomic)
        # The old value is not known before the operation: what depends on it is checked behind it.
        _check_right(steps, operation.payload.operation, operation.operands[-1:], operation, owner)
        if operation.payload.operation == "pow" and type.kind == "int":
            _check_exponent(steps, operation.operands[-1:], operation, owner)
    if type.kind == "int" and code == "floordiv":
        _check_quotient(steps, operation, owner)
    elif type.kind == "int" and code == "abs":
        value = operation.operands[0]
        fits = steps.make("ne", u1, value, Constant(integer_range(type)[0], type))
        message: Message = ["abs(", Hole(0), f") does not fit in {type.name}"]
        steps.check(fits, (value,), site_of("overflow", message, (value,), operation, owner))
    return steps


def _check_right(
    steps: _Steps, code: str, values: tuple[Value, ...], operation: Operation, owner: Function | Kernel
) -> None:
    """Check the right operand, the last of the values: a divisor is not zero, a shift is less than the width."""
    right = values[-1]
    type = right.type
    assert type is not None
    known = constant_integer(right)
    if code in DIVISIONS and known in (None, 0):
        fits = steps.make("ne", u1, right, Constant(0, type))
        parts = _spelled(values, DIVISIONS[code], "division by zero")
        steps.check(fits, values, site_of("division", parts, values, operation, owner))
    elif code in SHIFTS and (known is None or not 0 <= known < type.bits):
        # As an unsigned number a negative amount is beyond every width.
        unsigned = u64 if type.bits == 64 else u32
        fits = steps.make("lt", u1, steps.cast(right, unsigned), Constant(type.bits, unsigned))
        parts = _spelled(values, SHIFTS[code], f"the amount is not in 0 … {type.bits - 1}")
        steps.check(fits, values, site_of("shift", parts, values, operation, owner))


def _check_shifted(
    steps: _Steps, operands: tuple[Value, ...], operation: Operation, owner: Function | Kernel
) -> None:
    """A shift to the left keeps all bits: shifted back, it is what it was."""
    value, amount = operands
    type = value.type
    assert type is not None
    back = steps.make("shr", type, steps.make("shl", type, value, amount), amount)
    parts: Message = [Hole(0), " << ", Hole(1), f" does not fit in {type.name}"]
    steps.check(steps.make("eq", u1, back, value), operands, site_of("overflow", parts, operands, operation, owner))


def _check_exponent(
    steps: _Steps, values: tuple[Value, ...], operation: Operation, owner: Function | Kernel
) -> None:
    """An integer to a negative power is no integer."""
    exponent = values[-1]
    assert exponent.type is not None
    known = constant_integer(exponent)
    if known is None or known < 0:
        fits = steps.make("ge", u1, exponent, Constant(0, exponent.type))
        parts = _spelled(values, "**", "an integer to a negative power is no integer")
        steps.check(fits, values, site_of("exponent", parts, values, operation, owner))


def _spelled(values: Sequence[Value], operator: str, problem: str) -> Message:
    if len(values) == 1:
        return [f"{operator}= ", Hole(0), f": {problem}"]
    return [Hole(0), f" {operator} ", Hole(1), f": {problem}"]


def _check_quotient(steps: _Steps, operation: Operation, owner: Function | Kernel) -> None:
    """The least integer has no opposite."""
    dividend, divisor = operation.operands
    type = operation.type
    assert type is not None
    if constant_integer(divisor) not in (None, -1):
        return
    usual = steps.make("ne", u1, divisor, Constant(-1, type))
    fits = steps.make("ne", u1, dividend, Constant(integer_range(type)[0], type))
    either = steps.make("or", u1, usual, fits)
    parts: Message = [Hole(0), " // ", Hole(1), f" does not fit in {type.name}"]
    steps.check(either, operation.operands, site_of("overflow", parts, operation.operands, operation, owner))
