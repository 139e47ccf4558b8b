"""Sinking of stores: an element that both sides of an `if` store at their end is stored once, after it.

In lanes, that is one unmasked store instead of two masked ones.
"""

from __future__ import annotations

from collections.abc import Hashable

from samovar.ir import (
    OPCODES,
    Affine,
    Array,
    If,
    Kernel,
    Local,
    Operation,
    ReadFlag,
    Region,
    defined_in,
    indices,
    is_own,
    memory,
    regions,
    scopes,
)

_PASSED = frozenset(("load_local", "store_local"))


def sink_stores(kernel: Kernel) -> None:
    """Move stores that are at the end of both sides of an `if` after it, in place."""
    for body, locals in list(scopes(kernel)):
        _sink(body, Affine(body), locals)


def _sink(region: Region, affine: Affine, locals: list[Local]) -> None:
    """Sink the stores of a region. `locals` receives the variables that pass values on; tasks have their own locals."""
    result: list[Operation] = []
    for operation in region.operations:
        for inner in regions(operation) if is_own(operation) else ():
            _sink(inner, affine, locals)
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
            side.operations[place] = local.store(store.operands[-1], store.line)
        value = local.load(stores[0].line)
        result += [value, Operation("store", None, (*at, value), stores[0].payload, stores[0].line)]
    return result


def _last_stores(side: Region, affine: Affine) -> dict[tuple[Array, tuple[Hashable, ...]], Operation]:
    """The stores at the end of a side that nothing after them can observe: only other stores and pure operations follow."""
    found: dict[tuple[Array, tuple[Hashable, ...]], Operation] = {}
    touched: set[object] = set()  # by later operations
    for operation in reversed(side.operations):
        array = memory(operation)
        if operation.code == "store" and isinstance(array, Array) and array.alone and array not in touched:
            found[affine.element(operation)] = operation
            touched.add(array)
        elif operation.code == "load" and not isinstance(operation, ReadFlag):
            touched.add(array)
        elif operation.code not in _PASSED and OPCODES[operation.code].effect != "pure":
            break
    return found
