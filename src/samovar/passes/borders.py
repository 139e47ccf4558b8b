"""Borders: where along the last axis of a task clamped and wrapped indices are plain ones.

`max(j - 1, 0)`, `min(j + 1, n - 1)`, `(j + 1) % n` and the accesses of an array with `boundary="clamp"` differ from `j - 1`
and `j + 1` in a few iterations at the ends of a row, and that is enough to make of every access one that LLVM knows nothing
about: elements one by one instead of vectors. Here it is found out between which bounds such an index is a plain sum. A
backend then runs the iterations between them with the sums, and those before and after as they are written.

A sum is meant exactly, without wrapping. It is the value if it lies within the range of the type; the bounds see to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from samovar._native import i32
from samovar.ir import (
    OPCODES,
    Array,
    Borders,
    Constant,
    For,
    LoopVariable,
    Operation,
    ParallelFor,
    Parameter,
    PlainIndex,
    Value,
    memory,
    walk,
)

#: Sums of sums are followed so far.
_DEPTH = 6
#: A body of more operations is not written twice.
MOST_OPERATIONS = 300


def borders(task: ParallelFor) -> Borders | None:
    """The indices of a task that are plain but for a few iterations of its last axis; None if there are none."""
    operations = list(walk(task.body))
    if task.watched or len(operations) > MOST_OPERATIONS:
        return None
    if not any(each.code in ("min", "max", "remainder") and each.type is i32 for each in operations):
        return None
    search = _Search(task, set(operations))
    for operation in operations:
        search.see(operation)
    found = search.wanted(_indices(operations))
    if not found:
        return None
    needed: set[Value] = set()
    for each in found:
        needed.update(term for term, _ in each.terms)
        needed.update(bound for bound in (each.least, each.most, each.below) if bound is not None)
    before = []
    for operation in reversed(operations):
        if operation in needed and operation in search.steady:
            needed.update(operation.operands)
            before.append(operation)
    return Borders(found, tuple(reversed(before)))


def _indices(operations: list[Operation]) -> Iterator[Value]:
    for operation in operations:
        if isinstance(memory(operation), Array):
            yield from operation.operands


@dataclass
class _Sum:
    """variable + terms + constant."""

    terms: list[tuple[Value, int]] = field(default_factory=list)
    constant: int = 0
    parts: list[Operation] = field(default_factory=list)


class _Search:
    """Goes through the operations of a body in their order."""

    def __init__(self, task: ParallelFor, inside: set[Operation]) -> None:
        self.inside = inside
        *outer, self.variable = task.variables
        self.outer = set(outer)
        #: What does not depend on the variable and can be computed before the loop.
        self.steady: set[Value] = set()
        #: Variables of constant loops inside, with their bounds.
        self.short: dict[Value, tuple[int, int]] = {}
        self.found: dict[Operation, PlainIndex] = {}
        #: Of each, the others that are in its sum.
        self.rests_on: dict[Operation, list[Operation]] = {}

    def see(self, operation: Operation) -> None:
        if isinstance(operation, For):
            begin, end, step = operation.operands
            if isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant) and step.value == 1:
                first, last = int(begin.value), int(end.value) - 1
                self.short[operation.variable] = (first, max(first, last))
            return
        if operation.code == "shape" or (_is_pure(operation) and all(map(self._is_steady, operation.operands))):
            self.steady.add(operation)
        elif operation.type is i32 and operation.payload is None:
            plain = self._extreme(operation) if operation.code in ("min", "max") else self._wrapped(operation)
            if plain is not None:
                self.found[operation] = plain

    def wanted(self, used: Iterable[Value]) -> tuple[PlainIndex, ...]:
        """Those that are indices, and those that they rest on."""
        indices = set(used)
        pending = [each for each in self.found if each in indices]
        wanted: set[Operation] = set()
        while pending:
            operation = pending.pop()
            if operation not in wanted:
                wanted.add(operation)
                pending += self.rests_on[operation]
        return tuple(plain for operation, plain in self.found.items() if operation in wanted)

    def _is_steady(self, value: Value) -> bool:
        if isinstance(value, LoopVariable):
            return value in self.outer
        # What is computed outside the task is there before it.
        return isinstance(value, (Constant, Parameter)) or value in self.steady or value not in self.inside

    def _extreme(self, operation: Operation) -> PlainIndex | None:
        for moving, bound in (operation.operands, operation.operands[::-1]):
            total = self._sum(moving, _DEPTH)
            # What is cut at a constant is cut early: most iterations are beyond.
            if total is not None and self._is_steady(bound) and (operation.code == "max" or not isinstance(bound, Constant)):
                least, most = (bound, None) if operation.code == "max" else (None, bound)
                return self._plain(operation, total, least, most, None)
        return None

    def _wrapped(self, operation: Operation) -> PlainIndex | None:
        """`x % n` as the pass `legalise` writes it: the remainder, and n more where its sign is another."""
        if operation.code != "add":
            return None
        remainder, more = operation.operands
        if not isinstance(remainder, Operation) or remainder.code != "remainder" or not _is_correction(remainder, more):
            return None
        moving, modulus = remainder.operands
        total = self._sum(moving, _DEPTH)
        if total is None or not self._is_steady(modulus) or isinstance(modulus, Constant):
            return None
        length = _length(modulus)
        if any(term is length and factor == 1 for term, factor in total.terms):
            total.terms.append((length, -1))
        return self._plain(operation, total, Constant(0, i32), None, modulus)

    def _plain(
        self, operation: Operation, total: _Sum, least: Value | None, most: Value | None, below: Value | None
    ) -> PlainIndex:
        low = high = 0
        for term, factor in total.terms:
            if term in self.short:
                ends = sorted(factor * end for end in self.short[term])
                low, high = low + ends[0], high + ends[1]
        self.rests_on[operation] = total.parts
        terms = tuple(each for each in total.terms if each[0] not in self.short)
        loops = tuple(each for each in total.terms if each[0] in self.short)
        return PlainIndex(operation, terms, loops, total.constant, (low, high), least, most, below)

    def _sum(self, value: Value, depth: int) -> _Sum | None:
        """The variable and what does not change with it; None for everything else."""
        total, count = _Sum(), 0
        pending = [(value, 1, depth)]
        while pending:
            term, factor, left = pending.pop()
            if term is self.variable:
                count += factor
            elif isinstance(term, Constant):
                total.constant += factor * int(term.value)
            elif term in self.found and isinstance(term, Operation):
                plain = self.found[term]
                count += factor
                total.parts.append(term)
                total.terms += [(each, times * factor) for each, times in (*plain.terms, *plain.loops)]
                total.constant += plain.constant * factor
            elif (self._is_steady(term) and term not in self.short and not _is_sum(term)) or term in self.short:
                total.terms.append((term, factor))
            elif isinstance(term, Operation) and _is_sum(term) and left:
                first, second = term.operands
                pending.append((first, factor, left - 1))
                pending.append((second, factor if term.code == "add" else -factor, left - 1))
            else:
                return None
        return total if count == 1 else None


def _is_sum(value: Value) -> bool:
    return isinstance(value, Operation) and value.code in ("add", "sub") and value.payload is None and value.type is i32


def _is_pure(operation: Operation) -> bool:
    row = OPCODES[operation.code]
    return row.effect == "pure" and not row.library and isinstance(operation.payload, (str, type(None)))


def _is_correction(remainder: Operation, more: Value) -> bool:
    """Whether something is what makes a remainder that of Python: the divisor where the signs differ, else 0."""
    divisor = remainder.operands[1]
    if not isinstance(more, Operation) or more.code != "select":
        return False
    condition, added, nothing = more.operands
    if not (isinstance(nothing, Constant) and not nothing.value and isinstance(condition, Operation)):
        return False
    if added is not divisor or condition.code != "and":
        return False
    other, signs = condition.operands
    if not isinstance(other, Operation) or other.code != "ne" or other.operands[0] is not remainder:
        return False
    if not isinstance(signs, Operation) or signs.code != "lt" or not isinstance(signs.operands[0], Operation):
        return False
    mixed = signs.operands[0]
    return mixed.code == "xor" and mixed.operands[0] is remainder and _is_negative(signs, mixed)


def _is_negative(comparison: Operation, value: Value) -> bool:
    left, right = comparison.operands
    return left is value and isinstance(right, Constant) and not right.value


def _length(modulus: Value) -> Value:
    """What a program takes the remainder by: `legalise` puts 1 in the place of 0 and -1."""
    if isinstance(modulus, Operation) and modulus.code == "select" and isinstance(modulus.operands[1], Constant):
        return modulus.operands[2]
    return modulus
