"""Index analysis: every integer of a kernel as a sum of coefficient × symbol + constant, with the range of its value.

Integers of the IR wrap, so a form is a congruence: value ≡ Σ coefficient × symbol + constant (mod 2^bits). Symbols stand
for exact integers (loop variables, parameters, whatever cannot be taken apart), so a form starts with all 64 bits; an
operation that may leave the range of its type (the ranges cannot exclude it) keeps only as many bits as the type has,
and so does a cast. Addition, negation and multiplication by a constant respect such congruences, and so do sign and zero
extension; nothing else is taken apart.

Values are numbered as they are met: two pure operations of one kind on equal operands have one number and are one symbol.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from samovar._native import DType
from samovar.ir.opcodes import OPCODES
from samovar.ir.structure import For, Kernel, ParallelFor, Region
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value
from samovar.ir.walk import memory, regions, walk

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
    """value ≡ Σ coefficient × symbol + constant (mod 2^bits), and low ≤ value ≤ high."""

    terms: tuple[tuple[Symbol, int], ...]
    constant: int
    bits: int
    low: int
    high: int

    def invariant(self) -> bool:
        """The value is the same in every iteration of a task."""
        return all(symbol.task is None for symbol, _ in self.terms)


def integer_range(type: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if type.kind == "int":
        return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
    return 0, (1 << type.bits) - 1


def wrapped(value: int, type: DType) -> int:
    """The value of an integer type that is congruent to an integer."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if type.kind == "int" and value >> (type.bits - 1) else value


def constant_integer(value: Value) -> int | None:
    """The value of an integer constant; None for all other values."""
    if isinstance(value, Constant) and value.type is not None and value.type.kind != "float":
        return int(value.value)
    return None


class Affine:
    """The forms of all integers in the body of a kernel, those inside its tasks included."""

    def __init__(self, kernel: Kernel) -> None:
        self._forms: dict[Value, Form] = {}
        self._numbers: dict[Value, Value] = {}
        self._representatives: dict[Hashable, Value] = {}
        self._task: ParallelFor | None = None
        self._assigned: set[Local] = set()
        self._visit(kernel.body)

    def form(self, value: Value) -> Form:
        """The form of an integer; a value that was not met in the kernel's body is a symbol of its own."""
        found = self._forms.get(value)
        if found is None:
            found = self._forms[value] = self._leaf(value)
        return found

    def number(self, value: Value) -> Hashable:
        """Values with one number are equal wherever they are both defined (in one iteration of every loop around)."""
        if isinstance(value, Constant):
            return (value.type, type(value.value), repr(value.value))
        return self._numbers.get(value, value)

    def _visit(self, body: Region) -> None:
        # An explicit stack, with a marker (None) where a task ends.
        pending: list[Operation | None] = list(reversed(body.operations))
        while pending:
            operation = pending.pop()
            if operation is None:
                self._task = None
                continue
            if isinstance(operation, ParallelFor):
                self._enter(operation)
                pending.append(None)
            elif isinstance(operation, For):
                self._loop_variable(operation.variable, *self._range(operation))
            elif operation.type is not None:
                self._operation(operation)
            for inner in reversed(regions(operation)):
                pending.extend(reversed(inner.operations))

    def _enter(self, task: ParallelFor) -> None:
        self._task = task
        self._assigned = {
            target
            for operation in walk(task.body)
            if isinstance(target := memory(operation), Local) and operation.code != "load_local"
        }
        self._assigned.update(task.locals)
        for variable, (begin, end) in zip(task.variables, task.axes(), strict=True):
            self._loop_variable(variable, self.form(begin).low, self.form(end).high - 1)

    def _range(self, loop: For) -> tuple[int, int]:
        begin, end, step = (self.form(operand) for operand in loop.operands)
        if step.low > 0:
            return begin.low, end.high - 1
        if step.high < 0:
            return end.low + 1, begin.high
        return min(begin.low, end.low), max(begin.high, end.high)

    def _loop_variable(self, variable: LoopVariable, low: int, high: int) -> None:
        assert variable.type is not None
        least, greatest = integer_range(variable.type)
        # A loop that runs no iteration has an empty range: any value does for a variable that is never seen.
        low, high = max(low, least), min(high, greatest)
        self._forms[variable] = _of_symbol(Symbol(variable, low, max(low, high), self._task))

    def _leaf(self, value: Value) -> Form:
        known = constant_integer(value)
        if known is not None:
            return _of_constant(known)
        if value.type is None or value.type.kind == "float":
            return _of_symbol(Symbol(value, 0, 0, self._task if isinstance(value, Operation) else None))
        low, high = integer_range(value.type)
        return _of_symbol(Symbol(value, low, high, None if isinstance(value, Parameter) else self._task))

    def _operation(self, operation: Operation) -> None:
        key = self._key(operation)
        if key is not None:
            representative = self._representatives.setdefault(key, operation)
            if representative is not operation:
                self._numbers[operation] = representative
                self._forms[operation] = self.form(representative)
                return
        self._forms[operation] = self._form_of(operation, key is not None)

    def _key(self, operation: Operation) -> Hashable | None:
        """What makes an operation equal to another; None for what may differ from one execution to the next."""
        if operation.code == "load_local" and operation.payload not in self._assigned and self._task is not None:
            return ("load_local", operation.payload, self._task)
        if OPCODES[operation.code].effect != "pure":
            return None
        payload = operation.payload if operation.code in ("shape", "extract") else None
        return (operation.code, operation.type, payload, *(self.number(operand) for operand in operation.operands))

    def _form_of(self, operation: Operation, stable: bool) -> Form:
        type = operation.type
        assert type is not None
        operands = [self.form(operand) for operand in operation.operands]
        if type.kind in ("int", "uint") and all(o.type is not None and o.type.kind != "float" for o in operation.operands):
            combined = _combine(operation, operands)
            if combined is not None:
                return _settle(combined, type)
            low, high = _bounds(operation, operands, type)
        else:
            low, high = (0, 0) if type.kind == "float" else integer_range(type)
        task = None if stable and all(form.invariant() for form in operands) else self._task
        return _of_symbol(Symbol(operation, low, high, task))


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


def _settle(form: Form, type: DType) -> Form:
    """A form after its value has been wrapped to a type."""
    if not form.terms:
        # Without symbols the value is known, whatever was lost on the way: constants carry all their bits.
        return _of_constant(wrapped(form.constant, type))
    least, greatest = integer_range(type)
    if least <= form.low and form.high <= greatest:
        return form
    return Form(form.terms, form.constant, min(form.bits, type.bits), least, greatest)


def _bounds(operation: Operation, operands: Sequence[Form], type: DType) -> tuple[int, int]:
    """The range of an operation that is not taken apart."""
    code = operation.code
    least, greatest = integer_range(type)
    if code == "shape":
        array, axis = operation.payload
        assert isinstance(array, Array)
        if array.shape is not None:
            return array.shape[axis], array.shape[axis]
        return 0, greatest
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
