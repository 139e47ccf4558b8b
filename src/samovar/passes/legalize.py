"""Legalize: express operations that machines have no instruction for in simpler ones. The last pass but `partition`.

Before it, an operation has the semantics of the language: `//` and `%` round down and accept a zero divisor, shifts take any
amount, float-to-integer casts saturate. The other passes rely on that. After it, an operation is one instruction (or one
library call), and a backend renders each by itself:

- `//` and `%` use divisions that cannot trap, `**` of integers calls a function that multiplies;
- shift amounts and bit counts are in the range that instructions support;
- floats are clamped to the range of the target integer, except where `samovar.passes.conversions` knows that they fit;
  LLVM's saturating casts become scalar code;
- functions of f16 are computed in f32 and rounded;
- predicates with only one answer for a type (is this integer NaN?) become constants.

Constant divisors and amounts need no guards. What depends on the processor is left to the backend: reciprocal square root
estimates, minimum and maximum, sums and products of f16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from samovar import _native
from samovar._native import DType, f32, f64, i32, u1
from samovar.ir import (
    OPCODES,
    Array,
    Atomic,
    Builder,
    Constant,
    Function,
    If,
    Kernel,
    Local,
    Operation,
    Parameter,
    Region,
    Value,
    VectorOperation,
    While,
    bodies,
    constant_integer,
    dtype_of,
    rewrite,
)
from samovar.language import integer_range

#: Digits of a float, by its size.
_DIGITS = {16: 11, 32: 24, 64: 53}
#: The cost of an integer power in nanoseconds, without the call.
_POWER_COST = 4.0


def legalize(kernel: Kernel, fast_math: bool) -> None:
    """Write a kernel in simple operations. With `fast_math`, `//` and `%` of floats use the rounded quotient."""
    legal = _Legalizing(fast_math)
    for body in bodies(kernel):
        legal.body(body)
    kernel.functions[:0] = legal.functions.values()


class _Legalizing:
    """Rewrites bodies; `functions` are the helpers that calls and atomics need, callees first."""

    def __init__(self, fast_math: bool) -> None:
        self.fast_math = fast_math
        self.functions: dict[tuple[str, DType], Function] = {}

    def body(self, body: Region) -> None:
        replacements: dict[Value, Value] = {}

        def expand(operation: Operation) -> Sequence[Operation]:
            rule = _RULES.get(operation.code)
            if rule is None:
                return (operation,)
            steps = Builder(operation.line, operation.origin)
            value = rule(self, steps, operation)
            if value is operation:
                return (operation,)
            replacements[operation] = value
            return steps.operations

        rewrite(body, expand, replacements)

    def function(self, code: str, type: DType, make: Callable[[], Function]) -> Function:
        """The function shared by all uses of an operation in a type."""
        found = self.functions.get((code, type))
        if found is None:
            made = make()
            # Append it last: its own callees must precede it.
            found = self.functions[code, type] = made
        return found


_Rule = Callable[[_Legalizing, Builder, Operation], Value]


@cache
def _constant(number: int | float, type: DType) -> Constant:
    """A constant shared by all uses. Not for -0.0 and NaN, which do not work as keys."""
    return Constant(type(number), type)


def _zero(type: DType) -> Constant:
    return _constant(0, type)


def _unsigned(bits: int) -> DType:
    dtype: DType = getattr(_native, f"u{bits}")
    return dtype


# --- // and % of integers


def _floor_divide(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    type = dtype_of(operation)
    a, b = operation.operands
    divisor = constant_integer(b)
    if divisor is not None:
        return _floor_divide_by(steps, type, a, b, divisor)
    zero = steps.compare("eq", b, _zero(type))
    if type.kind == "uint":
        plain = steps.make("quotient", type, a, steps.choose(zero, _constant(1, type), b))
        return steps.choose(zero, _zero(type), plain)
    safe, minus = _guarded(steps, type, b, zero)
    quotient = _floor(steps, type, a, safe)
    quotient = steps.choose(minus, steps.make("neg", type, a), quotient)
    return steps.choose(zero, _zero(type), quotient)


def _modulo(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    type = dtype_of(operation)
    a, b = operation.operands
    divisor = constant_integer(b)
    if divisor is not None:
        return _modulo_by(steps, type, a, b, divisor)
    zero = steps.compare("eq", b, _zero(type))
    if type.kind == "uint":
        return steps.make("remainder", type, a, steps.choose(zero, _constant(1, type), b))
    # Dividing by 1 instead of 0 and -1 gives the required remainder, 0.
    safe, _ = _guarded(steps, type, b, zero)
    return _floor_remainder(steps, type, a, safe)


def _guarded(steps: Builder, type: DType, b: Value, zero: Value) -> tuple[Value, Value]:
    """A divisor that cannot trap (1 instead of 0 and -1), and whether it was -1."""
    minus = steps.compare("eq", b, _constant(-1, type))
    return steps.choose(steps.make("or", u1, zero, minus), _constant(1, type), b), minus


def _floor(steps: Builder, type: DType, a: Value, b: Value) -> Value:
    quotient = steps.make("quotient", type, a, b)
    inexact = steps.compare("ne", steps.make("mul", type, quotient, b), a)
    negative = steps.compare("lt", steps.make("xor", type, a, b), _zero(type))
    correction = steps.cast(steps.make("and", u1, inexact, negative), type)
    return steps.make("sub", type, quotient, correction)


def _floor_remainder(steps: Builder, type: DType, a: Value, b: Value) -> Value:
    remainder = steps.make("remainder", type, a, b)
    inexact = steps.compare("ne", remainder, _zero(type))
    negative = steps.compare("lt", steps.make("xor", type, remainder, b), _zero(type))
    correction = steps.choose(steps.make("and", u1, inexact, negative), b, _zero(type))
    return steps.make("add", type, remainder, correction)


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _floor_divide_by(steps: Builder, type: DType, a: Value, b: Value, divisor: int) -> Value:
    if divisor == 0:
        return _zero(type)
    if divisor == 1:
        return a
    if type.kind == "uint":
        return steps.make("quotient", type, a, b)
    if divisor == -1:
        return steps.make("neg", type, a)
    if _is_power_of_two(divisor):
        return steps.make("shift_right", type, a, _constant(divisor.bit_length() - 1, type))
    return _floor(steps, type, a, b)


def _modulo_by(steps: Builder, type: DType, a: Value, b: Value, divisor: int) -> Value:
    if divisor in (-1, 0, 1):
        return _zero(type)
    if _is_power_of_two(divisor):
        return steps.make("and", type, a, Constant(divisor - 1, type))
    remainder = steps.make("remainder", type, a, b)
    if type.kind == "uint":
        return remainder
    # A remainder is smaller than its divisor: it is wrong exactly if its sign is.
    wrong = steps.compare("lt" if divisor > 0 else "gt", remainder, _zero(type))
    return steps.make("add", type, remainder, steps.choose(wrong, b, _zero(type)))


# --- // and % of floats


def _in_single(compute: Callable[[_Legalizing, Builder, DType, list[Value]], Value]) -> _Rule:
    """The rule that computes in the type of an operation; f16 in f32, rounded once."""

    def rule(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
        type = dtype_of(operation)
        wide = f32 if type.bits == 16 else type
        result = compute(legal, steps, wide, [steps.cast(operand, wide) for operand in operation.operands])
        return steps.cast(result, type)

    return rule


def _differ_in_sign(steps: Builder, type: DType, a: Value, b: Value) -> Value:
    zero = _constant(0.0, type)
    return steps.make("xor", u1, steps.compare("lt", a, zero), steps.compare("lt", b, zero))


def _modulo_floats(legal: _Legalizing, steps: Builder, type: DType, operands: list[Value]) -> Value:
    """Python's %: the sign of b. Without fast_math exact (fmod); with it from a quotient, but never outside [0, b)."""
    a, b = operands
    zero = _constant(0.0, type)
    nothing = steps.exact("copysign", type, zero, b)
    if not legal.fast_math:
        return _with_sign_of(steps, type, steps.exact("fmod", type, a, b), b, nothing)
    # No reciprocal: 6.0 % 3.0 must not become 3.0 because a reciprocal was rounded down.
    quotient = steps.exact("floor", type, steps.exact("div", type, a, b))
    product = steps.make("mul", type, quotient, b, payload="contract")
    difference: Value = steps.make("sub", type, a, product, payload="contract")
    magnitude_b = steps.exact("abs", type, b)
    # An infinite divisor leaves a unchanged (the quotient times infinity would be NaN).
    infinite = steps.compare("eq", magnitude_b, _constant(float("inf"), type))
    difference = steps.choose(infinite, a, difference)
    moved = _with_sign_of(steps, type, difference, b, nothing)
    outside = steps.compare("ge", steps.exact("abs", type, moved), magnitude_b)
    outside = steps.make("and", u1, outside, steps.make("not", u1, infinite))
    return steps.choose(outside, nothing, moved)


