"""Ownership: an atomic on an element that only one iteration of its task writes becomes a plain `update`.

The array must be `alone` (no other array reaches its elements), and the iteration must be determined by the element. That
is decided on the affine forms of the indices (see `affine`), for all writes of the task to the array at once; loads do not
matter, since a load sees the element before or after the update either way.

Two iterations collide if all their indices are equal. An axis whose index is Σ c·v + constant (mod 2^b) in all writes, with
v the task's variables (and whatever else varies) and the same invariant terms everywhere, gives Σ c·(v − v') ≡ k (mod 2^b),
where k is the difference of two of the constants. Such an axis determines its variables in two cases (`span` is the number
of values of v):

- one variable is left, c = 2^t × odd, span × 2^t ≤ 2^b, and the constants are equal or less than 2^t apart: a k ≢ 0 would
  not be a multiple of 2^t, so k ≡ 0, and v ≡ v' (mod 2^(b-t)) is v = v'. Odd numbers have an inverse, so nothing is asked of
  c = ±1 but that the variable is not wider than the index: `a[i + 1]`, `a[n - i]`; for `a[2*i]`, that i starts at 0;
- in the order of |c|, each |c| exceeds what the constants and the smaller terms can make up together, and the whole span is
  below 2^b: then nothing wraps and the digits of a mixed radix are unique: `a[3*i + k]` or `a[8*i + j]` with known bounds,
  `a[4*i + (x & 3)]`.

Axes are taken in turn, variables determined by one are gone from the others; writes that differ by constants in an axis
without variables never collide and are judged apart. Atomics in serial code are plain for a simpler reason: a kernel's
serial code runs on one thread, and nothing runs beside it; in a section, nothing that touches the same arrays does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from samovar.ir import Affine, Array, Form, Kernel, Operation, ParallelFor, Symbol, indices, memory, serial, walk
from samovar.passes.accesses import contested, reached_from_tasks
from samovar.passes.facts import Facts


def demote_serial(kernel: Kernel) -> None:
    """Make atomics plain in the kernel's serial code and in functions that no task reaches."""
    disputed = contested(kernel)
    for operation in serial(kernel):
        if operation.code == "atomic" and memory(operation) not in disputed.get(operation, ()):
            operation.code = "update"
    reached = reached_from_tasks(kernel)
    for function in kernel.functions:
        if function not in reached:
            for operation in walk(function.body):
                if operation.code == "atomic":
                    operation.code = "update"


def demote_owned(facts: Facts) -> None:
    """Make atomics plain whose element belongs to the iteration."""
    for task, accesses in facts.accesses.items():
        for array, operations in accesses.operations.items():
            if not isinstance(array, Array) or not array.alone or array in accesses.called.written | accesses.contested:
                continue
            writes = [operation for operation in operations if operation.code != "load"]
            if any(operation.code == "atomic" for operation in writes):
                _demote(task, writes, facts.affine)


def _demote(task: ParallelFor, writes: Sequence[Operation], affine: Affine) -> None:
    forms = [[affine.form(index) for index in indices(operation)] for operation in writes]
    axes = [[form[axis] for form in forms] for axis in range(len(forms[0]))]
    fixed = [axis for axis in axes if _comparable(axis) and axis[0].invariant()]
    bits = [_bits(axis) for axis in fixed]
    groups: dict[tuple[int, ...], list[int]] = {}
    for position in range(len(writes)):
        key = tuple(_constant(axis[position], width) for axis, width in zip(fixed, bits, strict=True))
        groups.setdefault(key, []).append(position)
    for positions in groups.values():
        members = [Axis.of([axis[position] for position in positions]) for axis in axes]
        if _determined(task, [axis for axis in members if axis is not None], affine):
            for position in positions:
                if writes[position].code == "atomic":
                    writes[position].code = "update"


def owned_arrays(task: ParallelFor, affine: Affine) -> frozenset[Array]:
    """The arrays of which an iteration of a task touches elements that no other iteration touches, not even by a load."""
    accesses: dict[Array, list[list[Form]]] = {}
    for operation in walk(task.body):
        if operation.code == "call":
            return frozenset()
        array = memory(operation)
        if isinstance(array, Array) and array.alone and not array.private:
            accesses.setdefault(array, []).append([affine.form(index) for index in indices(operation)])
    found = set()
    for array, forms in accesses.items():
        axes = [Axis.of(axis) for axis in zip(*forms, strict=True)]
        if _determined(task, [axis for axis in axes if axis is not None], affine):
            found.add(array)
    return frozenset(found)


@dataclass(frozen=True)
class Axis:
    """One index of several writes: what varies in it, with coefficients, and how far apart the constants are."""

    coefficients: dict[Symbol, int]
    spread: int
    bits: int

    @staticmethod
    def of(forms: Sequence[Form]) -> Axis | None:
        """The axis that these forms describe; None if they differ in more than constants."""
        if not _comparable(forms):
            return None
        coefficients = {symbol: factor for symbol, factor in forms[0].terms if symbol.task is not None}
        bits = _bits(forms)
        constants = {_constant(form, bits) for form in forms}
        return Axis(coefficients, max(constants) - min(constants), bits)

    def determines(self, known: set[Symbol]) -> bool:
        """Equal indices mean equal variables, if those that are known already are equal."""
        unknown = [(abs(factor), symbol) for symbol, factor in self.coefficients.items() if symbol not in known]
        if len(unknown) == 1:
            factor, symbol = unknown[0]
            power = factor & -factor
            if self.spread < power and _span(symbol) * power <= 1 << self.bits:
                return True
        reach = self.spread
        for factor, symbol in sorted(unknown, key=lambda each: each[0]):
            if factor <= reach:
                return False
            reach += factor * (_span(symbol) - 1)
        return reach < 1 << self.bits


def _determined(task: ParallelFor, axes: list[Axis], affine: Affine) -> bool:
    """Whether the axes together determine every variable of the task."""
    symbols = [affine.form(variable).terms[0][0] for variable in task.variables]
    known = {symbol for symbol in symbols if _span(symbol) == 1}
    # Each round that goes on determines a variable, and a task has a handful of them.
    progress = True
    while progress:
        progress = False
        for axis in axes:
            if not known.issuperset(axis.coefficients) and axis.determines(known):
                known.update(axis.coefficients)
                progress = True
    return known.issuperset(symbols)


def _span(symbol: Symbol) -> int:
    return symbol.high - symbol.low + 1


def _comparable(forms: Sequence[Form]) -> bool:
    """Whether forms differ only in their constants."""
    first = dict(forms[0].terms)
    return all(dict(form.terms) == first for form in forms)


def _bits(forms: Iterable[Form]) -> int:
    return min(form.bits for form in forms)


def _constant(form: Form, bits: int) -> int:
    """The constant of a form as the residue that is nearest to zero: -1 and 1 are two apart, not 2^bits - 2."""
    residue = form.constant & ((1 << bits) - 1)
    return residue - (1 << bits) if residue >> (bits - 1) else residue
