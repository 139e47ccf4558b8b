"""Affine forms: every integer of a kernel as a sum of coefficient × symbol + constant, with the range of its value.

This is the one place that knows how an index moves with a loop, how far two indices are apart, and between what an integer
lies. Integers of the IR wrap, so a form is a congruence: value ≡ Σ coefficient × symbol + constant (mod 2^bits). Symbols
stand for exact integers (loop variables, parameters, whatever cannot be taken apart), so a form starts with all 64 bits; an
operation that may leave the range of its type (the ranges cannot exclude it) keeps only as many bits as the type has,
and so does a cast. Addition, negation and multiplication by a constant respect such congruences, and so do sign and zero
extension; nothing else is taken apart.

Values are numbered as they are met: two pure operations of one kind on equal operands have one number and are one symbol.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from samovar._native import DType, u1
from samovar.ir.opcodes import OPCODES
from samovar.ir.ranges import Range, integer_range_of
from samovar.ir.structure import ParallelFor, Region
from samovar.ir.traversal import memory, variables, walk
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Value
from samovar.language import integer_range

_HALF = 1 << 31
#: A form with more terms is not taken apart: no index looks like that, and sums of sums stay linear in time.
MOST_TERMS = 8


@dataclass(frozen=True)
class Symbol:
    """An integer that a form refers to. `task` is the parallel loop whose iterations see different values of it, if any."""

    identity: Hashable
    low: int
    high: int
    task: ParallelFor | None = None


@dataclass(frozen=True)
class Form:
    """value ≡ Σ coefficient × symbol + constant (mod 2^bits), and low ≤ value ≤ high.

    `steady`: the value is computed from what is the same in every iteration of a task.
    """

    terms: tuple[tuple[Symbol, int], ...]
    constant: int
    bits: int
    low: int
    high: int
    steady: bool = False

    def invariant(self) -> bool:
        """The value is the same in every iteration of a task."""
        return self.steady or (self.exact() and all(symbol.task is None for symbol, _ in self.terms))

    def exact(self) -> bool:
        """The symbols determine the value: of the integers that are congruent to the sum, one is in the range."""
        return self.high - self.low < 1 << self.bits

    def plus(self, other: Form, factor: int) -> Form:
        """The sum of this and some times another, of which the range stays that of this one."""
        total = _sum(self, _scaled(other, factor))
        return replace(total, low=self.low, high=self.high)

    def base(self) -> Hashable:
        """What two forms have in common that differ by a constant."""
        return frozenset(self.terms), self.bits

    def indexes(self, array: Array) -> bool:
        """Whether indices of one base that are in bounds are as far apart as their forms say, and neighbouring iterations
        touch elements as far apart as the coefficient says, although sums may wrap on the way.

        An index in bounds is r in [0, 2^31) for all but wide arrays. A sum in [-2^31, 2^31) that is congruent to r modulo
        2^32 is near r or nowhere; extended to 64 bits, what wraps in other types may get into bounds elsewhere.
        """
        return self.bits == 64 or (self.bits >= 32 and not array.wide and self.low >= -_HALF and self.high < _HALF)


def constant_integer(value: Value) -> int | None:
    """The value of an integer constant; None for all other values."""
    if isinstance(value, Constant) and value.type is not None and value.type.kind != "float":
        return int(value.value)
    return None


class Affine:
    """The forms of integers in some regions, those inside of tasks included; each is made when it is asked for.

    They stay true while operations are added, and while atomics become something else. If it is not `numbered`, only what
    is the same operation is one symbol: symbols are then values that are defined wherever the form is asked for.
    """

    def __init__(self, *regions: Region, numbered: bool = True) -> None:
        self._numbered = numbered
        self._forms: dict[Value, Form] = {}
        self._numbers: dict[Value, Value] = {}
        self._representatives: dict[Hashable, Value] = {}
        self._homes: dict[Operation, ParallelFor] = {}
        self._loops: dict[LoopVariable, tuple[Operation, ParallelFor | None]] = {}
        self._assigned: dict[ParallelFor, set[Local]] = {}
        #: Variables of loops in the order of the text: those of inner loops come later.
        self._order: dict[Hashable, int] = {}
        for region in regions:
            self.look_into(region)

    def look_into(self, region: Region) -> None:
        """Get to know the loops of another region."""
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

    def form(self, value: Value) -> Form:
        """The form of an integer."""
        # Operands first; an explicit stack, since an expression may be as long as a program.
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
        """Between what an integer lies."""
        form = self.form(value)
        return form.low, form.high

    def step(self, value: Value, variable: LoopVariable, varying: Container[object]) -> int | None:
        """By how much an integer grows from one iteration of a loop to the next, if all else in it that is `varying` stays
        the same; None if that is not a number that is known."""
        found = 0
        for symbol, coefficient in self.form(value).terms:
            if symbol.identity is variable:
                found = coefficient
            elif symbol.identity in varying:
                return None
        return found

    def differ(self, one: Value, other: Value, moving: Container[Value]) -> bool:
        """Whether two integers are never equal, whatever iterations of loops the values in `moving` belong to: those of the
        one need not be those of the other. The bounds of loops count, as expressions: j in range(k + 1, n) is never k."""
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
        """Whether a sum is never 0 or less. Loop variables are replaced by the bounds of their loops, inner ones first."""
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

    def _bound(self, variable: LoopVariable, lower: bool) -> Form | None:
        """The least or the greatest value of a loop variable, as a form; None if it has none that is exact."""
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
        """What the loop of a variable runs over."""
        return self._loops[variable][0].operands if variable in self._loops else ()

    def number(self, value: Value) -> Hashable:
        """Values with one number are equal wherever they are both defined (in one iteration of every loop around)."""
        if isinstance(value, Constant):
            return (value.type, type(value.value), repr(value.value))
        self.form(value)
        return self._numbers.get(value, value)

    def _needed(self, value: Value) -> Iterable[Value]:
        """The values whose forms a form is made from."""
        if isinstance(value, Operation):
            return value.operands if OPCODES[value.code].effect == "pure" else ()
        if isinstance(value, LoopVariable) and value in self._loops:
            return self._loops[value][0].operands
        return ()

    def _made(self, value: Value) -> Form:
        if isinstance(value, Operation):
            return self._of_operation(value)
        if isinstance(value, LoopVariable) and value in self._loops:
            return self._of_loop_variable(value, *self._loops[value])
        known = constant_integer(value)
        return _of_symbol(_opaque(value, None)) if known is None else _of_constant(known)

    def _of_loop_variable(self, variable: LoopVariable, loop: Operation, task: ParallelFor | None) -> Form:
        assert variable.type is not None
        if isinstance(loop, ParallelFor):
            begin, end = loop.axes()[loop.variables.index(variable)]
            low, high = self.form(begin).low, self.form(end).high - 1
        else:
            low, high = self._range(loop)
        least, greatest = variable.limits or integer_range(variable.type)
        # A loop that runs no iteration has an empty range: any value does for a variable that is never seen.
        low, high = max(low, least), min(high, greatest)
        return _of_symbol(Symbol(variable, low, max(low, high), task))

    def _range(self, loop: Operation) -> tuple[int, int]:
        begin, end, step = (self.form(operand) for operand in loop.operands)
        if step.low > 0:
            return begin.low, end.high - 1
        if step.high < 0:
            return end.low + 1, begin.high
        return min(begin.low, end.low), max(begin.high, end.high)

    def _of_operation(self, operation: Operation) -> Form:
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
        if combined is not None and isinstance(operation.payload, tuple):
            low, high = operation.payload  # a cast of what is known to lie there
            combined = replace(combined, low=max(combined.low, low), high=min(combined.high, high))
        settled = None if combined is None else _settle(combined, type)
        if settled is not None:
            return replace(settled, steady=True) if invariant else settled
        low, high = integer_range_of(operation, [(form.low, form.high) for form in operands])
        return _of_symbol(Symbol(operation, low, high, None if invariant else task))

    def _key(self, operation: Operation, task: ParallelFor | None) -> Hashable | None:
        """What makes an operation equal to another; None for what may differ from one execution to the next."""
        if operation.code == "load_local" and task is not None and operation.payload not in self._assigned[task]:
            return ("load_local", operation.payload, task)
        if OPCODES[operation.code].effect != "pure":
            return None
        payload = operation.payload if operation.code in ("shape", "extract") else None
        numbers = (
            self.number(operand) if isinstance(operand, Constant) else self._numbers.get(operand, operand)
            for operand in operation.operands
        )
        return (operation.code, operation.type, payload, *numbers)


def _integer(value: Value) -> bool:
    return value.type is not None and value.type.kind != "float"


def _opaque(value: Value, task: ParallelFor | None) -> Symbol:
    low, high = integer_range(value.type) if value.type is not None and value.type.kind != "float" else (0, 0)
    return Symbol(value, low, high, task)


#: Symbols with the side of a comparison that they belong to, and their coefficients.
_Terms = dict[tuple[Symbol, int], int]


def _gather(terms: _Terms, form: Form, factor: int, side: int, moving: Container[Value]) -> None:
    """Add a multiple of the terms of a form. What moves belongs to its own side of a comparison, the rest to both."""
    for symbol, coefficient in form.terms:
        term = symbol, side if symbol.identity in moving else 0
        total = terms.get(term, 0) + factor * coefficient
        if total:
            terms[term] = total
        else:
            terms.pop(term, None)


def _of_symbol(symbol: Symbol) -> Form:
    return Form(((symbol, 1),), 0, 64, symbol.low, symbol.high)


def _of_constant(value: int) -> Form:
    return Form((), value, 64, value, value)


def _scaled(form: Form, factor: int) -> Form:
    low, high = sorted((form.low * factor, form.high * factor))
    terms = tuple((symbol, coefficient * factor) for symbol, coefficient in form.terms) if factor else ()
    return Form(terms, form.constant * factor, form.bits, low, high)


def _sum(a: Form, b: Form) -> Form:
    coefficients = dict(a.terms)
    for symbol, coefficient in b.terms:
        coefficients[symbol] = coefficients.get(symbol, 0) + coefficient
    terms = tuple((symbol, coefficient) for symbol, coefficient in coefficients.items() if coefficient)
    return Form(terms, a.constant + b.constant, min(a.bits, b.bits), a.low + b.low, a.high + b.high)


def _combine(operation: Operation, operands: Sequence[Form]) -> Form | None:
    """The form of what respects congruences, before it is wrapped to the type; None for everything else."""
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


def _settle(form: Form, type: DType) -> Form | None:
    """A form after its value has been wrapped to a type; None if it says too little about the value."""
    least, greatest = integer_range(type)
    if not (least <= form.low and form.high <= greatest):
        form = Form(form.terms, form.constant, min(form.bits, type.bits), least, greatest)
    if form.terms:
        return form
    # Without symbols the value is known, unless bits were lost on the way: what is left of `i - i32(i8(i))` is that it is a
    # multiple of 256.
    return _of_constant(form.low + ((form.constant - form.low) & ((1 << form.bits) - 1))) if form.exact() else None