def _with_sign_of(steps: Builder, type: DType, remainder: Value, b: Value, nothing: Value) -> Value:
    """A remainder of either sign, adjusted by b to the sign of b; `nothing` if it is zero."""
    differ = _differ_in_sign(steps, type, remainder, b)
    moved = steps.choose(differ, steps.exact("add", type, remainder, b), remainder)
    return steps.choose(steps.compare("eq", remainder, _constant(0.0, type)), nothing, moved)


def _divide_floats(legal: _Legalizing, steps: Builder, type: DType, operands: list[Value]) -> Value:
    """Python's //: the quotient that matches %. With fast_math the floor of the rounded quotient; by zero, a / 0."""
    a, b = operands
    zero, one, minus_one = (_constant(number, type) for number in (0.0, 1.0, -1.0))
    plain = steps.exact("div", type, a, b)
    if legal.fast_math:
        # A quotient that underflows is still negative if the signs differ: -1.0 // inf is -1.0.
        vanished, some = steps.compare("eq", plain, zero), steps.compare("ne", a, zero)
        below = steps.make("and", u1, vanished, some)
        below = steps.make("and", u1, below, _differ_in_sign(steps, type, a, b))
        return steps.choose(below, minus_one, steps.exact("floor", type, plain))
    remainder = steps.exact("fmod", type, a, b)
    quotient: Value = steps.exact("div", type, steps.exact("sub", type, a, remainder), b)
    some = steps.make("not", u1, steps.compare("eq", remainder, zero))
    down = steps.make("and", u1, _differ_in_sign(steps, type, remainder, b), some)
    quotient = steps.choose(down, steps.exact("add", type, quotient, minus_one), quotient)
    # The quotient is an integer up to rounding: round to nearest.
    floor = steps.exact("floor", type, quotient)
    up = steps.compare("gt", steps.exact("sub", type, quotient, floor), _constant(0.5, type))
    whole = steps.choose(up, steps.exact("add", type, floor, one), floor)
    nothing = steps.exact("copysign", type, zero, plain)
    whole = steps.choose(steps.compare("eq", quotient, zero), nothing, whole)
    return steps.choose(steps.compare("eq", b, zero), plain, whole)


