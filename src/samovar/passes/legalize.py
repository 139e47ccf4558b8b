"""Legalize: express operations that machines have no instruction for in simpler ones. The last pass but `partition`.

Before it, an operation has the semantics of the language: `//` and `%` round down and accept a zero divisor, shifts take any
amount, float-to-integer casts saturate. The other passes rely on that. After it, an operation is one instruction (or one
library call), and a backend renders each by itself:

- `//` and `%` use divisions that cannot trap, `**` of integers calls a function that multiplies;
- shift amounts and bit counts are in the range that instructions support;
- floats are clamped to the range of the target integer, except where `samovar.passes.saturating_casts` knows that they fit;
  LLVM's saturating casts become scalar code;
- functions of f16 are computed in f32 and rounded;
- predicates with only one answer for a type (is this integer NaN?) become constants.

Constant divisors and amounts need no guards. The backend handles what depends on the processor: reciprocal square root
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
            steps = _Steps(self, operation)
            value = rule(steps, *operation.operands)
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


class _Steps(Builder):
    """Writes the replacement of an operation, which has a `type`."""

    type: DType

    def __init__(self, legal: _Legalizing, operation: Operation) -> None:
        super().__init__(operation.line, operation.origin)
        self.legal = legal
        self.operation = operation
        self.type = operation.type  # type: ignore[assignment]

    def compute(self, code: str, *operands: Value) -> Operation:
        """An operation of the same type."""
        return self.make(code, self.type, *operands)

    def exactly(self, code: str, *operands: Value) -> Operation:
        """A float operation of the same type, without fast-math."""
        return self.exact(code, self.type, *operands)

    def logical(self, code: str, *operands: Value) -> Operation:
        return self.make(code, u1, *operands)

    def number(self, value: int | float) -> Constant:
        return _constant(value, self.type)


#: Writes the replacement of an operation, given its operands; returns the operation itself if it stays.
_Rule = Callable[..., Value]


@cache
def _constant(number: int | float, type: DType) -> Constant:
    """A constant shared by all uses. Not for -0.0 and NaN, which do not work as keys."""
    return Constant(type(number), type)


def _unsigned(bits: int) -> DType:
    dtype: DType = getattr(_native, f"u{bits}")
    return dtype


# --- // and % of integers


def _floor_divide(steps: _Steps, a: Value, b: Value) -> Value:
    divisor = constant_integer(b)
    if divisor is not None:
        return _floor_divide_by(steps, a, b, divisor)
    zero = steps.compare("eq", b, steps.number(0))
    if steps.type.kind == "uint":
        plain = steps.compute("quotient", a, steps.choose(zero, steps.number(1), b))
        return steps.choose(zero, steps.number(0), plain)
    safe, minus = _guarded(steps, b, zero)
    quotient = _floor(steps, a, safe)
    quotient = steps.choose(minus, steps.compute("neg", a), quotient)
    return steps.choose(zero, steps.number(0), quotient)


def _modulo(steps: _Steps, a: Value, b: Value) -> Value:
    divisor = constant_integer(b)
    if divisor is not None:
        return _modulo_by(steps, a, b, divisor)
    zero = steps.compare("eq", b, steps.number(0))
    if steps.type.kind == "uint":
        return steps.compute("remainder", a, steps.choose(zero, steps.number(1), b))
    # Dividing by 1 instead of 0 and -1 gives the required remainder, 0.
    safe, _ = _guarded(steps, b, zero)
    return _floor_remainder(steps, a, safe)


def _guarded(steps: _Steps, b: Value, zero: Value) -> tuple[Value, Value]:
    """A divisor that cannot trap (1 instead of 0 and -1), and whether it was -1."""
    minus = steps.compare("eq", b, steps.number(-1))
    return steps.choose(steps.logical("or", zero, minus), steps.number(1), b), minus


def _floor(steps: _Steps, a: Value, b: Value) -> Value:
    quotient = steps.compute("quotient", a, b)
    inexact = steps.compare("ne", steps.compute("mul", quotient, b), a)
    negative = steps.compare("lt", steps.compute("xor", a, b), steps.number(0))
    return steps.compute("sub", quotient, steps.cast(steps.logical("and", inexact, negative), steps.type))


def _floor_remainder(steps: _Steps, a: Value, b: Value) -> Value:
    remainder = steps.compute("remainder", a, b)
    inexact = steps.compare("ne", remainder, steps.number(0))
    negative = steps.compare("lt", steps.compute("xor", remainder, b), steps.number(0))
    correction = steps.choose(steps.logical("and", inexact, negative), b, steps.number(0))
    return steps.compute("add", remainder, correction)


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _floor_divide_by(steps: _Steps, a: Value, b: Value, divisor: int) -> Value:
    if divisor == 0:
        return steps.number(0)
    if divisor == 1:
        return a
    if steps.type.kind == "uint":
        return steps.compute("quotient", a, b)
    if divisor == -1:
        return steps.compute("neg", a)
    if _is_power_of_two(divisor):
        return steps.compute("shift_right", a, steps.number(divisor.bit_length() - 1))
    return _floor(steps, a, b)


def _modulo_by(steps: _Steps, a: Value, b: Value, divisor: int) -> Value:
    if divisor in (-1, 0, 1):
        return steps.number(0)
    if _is_power_of_two(divisor):
        return steps.compute("and", a, steps.number(divisor - 1))
    remainder = steps.compute("remainder", a, b)
    if steps.type.kind == "uint":
        return remainder
    # A remainder is smaller than its divisor: it is wrong exactly if its sign is.
    wrong = steps.compare("lt" if divisor > 0 else "gt", remainder, steps.number(0))
    return steps.compute("add", remainder, steps.choose(wrong, b, steps.number(0)))


# --- // and % of floats


def _in_single(compute: _Rule) -> _Rule:
    """The rule that computes in the type of an operation; f16 in f32, rounded once."""

    def rule(steps: _Steps, *operands: Value) -> Value:
        type = steps.type
        steps.type = f32 if type.bits == 16 else type
        return steps.cast(compute(steps, *(steps.cast(operand, steps.type) for operand in operands)), type)

    return rule


def _differ_in_sign(steps: _Steps, a: Value, b: Value) -> Value:
    zero = steps.number(0.0)
    return steps.logical("xor", steps.compare("lt", a, zero), steps.compare("lt", b, zero))


def _modulo_floats(steps: _Steps, a: Value, b: Value) -> Value:
    """Python's %: the sign of b. Without fast_math exact (fmod); with it from a quotient, but never outside [0, b)."""
    nothing = steps.exactly("copysign", steps.number(0.0), b)
    if not steps.legal.fast_math:
        return _with_sign_of(steps, steps.exactly("fmod", a, b), b, nothing)
    # No reciprocal: 6.0 % 3.0 must not become 3.0 because a reciprocal was rounded down.
    quotient = steps.exactly("floor", steps.exactly("div", a, b))
    product = steps.make("mul", steps.type, quotient, b, payload="contract")
    difference: Value = steps.make("sub", steps.type, a, product, payload="contract")
    magnitude_b = steps.exactly("abs", b)
    # An infinite divisor leaves a unchanged (the quotient times infinity would be NaN).
    infinite = steps.compare("eq", magnitude_b, steps.number(float("inf")))
    difference = steps.choose(infinite, a, difference)
    moved = _with_sign_of(steps, difference, b, nothing)
    outside = steps.compare("ge", steps.exactly("abs", moved), magnitude_b)
    outside = steps.logical("and", outside, steps.logical("not", infinite))
    return steps.choose(outside, nothing, moved)


