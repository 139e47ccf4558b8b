"""Loop peeling: iterations at the ends of a loop in which an index is clamped or wrapped, or a condition holds, run
separately from those in between, where the index is affine or the condition known.

`max(j - 1, 0)`, `min(j + 1, n - 1)`, `(j + 1) % n`, `if j > 0` and the accesses of an array with `boundary="clamp"` differ
from `j - 1`, `j + 1` and `True` in a few iterations at the ends of a row, but that is enough to turn every vector access
into a gather. The loop becomes three: the iterations before, those in between, and those after.

A sum means the exact one, without wrapping. It is the value if it is within the range of its type; the bounds ensure that.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from samovar._native import i32, i64, u1
from samovar.ir import (
    OPCODES,
    PLAIN_LOOP,
    Affine,
    AffineForm,
    Array,
    Builder,
    Clone,
    Constant,
    For,
    If,
    LoopVariable,
    Operation,
    Region,
    Symbol,
    Value,
    computed_before,
    defined_in,
    indices,
    memory,
    users,
    walk,
)
from samovar.passes.constants import known_result
from samovar.passes.loops.divergence import exits
from samovar.passes.loops.price import LOCAL_BYTES, local_bytes

#: A body of more operations is not copied.
MOST_OPERATIONS = 300
#: Inner loops that add at most this many different numbers to an index are included with all of them.
_SPREAD = 64
#: The approximate number of iterations peeled off at an end.
_PEELED = 2
#: The maximum depth of a computation repeated before a loop.
_DEPTH = 4
#: A condition is worthwhile if it changes within so many iterations of an end of the loop.
_NEAR = 8
_LEAST, _LIMIT = -(1 << 31), 1 << 31
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True)
class _Limit:
    """factor × value + constant."""

    value: Value | None
    constant: int
    factor: int = 1


@dataclass(frozen=True)
class _Plain:
    """An operation that is plain while the sum of a form is between `lower` and `upper`: its value is then `moved`, or the
    sum itself if that is missing; a condition is `known`."""

    operation: Operation
    form: AffineForm
    lower: tuple[_Limit, ...] = ()
    upper: tuple[_Limit, ...] = ()
    moved: Value | None = None
    known: bool | None = None


def peel(loop: For, affine: Affine, scope: Container[Value]) -> list[Operation] | None:
    """The replacement of a loop; None if there is nothing to peel off. `scope` has the operations and loop variables defined
    before it."""
    if loop.stride != 1 or loop.hints.vectors == 0 or loop.variable.type is not i32:
        return None
    operations = list(walk(loop.body))
    if len(operations) > MOST_OPERATIONS or exits(loop.body) or local_bytes(loop.body) > LOCAL_BYTES // 4:
        return None
    search = _Search(loop, affine, operations, scope)
    found = search.found()
    return _Peeling(loop, search, found).write() if found else None


class _Search:
    """Finds operations that are plain in all but a few iterations."""

    def __init__(self, loop: For, affine: Affine, operations: list[Operation], scope: Container[Value]) -> None:
        self.loop = loop
        self.affine = affine
        self.scope = scope
        self.operations = operations
        self.within = defined_in(loop.body)
        self.plain: dict[object, _Plain] = {}
        #: Loop-invariant operations, which can be computed before the loop.
        self.invariant: set[Value] = set()
        for operation in operations:
            if _is_copied(operation) and all(map(self.is_invariant, operation.operands)):
                self.invariant.add(operation)

    def is_invariant(self, value: Value) -> bool:
        return value is not self.loop.variable and (value not in self.within or value in self.invariant)

    def is_there(self, value: Value, depth: int = _DEPTH) -> bool:
        """Whether a value is defined before the loop, or can be recomputed there. The representative of equal values in
        forms may be defined elsewhere."""
        if value in self.scope or value in self.invariant:
            return True
        if not isinstance(value, Operation):
            return not isinstance(value, LoopVariable)
        return depth > 0 and _is_copied(value) and all(self.is_there(operand, depth - 1) for operand in value.operands)

    def found(self) -> list[_Plain]:
        """The operations that indices or decisions depend on, and that are plain in all but a few iterations."""
        for operation in self.operations:
            made = self._made(operation)
            if made is not None:
                self.plain[operation] = made
        if not self.plain:
            return []
        users_of = users([self.loop.body])
        return [each for each in self.plain.values() if self._counts(each.operation, users_of)]

    def _counts(self, operation: Operation, users_of: dict[Value, list[Operation]]) -> bool:
        """Whether an operation leads to an index or a bound, or a condition to a branch or to the selection of an index."""
        pending, seen = [operation], {operation}
        while pending:
            each = pending.pop()
            for user in users_of.get(each, ()):
                if isinstance(user, (For, If)):
                    return True
                if isinstance(memory(user), Array):
                    if any(index is each for index in indices(user)):
                        return True
                elif user not in seen and user.type is not None and user.type.kind != "float":
                    seen.add(user)
                    pending.append(user)
        return False

    def _made(self, operation: Operation) -> _Plain | None:
        if operation.payload is not None:
            return None
        if operation.code in ("min", "max") and operation.type is i32:
            return self._extreme(operation)
        if operation.code == "mod" and operation.type is i32:
            return self._wrapped(operation)
        return self._compared(operation) if operation.code in _MIRRORED else None

    def _moving(self, value: Value, by: int = 1) -> AffineForm | None:
        """The form of a value that grows by `by` in each iteration, and otherwise only changes with short inner loops."""
        if value.type is not i32 or self.is_invariant(value):
            return None
        form = self._expanded(self.affine.form(value))
        if form.bits < 32:  # a narrower type truncates the sum
            return None
        if not any(symbol.identity is self.loop.variable and factor == by for symbol, factor in form.terms):
            return None
        return form if all(self._is_known(symbol) for symbol, _ in form.terms) else None

    def _expanded(self, form: AffineForm) -> AffineForm:
        """A form in which plain operations are replaced by their sums."""
        total = AffineForm((), form.constant, form.bits, form.low, form.high)
        for symbol, factor in form.terms:
            plain = self.plain.get(symbol.identity)
            part = AffineForm(((symbol, 1),), 0, 64, 0, 0) if plain is None or plain.known is not None else plain.form
            total = total.plus(part, factor)
        return total

    def _is_known(self, symbol: Symbol) -> bool:
        identity = symbol.identity
        if identity is self.loop.variable:
            return True
        if not isinstance(identity, Value):
            return False
        return (self.is_invariant(identity) and self.is_there(identity)) or self.is_short(symbol)

    def is_short(self, symbol: Symbol) -> bool:
        """Whether a symbol is the variable of an inner loop with few values."""
        inner = isinstance(symbol.identity, LoopVariable) and symbol.identity in self.within
        return inner and symbol.high - symbol.low < _SPREAD

    def _extreme(self, operation: Operation) -> _Plain | None:
        for moving, bound in (operation.operands, operation.operands[::-1]):
            form = self._moving(moving)
            # A clamp at a constant is near the beginning: most iterations are beyond it.
            if form is None or not self.is_invariant(bound) or (operation.code == "min" and isinstance(bound, Constant)):
                continue
            if operation.code == "max":
                return _Plain(operation, form, lower=(_limit(bound),), moved=moving)
            return _Plain(operation, form, upper=(_limit(bound),), moved=moving)
        for moving, bound in (operation.operands, operation.operands[::-1]):
            falling = self._moving(moving, -1)
            if falling is None or not isinstance(bound, Constant):
                continue
            form, reached = AffineForm((), 0, falling.bits, 0, 0).plus(falling, -1), Constant(-int(bound.value), i64)
            rises = operation.code == "max"  # beyond an iteration near the beginning, it is the bound
            if self._is_near(reached, form, self._ends()[not rises]):
                limits = (_limit(reached),)
                return _Plain(operation, form, limits if rises else (), () if rises else limits, moved=bound)
        return None

    def _wrapped(self, operation: Operation) -> _Plain | None:
        """`x % n` is x from 0 up to n, and so is (x + n) % n, unless that wraps."""
        moving, modulus = operation.operands
        form = self._moving(moving)
        if form is None or not self.is_invariant(modulus) or isinstance(modulus, Constant):
            return None
        lower, upper = (_Limit(None, 0),), (_Limit(modulus, -1),)
        added = self.affine.form(modulus)
        if added.bits >= 32 and added.terms and set(added.terms) <= set(form.terms):
            shorter = form.plus(added, -1)
            return _Plain(operation, shorter, lower, (*upper, _Limit(modulus, _LIMIT - 1, -1)))
        return _Plain(operation, form, lower, upper, moved=moving)

    def _compared(self, operation: Operation) -> _Plain | None:
        """A comparison with an invariant value is known except for iterations at one end."""
        left, right = operation.operands
        for moving, bound, code in ((left, right, operation.code), (right, left, _MIRRORED[operation.code])):
            form = self._moving(moving)
            if form is None or bound.type is not i32 or not self.is_invariant(bound):
                continue
            begins, ends = (self._is_near(bound, form, end) for end in self._ends())
            if begins == ends:
                return None
            limit = _limit(bound)
            # Between the ends the sum is above a bound near the beginning, and below one near the end.
            if code in ("eq", "ne"):
                moved = _Limit(limit.value, limit.constant + (1 if begins else -1))
                known = code == "ne"
            elif begins:
                moved, known = _Limit(limit.value, limit.constant + (code in ("gt", "le"))), code in ("gt", "ge")
            else:
                moved, known = _Limit(limit.value, limit.constant - (code in ("lt", "ge"))), code in ("lt", "le")
            return _Plain(operation, form, (moved,) if begins else (), () if begins else (moved,), known=known)
        return None

    def _ends(self) -> tuple[Value, Value]:
        """The begin and end of the loop as written."""
        begin, end, _ = self.loop.operands
        return self.loop.variable.bounds or (begin, end)

    def _is_near(self, bound: Value, form: AffineForm, end: Value) -> bool:
        """Whether a sum reaches a bound within a few iterations of an end of the loop."""
        reached, at = self.affine.form(bound), self.affine.form(end)
        terms = dict(at.terms)
        for symbol, factor in form.terms:
            if symbol.identity is not self.loop.variable and not self.is_short(symbol):
                terms[symbol] = terms.get(symbol, 0) + factor
        wanted = {symbol: factor for symbol, factor in terms.items() if factor}
        return dict(reached.terms) == wanted and abs(reached.constant - form.constant - at.constant) <= _NEAR


def _limit(value: Value) -> _Limit:
    return _Limit(None, int(value.value)) if isinstance(value, Constant) else _Limit(value, 0)


def _is_copied(operation: Operation) -> bool:
    """Whether an operation can be repeated, or moved up."""
    row = OPCODES[operation.code]
    return row.effect == "pure" and not row.library


class _Peeling:
    """Writes the loops."""

    def __init__(self, loop: For, search: _Search, found: list[_Plain]) -> None:
        self.loop = loop
        self.search = search
        self.found = found
        self.build = Builder(loop.line, loop.origin)
        self.copies: dict[Value, Value] = {}
        #: The range of the loop variable between the ends.
        self.least, self.greatest = loop.variable.limits or (_LEAST, _LIMIT - 1)

    def write(self) -> list[Operation]:
        build, one = self.build, Constant(1, i64)
        begin, end = (build.cast(operand, i64) for operand in self.loop.operands[:2])
        first, last = begin, end
        for each in self.found:
            nearest, farthest = self._distances(each)
            if isinstance(nearest, Constant) and isinstance(farthest, Constant):  # and all sums are numbers of 32 bits
                self.least = max(self.least, _LEAST - int(nearest.value))
                self.greatest = min(self.greatest, _LIMIT - 1 - int(farthest.value))
            for limit in (_Limit(None, _LEAST), *each.lower):
                first = build.max(first, build.sub(self._written(limit), nearest))
            for limit in (_Limit(None, _LIMIT - 1), *each.upper):
                last = build.min(last, build.sub(build.add(self._written(limit), one), farthest))
        # An empty range lies between the two others.
        first = build.min(first, end)
        last = build.max(first, last)
        if not self.loop.hints.parallel:
            self._end(begin, first)
            self._between(first, last)
            self._end(last, end)
            return build.operations
        # The order does not matter: both ends are one loop.
        self._between(first, last)
        side = LoopVariable("side", i64)

        def sides() -> None:
            before = build.compare("eq", side, Constant(0, i64))
            self._end(build.choose(before, begin, last), build.choose(before, first, end))

        hints = replace(PLAIN_LOOP, parallel=True)
        both = For(side, Constant(0, i64), Constant(2, i64), one, build.region(sides), self.loop.line, hints)
        both.note = "peeled: both ends"
        build.append(both)
        return build.operations

    def _written(self, limit: _Limit) -> Value:
        constant = Constant(limit.constant, i64)
        if limit.value is None:
            return constant
        value = self.build.cast(self._before(limit.value), i64)
        return self.build.add(value, constant) if limit.factor == 1 else self.build.sub(constant, value)

    def _distances(self, each: _Plain) -> tuple[Value, Value]:
        """The minimum and maximum distance of a sum from the loop variable."""
        build = self.build
        low = high = each.form.constant
        total: Value = Constant(0, i64)
        for symbol, factor in each.form.terms:
            if symbol.identity is self.loop.variable:
                continue
            if self.search.is_short(symbol):
                ends = sorted((factor * symbol.low, factor * symbol.high))
                low, high = low + ends[0], high + ends[1]
                continue
            assert isinstance(symbol.identity, Value)
            term = build.cast(self._before(symbol.identity), i64)
            total = build.add(total, build.mul(term, Constant(factor, i64)))
        return build.add(total, Constant(low, i64)), build.add(total, Constant(high, i64))

    def _before(self, value: Value) -> Value:
        """A loop-invariant value, computed before the loop."""
        return computed_before(value, self.build, lambda each: each in self.search.scope, self.copies)

    def _end(self, begin: Value, end: Value) -> None:
        """Iterations at an end, unchanged."""
        copied = Clone().for_loop(self.loop)
        copied.operands = (begin, end, Constant(1, i64))
        copied.hints = replace(PLAIN_LOOP, parallel=self.loop.hints.parallel, expected=_PEELED)
        copied.note = "peeled: the iterations at an end, as they are"
        self.build.append(copied)

    def _between(self, begin: Value, end: Value) -> None:
        variable = self.loop.variable
        fresh = LoopVariable(variable.name, variable.type, (self.least, self.greatest), variable.bounds)
        body = _Between({**self.copies, variable: fresh}, self.found).region(self.loop.body)
        made = For(fresh, begin, end, Constant(1, i64), body, self.loop.line, self.loop.hints)
        made.note = "peeled: the iterations between the ends"
        self.build.append(made)


class _Between(Clone):
    """Copies a body with the plain operations replaced."""

    def __init__(self, values: dict[Value, Value], found: list[_Plain]) -> None:
        super().__init__(values)
        self.plain = {each.operation: each for each in found}

    def region(self, region: Region) -> Region:
        made: list[Operation] = []
        for operation in region.operations:
            plain = self.plain.get(operation)
            if plain is None:
                copied = self.operation(operation)
                known = known_result(copied, copied.operands)
                if known is None:
                    made.append(copied)
                else:
                    self.values[operation] = known
                continue
            build = Builder(operation.line, operation.origin)
            if plain.known is not None:
                self.values[operation] = Constant(plain.known, u1)
            elif plain.moved is not None:
                self.values[operation] = self.value(plain.moved)
            else:
                self.values[operation] = self._sum(build, plain.form)
            made += build.operations
        return Region(made)

    def _sum(self, build: Builder, form: AffineForm) -> Value:
        total: Value = Constant(form.constant, i32)
        for symbol, factor in form.terms:
            assert isinstance(symbol.identity, Value)
            term = build.cast(self.value(symbol.identity), i32)
            total = build.add(build.mul(term, Constant(factor, i32)), total)
        return total
