"""Reassociation by critical path: sums, products, minima and maxima of several terms, in the fastest order for a loop.

A loop that carries a value from one iteration to the next takes as long as the way from there to there. What does not wait
for the iteration before is put together first, and what is ready last comes last: of `min(d[i - 1, j], d[i, j - 1] + 1, …)`
one comparison is left to wait for, of `x + a * b + x * c` one fused product. A product that would be fused into the addition
that waits is not: addition alone is shorter.

Where nothing is carried, a long chain is what an iteration waits for: products of four factors and more are taken by pairs,
sums of eight terms and more in two chains.

The order of integers makes no difference. That of floats does, so theirs changes with `fast_math` only; and what is put in
order here stays in it (`ordered`): the backend would make one chain of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar.ir import (
    Affine,
    Builder,
    Constant,
    For,
    Kernel,
    Operation,
    Region,
    Value,
    While,
    bodies,
    regions,
    use_counts,
    walk,
)
from samovar.passes.loops.dependence import gathered_in, iterations_apart, recurring
from samovar.passes.loops.divergence import inside

_FAMILIES = {"add": "add", "sub": "add", "mul": "mul", "min": "min", "max": "max"}
#: Sums of so many terms become two chains, products of so many factors pairs.
LONG_SUM, LONG_PRODUCT = 8, 4
#: Terms of terms are followed so far.
_DEPTH = 32


def reassociate(kernel: Kernel, fast_math: bool) -> None:
    """Reorder what innermost loops compute, in place."""
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
    """One innermost loop: what waits for the iteration before, and what is reordered."""

    def __init__(self, loop: For | While, affine: Affine, uses: dict[Value, int], fast_math: bool, kernel: Kernel) -> None:
        self.loop = loop
        self.affine = affine
        self.uses = uses
        self.fast_math = fast_math
        self.kernel = kernel
        self.operations = list(inside(loop))
        self.inside = set(self.operations)
        #: About how many cycles after what is carried a value is there; what is not in it does not wait.
        self.late: dict[Value, int] = {}
        carried = set(self._carried_elements())
        #: What waits for something that does not become one of vectors.
        self.stuck: set[Value] = set()
        stored = recurring(self.operations)
        gathered = gathered_in(loop, fast_math) if isinstance(loop, For) else {}
        for operation in self.operations:
            waits = [self.late[operand] for operand in operation.operands if operand in self.late]
            if operation in carried or (operation.code == "load_local" and operation.payload in stored):
                self.late[operation] = 0
                if operation in carried or operation.payload not in gathered:
                    self.stuck.add(operation)
            elif waits:
                self.late[operation] = max(waits) + _latency(operation)
                if any(operand in self.stuck for operand in operation.operands):
                    self.stuck.add(operation)

    def _carried_elements(self) -> Iterator[Operation]:
        """The loads of elements that an iteration a few before has stored."""
        if not isinstance(self.loop, For):
            return
        stores = [each for each in self.operations if each.code in ("store", "update")]
        for load in self.operations:
            if load.code != "load":
                continue
            distances = [iterations_apart(load, store, self.loop, self.affine, self.inside) for store in stores]
            if any(distance is not None and distance > 0 for distance in distances):
                yield load

    # --- reordering

    def reorder(self) -> None:
        for region in regions(self.loop):
            self._region(region)
        if any(each.code in ("min", "max", "select") for each in self.operations if each in self.stuck):
            self.kernel.recurs = True

    def _region(self, region: Region) -> None:
        here = set(region.operations)
        replaced: set[Operation] = set()
        result: list[list[Operation]] = []
        # From the last one on, so that a sum of sums is seen before those.
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
                self._keep_apart(operation, family)
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
    ) -> tuple[list[tuple[int, Value]], list[Operation]]:
        """What an operation puts together, each with a sign, and the operations in between, which are for nothing else."""
        terms: list[tuple[int, Value]] = []
        parts: list[Operation] = []
        signs = (sign, -sign if operation.code == "sub" else sign)
        for operand, own in zip(operation.operands, signs, strict=True):
            inner = (
                depth
                and isinstance(operand, Operation)
                and _FAMILIES.get(operand.code) == family
                and operand in here
                and self.uses[operand] == 1
                and operand.payload is None
            )
            if inner:
                assert isinstance(operand, Operation)
                more, between = self._terms(operand, family, here, own, depth - 1)
                terms += more
                parts += [operand, *between]
            else:
                terms.append((own, operand))
        return terms, parts

    def _order(self, operation: Operation, family: str, terms: list[tuple[int, Value]]) -> list[Operation] | None:
        """Write the terms of an operation in another order: what has to come before it, None if they stay as they are."""
        late = [term for term in terms if term[1] in self.late]
        soon = [term for term in terms if term[1] not in self.late]
        build = Builder(operation.line, operation.origin)
        floating = operation.type is not None and operation.type.kind == "float"
        ordered = "ordered" if floating and family in ("add", "mul") else None
        if late and len(terms) > 2:
            return self._by_time(build, operation, family, soon, late, ordered)
        if late or not floating:
            return None
        if family == "mul" and len(terms) >= LONG_PRODUCT and not any(isinstance(term, Constant) for _, term in terms):
            return self._by_pairs(build, operation, terms)
        if family == "add" and len(terms) >= LONG_SUM:
            return self._in_two_chains(build, operation, terms)
        return None

    def _by_time(
        self,
        build: Builder,
        operation: Operation,
        family: str,
        soon: list[tuple[int, Value]],
        late: list[tuple[int, Value]],
        ordered: str | None,
    ) -> list[Operation] | None:
        """What does not wait first; then, again and again, the two that are ready soonest."""
        ready = [(0, *term) for term in soon]
        while len(ready) > 1:
            (_, first_sign, first), (_, sign, second), *others = ready
            ready = [(0, *self._joined(build, operation, family, (first_sign, first), (sign, second), ordered)), *others]
        ready += [(self.late[value] + 1, sign, value) for sign, value in late]
        while len(ready) > 2:
            ready.sort(key=lambda each: each[0])
            (_, first_sign, first), (time, sign, second), *others = ready
            joined = self._joined(build, operation, family, (first_sign, first), (sign, second), ordered)
            ready = [(time + _LATENCY, *joined), *others]
        ready.sort(key=lambda each: -each[0])
        (_, one_sign, one), (_, other_sign, other) = ready
        self._finish(operation, family, (one_sign, one), (other_sign, other))
        return build.operations

    def _by_pairs(self, build: Builder, operation: Operation, terms: list[tuple[int, Value]]) -> list[Operation]:
        values = [value for _, value in terms]
        while len(values) > 2:
            pairs = zip(values[::2], values[1::2], strict=False)
            left_over = values[len(values) // 2 * 2 :]
            values = [*(build.make("mul", operation.type, a, b, payload="ordered") for a, b in pairs), *left_over]
        operation.operands, operation.payload = (values[0], values[1]), "ordered"
        return build.operations

    def _in_two_chains(self, build: Builder, operation: Operation, terms: list[tuple[int, Value]]) -> list[Operation]:
        chains = []
        for way in range(2):
            total, *others = terms[way::2]
            for term in others:
                total = self._joined(build, operation, "add", total, term, "ordered")
            chains.append(total)
        self._finish(operation, "add", *chains)
        operation.payload = "ordered"
        return build.operations

    def _joined(
        self,
        build: Builder,
        operation: Operation,
        family: str,
        one: tuple[int, Value],
        other: tuple[int, Value],
        payload: str | None,
    ) -> tuple[int, Value]:
        """Two terms as one."""
        (sign, first), (other_sign, second) = one, other
        if sign == other_sign:
            return sign, build.make(family, operation.type, first, second, payload=payload)
        if sign < 0:
            first, second = second, first
        return 1, build.make("sub", operation.type, first, second, payload=payload)

    def _finish(self, operation: Operation, family: str, one: tuple[int, Value], other: tuple[int, Value]) -> None:
        """Make an operation what puts the last two terms together."""
        (sign, first), (other_sign, second) = one, other
        if sign < 0:
            first, second, sign, other_sign = second, first, other_sign, sign
        operation.code = family if family != "add" or other_sign == sign else "sub"
        operation.operands = (first, second)

    def _keep_apart(self, operation: Operation, family: str) -> None:
        """A product that does not wait is not fused with the addition that does, unless that becomes one of vectors."""
        if family != "add" or operation.type is None or operation.type.kind != "float" or operation.payload is not None:
            return
        left, right = operation.operands
        for carried, product in ((left, right), (right, left)):
            if carried in self.stuck and not _is_product(carried) and _is_product(product) and product not in self.late:
                operation.payload = "unfused"


def _is_product(value: Value) -> bool:
    return isinstance(value, Operation) and value.code == "mul"


_LATENCY = 4


def _latency(operation: Operation) -> int:
    """About how many cycles after its operands an operation is there."""
    if operation.code in ("load_local", "store_local", "shape"):
        return 0
    return 3 * _LATENCY if operation.code in ("div", "sqrt") else _LATENCY
