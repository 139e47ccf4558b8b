"""Widen bf16: machines load and store its bits, and compute in f32. Runs before `legalize`.

The frontend converts elements to f32 as it reads them, and rounds as it writes them, so that most operations on bf16 are
these conversions. Passes add others (an update that becomes a load, a sum and a store). After this pass, values of the type
bf16 are only moved: loads, stores, selections, and the operands of exchanges.
"""

from __future__ import annotations

from collections.abc import Sequence

from samovar._native import bf16, f32, f64, u1, u16, u32
from samovar.ir import (
    OPCODES,
    Array,
    Atomic,
    Builder,
    Constant,
    Function,
    Kernel,
    Local,
    Operation,
    Parameter,
    Region,
    Value,
    VectorOperation,
    bodies,
    dtype_of,
    rewrite,
)

#: The operations that move bits only.
_MOVES = frozenset(("exchange", "cas"))


def widen_elements(kernel: Kernel) -> None:
    """Write all arithmetic on bf16 as arithmetic on f32."""
    steps: dict[str, Function] = {}
    for body in bodies(kernel):
        _widen(body, steps)
    kernel.functions[:0] = steps.values()


def _widen(body: Region, steps: dict[str, Function]) -> None:
    replacements: dict[Value, Value] = {}

    def expand(operation: Operation) -> Sequence[Operation]:
        build = Builder(operation.line, operation.origin)
        if operation.code in ("atomic", "update"):
            value = _update(build, operation, steps)
        elif operation.code == "cast" and bf16 in (operation.type, operation.operands[0].type):
            value = _cast(build, operation)
        elif _computes(operation):
            operands = (_wide(build, each) if each.type is bf16 else each for each in operation.operands)
            type = f32 if operation.type is bf16 else operation.type
            value = build.make(operation.code, type, *operands, payload=operation.payload, width=operation.width)
            if operation.type is bf16:
                value = _rounded(build, value)
        else:
            value = operation
        if value is operation:
            return (operation,)
        replacements[operation] = value
        return build.operations

    rewrite(body, expand, replacements)


def _computes(operation: Operation) -> bool:
    is_arithmetic = operation.code == "reduce" or OPCODES[operation.code].rule in ("same", "compare", "float")
    return is_arithmetic and (operation.type is bf16 or any(each.type is bf16 for each in operation.operands))


def _update(build: Builder, operation: Operation, steps: dict[str, Function]) -> Value:
    """A read-modify-write of an element: with the step as a function if it is atomic."""
    payload = operation.payload
    target = payload.target
    type = target.type if isinstance(target, Local) else target.dtype
    if type is not bf16 or payload.operation in _MOVES:
        return operation
    in_lanes = isinstance(operation, VectorOperation)
    if in_lanes or (operation.code == "atomic" and (isinstance(target, Array) or target.shared)):
        step = steps.get(payload.operation)
        if step is None:
            step = steps[payload.operation] = _step(payload.operation, operation.line)
        mask = operation.mask if isinstance(operation, VectorOperation) else None
        stepped = Atomic(payload.operation, target, step)
        return build.make(operation.code, bf16, *operation.operands, payload=stepped, width=operation.width, mask=mask)
    *indices, value = operation.operands
    old = build.read(target, indices)
    build.write(target, indices, _rounded(build, build.make(payload.operation, f32, _wide(build, old), _wide(build, value))))
    return old


def _step(code: str, line: int) -> Function:
    """The new value of an element from the old one and the operand."""
    parameters = Parameter("old", bf16), Parameter("value", bf16)
    build = Builder(line)
    new = _rounded(build, build.make(code, f32, *(_wide(build, each) for each in parameters)))
    build.make("return", None, new)
    return Function(f"{code}.bf16", [*parameters], (bf16,), Region(build.operations))


# --- conversions


def _cast(build: Builder, operation: Operation) -> Value:
    (a,), target = operation.operands, operation.type
    assert target is not None
    if a.type is target:
        return a
    if a.type is bf16:
        wide = _wide(build, a)
        return wide if target is f32 else build.make("cast", target, wide, payload=operation.payload)
    source = dtype_of(a)
    exact = f32 if source.kind == "bool" or source.bits <= 16 or source is f32 else f64
    return _rounded(build, build.cast(a, exact))


def _wide(build: Builder, a: Value) -> Value:
    """A bf16 as f32: its bits are the upper half."""
    if isinstance(a, Constant):
        return Constant(a.value, f32)
    bits = build.make("cast", u32, build.make("bitcast", u16, a))
    return build.make("bitcast", f32, build.make("shift_left", u32, bits, Constant(16, u32)))


def _rounded(build: Builder, a: Value) -> Value:
    """An f32 or f64 as bf16, to nearest even; NaN stays one."""
    bits = build.make("bitcast", u32, a) if a.type is f32 else _rounded_to_odd(build, a)
    last = build.make("and", u32, build.make("shift_right", u32, bits, Constant(16, u32)), Constant(1, u32))
    rounded = build.make("add", u32, build.make("add", u32, bits, Constant(0x7FFF, u32)), last)
    size = build.make("and", u32, bits, Constant(0x7FFFFFFF, u32))
    is_nan = build.make("gt", u1, size, Constant(0x7F800000, u32))
    chosen = build.choose(is_nan, build.make("or", u32, bits, Constant(0x400000, u32)), rounded)
    upper = build.make("shift_right", u32, chosen, Constant(16, u32))
    return build.make("bitcast", bf16, build.make("cast", u16, upper))


def _rounded_to_odd(build: Builder, a: Value) -> Value:
    """The bits of an f64 as f32 whose last bit is set if digits were lost, so that rounding again is exact."""
    single = build.make("cast", f32, a)
    back = build.make("cast", f64, single)
    beyond = build.make("gt", u1, build.exact("abs", f64, back), build.exact("abs", f64, a))
    below = build.make("sub", u32, build.make("bitcast", u32, single), build.make("cast", u32, beyond))
    return build.make("or", u32, below, build.make("cast", u32, build.make("ne", u1, back, a)))
