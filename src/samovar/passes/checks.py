"""Run-time checks: array accesses in bounds, integer overflow, invalid divisions and shifts.

`clamp` moves the indices of arrays with that boundary to the nearest edge and always runs. The rest runs on request: bounds
with `check_out_of_bound` or `debug`, arithmetic with `debug`. A `Site` names the function in which the user wrote the
operation. Line 0 means generated code.

A check comes right before the operation it guards: if it fails, the launch ends and memory stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from samovar._native import DType, i32, i64, u1, u32, u64
from samovar.artifact import Frame, Hole, Site
from samovar.ir import (
    Array,
    Atomic,
    Builder,
    Constant,
    Function,
    Kernel,
    Operation,
    ScratchArray,
    Value,
    columns_of,
    constant_integer,
    dtype_of,
    indices,
    memory,
    rewrite,
)
from samovar.language import integer_range

#: Operators that wrap, with their spelling in messages. (`-x` of an unsigned number is a bit pattern on purpose.)
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
    """Check integers for overflow, division by zero, shifts by more than the width and negative exponents, in operations
    that the user wrote."""
    _expand(kernel, _arithmetic)
    _expand(kernel, _updated, behind=True)


def _expand(kernel: Kernel, expand: Expansion, behind: bool = False) -> None:
    """Insert the operations that `expand` returns before each operation, or after it if `behind`."""
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
    """A source location for messages, in the function that the user wrote it in; `marked` if it includes columns."""
    owner = operation.origin or owner
    frame = Frame(owner.name, owner.file, int(operation.line))
    callers = owner.frames if isinstance(owner, Function) else ()
    types = tuple(value.type for value in values if value.type is not None)
    return Site(kind, tuple(parts), types, (frame, *callers), columns_of(operation.line) if marked else None)


class _Checks(Builder):
    """The checks of an operation; `owner` is the enclosing function."""

    def __init__(self, operation: Operation, owner: Function | Kernel) -> None:
        super().__init__(operation.line)
        self.operation = operation
        self.owner = owner

    def check(self, condition: Value, kind: str, values: Sequence[Value], *parts: str | Hole) -> None:
        """Fail with a message if a condition is false; holes in the message are indices of values."""
        site = site_of(kind, _joined(parts), values, self.operation, self.owner)
        self.make("check", None, condition, *values, payload=site)


# Bounds.


def _clamped(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    array = memory(operation)
    if not isinstance(array, Array) or array.boundary != "clamp":
        return []
    steps = _Checks(operation, owner)
    moved = [_clamp_index(steps, array, axis, index) for axis, index in enumerate(indices(operation))]
    operation.operands = (*moved, *operation.operands[array.ndim :])
    return steps.operations


def _clamp_index(steps: _Checks, array: Array, axis: int, index: Value) -> Value:
    """The index or the nearest edge, computed in a type that holds every value of the index and of the extent."""
    own, extent = dtype_of(index), steps.extent(array, axis)
    # An unsigned index is converted to a wider signed type if there is one; u64 stays, as extents are never negative.
    narrow = own.bits < 32 or own is i32
    type = u64 if own is u64 else dtype_of(extent) if narrow else i64
    one = Constant(1, dtype_of(extent))
    last = steps.sub(steps.max(extent, one), one)
    below = steps.make("min", type, steps.cast(index, type), steps.cast(last, type))
    return below if type is u64 else steps.max(below, Constant(0, type))


def _bounded(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    array = memory(operation)
    if not isinstance(array, Array) or array.rank == 0 or isinstance(array, ScratchArray):
        return []
    steps = _Checks(operation, owner)
    location, offset = indices(operation)[: array.rank], array.offset[: array.rank]
    extents = [steps.extent(array, axis) for axis in range(array.rank)]
    tests: list[Value] = []
    for index, extent in zip(location, extents, strict=True):
        # As an unsigned number a negative index exceeds every extent, so one comparison is exact.
        type = u32 if dtype_of(index).bits <= 32 and not array.wide else u64
        tests.append(steps.compare("lt", steps.cast(index, type), steps.cast(extent, type)))
    inside = reduce(lambda one, other: steps.make("and", u1, one, other), tests)
    # The user's index counts from the offset of the dimension.
    pairs = zip(location, offset, strict=True)
    written = [steps.add(index, Constant(first, dtype_of(index))) for index, first in pairs]
    parts = [
        "index ",
        *_tuple(range(array.rank), single=""),
        f" is out of bounds for array '{array.name}' of shape ",
        *_tuple(range(array.rank, 2 * array.rank), single=","),
        *([f" and offset {offset}"] if any(offset) else []),
    ]
    steps.check(inside, "bounds", [*written, *extents], *parts)
    return steps.operations


def _tuple(values: Iterable[int], single: str) -> Message:
    """Values as a Python tuple; a single value without parentheses if it should not have a comma."""
    parts: Message = []
    for value in values:
        parts += [Hole(value), ", "]
    if len(parts) == 2:
        return ["(", parts[0], single + ")"] if single else parts[:1]
    return ["(", *parts[:-1], ")"]


def _joined(parts: Sequence[str | Hole]) -> Message:
    """The same message with adjacent texts joined."""
    joined: Message = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


# Arithmetic.


def _overflow(operation: Operation, owner: Function | Kernel) -> Site:
    """The overflow check of an operator that wraps: its site."""
    sign = WRAPPING[operation.code]
    spelled: Message = [Hole(0), f" {sign} ", Hole(1)] if len(operation.operands) == 2 else [sign, Hole(0)]
    parts = _joined([*spelled, f" does not fit in {dtype_of(operation).name}"])
    return site_of("overflow", parts, operation.operands, operation, owner)


def _updated(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    """`a[i] += x`: repeat the operation on the old value and check that. The element has already wrapped by then."""
    type, payload = operation.type, operation.payload
    if operation.line == 0 or type is None or type.kind not in ("int", "uint") or not isinstance(payload, Atomic):
        return []
    again = Operation(payload.operation, type, (operation, operation.operands[-1]), None, operation.line)
    if payload.operation in _wrapping(type):
        again.payload = _overflow(again, owner)
        return [again]
    steps = _Checks(operation, owner)
    if payload.operation == "shl":
        _check_shifted(steps, *again.operands)
    return steps.operations


def _wrapping(type: DType) -> dict[str, str]:
    return WRAPPING if type.kind == "int" else WRAPPING_UNSIGNED


def _arithmetic(operation: Operation, owner: Function | Kernel) -> list[Operation]:
    type = operation.type
    if operation.line == 0 or type is None or type.kind not in ("int", "uint"):
        return []
    code, values = operation.code, operation.operands
    if code in _wrapping(type) and operation.payload is None:
        operation.payload = _overflow(operation, owner)
        return []
    steps = _Checks(operation, owner)
    if code == "atomic":
        # The old value is only known after the operation: checks that depend on it follow it.
        _check_right(steps, operation.payload.operation, values[-1:])
    elif code in (*DIVISIONS, *SHIFTS, "pow"):
        _check_right(steps, code, values)
    if code == "shl":
        _check_shifted(steps, *values)
    elif type.kind == "int" and code == "floordiv":
        _check_quotient(steps, *values)
    elif type.kind == "int" and code == "abs":
        fits = steps.compare("ne", values[0], Constant(integer_range(type)[0], type))
        steps.check(fits, "overflow", values, "abs(", Hole(0), f") does not fit in {type.name}")
    return steps.operations


def _check_right(steps: _Checks, code: str, values: tuple[Value, ...]) -> None:
    """Check the right operand, the last of the values: a divisor is not zero, a shift is less than the width, an integer
    exponent is not negative."""
    right = values[-1]
    type, known = dtype_of(right), constant_integer(right)
    if code in DIVISIONS and known in (None, 0):
        fits = steps.compare("ne", right, Constant(0, type))
        steps.check(fits, "division", values, *_spelled(values, DIVISIONS[code], "division by zero"))
    elif code in SHIFTS and (known is None or not 0 <= known < type.bits):
        # As an unsigned number a negative amount exceeds every width.
        unsigned = u64 if type.bits == 64 else u32
        fits = steps.compare("lt", steps.cast(right, unsigned), Constant(type.bits, unsigned))
        problem = f"the amount is not in 0 … {type.bits - 1}"
        steps.check(fits, "shift", values, *_spelled(values, SHIFTS[code], problem))
    elif code == "pow" and type.kind == "int" and (known is None or known < 0):
        fits = steps.compare("ge", right, Constant(0, type))
        problem = "an integer to a negative power is not an integer"
        steps.check(fits, "exponent", values, *_spelled(values, "**", problem))


def _check_shifted(steps: _Checks, value: Value, amount: Value) -> None:
    """Check that a left shift loses no bits: shifting back restores the value."""
    type = dtype_of(value)
    back = steps.make("shr", type, steps.make("shl", type, value, amount), amount)
    fits = steps.compare("eq", back, value)
    steps.check(fits, "overflow", (value, amount), Hole(0), " << ", Hole(1), f" does not fit in {type.name}")


def _check_quotient(steps: _Checks, dividend: Value, divisor: Value) -> None:
    """Check that the quotient fits: the smallest integer cannot be negated."""
    type = dtype_of(dividend)
    if constant_integer(divisor) not in (None, -1):
        return
    usual = steps.compare("ne", divisor, Constant(-1, type))
    fits = steps.compare("ne", dividend, Constant(integer_range(type)[0], type))
    either = steps.make("or", u1, usual, fits)
    steps.check(either, "overflow", (dividend, divisor), Hole(0), " // ", Hole(1), f" does not fit in {type.name}")


def _spelled(values: Sequence[Value], operator: str, problem: str) -> Message:
    if len(values) == 1:
        return [f"{operator}= ", Hole(0), f": {problem}"]
    return [Hole(0), f" {operator} ", Hole(1), f": {problem}"]
