"""Minima and maxima of several terms in loops that wait for themselves: what comes last is what is ready last.

`d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)` needs the element that the iteration before has
stored. Everything else is known long before, so the minimum of that is taken first, and one comparison is left to wait for.
That is so in tables of edit distances, alignments and shortest ways.

A processor that guesses which term is the least one guesses wrong as often as not, so code generators are told to compare
and choose here (`Kernel.recurs`).

The order of minima and maxima makes no difference to integers. Of floats, which zero or which NaN is kept may differ, so
theirs are reordered with `fast_math` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar.ir import Array, For, Kernel, LoopVariable, Operation, Value, While, bodies, use_counts, walk
from samovar.passes.accesses import base_and_constant

_CODES = frozenset(("min", "max"))
#: Terms are followed through so many operations.
_DEPTH = 6


def put_late_terms_last(kernel: Kernel, fast_math: bool) -> None:
    """Reorder minima and maxima in innermost loops, in place, and note that there are such loops."""
    loops = [each for body in bodies(kernel) for each in walk(body) if isinstance(each, For) and _is_innermost(each)]
    loops = [loop for loop in loops if any(step.code in _CODES for step in loop.body.operations)]
    if not loops:
        return
    uses = use_counts(bodies(kernel))
    for loop in loops:
        late = set(_carried(loop))
        if late:
            kernel.recurs = True
            _reorder(loop, late, uses, fast_math)


def _is_innermost(loop: For) -> bool:
    return not any(isinstance(each, (For, While)) for each in walk(loop.body))


def _carried(loop: For) -> Iterator[Operation]:
    """The loads of elements that the iteration before has stored."""
    stored = [step for step in loop.body.operations if step.code == "store"]
    for load in loop.body.operations:
        if load.code == "load" and any(_is_from_before(load, store, loop.variable) for store in stored):
            yield load


def _is_from_before(load: Operation, store: Operation, variable: LoopVariable) -> bool:
    array = load.payload
    if store.payload is not array or not isinstance(array, Array) or not load.operands:
        return False
    *rows, place = map(base_and_constant, load.operands)
    *stored_rows, stored = map(base_and_constant, store.operands[:-1])
    return rows == stored_rows and place[0] is stored[0] is variable and place[1] == stored[1] - 1


def _reorder(loop: For, late: set[Operation], uses: dict[Value, int], fast_math: bool) -> None:
    inside = set(loop.body.operations)
    replaced: set[Operation] = set()
    steps: list[Operation] = []
    # From the last one on, so that a minimum of minima is seen before those.
    for step in reversed(loop.body.operations):
        added: list[Operation] = []
        if step.code in _CODES and step not in replaced and _may_be_reordered(step, fast_math):
            terms, parts = _taken_apart(step, inside, uses)
            soon = [term for term in terms if not _waits(term, late, _DEPTH)]
            last = [term for term in terms if _waits(term, late, _DEPTH)]
            if len(soon) > 1 and last:
                replaced.update(parts)
                total, *between, final = (*soon, *last)
                for term in between:
                    total = Operation(step.code, step.type, (total, term), None, step.line)
                    added.append(total)
                step.operands = (total, final)
        steps += [step, *reversed(added)]
    loop.body.operations = [step for step in reversed(steps) if step not in replaced]


def _may_be_reordered(step: Operation, fast_math: bool) -> bool:
    return step.payload is None and step.type is not None and (fast_math or step.type.kind in ("int", "uint"))


def _taken_apart(
    step: Operation, inside: set[Operation], uses: dict[Value, int]
) -> tuple[list[Value], list[Operation]]:
    """The terms of a minimum or maximum, and the operations in between, which are for nothing else."""
    terms: list[Value] = []
    parts: list[Operation] = []
    for operand in step.operands:
        if isinstance(operand, Operation) and operand.code == step.code and operand in inside and uses[operand] == 1:
            more_terms, more_parts = _taken_apart(operand, inside, uses)
            terms += more_terms
            parts += [operand, *more_parts]
        else:
            terms.append(operand)
    return terms, parts


def _waits(value: Value, late: set[Operation], depth: int) -> bool:
    """Does a value need one that the iteration before has stored?"""
    if not isinstance(value, Operation) or not depth:
        return False
    return value in late or any(_waits(operand, late, depth - 1) for operand in value.operands)
