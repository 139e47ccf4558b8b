"""Carried elements: what an iteration stores and one of the next ones loads stays in a variable (scalar replacement).

`x[i] = x[i - 1] + a[i]` waits for memory in each iteration: the element is stored, and loaded again. Here it is loaded once,
in front of the loop, and kept. Iterations of such a loop run one after the other in any case, so elements that are loaded
again are kept as well, and those that are the same in all iterations are loaded in front of it. Loops that carry nothing
are left alone: they may become loops of vectors, which load faster than they shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samovar._native import u1
from samovar.ir import (
    Affine,
    Array,
    Builder,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    While,
    in_first_iteration,
    indices,
    memory,
    regions,
    rewrite,
    scopes,
    substitute,
    walk,
)
from samovar.passes.loops.dependence import CHANGES, are_apart, iterations_apart
from samovar.passes.loops.divergence import defined_in, exits, leaves

#: So many iterations after it was stored, an element is still kept.
FARTHEST = 3


def carry_elements(kernel: Kernel) -> None:
    """Keep elements that innermost loops carry from one iteration to the next in variables, in place."""
    for body, locals in list(scopes(kernel)):
        _run(body, Affine(body), locals)


def _run(region: Region, affine: Affine, locals: list[Local]) -> None:
    result: list[Operation] = []
    for operation in region.operations:
        if isinstance(operation, For) and not any(isinstance(each, (For, While)) for each in walk(operation.body)):
            result += _Loop(operation, affine, locals).in_front()
        elif not isinstance(operation, (Task, Sections)):
            for inner in regions(operation):
                _run(inner, affine, locals)
        result.append(operation)
    region.operations = result


@dataclass(frozen=True)
class _Kept:
    """Elements that are kept: who stores or loads them first, and the loads some iterations later."""

    source: Operation
    loads: dict[int, list[Operation]]


class _Loop:
    """An innermost loop."""

    def __init__(self, loop: For, affine: Affine, locals: list[Local]) -> None:
        self.loop = loop
        self.affine = affine
        self.locals = locals
        self.build = Builder(loop.line, loop.origin)
        self.here = loop.body.operations
        self.within = defined_in(loop.body) | {loop.variable}
        self.changes = [each for each in walk(loop.body) if each.code in CHANGES]
        self.loads = [each for each in self.here if each.code == "load" and each.__class__ is Operation]

    def in_front(self) -> list[Operation]:
        """What comes before the loop, which then keeps what it carries."""
        loop, step = self.loop, self.loop.operands[2]
        suits = (
            not loop.hints.parallel
            and isinstance(step, Constant)
            and step.value
            and not exits(loop.body)
            and not any(leaves(each) for each in self.here)
            and all(isinstance(memory(each), Array) for each in self.changes)
        )
        kept: list[_Kept] = []
        taken: set[Operation] = set()
        if suits:
            for store in self.here:
                array = memory(store)
                alone = store.code == "store" and isinstance(array, Array) and array.alone
                if alone and self._is_left_alone(store):
                    self._keep(store, self.here[: self.here.index(store)], kept, taken)
        if not kept:
            return []
        unchanged = [load for load in self.loads if self._is_left_alone(load)]
        steady = {load: first for load in unchanged if self._is_steady(load) and (first := self._first(load)) is not None}
        for load in unchanged:
            if load not in steady:
                self._keep(load, [each for each in unchanged if each is not load], kept, taken)
        self._write(kept, steady)
        return self.build.operations

    def _is_left_alone(self, access: Operation, source: Operation | None = None) -> bool:
        """Whether no other change, but for that by `source`, is one of the element touched, in whatever iteration."""
        others = (each for each in self.changes if each is not access and each is not source)
        return all(are_apart(access, each, self.affine, self.within) for each in others)

    def _is_steady(self, load: Operation) -> bool:
        """Whether a load is one of the same element in all iterations."""
        return not any(symbol.identity in self.within for at in indices(load) for symbol, _ in self.affine.form(at).terms)

    def _keep(self, source: Operation, among: Sequence[Operation], kept: list[_Kept], taken: set[Operation]) -> None:
        """Note the loads that take what one operation has, some iterations later. Those of the first iterations take what
        was there before the loop, which no other change may be one of."""
        loads: dict[int, list[Operation]] = {}
        for load in among:
            if load.code == "load" and load not in taken and memory(load) is memory(source):
                apart = iterations_apart(load, source, self.loop, self.affine, self.within)
                if apart is None or not 0 < apart <= FARTHEST:
                    continue
                if self._is_left_alone(load, source) and self._first(load) is not None:
                    loads.setdefault(apart, []).append(load)
        if loads and len(loads) == max(loads):
            kept.append(_Kept(source, loads))
            taken.update(load for each in loads.values() for load in each)

    def _first(self, load: Operation) -> list[Operation] | None:
        """A load as the first iteration does it, with what its indices are computed from; None if that is not known."""
        build = Builder(load.line, load.origin)
        clone = None if memory(load) in self.within else in_first_iteration(self.loop, indices(load), self.within, build)
        return None if clone is None else [*build.operations, clone.operation(load)]

    # --- writing

    def _write(self, kept: list[_Kept], steady: dict[Operation, list[Operation]]) -> None:
        begin, end, step = self.loop.operands
        assert isinstance(step, Constant)
        firsts: list[tuple[Local, list[Operation]]] = []
        replacements: dict[Value, Value] = {}
        after: dict[Operation, list[Operation]] = {}
        begins: list[Operation] = []
        for each in kept:
            places = []
            for apart in sorted(each.loads):
                first = self._first(each.loads[apart][0])
                assert first is not None
                places.append(self._local(first))
                firsts.append((places[-1], first))
            olds = [Operation("load_local", place.type, (), place, each.source.line) for place in places]
            begins += olds
            for apart, loads in each.loads.items():
                replacements.update(dict.fromkeys(loads, olds[apart - 1]))
            value = each.source.operands[-1] if each.source.code == "store" else each.source
            values = [value, *olds[:-1]]
            after[each.source] = [
                Operation("store_local", None, (value,), place, each.source.line)
                for value, place in reversed(list(zip(values, places, strict=True)))
            ]
        for load, first in steady.items():
            place = self._local(first)
            firsts.append((place, first))
            replacements[load] = Operation("load_local", place.type, (), place, load.line)
            begins.append(replacements[load])  # type: ignore[arg-type]
        build = self.build
        for place, _ in firsts:
            build.set(place, Constant(place.type(0), place.type))
        runs = build.make("lt" if step.value > 0 else "gt", u1, begin, end)

        def load_first() -> None:
            for place, first in firsts:
                build.operations += first
                build.set(place, first[-1])

        build.append(If(runs, build.region(load_first), Region(), self.loop.line))

        def replaced(operation: Operation) -> list[Operation]:
            substitute(operation, replacements)
            result = [] if operation in replacements else [operation]
            for step in after.get(operation, ()):
                substitute(step, replacements)
                result.append(step)
            return result

        rewrite(self.loop.body, replaced)
        self.loop.body.operations[:0] = begins

    def _local(self, first: list[Operation]) -> Local:
        array = memory(first[-1])
        assert isinstance(array, Array)
        self.locals.append(Local(array.name, array.dtype))
        return self.locals[-1]