def _with_sign_of(steps: _Steps, remainder: Value, b: Value, nothing: Value) -> Value:
    """A remainder of either sign, adjusted by b to the sign of b; `nothing` if it is zero."""
    differ = _differ_in_sign(steps, remainder, b)
    moved = steps.choose(differ, steps.exactly("add", remainder, b), remainder)
    return steps.choose(steps.compare("eq", remainder, steps.number(0.0)), nothing, moved)


def _divide_floats(steps: _Steps, a: Value, b: Value) -> Value:
    """Python's //: the quotient that matches %. With fast_math the floor of the rounded quotient; by zero, a / 0."""
    zero, one, minus_one = map(steps.number, (0.0, 1.0, -1.0))
    plain = steps.exactly("div", a, b)
    if steps.legal.fast_math:
        # A quotient that underflows is still negative if the signs differ: -1.0 // inf is -1.0.
        vanished, some = steps.compare("eq", plain, zero), steps.compare("ne", a, zero)
        below = steps.logical("and", vanished, some)
        below = steps.logical("and", below, _differ_in_sign(steps, a, b))
        return steps.choose(below, minus_one, steps.exactly("floor", plain))
    remainder = steps.exactly("fmod", a, b)
    quotient: Value = steps.exactly("div", steps.exactly("sub", a, remainder), b)
    some = steps.logical("not", steps.compare("eq", remainder, zero))
    down = steps.logical("and", _differ_in_sign(steps, remainder, b), some)
    quotient = steps.choose(down, steps.exactly("add", quotient, minus_one), quotient)
    # The quotient is an integer up to rounding: round to nearest.
    floor = steps.exactly("floor", quotient)
    up = steps.compare("gt", steps.exactly("sub", quotient, floor), steps.number(0.5))
    whole = steps.choose(up, steps.exactly("add", floor, one), floor)
    nothing = steps.exactly("copysign", zero, plain)
    whole = steps.choose(steps.compare("eq", quotient, zero), nothing, whole)
    return steps.choose(steps.compare("eq", b, zero), plain, whole)


