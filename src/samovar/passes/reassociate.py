"""Reassociation by critical path: sums, products, minima and maxima of several terms, in the fastest order for a loop.

A loop with a loop-carried dependence takes as long as its critical path. Terms that do not depend on the previous iteration
are combined first, and the one that is ready last comes last: of `min(d[i - 1, j], d[i, j - 1] + 1, …)` one comparison is
left on the path, of `x + a * b + x * c` one fused multiply-add. A product that would be fused into the addition on the path
is kept separate: an addition alone has less latency.

Reordering does not change integers. It changes floats, so theirs needs `fast_math`; and the chosen order is final
(`ordered`): the backend would merge it into one chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from samovar.ir import (
    Affine,
    Builder,
    For,
    Kernel,
    Operation,
    Region,
    Value,
    While,
    bodies,
    inside,
    regions,
    use_counts,
    walk,
)
from samovar.passes.loops.dependence import iteration_distance, recurring, reductions_in

_FAMILIES = {"add": "add", "sub": "add", "mul": "mul", "min": "min", "max": "max"}
#: The maximum depth of nested terms.
_DEPTH = 32
#: A term is added, or subtracted if its sign is negative.
Term = tuple[int, Value]


def reassociate(kernel: Kernel, fast_math: bool) -> None:
    """Reassociate the expressions of innermost loops, in place."""
    uses = None
    for body in bodies(kernel):
        loops = [each for each in walk(body) if isinstance(each, (For, While))]
        innermost = [loop for loop in loops if not any(isinstance(each, (For, While)) for each in inside(loop))]
        if not innermost:
            continue
        if uses is None:
            uses = use_counts(bodies(kernel))
        affine = Affine(body)
        for loop in innermost:
            _Loop(loop, affine, uses, fast_math, kernel).reorder()


class _Loop:
    """One innermost loop: the values that depend on the previous iteration, and the operations to reorder."""

    def __init__(self, loop: For | While, affine: Affine, uses: dict[Value, int], fast_math: bool, kernel: Kernel) -> None:
        self.loop = loop
        self.affine = affine
        self.uses = uses
        self.fast_math = fast_math
        self.kernel = kernel
        self.operations = list(inside(loop))
        self.inside = set(self.operations)
        #: The latency in cycles of a value after the loop-carried ones; values that do not depend on those are missing.
        self.late: dict[Value, int] = {}
        carried = set(self._carried_elements())
        #: Values that depend on a recurrence that cannot be vectorized.
        self.stuck: set[Value] = set()
        stored = recurring(self.operations)
        reductions = reductions_in(loop, fast_math) if isinstance(loop, For) else {}
        for operation in self.operations:
            waits = [self.late[operand] for operand in operation.operands if operand in self.late]
            if operation in carried or (operation.code == "load_local" and operation.payload in stored):
                self.late[operation] = 0
                if operation in carried or operation.payload not in reductions:
                    self.stuck.add(operation)
            elif waits:
                self.late[operation] = max(waits) + _latency(operation)
                if any(operand in self.stuck for operand in operation.operands):
                    self.stuck.add(operation)

    def _carried_elements(self) -> Iterator[Operation]:
        """The loads of elements stored by one of the last few iterations."""
        if not isinstance(self.loop, For):
            return
        stores = [each for each in self.operations if each.code in ("store", "update")]
        for load in self.operations:
            if load.code != "load":
                continue
            distances = [iteration_distance(load, store, self.loop, self.affine, self.inside) for store in stores]
            if any(distance is not None and distance > 0 for distance in distances):
                yield load

    # --- reordering

    def reorder(self) -> None:
        for region in regions(self.loop):
            self._region(region)
        if any(each.code in ("min", "max", "select") for each in self.operations if each in self.stuck):
            self.kernel.has_recurrence = True

    def _region(self, region: Region) -> None:
        here = set(region.operations)
        replaced: set[Operation] = set()
        result: list[list[Operation]] = []
        # Backward, so that a sum of sums is seen before its parts.
        for operation in reversed(region.operations):
            if operation in replaced:
                continue
            added: list[Operation] = []
            family = _FAMILIES.get(operation.code)
            if family is not None and self._may_be_reordered(operation):
                terms, parts = self._terms(operation, family, here)
                order = self._order(operation, family, terms)
                if order is not None:
                    replaced.update(parts)
                    added = order
                self._prevent_fusion(operation, family)
            result.append([*added, operation])
        region.operations = [each for steps in reversed(result) for each in steps]
        for operation in region.operations:
            if operation.__class__ is not Operation:
                for each in regions(operation):
                    self._region(each)

    def _may_be_reordered(self, operation: Operation) -> bool:
        if operation.payload is not None or operation.type is None or operation.type.kind == "bool":
            return False
        return self.fast_math or operation.type.kind in ("int", "uint")

    def _terms(
        self, operation: Operation, family: str, here: set[Operation], sign: int = 1, depth: int = _DEPTH
    ) -> tuple[list[Term], list[Operation]]:
        """The terms of an operation, each with a sign, and the intermediate operations, which have no other use."""
        terms: list[Term] = []
        parts: list[Operation] = []
        signs = (sign, -sign if operation.code == "sub" else sign)
        for operand, own in zip(operation.operands, signs, strict=True):
            if (
                depth
                and isinstance(operand, Operation)
                and _FAMILIES.get(operand.code) == family
                and operand in here
                and self.uses[operand] == 1
                and operand.payload is None
            ):
                more, between = self._terms(operand, family, here, own, depth - 1)
                terms += more
                parts += [operand, *between]
            else:
                terms.append((own, operand))
        return terms, parts

    def _order(self, operation: Operation, family: str, terms: list[Term]) -> list[Operation] | None:
        """Reorder the terms of an operation: return the operations to insert before it, None to leave it unchanged.
        Independent terms are combined first; then, repeatedly, the two that are ready first."""
        late = [(self.late[value] + 1, (sign, value)) for sign, value in terms if value in self.late]
        if not late or len(terms) <= 2:
            return None
        build = Builder(operation.line, operation.origin)
        floating = operation.type is not None and operation.type.kind == "float"
        payload = "ordered" if floating and family in ("add", "mul") else None
        ready = [(0, term) for term in terms if term[1] not in self.late]
        while len(ready) > 1:
            (_, first), (_, second), *others = ready
            ready = [(0, _joined(build, operation, family, first, second, payload)), *others]
        ready += late
        while len(ready) > 2:
            ready.sort(key=itemgetter(0))
            (_, first), (time, second), *others = ready
            ready = [(time + _LATENCY, _joined(build, operation, family, first, second, payload)), *others]
        ready.sort(key=itemgetter(0), reverse=True)
        (_, one), (_, other) = ready[::-1] if ready[0][1][0] < 0 else ready
        operation.code = family if family != "add" or one[0] == other[0] else "sub"
        operation.operands = (one[1], other[1])
        return build.operations

    def _prevent_fusion(self, operation: Operation, family: str) -> None:
        """Keep an independent product from being fused with the addition on the path, unless that is vectorized."""
        if family != "add" or operation.type is None or operation.type.kind != "float" or operation.payload is not None:
            return
        left, right = operation.operands
        for carried, product in ((left, right), (right, left)):
            if carried in self.stuck and not _is_product(carried) and _is_product(product) and product not in self.late:
                operation.payload = "unfused"


def _joined(build: Builder, operation: Operation, family: str, one: Term, other: Term, payload: str | None) -> Term:
    """Combine two terms."""
    (sign, first), (other_sign, second) = one, other
    if sign == other_sign:
        return sign, build.make(family, operation.type, first, second, payload=payload)
    if sign < 0:
        first, second = second, first
    return 1, build.make("sub", operation.type, first, second, payload=payload)


def _is_product(value: Value) -> bool:
    return isinstance(value, Operation) and value.code == "mul"


_LATENCY = 4


def _latency(operation: Operation) -> int:
    """The approximate latency of an operation in cycles."""
    if operation.code in ("load_local", "store_local", "shape"):
        return 0
    return 3 * _LATENCY if operation.code in ("div", "sqrt") else _LATENCY
