"""Carried elements: what an iteration stores and one of the next ones loads stays in a variable (scalar replacement).

`x[i] = x[i - 1] + a[i]` waits for memory in each iteration: the element is stored, and loaded again. Here it is loaded once,
in front of the loop, and kept. The loop has to store to one place of the array only, in each iteration.
"""

from __future__ import annotations

from samovar._native import u1
from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    Builder,
    Clone,
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
    indices,
    memory,
    outlined,
    regions,
    rewrite,
    substitute,
    walk,
)
from samovar.passes.elements import CHANGES
from samovar.passes.loops.dependence import iterations_apart
from samovar.passes.loops.divergence import defined_in, exits, leaves

#: So many iterations after it was stored, an element is still kept.
FARTHEST = 3


def carry_elements(kernel: Kernel) -> None:
    """Keep elements that innermost loops carry from one iteration to the next in variables, in place."""
    for task in outlined(kernel):
        _Body(task.body, task.locals).run(task.body)
    for function in kernel.functions:
        _Body(function.body, function.locals).run(function.body)
    _Body(kernel.body, kernel.locals).run(kernel.body)


class _Body:
    def __init__(self, body: Region, locals: list[Local]) -> None:
        self.locals = locals
        self.affine = Affine(body)

    def run(self, region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            if isinstance(operation, For) and all(each.__class__ is not For for each in walk(operation.body)):
                result += self._in_front(operation)
            elif not isinstance(operation, (Task, Sections)):
                for inner in regions(operation):
                    self.run(inner)
            result.append(operation)
        region.operations = result

    def _in_front(self, loop: For) -> list[Operation]:
        """What comes before a loop that keeps what it carries."""
        if loop.hints.parallel or not isinstance(loop.operands[2], Constant) or not loop.operands[2].value:
            return []
        if exits(loop.body) or any(leaves(each) for each in loop.body.operations):
            return []
        changes = [each for each in walk(loop.body) if each.code in CHANGES]
        build = Builder(loop.line, loop.origin)
        for store in changes:
            array = memory(store)
            if store.code != "store" or store not in loop.body.operations or not isinstance(array, Array):
                continue
            others = [each for each in changes if each is not store]
            if array.alone and not any(memory(each) is array or memory(each) is None for each in others):
                self._carry(loop, store, build)
        return build.operations

    def _carry(self, loop: For, store: Operation, build: Builder) -> None:
        array = memory(store)
        assert isinstance(array, Array)
        loads: dict[int, list[Operation]] = {}
        for load in loop.body.operations:
            if load is store:
                break
            if load.code == "load" and memory(load) is array:
                apart = iterations_apart(load, store, loop, self.affine)
                if apart is not None and 0 < apart <= FARTHEST:
                    loads.setdefault(apart, []).append(load)
        if 1 not in loads:
            return
        within = defined_in(loop.body)
        farthest = max(loads)
        first = {apart: self._first(each[0], loop, within) for apart, each in loads.items()}
        if len(first) != farthest or any(each is None for each in first.values()):
            return
        kept = [Local(array.name, array.dtype) for _ in range(farthest)]
        self.locals += kept
        for local in kept:
            build.set(local, Constant(array.dtype(0), array.dtype))
        begin, end, step = loop.operands
        assert isinstance(step, Constant)
        runs = build.make("lt" if step.value > 0 else "gt", u1, begin, end)

        def load_first() -> None:
            for apart, operations in first.items():
                assert operations is not None
                build.operations += operations
                build.set(kept[apart - 1], operations[-1])

        build.append(If(runs, build.region(load_first), Region(), loop.line))
        replacements: dict[Value, Value] = {}
        olds: list[Operation] = [Operation("load_local", local.type, (), local, store.line) for local in kept]
        for apart, each in loads.items():
            replacements.update(dict.fromkeys(each, olds[apart - 1]))
        shifted = [Operation("store_local", None, (old,), kept[at + 1], store.line) for at, old in enumerate(olds[:-1])]
        now = Operation("store_local", None, (store.operands[-1],), kept[0], store.line)

        def replaced(operation: Operation) -> list[Operation]:
            substitute(operation, replacements)
            if operation is store:
                now.operands = (store.operands[-1],)
                return [store, *shifted, now]
            return [] if operation in replacements else [operation]

        rewrite(loop.body, replaced)
        loop.body.operations[:0] = olds

    def _first(self, load: Operation, loop: For, within: set[Value]) -> list[Operation] | None:
        """A load as the first iteration does it, with what its indices are computed from; None if that is not known."""
        clone = Clone({loop.variable: loop.operands[0]})
        needed: list[Operation] = []
        pending: list[Value] = list(indices(load))
        while pending:
            value = pending.pop()
            if value in within and value not in needed:
                if not isinstance(value, Operation) or OPCODES[value.code].effect != "pure":
                    return None
                needed.append(value)
                pending += value.operands
        if loop.operands[0].type is not loop.variable.type:
            return None
        order = [each for each in loop.body.operations if each in needed]
        return [clone.operation(each) for each in (*order, load)] if len(order) == len(set(needed)) else None
