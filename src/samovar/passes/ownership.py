"""Ownership: an atomic on an element that only one iteration of its task writes becomes a plain `update`.

The array must be `alone` (no other array aliases it), and the element must determine the iteration. That is decided on the
affine forms of the indices (see `affine`), for all writes of the task to the array at once; loads do not matter, since a
load sees the element before or after the update in any case.

Two iterations collide if all their indices are equal. A dimension with index Σ c·v + constant (mod 2^b) in all writes, with
v the task's variables (and other varying symbols) and the same invariant terms everywhere, gives Σ c·(v − v') ≡ k (mod 2^b),
where k is the difference of two of the constants. Such a dimension determines its variables in two cases (`span` is the
number of values of v):

- one variable is left, c = 2^t × odd, span × 2^t ≤ 2^b, and the constants are equal or less than 2^t apart: a k ≢ 0 would
  not be a multiple of 2^t, so k ≡ 0, and v ≡ v' (mod 2^(b-t)) is v = v'. Odd numbers have an inverse, so c = ±1 only
  requires that the variable is not wider than the index: `a[i + 1]`, `a[n - i]`; `a[2*i]` requires that i starts at 0;
- in the order of |c|, each |c| exceeds the largest sum of the constants and the smaller terms, and the whole span is below
  2^b: then nothing wraps and the digits of a mixed radix are unique: `a[3*i + k]` or `a[8*i + j]` with known bounds,
  `a[4*i + (x & 3)]`.

Dimensions are processed in turn; variables determined by one are known in the others. Writes that differ by constants in a
dimension without variables never collide and are judged separately. Atomics in serial code are plain because a kernel's
serial code runs on one thread, with nothing concurrent; in a section, if no other section accesses the same arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from samovar.ir import (
    Affine,
    AffineForm,
    Array,
    Facts,
    Kernel,
    Operation,
    ParallelFor,
    Symbol,
    contested,
    indices,
    memory,
    reached_from_tasks,
    serial,
    signed,
    walk,
)


def demote_serial(kernel: Kernel) -> None:
    """Demote atomics in the kernel's serial code and in functions that no task reaches."""
    disputed = contested(kernel)
    for operation in serial(kernel.body):
        if operation.code == "atomic" and memory(operation) not in disputed.get(operation, ()):
            operation.code = "update"
    reached = reached_from_tasks(kernel)
    for function in kernel.functions:
        if function not in reached:
            for operation in walk(function.body):
                if operation.code == "atomic":
                    operation.code = "update"


def demote_owned(facts: Facts) -> None:
    """Demote atomics whose element is owned by the iteration."""
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
    """The arrays whose elements are accessed by one iteration of a task each, including loads."""
    accesses: dict[Array, list[list[AffineForm]]] = {}
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
    """One index of several writes: its varying symbols with coefficients, and the distance of the constants."""

    coefficients: dict[Symbol, int]
    spread: int
    bits: int

    @staticmethod
    def of(forms: Sequence[AffineForm]) -> Axis | None:
        """The dimension that these forms describe; None if they differ in more than constants."""
        if not _comparable(forms):
            return None
        coefficients = {symbol: factor for symbol, factor in forms[0].terms if symbol.task is not None}
        bits = _bits(forms)
        constants = {_constant(form, bits) for form in forms}
        return Axis(coefficients, max(constants) - min(constants), bits)

    def determines(self, known: set[Symbol]) -> bool:
        """Whether equal indices imply equal variables, given that the known ones are equal."""
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
    """Whether the dimensions together determine every variable of the task."""
    symbols = [affine.form(variable).terms[0][0] for variable in task.variables]
    known = {symbol for symbol in symbols if _span(symbol) == 1}
    # Each further round determines a variable, and a task has a handful of them.
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


def _comparable(forms: Sequence[AffineForm]) -> bool:
    """Whether forms differ only in their constants."""
    first = dict(forms[0].terms)
    return all(dict(form.terms) == first for form in forms)


def _bits(forms: Iterable[AffineForm]) -> int:
    return min(form.bits for form in forms)


def _constant(form: AffineForm, bits: int) -> int:
    """The constant of a form as the residue closest to zero: -1 and 1 are two apart, not 2^bits - 2."""
    return signed(form.constant, bits)