# --- powers


def _power(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    type = dtype_of(operation)
    power = legal.function("pow", type, lambda: _power_function(type))
    return steps.make("call", type, *operation.operands, payload=power)


def _power_function(type: DType) -> Function:
    """Exponentiation by squaring; a negative exponent gives the truncated reciprocal."""
    base, exponent = Parameter("base", type), Parameter("exponent", type)
    bits = _unsigned(type.bits)
    left, square, result = Local("left", bits), Local("square", type), Local("result", type)
    one = _constant(1, type)
    steps = Builder()
    if type.kind == "int":
        negative = steps.compare("lt", exponent, _zero(type))
        steps.operations.append(If(negative, _reciprocal(type, base, exponent), Region()))
    for local, value in ((left, steps.make("bitcast", bits, exponent)), (square, base), (result, one)):
        steps.set(local, value)
    head, again = Builder(), Builder()
    more = head.compare("ne", head.get(left), _zero(bits))
    rest, factor, product = map(again.get, (left, square, result))
    odd = again.compare("ne", again.make("and", bits, rest, _constant(1, bits)), _zero(bits))
    grown = again.choose(odd, again.make("mul", type, product, factor), product)
    again.set(result, grown)
    again.set(square, again.make("mul", type, factor, factor))
    again.set(left, again.make("shift_right", bits, rest, _constant(1, bits)))
    steps.operations.append(While(Region(head.operations), more, Region(again.operations)))
    steps.make("return", None, steps.get(result))
    body = Region(steps.operations)
    return Function(f"power.{type.name}", [base, exponent], (type,), body, [left, square, result], cost=_POWER_COST)


def _reciprocal(type: DType, base: Value, exponent: Value) -> Region:
    """The truncated reciprocal: 0 for anything but 1 and -1."""
    one, minus_one = _constant(1, type), _constant(-1, type)
    steps = Builder()
    even = steps.compare("eq", steps.make("and", type, exponent, one), _zero(type))
    sign = steps.choose(even, one, minus_one)
    other = steps.choose(steps.compare("eq", base, minus_one), sign, _zero(type))
    steps.make("return", None, steps.choose(steps.compare("eq", base, one), one, other))
    return Region(steps.operations)


# --- bits


def _shift(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    """Shift by any amount: the width or more, or a negative amount, gives 0, or the sign for a signed right shift."""
    a, b = operation.operands
    type = dtype_of(operation)
    keeps_sign = operation.code == "shr" and type.kind == "int"
    code = "shift_left" if operation.code == "shl" else "shift_right"
    last = _constant(type.bits - 1, type)
    amount = constant_integer(b)
    if amount is not None:
        if amount == 0:
            return a
        if 0 < amount < type.bits:
            return steps.make(code, type, a, b)
        return steps.make(code, type, a, last) if keeps_sign else _zero(type)
    bits = _unsigned(type.bits)
    inside = steps.compare("lt", _as_bits(steps, b, bits), _constant(type.bits, bits))
    shifted = steps.make(code, type, a, steps.choose(inside, b, last if keeps_sign else _zero(type)))
    return shifted if keeps_sign else steps.choose(inside, shifted, _zero(type))


def _as_bits(steps: Builder, value: Value, bits: DType) -> Value:
    return value if value.type is bits else steps.make("bitcast", bits, value)


def _find_first(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    (a,) = operation.operands
    type = dtype_of(operation)
    place = steps.make("add", type, steps.make("ctz", type, a), _constant(1, type))
    return steps.choose(steps.compare("eq", a, _zero(type)), _zero(type), place)


# --- single bits, and functions with one answer for a kind of number


def _itself(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    return operation.operands[0]


def _no(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    return Constant(False, u1)


def _not(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    return steps.make("not", u1, operation.operands[0])


def _both(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    return steps.make("and", u1, *operation.operands)


def _but_not(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    a, b = operation.operands
    return steps.make("and", u1, a, steps.make("not", u1, b))


def _or_not(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    a, b = operation.operands
    return steps.make("or", u1, a, steps.make("not", u1, b))


# --- floats


def _function(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    """A function of floats: of f16 in f32, and a fused multiply-add, which f32 would round twice, in f64."""
    type = dtype_of(operation)
    if type.bits != 16:
        return operation
    wide = f64 if operation.code == "fma" else f32
    operands = [steps.cast(operand, wide) for operand in operation.operands]
    return steps.cast(steps.make(operation.code, wide, *operands, payload=operation.payload), type)


def _cast(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    (a,) = operation.operands
    source, target = dtype_of(a), dtype_of(operation)
    if source is target:
        return a
    if target is u1:
        return steps.compare("ne", a, _zero(source))
    if target.kind == "float":
        if source.kind == "float" or target.bits != 16:
            return operation
        # Integers that f32 cannot represent exactly are out of range of f16 anyway.
        return steps.cast(steps.cast(a, f32), target)
    return _truncate(steps, a, target, operation.payload) if source.kind == "float" else operation


def _truncate(steps: Builder, a: Value, target: DType, mark: object) -> Value:
    """A float-to-integer cast: truncates, saturates, and gives 0 for NaN.

    The value is clamped while it is still a float: masks of floats and integers of different sizes do not mix well in
    vectors. `mark` is one of `samovar.passes.conversions`.
    """
    if dtype_of(a).bits == 16:
        a = steps.cast(a, f32)
    source, signed = dtype_of(a), target.kind == "int"
    least, greatest = integer_range(target)
    wide = target if target.bits >= 32 else i32
    value, last = a, _last(source, target)
    high = _constant(float(last), source)
    if mark == "position":
        value = steps.choose(steps.compare("gt", a, _zero(source)), a, _zero(source))
    elif mark == "index" or (mark is None and signed):
        value = steps.choose(steps.make("isnan", u1, a), _zero(source), a)
    if mark is None:
        # Comparisons with NaN are false: if the smallest number is 0, NaN becomes that.
        low = _constant(float(least), source)
        value = steps.choose(steps.compare("gt", value, low), value, low)
        value = steps.choose(steps.compare("lt", value, high), value, high)
    result: Value = steps.make("to_integer", wide, value)
    if mark is None and last != greatest:
        result = steps.choose(steps.compare("gt", a, high), _constant(greatest, wide), result)
    return steps.cast(result, target)


@cache
def _last(source: DType, target: DType) -> int:
    """The largest float that fits."""
    _, greatest = integer_range(target)
    beyond = max(0, greatest.bit_length() - _DIGITS[source.bits])
    return (greatest >> beyond) << beyond


# --- read-modify-write


def _modify(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    """Expand an update with a composite operation: to a load, computation and store, or an atomic with a step function."""
    payload = operation.payload
    assert isinstance(payload, Atomic)
    rule = _RULES.get(payload.operation)
    if rule is None:
        return operation
    target = payload.target
    type = target.type if isinstance(target, Local) else target.dtype
    old, value = Parameter("old", type), Parameter("value", type)
    step = Operation(payload.operation, type, (old, value), None, operation.line)
    if rule(legal, Builder(), step) is step:
        return operation
    in_lanes = isinstance(operation, VectorOperation)  # one lane after the other
    if in_lanes or (operation.code == "atomic" and (isinstance(target, Array) or target.shared)):
        function = legal.function(f"step of {payload.operation}", type, lambda: _step_function(legal, step))
        mask = operation.mask if isinstance(operation, VectorOperation) else None
        stepped = Atomic(payload.operation, target, function)
        return steps.make(operation.code, type, *operation.operands, payload=stepped, width=operation.width, mask=mask)
    return _plainly(legal, steps, operation, payload.operation, target)


def _step_function(legal: _Legalizing, step: Operation) -> Function:
    parameters = [operand for operand in step.operands if isinstance(operand, Parameter)]
    body = Region([step, Operation("return", None, (step,))])
    legal.body(body)
    return Function(f"{step.code}.{dtype_of(step).name}", [*parameters], (dtype_of(step),), body)


def _plainly(legal: _Legalizing, steps: Builder, operation: Operation, code: str, target: Array | Local) -> Value:
    *indices, value = operation.operands
    old = steps.read(target, indices)
    step = Operation(code, old.type, (old, value), None, operation.line)
    steps.write(target, indices, _RULES[code](legal, steps, step))
    return old


def _is_infinite(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
    (a,) = operation.operands
    type = dtype_of(a)
    return steps.compare("eq", steps.exact("abs", type, a), _constant(float("inf"), type))


def _by_kind(**rules: _Rule) -> _Rule:
    """A rule for each kind of the first operand; an operation on any other kind stays as it is."""

    def rule(legal: _Legalizing, steps: Builder, operation: Operation) -> Value:
        chosen = rules.get(dtype_of(operation.operands[0]).kind)
        return operation if chosen is None else chosen(legal, steps, operation)

    return rule


#: Operation → its replacement: itself, or another value with steps before it.
_RULES: dict[str, _Rule] = {
    **{code: _function for code, row in OPCODES.items() if row.rule == "float" and row.spellings},
    "floordiv": _by_kind(bool=_both, int=_floor_divide, uint=_floor_divide, float=_in_single(_divide_floats)),
    "mod": _by_kind(bool=_no, int=_modulo, uint=_modulo, float=_in_single(_modulo_floats)),
    "pow": _by_kind(bool=_or_not, int=_power, uint=_power, float=_function),
    "shl": _by_kind(bool=_but_not, int=_shift, uint=_shift),
    "shr": _by_kind(bool=_but_not, int=_shift, uint=_shift),
    "popcnt": _by_kind(bool=_itself),
    "clz": _by_kind(bool=_not),
    "ffs": _by_kind(bool=_itself, int=_find_first, uint=_find_first),
    "neg": _by_kind(bool=_itself),
    "abs": _by_kind(bool=_itself, uint=_itself),
    "isnan": _by_kind(bool=_no, int=_no, uint=_no),
    "isinf": _by_kind(bool=_no, int=_no, uint=_no, float=_is_infinite),
    "cast": _cast,
    "atomic": _modify,
    "update": _modify,
}
