"""Affine forms: every integer of a kernel as a sum of coefficient × symbol + constant, with the range of its value.

This module is the only one that knows how an index changes with a loop, the distance between two indices, and the range of
an integer. Integers of the IR wrap, so a form is a congruence: value ≡ Σ coefficient × symbol + constant (mod 2^bits).
Symbols stand for exact integers (loop variables, parameters, opaque values), so a form starts with all 64 bits. An
operation that may overflow its type (according to the ranges) keeps only as many bits as the type has, and so does a cast.
Addition, negation and multiplication by a constant respect such congruences, and so do sign and zero extension; all other
operations are opaque.

Values are numbered (GVN) on first use: two pure operations of one kind on equal operands share a number and a symbol.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from samovar._native import DType, u1
from samovar.ir.opcodes import OPCODES
from samovar.ir.ranges import Range, integer_range_of
from samovar.ir.structure import ParallelFor, Region
from samovar.ir.traversal import array_of, indices, memory, variables, walk
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Value
from samovar.language import integer_range

_HALF = 1 << 31
#: A form with more terms is opaque: no index looks like that, and sums of sums stay linear in time.
MOST_TERMS = 8


@dataclass(frozen=True)
class Symbol:
    """An integer that a form refers to. `task` is the parallel loop in which it varies between iterations, if any."""

    identity: Hashable
    low: int
    high: int
    task: ParallelFor | None = None


@dataclass(frozen=True)
class AffineForm:
    """value ≡ Σ coefficient × symbol + constant (mod 2^bits), and low ≤ value ≤ high.

    `loop_invariant`: the value is computed only from values that are the same in every iteration of a task.
    """

    terms: tuple[tuple[Symbol, int], ...]
    constant: int
    bits: int
    low: int
    high: int
    loop_invariant: bool = False

    def invariant(self) -> bool:
        """Whether the value is the same in every iteration of a task."""
        return self.loop_invariant or (self.exact() and all(symbol.task is None for symbol, _ in self.terms))

    def exact(self) -> bool:
        """Whether the symbols determine the value: exactly one integer congruent to the sum is in the range."""
        return self.high - self.low < 1 << self.bits

    def plus(self, other: AffineForm, factor: int) -> AffineForm:
        """The sum of this form and a multiple of another; the range stays that of this form."""
        total = _sum(self, _scaled(other, factor))
        return replace(total, low=self.low, high=self.high)

    def base(self, array: Array | None = None) -> Hashable:
        """The part that two forms share if they differ by a constant: as integers, or as in-bounds indices of an array."""
        return frozenset(self.terms), None if array is not None and self._is_near() and self.indexes(array) else self.bits

    def indexes(self, array: Array) -> bool:
        """Whether forms give true distances: in-bounds indices with one base are as far apart as their forms, and
        consecutive iterations access elements as far apart as the coefficient, although sums may wrap in between.

        An in-bounds index is r in [0, 2^31) for all but wide arrays. A sum in [-2^31, 2^31) that is congruent to r modulo
        2^32 is near r or out of bounds; in other types, extended to 64 bits, a wrapped sum may be in bounds elsewhere.
        """
        return self.bits == 64 or (
            self.bits >= 32 and not array.wide and self.low >= -_HALF and self.high < _HALF and self._is_near()
        )

    def _is_near(self) -> bool:
        """Whether the constant is so small that two of them differ by less than the lost multiples of 2^32."""
        return abs(self.constant) < _HALF // 2


def constant_integer(value: Value) -> int | None:
    """The value of an integer constant; None for all other values."""
    if isinstance(value, Constant) and value.type is not None and value.type.kind != "float":
        return int(value.value)
    return None


class Affine:
    """The forms of integers in some regions, including those inside tasks; computed on demand.

    Forms stay valid while operations are added, and while atomics are replaced. Unless `numbered`, only identical
    operations share a symbol: symbols are then values that are defined wherever the form is requested.
    """

    def __init__(self, *regions: Region, numbered: bool = True) -> None:
        self._numbered = numbered
        self._forms: dict[Value, AffineForm] = {}
        self._numbers: dict[Value, Value] = {}
        self._representatives: dict[Hashable, Value] = {}
        self._homes: dict[Operation, ParallelFor] = {}
        self._loops: dict[LoopVariable, tuple[Operation, ParallelFor | None]] = {}
        self._assigned: dict[ParallelFor, set[Local]] = {}
        #: Loop variables in program order: those of inner loops come later.
        self._order: dict[Hashable, int] = {}
        for region in regions:
            self.look_into(region)

    def look_into(self, region: Region) -> None:
        """Add the loops of another region."""
        for operation in walk(region):
            if operation.__class__ is Operation:
                continue
            if isinstance(operation, ParallelFor):
                self._look_into(operation)
            else:
                self._note_loop(operation, None)

    def _look_into(self, task: ParallelFor) -> None:
        assigned = self._assigned[task] = set(task.locals)
        self._note_loop(task, task)
        for operation in walk(task.body):
            self._homes[operation] = task
            self._note_loop(operation, task)
            if operation.code in ("store_local", "atomic", "update", "accumulate"):
                target = memory(operation)
                if isinstance(target, Local):
                    assigned.add(target)

    def _note_loop(self, operation: Operation, task: ParallelFor | None) -> None:
        for variable in variables(operation):
            self._loops.setdefault(variable, (operation, task))
            self._order.setdefault(variable, len(self._order))

    def form(self, value: Value) -> AffineForm:
        """The affine form of an integer."""
        # Operands first, with an explicit stack: an expression may be as long as a program.
        stack = [value]
        while stack:
            current = stack[-1]
            missing = [each for each in self._needed(current) if each not in self._forms]
            if missing and current not in self._forms:
                stack.extend(missing)
                continue
            if current not in self._forms:
                self._forms[current] = self._made(current)
            stack.pop()
        return self._forms[value]

    def range(self, value: Value) -> Range:
        """The range of an integer."""
        form = self.form(value)
        return form.low, form.high

    def step(self, value: Value, variable: LoopVariable, varying: Container[object]) -> int | None:
        """The increment of an integer from one iteration of a loop to the next, with all other `varying` values of the loop
        fixed; None if it is not a known number."""
        found = 0
        for symbol, coefficient in self.form(value).terms:
            if symbol.identity is variable:
                found = coefficient
            elif symbol.identity in varying:
                return None
        return found

    def differ(self, one: Value, other: Value, moving: Container[Value]) -> bool:
        """Whether two integers are never equal, for any iterations of the loops that the values in `moving` belong to; the
        two may be in different iterations. Bounds of loops count, as expressions: j in range(k + 1, n) is never k."""
        first, second = self.form(one), self.form(other)
        if first.bits < 64 or second.bits < 64:
            return False
        terms: _Terms = {}
        _gather(terms, first, 1, 0, moving)
        _gather(terms, second, -1, 1, moving)
        constant = first.constant - second.constant
        negated = {term: -coefficient for term, coefficient in terms.items()}
        return self._is_positive(terms, constant, moving) or self._is_positive(negated, -constant, moving)

    def _is_positive(self, terms: _Terms, constant: int, moving: Container[Value]) -> bool:
        """Whether a sum is always positive. Loop variables are replaced by the bounds of their loops, inner ones first."""
        terms = dict(terms)
        for _ in range(MOST_TERMS):
            least = constant
            for (symbol, _), coefficient in terms.items():
                least += coefficient * (symbol.low if coefficient > 0 else symbol.high)
            if least > 0:
                return True
            inner = [term for term in terms if term[0].identity in self._loops]
            if not inner:
                return False
            symbol, side = term = max(inner, key=lambda each: self._order[each[0].identity])
            coefficient = terms.pop(term)
            assert isinstance(symbol.identity, LoopVariable)
            bound = self._bound(symbol.identity, lower=coefficient > 0)
            if bound is None:
                return False
            constant += coefficient * bound.constant
            _gather(terms, bound, coefficient, side, moving)
        return False

    def _bound(self, variable: LoopVariable, lower: bool) -> AffineForm | None:
        """The minimum or maximum of a loop variable as a form; None if there is no exact one."""
        loop = self._loops[variable][0]
        if isinstance(loop, ParallelFor):
            begin, end = loop.axes()[loop.variables.index(variable)]
            upwards = True
        else:
            begin, end, step = loop.operands
            known = constant_integer(step)
            if not known:
                return None
            upwards = known > 0
        form = self.form(begin if lower == upwards else end)
        if form.bits < 64:
            return None
        return form if lower == upwards else replace(form, constant=form.constant + (-1 if upwards else 1))

    def bounds(self, variable: LoopVariable) -> tuple[Value, ...]:
        """The range that the loop of a variable iterates over."""
        return self._loops[variable][0].operands if variable in self._loops else ()

    def number(self, value: Value) -> Hashable:
        """The value number: equal numbers mean equal values wherever both are defined (in one iteration of every loop
        around)."""
        if isinstance(value, Constant):
            return (value.type, type(value.value), repr(value.value))
        self.form(value)
        return self._numbers.get(value, value)

    def element(self, access: Operation) -> tuple[Array, tuple[Hashable, ...]]:
        """The key of the element that an operation accesses: equal for accesses to one element of an array."""
        return array_of(access), tuple(map(self.number, indices(access)))

    def row(self, access: Operation) -> tuple[Hashable, AffineForm]:
        """The key of the row that an operation accesses, equal for accesses to one row of an array, and the position in the
        row: the form of the last index."""
        array, (*others, last) = array_of(access), map(self.form, indices(access))
        return (array, last.base(array), *((each.base(array), each.constant) for each in others)), last

    def _needed(self, value: Value) -> Iterable[Value]:
        """The values whose forms are needed for the form of a value."""
        if isinstance(value, Operation):
            return value.operands if OPCODES[value.code].effect == "pure" else ()
        if isinstance(value, LoopVariable) and value in self._loops:
            return self._loops[value][0].operands
        return ()

    def _made(self, value: Value) -> AffineForm:
        if isinstance(value, Operation):
            return self._of_operation(value)
        if isinstance(value, LoopVariable) and value in self._loops:
            return self._of_loop_variable(value, *self._loops[value])
        known = constant_integer(value)
        return _of_symbol(_opaque(value, None)) if known is None else _of_constant(known)

    def _of_loop_variable(self, variable: LoopVariable, loop: Operation, task: ParallelFor | None) -> AffineForm:
        assert variable.type is not None
        if isinstance(loop, ParallelFor):
            begin, end = loop.axes()[loop.variables.index(variable)]
            low, high = self.form(begin).low, self.form(end).high - 1
        else:
            low, high = self._range(loop)
        least, greatest = variable.limits or integer_range(variable.type)
        # A loop without iterations has an empty range: the variable is never read, so any value will do.
        low, high = max(low, least), min(high, greatest)
        return _of_symbol(Symbol(variable, low, max(low, high), task))

    def _range(self, loop: Operation) -> tuple[int, int]:
        begin, end, step = (self.form(operand) for operand in loop.operands)
        if step.low > 0:
            return begin.low, end.high - 1
        if step.high < 0:
            return end.low + 1, begin.high
        return min(begin.low, end.low), max(begin.high, end.high)

    def _of_operation(self, operation: Operation) -> AffineForm:
        task = self._homes.get(operation)
        key = self._key(operation, task)
        if key is None:
            return _of_symbol(_opaque(operation, task))
        representative = self._representatives.setdefault(key, operation) if self._numbered else operation
        if representative is not operation:
            self._numbers[operation] = representative
            return self._forms[representative]
        operands = [self._forms[operand] for operand in self._needed(operation)]
        invariant = all(form.invariant() for form in operands)
        type = operation.type
        if type is None or operation.width or not all(_integer(value) for value in (operation, *operation.operands)):
            return _of_symbol(_opaque(operation, None if invariant else task))
        combined = _combine(operation, operands)
        if combined is not None and operation.code in ("add", "sub"):
            combined = self._rejoined(combined)
        if combined is not None and isinstance(operation.payload, tuple):
            low, high = operation.payload  # a cast of a value that is known to be in this range
            combined = replace(combined, low=max(combined.low, low), high=min(combined.high, high))
        wrapped = None if combined is None else _wrapped(combined, type)
        if wrapped is not None:
            return replace(wrapped, loop_invariant=True) if invariant else wrapped
        low, high = integer_range_of(operation, [(form.low, form.high) for form in operands])
        return _of_symbol(Symbol(operation, low, high, None if invariant else task))

    def _rejoined(self, form: AffineForm) -> AffineForm:
        """The form with `a // n * n + a % n` as `a`."""
        for rest, factor in form.terms:
            parts = _division(rest, "mod")
            if parts is None:
                continue
            for quotient, coefficient in form.terms:
                if _division(quotient, "floordiv") == parts and coefficient == factor * parts[1]:
                    terms = tuple(each for each in form.terms if each[0] not in (rest, quotient))
                    return replace(form, terms=terms).plus(self._forms[parts[0]], factor)
        return form

    def _key(self, operation: Operation, task: ParallelFor | None) -> Hashable | None:
        """The value-numbering key of an operation; None if the result may differ between executions."""
        if operation.code == "load_local" and task is not None and operation.payload not in self._assigned[task]:
            return ("load_local", operation.payload, task)
        if OPCODES[operation.code].effect != "pure":
            return None
        payload = operation.payload if operation.code in ("shape", "extract", "listed") else None
        numbers = (
            self.number(operand) if isinstance(operand, Constant) else self._numbers.get(operand, operand)
            for operand in operation.operands
        )
        return (operation.code, operation.type, payload, *numbers)


def _integer(value: Value) -> bool:
    return value.type is not None and value.type.kind != "float"


def _division(symbol: Symbol, code: str) -> tuple[Value, int] | None:
    """The operands of a division by a constant that a symbol stands for."""
    operation = symbol.identity
    if not isinstance(operation, Operation) or operation.code != code:
        return None
    divisor = constant_integer(operation.operands[1])
    return (operation.operands[0], divisor) if divisor else None


def _opaque(value: Value, task: ParallelFor | None) -> Symbol:
    low, high = integer_range(value.type) if value.type is not None and value.type.kind != "float" else (0, 0)
    return Symbol(value, low, high, task)


#: Symbols, each with the side of the comparison it belongs to, and their coefficients.
_Terms = dict[tuple[Symbol, int], int]


def _gather(terms: _Terms, form: AffineForm, factor: int, side: int, moving: Container[Value]) -> None:
    """Add a multiple of the terms of a form. Moving symbols belong to one side of a comparison, all others to both."""
    for symbol, coefficient in form.terms:
        term = symbol, side if symbol.identity in moving else 0
        total = terms.get(term, 0) + factor * coefficient
        if total:
            terms[term] = total
        else:
            terms.pop(term, None)


def _of_symbol(symbol: Symbol) -> AffineForm:
    return AffineForm(((symbol, 1),), 0, 64, symbol.low, symbol.high)


def _of_constant(value: int) -> AffineForm:
    return AffineForm((), value, 64, value, value)


def _scaled(form: AffineForm, factor: int) -> AffineForm:
    low, high = sorted((form.low * factor, form.high * factor))
    terms = tuple((symbol, coefficient * factor) for symbol, coefficient in form.terms) if factor else ()
    return AffineForm(terms, form.constant * factor, form.bits, low, high)


def _sum(a: AffineForm, b: AffineForm) -> AffineForm:
    coefficients = dict(a.terms)
    for symbol, coefficient in b.terms:
        coefficients[symbol] = coefficients.get(symbol, 0) + coefficient
    terms = tuple((symbol, coefficient) for symbol, coefficient in coefficients.items() if coefficient)
    return AffineForm(terms, a.constant + b.constant, min(a.bits, b.bits), a.low + b.low, a.high + b.high)


def _combine(operation: Operation, operands: Sequence[AffineForm]) -> AffineForm | None:
    """The form of an operation that respects congruences, before wrapping to the type; None for all other operations."""
    code = operation.code
    if operation.type is u1:
        return None
    if code == "cast":
        return operands[0]
    if code == "neg":
        return _scaled(operands[0], -1)
    if code in ("add", "sub"):
        result = _sum(operands[0], operands[1] if code == "add" else _scaled(operands[1], -1))
        return result if len(result.terms) <= MOST_TERMS else None
    if code == "mul":
        for one, other in (operands, operands[::-1]):
            if not other.terms:
                return _scaled(one, other.constant)
    if code in ("shl", "shift_left") and not operands[1].terms:
        assert operation.type is not None
        amount = operands[1].constant
        return _scaled(operands[0], 1 << amount) if 0 <= amount < operation.type.bits else _of_constant(0)
    return None


def _wrapped(form: AffineForm, type: DType) -> AffineForm | None:
    """A form after wrapping its value to a type; None if it says too little about the value."""
    least, greatest = integer_range(type)
    if not (least <= form.low and form.high <= greatest):
        form = AffineForm(form.terms, form.constant, min(form.bits, type.bits), least, greatest)
    if form.terms:
        return form
    # Without symbols the value is known, unless bits were lost on the way: all that is known of `i - i32(i8(i))` is that it
    # is a multiple of 256.
    return _of_constant(form.low + ((form.constant - form.low) & ((1 << form.bits) - 1))) if form.exact() else None