# --- powers


def _power(steps: _Steps, base: Value, exponent: Value) -> Value:
    type = steps.type
    power = steps.legal.function("pow", type, lambda: _power_function(type))
    return steps.make("call", type, base, exponent, payload=power)


def _power_function(type: DType) -> Function:
    """Exponentiation by squaring; a negative exponent gives the truncated reciprocal."""
    base, exponent = Parameter("base", type), Parameter("exponent", type)
    bits = _unsigned(type.bits)
    left, square, result = Local("left", bits), Local("square", type), Local("result", type)
    one, zero = _constant(1, type), _constant(0, type)
    steps = Builder()

    def reciprocal() -> None:
        """The truncated reciprocal: 0 for anything but 1 and -1."""
        minus_one = _constant(-1, type)
        even = steps.compare("eq", steps.make("and", type, exponent, one), zero)
        sign = steps.choose(even, one, minus_one)
        other = steps.choose(steps.compare("eq", base, minus_one), sign, zero)
        steps.make("return", None, steps.choose(steps.compare("eq", base, one), one, other))

    def head() -> None:
        more.append(steps.compare("ne", steps.get(left), _constant(0, bits)))

    def again() -> None:
        rest, factor, product = map(steps.get, (left, square, result))
        odd = steps.compare("ne", steps.make("and", bits, rest, _constant(1, bits)), _constant(0, bits))
        grown = steps.choose(odd, steps.make("mul", type, product, factor), product)
        steps.set(result, grown)
        steps.set(square, steps.make("mul", type, factor, factor))
        steps.set(left, steps.make("shift_right", bits, rest, _constant(1, bits)))

    if type.kind == "int":
        steps.append(If(steps.compare("lt", exponent, zero), steps.region(reciprocal), Region()))
    for local, value in ((left, steps.make("bitcast", bits, exponent)), (square, base), (result, one)):
        steps.set(local, value)
    more: list[Value] = []
    steps.append(While(steps.region(head), more[0], steps.region(again)))
    steps.make("return", None, steps.get(result))
    body = Region(steps.operations)
    return Function(f"power.{type.name}", [base, exponent], (type,), body, [left, square, result], cost=_POWER_COST)


# --- bits


def _shift(steps: _Steps, a: Value, b: Value) -> Value:
    """Shift by any amount: the width or more, or a negative amount, gives 0, or the sign for a signed right shift."""
    type, operation = steps.type, steps.operation
    keeps_sign = operation.code == "shr" and type.kind == "int"
    code = "shift_left" if operation.code == "shl" else "shift_right"
    zero, last = steps.number(0), steps.number(type.bits - 1)
    amount = constant_integer(b)
    if amount is not None:
        if amount == 0:
            return a
        if 0 < amount < type.bits:
            return steps.compute(code, a, b)
        return steps.compute(code, a, last) if keeps_sign else zero
    bits = _unsigned(type.bits)
    unsigned = b if b.type is bits else steps.make("bitcast", bits, b)
    inside = steps.compare("lt", unsigned, _constant(type.bits, bits))
    shifted = steps.compute(code, a, steps.choose(inside, b, last if keeps_sign else zero))
    return shifted if keeps_sign else steps.choose(inside, shifted, zero)


def _find_first(steps: _Steps, a: Value) -> Value:
    place = steps.compute("add", steps.compute("ctz", a), steps.number(1))
    return steps.choose(steps.compare("eq", a, steps.number(0)), steps.number(0), place)


# --- floats


def _function(steps: _Steps, *operands: Value) -> Value:
    """A function of floats: of f16 in f32, and a fused multiply-add, which f32 would round twice, in f64."""
    operation = steps.operation
    if steps.type.bits != 16:
        return operation
    wide = f64 if operation.code == "fma" else f32
    converted = [steps.cast(operand, wide) for operand in operands]
    return steps.cast(steps.make(operation.code, wide, *converted, payload=operation.payload), steps.type)


def _cast(steps: _Steps, a: Value) -> Value:
    source, target = dtype_of(a), steps.type
    if source is target:
        return a
    if target is u1:
        return steps.compare("ne", a, _constant(0, source))
    if target.kind == "float":
        if source.kind == "float" or target.bits != 16:
            return steps.operation
        # Integers that f32 cannot represent exactly are out of range of f16 anyway.
        return steps.cast(steps.cast(a, f32), target)
    return _truncate(steps, a, target, steps.operation.payload) if source.kind == "float" else steps.operation


