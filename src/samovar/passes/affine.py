"""Index analysis: every integer of a kernel as a sum of coefficient × symbol + constant, with the range of its value.

Integers of the IR wrap, so a form is a congruence: value ≡ Σ coefficient × symbol + constant (mod 2^bits). Symbols stand
for exact integers (loop variables, parameters, whatever cannot be taken apart), so a form starts with all 64 bits; an
operation that may leave the range of its type (the ranges cannot exclude it) keeps only as many bits as the type has,
and so does a cast. Addition, negation and multiplication by a constant respect such congruences, and so do sign and zero
extension; nothing else is taken apart.

Values are numbered as they are met: two pure operations of one kind on equal operands have one number and are one symbol.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from samovar._native import DType, u1
from samovar.ir import (
    OPCODES,
    Array,
    Constant,
    Kernel,
    Local,
    LoopVariable,
    Operation,
    ParallelFor,
    Value,
    memory,
    variables,
    walk,
)
from samovar.language import integer_range

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


def constant_integer(value: Value) -> int | None:
    """The value of an integer constant; None for all other values."""
    if isinstance(value, Constant) and value.type is not None and value.type.kind != "float":
        return int(value.value)
    return None


class Affine:
    """The forms of integers in the body of a kernel, those inside its tasks included; each is made when it is asked for.

    They stay true while operations are added, and while atomics become something else.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._forms: dict[Value, Form] = {}
        self._numbers: dict[Value, Value] = {}
        self._representatives: dict[Hashable, Value] = {}
        self._homes: dict[Operation, ParallelFor] = {}
        self._loops: dict[LoopVariable, tuple[Operation, ParallelFor | None]] = {}
        self._assigned: dict[ParallelFor, set[Local]] = {}
        for operation in walk(kernel.body):
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
        least, greatest = integer_range(variable.type)
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
        representative = self._representatives.setdefault(key, operation)
        if representative is not operation:
            self._numbers[operation] = representative
            return self._forms[representative]
        operands = [self._forms[operand] for operand in self._needed(operation)]
        invariant = all(form.invariant() for form in operands)
        type = operation.type
        if type is None or not all(_integer(value) for value in (operation, *operation.operands)):
            return _of_symbol(_opaque(operation, None if invariant else task))
        combined = _combine(operation, operands)
        settled = None if combined is None else _settle(combined, type)
        if settled is not None:
            return replace(settled, steady=True) if invariant else settled
        low, high = _bounds(operation, operands, type)
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
    if code == "shl" and not operands[1].terms:
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


def _bounds(operation: Operation, operands: Sequence[Form], type: DType) -> tuple[int, int]:
    """The range of an operation that is not taken apart."""
    code = operation.code
    least, greatest = integer_range(type)
    if code == "shape":
        array, axis = operation.payload
        assert isinstance(array, Array)
        known = array.extents[axis]
        return (0, greatest) if known is None else (known, known)
    if code in ("min", "max"):
        choose = min if code == "min" else max
        return choose(operands[0].low, operands[1].low), choose(operands[0].high, operands[1].high)
    if code == "select":
        return min(operands[1].low, operands[2].low), max(operands[1].high, operands[2].high)
    if code == "and" and operands[0].low >= 0 and operands[1].low >= 0:
        return 0, min(operands[0].high, operands[1].high)
    if code == "mod" and operands[1].low > 0:
        return 0, min(operands[1].high - 1, operands[0].high if operands[0].low >= 0 else operands[1].high - 1)
    if code == "floordiv" and operands[1].low > 0:
        return (
            operands[0].low // (operands[1].low if operands[0].low < 0 else operands[1].high),
            operands[0].high // (operands[1].high if operands[0].high < 0 else operands[1].low),
        )
    if code == "shr" and not operands[1].terms and 0 <= operands[1].constant < type.bits:
        return operands[0].low >> operands[1].constant, operands[0].high >> operands[1].constant
    if code in ("popcnt", "clz", "ffs"):
        return 0, type.bits
    return least, greatest
