"""Sinking of stores: an element that both sides of an `if` store in the end is stored after it, once.

In lanes, that is one store of all of them in the place of two with masks.
"""

from __future__ import annotations

from collections.abc import Hashable

from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    If,
    Local,
    Operation,
    ReadFlag,
    Region,
    Sections,
    Task,
    indices,
    memory,
    regions,
)
from samovar.passes.loops.divergence import defined_in

_PASSED = frozenset(("load_local", "store_local"))


def sink_stores(region: Region, affine: Affine, locals: list[Local]) -> None:
    """Store after an `if` what both sides store at their end. `locals` takes what is needed to hand values over. Tasks are
    bodies of their own, which may be in lanes already."""
    result: list[Operation] = []
    for operation in region.operations:
        for inner in () if isinstance(operation, (Task, Sections)) else regions(operation):
            sink_stores(inner, affine, locals)
        result.append(operation)
        if isinstance(operation, If):
            result += _sunk(operation, affine, locals)
    region.operations = result


def _sunk(branch: If, affine: Affine, locals: list[Local]) -> list[Operation]:
    then, orelse = (_last_stores(side, affine) for side in (branch.then, branch.orelse))
    both = [element for element in then if element in orelse]
    if not both:
        return []
    within = defined_in(branch.then) | defined_in(branch.orelse)
    result: list[Operation] = []
    for element in both:
        stores = then[element], orelse[element]
        at = indices(stores[0])
        type = stores[0].operands[-1].type
        if not within.isdisjoint(at) or type is None or stores[1].operands[-1].type is not type:
            continue
        local = Local("stored", type)
        locals.append(local)
        for side, store in zip((branch.then, branch.orelse), stores, strict=True):
            place = side.operations.index(store)
            side.operations[place] = Operation("store_local", None, store.operands[-1:], local, store.line)
        value = Operation("load_local", type, (), local, stores[0].line)
        result += [value, Operation("store", None, (*at, value), stores[0].payload, stores[0].line)]
    return result


def _last_stores(side: Region, affine: Affine) -> dict[tuple[Array, tuple[Hashable, ...]], Operation]:
    """The stores at the end of a side after which nothing happens that could see them: other stores, and computing."""
    found: dict[tuple[Array, tuple[Hashable, ...]], Operation] = {}
    touched: set[object] = set()  # by what comes after
    for operation in reversed(side.operations):
        array = memory(operation)
        if operation.code == "store" and isinstance(array, Array) and array.alone and array not in touched:
            found[array, tuple(map(affine.number, indices(operation)))] = operation
            touched.add(array)
        elif operation.code == "load" and not isinstance(operation, ReadFlag):
            touched.add(array)
        elif operation.code not in _PASSED and OPCODES[operation.code].effect != "pure":
            break
    return found