def _truncate(steps: _Steps, a: Value, target: DType, mark: object) -> Value:
    """A float-to-integer cast: truncates, saturates, and gives 0 for NaN.

    The value is clamped while it is still a float: masks of floats and integers of different sizes do not mix well in
    vectors. `mark` is one of `samovar.passes.saturating_casts`.
    """
    if dtype_of(a).bits == 16:
        a = steps.cast(a, f32)
    source, signed = dtype_of(a), target.kind == "int"
    least, greatest = integer_range(target)
    wide = target if target.bits >= 32 else i32
    value, last = a, _last(source, target)
    zero, high = _constant(0, source), _constant(float(last), source)
    if mark == "position":
        value = steps.choose(steps.compare("gt", a, zero), a, zero)
    elif mark == "index" or (mark is None and signed):
        value = steps.choose(steps.logical("isnan", a), zero, a)
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


def _is_infinite(steps: _Steps, a: Value) -> Value:
    type = dtype_of(a)
    return steps.compare("eq", steps.exact("abs", type, a), _constant(float("inf"), type))


# --- read-modify-write


def _modify(steps: _Steps, *operands: Value) -> Value:
    """Expand an update with a composite operation: to a load, computation and store, or an atomic with a step function."""
    legal, operation, payload = steps.legal, steps.operation, steps.operation.payload
    assert isinstance(payload, Atomic)
    rule, target = _RULES.get(payload.operation), payload.target
    if rule is None or payload.step is not None:
        return operation
    type = target.type if isinstance(target, Local) else target.dtype
    parameters = Parameter("old", type), Parameter("value", type)
    step = Operation(payload.operation, type, parameters, None, operation.line)
    if rule(_Steps(legal, step), *parameters) is step:
        return operation
    in_lanes = isinstance(operation, VectorOperation)  # one lane after the other
    if in_lanes or (operation.code == "atomic" and (isinstance(target, Array) or target.shared)):
        function = legal.function(f"step of {payload.operation}", type, lambda: _step_function(legal, step, parameters))
        mask = operation.mask if isinstance(operation, VectorOperation) else None
        stepped = Atomic(payload.operation, target, function)
        return steps.make(operation.code, type, *operands, payload=stepped, width=operation.width, mask=mask)
    *indices, value = operands
    old = steps.read(target, indices)
    # From here on, the steps are those of the operation on the old value.
    steps.operation = Operation(payload.operation, old.type, (old, value), None, operation.line)
    steps.type = dtype_of(old)
    steps.write(target, indices, rule(steps, old, value))
    return old


def _step_function(legal: _Legalizing, step: Operation, parameters: Sequence[Parameter]) -> Function:
    body = Region([step, Operation("return", None, (step,))])
    legal.body(body)
    return Function(f"{step.code}.{dtype_of(step).name}", [*parameters], (dtype_of(step),), body)


def _by_kind(**rules: _Rule) -> _Rule:
    """A rule for each kind of the first operand; an operation on any other kind stays as it is."""

    def rule(steps: _Steps, *operands: Value) -> Value:
        chosen = rules.get(dtype_of(operands[0]).kind)
        return steps.operation if chosen is None else chosen(steps, *operands)

    return rule


def _itself(steps: _Steps, a: Value) -> Value:
    return a


def _no(steps: _Steps, *operands: Value) -> Value:
    return Constant(False, u1)


def _of_bits(code: str, *, inverted: bool = False) -> _Rule:
    """A logical operation on single bits, the last of which may be inverted."""

    def rule(steps: _Steps, *operands: Value) -> Value:
        *others, last = operands
        return steps.logical(code, *others, steps.logical("not", last) if inverted else last)

    return rule


#: Operation → its replacement: itself, or another value with steps before it.
_RULES: dict[str, _Rule] = {
    **{code: _function for code, row in OPCODES.items() if row.rule == "float" and row.spellings},
    "floordiv": _by_kind(bool=_of_bits("and"), int=_floor_divide, uint=_floor_divide, float=_in_single(_divide_floats)),
    "mod": _by_kind(bool=_no, int=_modulo, uint=_modulo, float=_in_single(_modulo_floats)),
    "pow": _by_kind(bool=_of_bits("or", inverted=True), int=_power, uint=_power, float=_function),
    "shl": _by_kind(bool=_of_bits("and", inverted=True), int=_shift, uint=_shift),
    "shr": _by_kind(bool=_of_bits("and", inverted=True), int=_shift, uint=_shift),
    "popcnt": _by_kind(bool=_itself),
    "clz": _by_kind(bool=_of_bits("not")),
    "ffs": _by_kind(bool=_itself, int=_find_first, uint=_find_first),
    "neg": _by_kind(bool=_itself),
    "abs": _by_kind(bool=_itself, uint=_itself),
    "isnan": _by_kind(bool=_no, int=_no, uint=_no),
    "isinf": _by_kind(bool=_no, int=_no, uint=_no, float=_is_infinite),
    "cast": _cast,
    "atomic": _modify,
    "update": _modify,
}
