"""Dependence: whether the iterations of a loop can run in another order, or side by side, and what they gather.

Iterations of a parallel loop can. Those of a serial loop can if none reads what another one writes: each touches elements of
its own in all arrays that the loop writes, and variables have a value in each iteration before they are read. Variables that
iterations only add to, or the like, are gathered: each lane has a part of the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from samovar.ir import (
    Affine,
    Array,
    Atomic,
    For,
    Form,
    If,
    Local,
    LocalArray,
    Operation,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    used,
    walk,
)
from samovar.passes.loops.divergence import Refused, defined_in

#: Operations by which things are gathered in any order. A difference is a sum.
FAMILIES = {"add": "add", "sub": "add", "mul": "mul", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}


@dataclass(frozen=True)
class Gathered:
    """A variable that iterations add to, or the like: by which operation, and the operations that do, each with the value
    that the variable had before."""

    local: Local
    operation: str
    updates: dict[Operation, Operation]


@dataclass(frozen=True)
class Independence:
    """The variables that belong to an iteration, and those that are gathered."""

    private: set[Local]
    gathered: dict[Local, Gathered]


def independence(loop: For, body: Region, affine: Affine, fast_math: bool) -> Independence:
    """What iterations of a loop have to themselves, if they can run side by side; `body` is all of the function around it.
    Raises `Refused` where they cannot."""
    gathered = gathered_in(loop, fast_math)
    stored = {each.payload for each in walk(loop.body) if each.code == "store_local"}
    private = stored - gathered.keys()
    if loop.hints.parallel:
        return Independence(private, gathered)
    for local in private:
        if "read" in first_touches(loop.body.operations, local):
            raise Refused(f"{local.name} is carried from one iteration to the next")
    after = _reads_after(loop, body)
    for local in private:
        if local in after:
            raise Refused(f"{local.name} is read after the loop")
    _require_own_elements(loop, affine, fast_math)
    return Independence(private, gathered)


# --- variables


def gathered_in(loop: For, fast_math: bool) -> dict[Local, Gathered]:
    """The variables that a loop only adds to, or the like, in an order that does not matter."""
    touches: dict[Local, list[Operation]] = {}
    users: dict[Value, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code in ("load_local", "store_local"):
            touches.setdefault(operation.payload, []).append(operation)
        for value in used(operation):
            users.setdefault(value, []).append(operation)
    found: dict[Local, Gathered] = {}
    for local, operations in touches.items():
        stores = [each for each in operations if each.code == "store_local"]
        loads = [each for each in operations if each.code == "load_local"]
        if not stores or not loads or local.shared or len(loads) != len(stores):
            continue
        updates: dict[Operation, Operation] = {}
        for store in stores:
            value = store.operands[0]
            old = next((each for each in loads if isinstance(value, Operation) and each in value.operands), None)
            if (
                isinstance(value, Operation)
                and old is not None
                and value.code in FAMILIES
                and users[value] == [store]
                and users[old] == [value]
                and (value.code != "sub" or value.operands[0] is old)
                and _is_reordered(value, fast_math)
            ):
                updates[value] = old
        families = {FAMILIES[each.code] for each in updates}
        if len(updates) == len(stores) and len(families) == 1:
            found[local] = Gathered(local, families.pop(), updates)
    return found


def _is_reordered(update: Operation, fast_math: bool) -> bool:
    """Whether updates may be done in any order."""
    if update.type is None or update.type.kind != "float":
        return update.payload is None
    if update.code in ("min", "max"):
        return update.payload is None and update.type.bits > 16
    return update.payload == "reorder" or (fast_math and update.payload is None)


def first_touches(operations: Iterable[Operation], local: Local) -> set[str]:
    """What may happen to a variable first: it is "read", it is "written", the code is "left" by a jump before, or neither
    until the end ("")."""
    found: set[str] = set()
    for operation in operations:
        if operation.code in ("load_local", "store_local") and operation.payload is local:
            return found | {"read" if operation.code == "load_local" else "written"}
        if operation.code == "return":
            return found | {"written"}  # nobody gets further
        if operation.code in ("break", "continue"):
            return found | {"left"}
        ways = {""}
        if isinstance(operation, If):
            ways = first_touches(operation.then.operations, local) | first_touches(operation.orelse.operations, local)
        elif isinstance(operation, (For, While)):
            ways = first_touches(operation.head.operations, local) if isinstance(operation, While) else {""}
            if "" in ways:
                ways |= first_touches(operation.body.operations, local) - {"left"}
        elif any(each.payload is local for inner in regions(operation) for each in walk(inner)):
            return found | {"read"}  # a task, or what runs beside others
        found |= ways - {""}
        if "" not in ways:
            return found
    return found | {""}


def _reads_after(loop: For, body: Region) -> set[Local]:
    """The variables that may be read after a loop before they get another value."""
    rests = _rests(loop, body)
    assert rests is not None
    found: set[Local] = set()
    stored = {each.payload for each in walk(loop.body) if each.code == "store_local"}
    for local in stored:
        jumped = False  # what comes next may be passed by, and what comes later is gone on with
        for operations in rests:
            ways = first_touches(operations, local)
            jumped = jumped or "left" in ways
            if "read" in ways:
                found.add(local)
            if "read" in ways or not (jumped or "" in ways):
                break
    return found


def _rests(loop: Operation, region: Region) -> list[Sequence[Operation]] | None:
    """What is executed after a loop: the rest of its region, then that of the regions around it, and where those are
    repeated, what comes before it too."""
    for position, operation in enumerate(region.operations):
        after = region.operations[position + 1 :]
        if operation is loop:
            return [after]
        if isinstance(operation, If):
            inner = [operation.then, operation.orelse]
        elif isinstance(operation, For):
            inner = [operation.body]
        elif isinstance(operation, While):
            inner = [operation.head, operation.body]
        else:
            continue
        for each in inner:
            found = _rests(loop, each)
            if found is not None:
                again = [] if isinstance(operation, If) else [side.operations for side in inner]
                return [*found, *again, after]
    return None


# --- memory


def _require_own_elements(loop: For, affine: Affine, fast_math: bool) -> None:
    """Refuse a loop of which two iterations may touch one element that one of them writes."""
    within = defined_in(loop.body)
    asked = {value for each in walk(loop.body) for value in used(each)}
    accesses: dict[Array, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code == "call":
            raise Refused("what a call touches is not known")
        array = memory(operation)
        if isinstance(array, Array) and array not in within:
            accesses.setdefault(array, []).append(operation)
    written = {array for array, each in accesses.items() if any(access.code != "load" for access in each)}
    for array in written:
        if not array.alone and not isinstance(array, LocalArray):
            raise Refused(f"{array.name} may share memory with another array")
        gathers = _only_gathers(accesses[array], fast_math) and asked.isdisjoint(accesses[array])
        if not gathers and not own_elements(accesses[array], loop, affine, within):
            raise Refused(f"iterations may touch the same elements of {array.name}")


def _only_gathers(accesses: Sequence[Operation], fast_math: bool) -> bool:
    """Whether all that is done to an array are updates by one operation, in any order, one after the other."""
    families = {
        FAMILIES.get(each.payload.operation) if isinstance(each.payload, Atomic) and each.payload.step is None else None
        for each in accesses
    }
    if len(families) != 1 or None in families:
        return False
    array = memory(accesses[0])
    assert isinstance(array, Array)
    return array.dtype.kind != "float" or fast_math


def own_elements(accesses: Sequence[Operation], loop: For, affine: Affine, within: set[Value]) -> bool:
    """Whether no two iterations of a loop touch one element by some accesses to an array: along one axis, all of them move
    with the loop, and are less far apart than it moves."""
    array = memory(accesses[0])
    assert isinstance(array, Array)
    columns = zip(*(map(affine.form, indices(access)) for access in accesses), strict=True)
    return any(_tells_apart(list(column), array, loop, within) for column in columns)


def _tells_apart(forms: list[Form], array: Array, loop: For, within: set[Value]) -> bool:
    if len({form.base() for form in forms}) != 1 or not all(form.indexes(array) for form in forms):
        return False
    step = 0
    for symbol, coefficient in forms[0].terms:
        if symbol.identity is loop.variable:
            step = abs(coefficient)
        elif symbol.identity in within:
            return False
    constants = [form.constant for form in forms]
    moved = loop.operands[2]
    size = abs(int(getattr(moved, "value", 0)))
    return max(constants) - min(constants) < step * size
