"""Predictive commoning: an element stored in one iteration and loaded in a later one stays in a variable.

`x[i] = x[i - 1] + a[i]` waits for memory in each iteration: the element is stored, and loaded again. Here it is loaded once,
before the loop, and kept. Such a loop is serial in any case, so elements that are loaded again are kept too. Loops without a
carried element are left alone: they may be vectorized, and vector loads are cheaper than shifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samovar.ir import (
    Affine,
    Array,
    Builder,
    For,
    If,
    Kernel,
    Local,
    Operation,
    Region,
    Value,
    While,
    array_of,
    defined_in,
    in_first_iteration,
    indices,
    is_own,
    memory,
    rewrite,
    scopes,
    substitute,
    walk,
)
from samovar.passes.loops.dependence import CHANGES, are_distinct, iteration_distance
from samovar.passes.loops.divergence import exits, leaves
from samovar.passes.loops.speculate import loaded_if_there

#: The maximum distance in iterations between a store and a load.
FARTHEST = 3


def carry_elements(kernel: Kernel) -> None:
    """Keep elements that innermost loops carry between iterations in variables, in place."""
    for body, locals in list(scopes(kernel)):
        affine = Affine(body)

        def expand(operation: Operation, affine: Affine = affine, locals: list[Local] = locals) -> list[Operation]:
            if isinstance(operation, For) and not any(isinstance(each, (For, While)) for each in walk(operation.body)):
                return [*_Loop(operation, affine, locals).in_front(), operation]
            return [operation]

        rewrite(body, expand, enters=is_own)


@dataclass(frozen=True)
class _Kept:
    """A kept element: the operation that stores or loads it first, and the loads some iterations later."""

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
        """The code before the loop; the loop then keeps its carried elements in variables."""
        loop = self.loop
        suits = (
            not loop.hints.parallel
            and loop.stride
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
                    before = walk(Region(self.here[: self.here.index(store)]))
                    self._keep(store, list(before), kept, taken)
        if not kept:
            return []
        unchanged = [load for load in self.loads if self._is_left_alone(load)]
        for load in unchanged:
            self._keep(load, [each for each in unchanged if each is not load], kept, taken)
        self._write(kept)
        return self.build.operations

    def _is_left_alone(self, access: Operation, source: Operation | None = None) -> bool:
        """Whether no other write, except `source`, may touch the accessed element, in any iteration."""
        others = (each for each in self.changes if each is not access and each is not source)
        return all(are_distinct(access, each, self.affine, self.within) for each in others)

    def _keep(self, source: Operation, among: Sequence[Operation], kept: list[_Kept], taken: set[Operation]) -> None:
        """Record the loads that reuse the value of an operation some iterations later. Those of the first iterations take
        the value from before the loop, which no other write may touch."""
        loads: dict[int, list[Operation]] = {}
        for load in among:
            if load.code == "load" and load not in taken and memory(load) is memory(source):
                distance = iteration_distance(load, source, self.loop, self.affine, self.within)
                if distance is None or not 0 < distance <= FARTHEST:
                    continue
                if self._is_left_alone(load, source) and self._first(load) is not None:
                    loads.setdefault(distance, []).append(load)
        if loads and len(loads) == max(loads):
            kept.append(_Kept(source, loads))
            taken.update(load for each in loads.values() for load in each)

    def _first(self, load: Operation) -> list[Operation] | None:
        """A load as in the first iteration, with the computation of its indices; None if that is unknown."""
        build = Builder(load.line, load.origin)
        clone = None if memory(load) in self.within else in_first_iteration(self.loop, indices(load), self.within, build)
        return None if clone is None else [*build.operations, clone.operation(load)]

    # --- writing

    def _write(self, kept: list[_Kept]) -> None:
        firsts: list[tuple[Local, list[Operation]]] = []
        certain: set[Local] = set()  # the others are loaded conditionally
        replacements: dict[Value, Value] = {}
        after: dict[Operation, list[Operation]] = {}
        begins: list[Operation] = []
        for each in kept:
            places = []
            for distance in sorted(each.loads):
                first = self._first(each.loads[distance][0])
                assert first is not None
                places.append(self._local(first))
                if not set(self.here).isdisjoint(each.loads[distance]):
                    certain.add(places[-1])
                firsts.append((places[-1], first))
            olds = [place.load(each.source.line) for place in places]
            begins += olds
            for distance, loads in each.loads.items():
                replacements.update(dict.fromkeys(loads, olds[distance - 1]))
            value = each.source.operands[-1] if each.source.code == "store" else each.source
            values = [value, *olds[:-1]]
            stores = [place.store(value, each.source.line) for value, place in zip(values, places, strict=True)]
            after[each.source] = stores[::-1]
        build = self.build
        for place, _ in firsts:
            build.set(place, place.zero())

        def load_first() -> None:
            for place, first in firsts:
                *needed, load = first
                build.operations += needed
                build.set(place, build.append(load) if place in certain else loaded_if_there(build, load, self.locals))

        build.append(If(build.runs(self.loop), build.region(load_first), Region(), self.loop.line))

        def replaced(operation: Operation) -> list[Operation]:
            result = [] if operation in replacements else [operation]
            for step in after.get(operation, ()):
                substitute(step, replacements)
                result.append(step)
            return result

        rewrite(self.loop.body, replaced, replacements)
        self.loop.body.operations[:0] = begins

    def _local(self, first: list[Operation]) -> Local:
        array = array_of(first[-1])
        self.locals.append(Local(array.name, array.dtype))
        return self.locals[-1]
